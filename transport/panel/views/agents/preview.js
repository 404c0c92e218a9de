/**
 * What the model gets to read: the messages, split exactly into their blocks, each with its size and what has made it
 * so. Text and nothing but text. Owns the preview; asks again whenever something that it shows has changed.
 *
 * @typedef {{ kind: string, detail: string }} Change
 * @typedef {{ id: string, name: string, role: "system" | "user", source: string, order: number, changes: Change[],
 *   tokens: number, start: number | null, end: number | null }} BlockRow
 * @typedef {{ key: string, block: BlockRow | null, text: string, share: number }} Part
 */

import { h, icon, replace } from "../../dom.js";
import { api } from "../../engine.js";
import { copy } from "../../messages.js";
import { watch } from "../../watch.js";
import { keyedList } from "../../keyed_list.js";

/** How long a block that has just changed is marked, milliseconds. */
const FRESH_MS = 1500;

/** @type {Record<string, (detail: string) => string>} */
const CHANGES = {
  definition: (detail) => `as ${detail} defines it`,
  custom: () => "a text of yours",
  script: () => "made by a script of yours",
  "script-error": () => "its script failed",
  content: (detail) => `your text (${detail})`,
  position: () => "placed by your order",
  neighbour: () => "placed beside its neighbour",
  order: () => "its place is set by number",
  hook: (detail) => `changed by the plugin ${detail}`,
  tags: () => "fragment tags filled in",
  "too-large": () => "too large, left out",
};

/** @type {Record<string, string>} */
const DROPS = {
  "definition-disabled": "switched off",
  "override-disabled": "switched off",
  "script-blank": "its script returned nothing",
  "script-no-text": "its script returned no text",
  hook: "taken away by a plugin",
};

/**
 * @param {string} base
 * @param {(preview: any) => void} loaded is told each preview that was had
 */
export function preview(base, loaded) {
  const total = h("span", { class: "preview-total" });
  const notes = h("div", { class: "preview-notes" });
  const messages = h("div", { class: "preview-messages" });
  const problem = h("p", { class: "notice bad", hidden: true, role: "alert" });
  /** @type {any} */
  let shown = null;
  const element = h(
    "section",
    { class: "card preview", "aria-labelledby": "preview-title" },
    h(
      "div",
      { class: "toolbar preview-head" },
      h("h2", { id: "preview-title" }, "What the model reads"),
      total,
      h("button", {
        class: "bare push",
        "aria-label": "Copy the messages",
        title: "Copy the messages",
        onclick: () => copy((shown?.messages ?? []).map((/** @type {any} */ one) => one.content).join("\n\n")),
      }, icon("copy")),
    ),
    problem,
    notes,
    messages,
  );

  const showMessages = keyedList(messages, (/** @type {any} */ message) => message.role, ({ role }) => {
    const size = h("span", { class: "quiet small" });
    const list = h("div", { class: "preview-blocks" });
    const show = keyedList(list, (/** @type {Part} */ part) => part.key, previewBlock);
    return {
      element: h(
        "section",
        { class: `message message-${role}`, "aria-label": `${role} message` },
        h("div", { class: "message-head" }, h("span", { class: `badge ${role}` }, role), size),
        list,
      ),
      update(message) {
        const parts = partsOf(message, shown.blocks);
        const tokens = parts.reduce((sum, each) => sum + (each.block?.tokens ?? 0), 0);
        replace(size, `${counted(parts.length, "block")} · ${counted(tokens, "token")}`);
        show(parts);
      },
    };
  });

  const loader = watch(
    ["blocks", "agents", "context", "world", "presets", "tools"],
    (signal) => api.get(`${base}/preview`, { signal }),
    (now) => {
      problem.hidden = true;
      shown = now;
      replace(
        total,
        h("strong", {}, `≈ ${now.tokens.toLocaleString("en")}`),
        ` tokens${now.tools.length > 0 ? `, and ${counted(now.tools.length, "tool")} beside them` : ""}`,
      );
      replace(
        notes,
        now.scriptErrors.map((/** @type {any} */ one) =>
          noteOf("bad", `The script of “${one.name}” failed`, one.message)
        ),
        now.blockErrors.map((/** @type {any} */ one) => noteOf("bad", `“${one.name}” could not be made`, one.message)),
        now.messageHooks.length > 0 &&
          noteOf("warn", "Plugins have changed a message as a whole", now.messageHooks.join(", ")),
        now.note && h("p", { class: "quiet small" }, now.note),
        now.messages.length === 0 &&
          h("p", { class: "empty" }, "Every block is switched off, so the model reads nothing."),
        now.dropped.length > 0 && h(
          "details",
          { class: "small" },
          h("summary", {}, `${counted(now.dropped.length, "block")} left out`),
          h(
            "ul",
            {},
            now.dropped.map((/** @type {any} */ one) =>
              h(
                "li",
                {},
                h("strong", {}, one.name ?? one.id),
                ` ${DROPS[one.reason] ?? one.reason}`,
                one.detail && ` (${one.detail})`,
              )
            ),
          ),
        ),
      );
      showMessages(now.messages);
      loaded(now);
    },
    (error) => {
      replace(problem, error.message);
      problem.hidden = false;
    },
  );

  return { element, start: loader.start, stop: loader.stop };
}

function previewBlock() {
  const name = h("span", { class: "preview-name" });
  const made = h("span", { class: "quiet small preview-made" });
  const tokens = h("span", { class: "small preview-tokens" });
  const share = h("span", { class: "share", "aria-hidden": "true" });
  const body = h("pre", {});
  const element = h(
    "details",
    { class: "preview-block", open: true },
    h("summary", {}, icon("chevron"), name, made, tokens),
    share,
    body,
  );
  let text = /** @type {string | null} */ (null);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let fading;
  return {
    element,
    /** @param {Part} part */
    update(part) {
      const { block } = part;
      replace(name, block?.name ?? "Message");
      name.title = block === null || block.name === block.id ? "" : block.id;
      replace(made, block === null ? "changed as a whole, so its blocks cannot be told apart" : madeOf(block));
      replace(tokens, block === null ? "" : `${block.tokens} t`);
      share.style.width = `${Math.round(part.share * 100)}%`;
      if (text === part.text) return;
      if (text !== null) {
        element.classList.add("is-fresh");
        clearTimeout(fading);
        fading = setTimeout(() => element.classList.remove("is-fresh"), FRESH_MS);
      }
      text = part.text;
      body.textContent = text;
    },
  };
}

/**
 * A message cut where its blocks begin and end. What a plugin has changed afterwards has no such places.
 *
 * @param {{ role: string, content: string }} message
 * @param {BlockRow[]} blocks
 * @returns {Part[]}
 */
function partsOf({ role, content }, blocks) {
  const own = blocks.filter((each) => each.role === role);
  if (own.some((each) => each.start === null)) return [{ key: "whole", block: null, text: content, share: 1 }];
  const most = Math.max(1, ...blocks.map((each) => each.tokens));
  const seen = new Map();
  return own.map((block) => {
    const times = (seen.get(block.id) ?? 0) + 1;
    seen.set(block.id, times);
    const text = content.slice(Number(block.start), Number(block.end));
    return { key: `${times} ${block.id}`, block, text, share: block.tokens / most };
  });
}

/** @param {BlockRow} block */
function madeOf({ source, changes }) {
  const steps = changes.map(({ kind, detail }) => CHANGES[kind]?.(detail) ?? `${kind} ${detail}`);
  return steps.length > 0 ? steps.join(", ") : source;
}

/**
 * @param {string} kind
 * @param {string} title
 * @param {string} text
 */
function noteOf(kind, title, text) {
  return h("div", { class: `notice ${kind}` }, h("strong", {}, title), h("div", { class: "mono preline" }, text));
}

/** @param {number} count @param {string} noun */
function counted(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
