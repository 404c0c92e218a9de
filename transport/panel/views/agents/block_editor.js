/**
 * What can be changed about a block that the agent makes: a text before it, after it, or in its place. Owns the four
 * modes and the field for the text.
 *
 * @typedef {import("./block_order.js").Block} Block
 * @typedef {import("./block_order.js").ContentMode} ContentMode
 * @typedef {import("./block_list.js").Shared} Shared
 */

import { h, replace } from "../../dom.js";
import { toast } from "../../messages.js";
import { insertText, selfSaving } from "./block_draft.js";
import { carried } from "./block_outcome.js";
import { fragmentReference } from "./block_reference.js";

/** How much of the default content is shown at first, characters. */
const PREVIEW_CHARACTERS = 200;

/** @type {readonly { mode: ContentMode | null, label: string, field: string, means: string }[]} */
const MODES = [
  { mode: null, label: "None", field: "", means: "The block says its default content." },
  {
    mode: "prepend",
    label: "Prepend",
    field: "Text before the default content",
    means: "Stands before the default content, on lines of its own.",
  },
  {
    mode: "append",
    label: "Append",
    field: "Text after the default content",
    means: "Stands after the default content, on lines of its own.",
  },
  {
    mode: "override",
    label: "Override",
    field: "Text in place of the default content",
    means: "Replaces the default content. An empty text blanks the block.",
  },
];

/**
 * @param {Shared} shared
 * @param {Block} first
 */
export function blockEditor({ store, scope, drafts }, first) {
  let block = first;
  let whole = false;
  /** The mode that was clicked last. @type {ContentMode | null} */
  let wanted = null;
  let waiting = 0;
  /** @type {Promise<void>} */
  let last = Promise.resolve();
  const { id } = first;

  const content = h("pre", { class: "block-default" });
  const more = h("button", { class: "bare small", "aria-expanded": "false", onclick: () => showContent(!whole) });
  const modes = h(
    "div",
    { class: "segments", role: "group", "aria-label": `Content mode of ${id}` },
    MODES.map(({ mode, label }) => h("button", { data: { mode: mode ?? "" }, onclick: () => choose(mode) }, label)),
  );
  const means = h("span", { class: "quiet small" });
  const area = h("textarea", { id: `text-${id}`, spellcheck: "true", rows: 5 });
  const label = h("label", { for: `text-${id}` });
  const draft = selfSaving(area, {
    ...{ store, drafts, key: `${id}/customContent` },
    read: ({ config }) => config.overrides[id]?.customContent ?? "",
    write: (text, options) => store.change(id, () => ({ overrides: { [id]: { customContent: text } } }), options),
    shown: () => area.rows = Math.min(20, Math.max(4, area.value.split("\n").length + 1)),
  });
  const fragments = fragmentReference(scope, (text) => insertText(area, text), { script: false });
  const text = h(
    "div",
    { class: "block-field" },
    h("div", { class: "toolbar" }, label, h("span", { class: "push" }, draft.status)),
    area,
    fragments?.element,
  );
  const reset = h("button", { class: "small", onclick: () => inTurn(resetBlock) }, "Reset this block");
  const element = h(
    "div",
    { class: "block-editor" },
    h("div", { class: "toolbar" }, h("h4", {}, "Default content"), more),
    content,
    h("div", { class: "toolbar" }, h("h4", {}, "Your change"), modes, means, h("span", { class: "push" }, reset)),
    text,
  );

  /** @param {boolean} all */
  function showContent(all) {
    whole = all;
    const full = block.builtin?.content ?? "";
    const long = full.length > PREVIEW_CHARACTERS;
    const shown = whole || !long ? full : `${cut(full)}…`;
    if (content.textContent !== shown) replace(content, shown);
    content.classList.toggle("is-empty", full === "");
    more.hidden = !long;
    more.setAttribute("aria-expanded", String(whole));
    replace(more, whole ? "Show less" : `Show all ${full.length.toLocaleString("en")} characters`);
  }

  /** @param {ContentMode | null} mode */
  function choose(mode) {
    wanted = mode;
    showMode();
    inTurn(() => chosen(mode));
  }

  /** @param {ContentMode | null} mode */
  async function chosen(mode) {
    await draft.flush();
    const { contentMode: old = null } = block.override;
    if (mode === old) return;
    const original = block.builtin?.content ?? "";
    const mine = area.value;
    /** @type {Record<string, string | null>} */
    const fields = { contentMode: mode };
    if (mode === "override" && mine === "") fields.customContent = original;
    else if (old === "override" && mine === original) fields.customContent = null;
    const saved = await carried(store.change(id, () => ({ overrides: { [id]: fields } })));
    if (saved && mode !== null && modes.contains(document.activeElement)) area.focus();
  }

  /**
   * What is clicked does its work after what was clicked before, since it goes by what that has left.
   *
   * @param {() => Promise<void>} work
   */
  function inTurn(work) {
    waiting += 1;
    last = last.then(work).finally(() => {
      waiting -= 1;
      showMode();
    });
  }

  function showMode() {
    const mode = waiting > 0 ? wanted : block.override.contentMode ?? null;
    const now = MODES.find((each) => each.mode === mode) ?? MODES[0];
    for (const button of modes.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(button.dataset.mode === (mode ?? "")));
    }
    const kept = mode === null && (block.override.customContent ?? "") !== "";
    replace(means, kept ? "The block says its default content. Your text is kept." : now.means);
    replace(label, now.field || "Text that is not saved yet");
    text.hidden = mode === null && !draft.dirty;
  }

  async function resetBlock() {
    await draft.flush(); // so that taking it back brings all of the text
    const before = store.state?.config.overrides[id];
    draft.discard();
    if (before === undefined) return;
    wanted = null;
    if (!await carried(store.change(id, () => ({ overrides: { [id]: null } })))) return;
    if (document.activeElement === document.body) modes.querySelector("button")?.focus();
    const undo = () => void carried(store.change(id, () => ({ overrides: { [id]: before } })));
    toast(`“${id}” is as it comes again.`, { action: { label: "Undo", run: undo } });
  }

  /** @param {Block} now */
  function update(now) {
    block = now;
    showContent(whole);
    draft.refresh();
    showMode();
    reset.hidden = Object.keys(block.override).length === 0;
  }

  update(first);
  return {
    element,
    update,
    flush: draft.flush,
    discard: draft.discard,
    get dirty() {
      return draft.dirty;
    },
    opened() {},
    closed() {},
    stop: () => fragments?.stop(),
  };
}

/** The beginning of a text, without half of a character at its end. @param {string} text */
function cut(text) {
  const start = text.slice(0, PREVIEW_CHARACTERS);
  return /[\uD800-\uDBFF]$/.test(start) ? start.slice(0, -1) : start;
}
