/**
 * A configuration on its way out and in: export, import, and back to how the agent comes. Owns these dialogs. What comes
 * in is shown before any of it is taken, scripts as the text that they are.
 *
 * @typedef {import("./config_store.js").ConfigStore} ConfigStore
 * @typedef {{ name: string, content: string }} Script
 * @typedef {{ config: object, from: string | null, scripts: Script[], facts: string[], note: string | null }} Incoming
 */

import { h, icon, replace } from "../../dom.js";
import { api } from "../../engine.js";
import { attempt, confirm, copy, toast } from "../../messages.js";

/** Where a bundle of several agents has its configurations. */
const BUNDLE = "agentBlockConfigs";

/** What is never read as a configuration, bytes: the engine takes no body of that size either. */
const MOST_FILE_BYTES = 16 * 1024 * 1024;

/** @param {ConfigStore} store @param {string} agent */
export async function exportDialog(store, agent) {
  const envelope = await attempt(() => api.get(`${store.base}/export-config`));
  if (envelope === undefined) return;
  const text = JSON.stringify(envelope, null, 2);
  const dialog = h("dialog", { class: "transfer", "aria-label": "Export the configuration" });
  dialog.addEventListener("close", () => dialog.remove());
  replace(
    dialog,
    h("h2", {}, "Export the configuration"),
    h(
      "p",
      { class: "quiet" },
      "What you have changed about the blocks and tools of this agent. Keys of providers are never in it.",
    ),
    h("pre", { class: "transfer-text", tabindex: "0", "aria-label": "The configuration" }, text),
    h(
      "div",
      { class: "dialog-buttons" },
      h("button", { class: "bare", onclick: () => dialog.close() }, "Close"),
      h("button", { onclick: () => copy(text) }, icon("copy"), "Copy"),
      h("button", { class: "primary", onclick: () => download(`${agent}-context.json`, text) }, "Download"),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
}

/**
 * @param {ConfigStore} store
 * @param {string} agent
 * @param {string} name for people
 */
export function importDialog(store, agent, name) {
  /** @type {Incoming | null} */
  let incoming = null;
  const area = h("textarea", {
    rows: "7",
    spellcheck: "false",
    placeholder: '{"agentName": …, "config": {…}}',
    "aria-label": "The configuration as text",
    oninput: read,
  });
  const file = h("input", { type: "file", accept: ".json,application/json", onchange: readFile });
  const report = h("div", { class: "import-report", "aria-live": "polite" });
  const problem = h("div", { class: "notice bad", role: "alert", hidden: true });
  const agree = h("button", { class: "primary", disabled: true, onclick: take }, "Replace the configuration");
  const dialog = h("dialog", { class: "transfer", "aria-label": "Import a configuration" });
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("dragover", (event) => event.preventDefault());
  dialog.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer?.files[0] !== undefined) load(event.dataTransfer.files[0]);
  });
  replace(
    dialog,
    h("h2", {}, "Import a configuration"),
    h("p", { class: "quiet" }, `It replaces what you have changed about ${name}. That can be undone.`),
    h("label", { class: "file-row" }, h("span", {}, "From a file"), file),
    h("label", { class: "stacked" }, h("span", {}, "or as text"), area),
    report,
    problem,
    h(
      "div",
      { class: "dialog-buttons" },
      h("button", { class: "bare", onclick: () => dialog.close() }, "Cancel"),
      agree,
    ),
  );
  document.body.append(dialog);
  dialog.showModal();

  function readFile() {
    if (file.files?.[0] !== undefined) load(file.files[0]);
  }

  /** @param {File} given */
  async function load(given) {
    if (given.size > MOST_FILE_BYTES) return refuse([`${given.name} is too large to be a configuration.`]);
    area.value = await given.text();
    read();
  }

  function read() {
    incoming = null;
    problem.hidden = true;
    replace(report);
    if (area.value.trim() !== "") {
      try {
        incoming = incomingOf(JSON.parse(area.value), agent);
        replace(report, ...reportOf(incoming));
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        refuse([`This is no configuration: ${error.message}`]);
      }
    }
    agree.disabled = incoming === null;
    agree.className = incoming !== null && incoming.scripts.length > 0 ? "danger" : "primary";
    const scripts = incoming?.scripts.length ?? 0;
    replace(agree, scripts === 0 ? "Replace the configuration" : `Replace it, with ${counted(scripts, "script")}`);
  }

  async function take() {
    if (incoming === null) return;
    agree.disabled = true;
    const undo = await store.replaceAll("Import", incoming.config, (error) => {
      const details = /** @type {any[]} */ (error.body?.details ?? []);
      refuse(
        details.length === 0
          ? [error.message]
          : details.map((one) => `${one.path.join(".") || "the configuration"}: ${one.message}`),
      );
    });
    agree.disabled = false;
    if (undo === null) return;
    dialog.close();
    toast("The configuration was replaced.", { action: { label: "Undo", run: () => undone(undo) } });
  }

  /** @param {string[]} lines */
  function refuse(lines) {
    replace(problem, h("strong", {}, "Nothing was taken."), h("ul", {}, lines.map((line) => h("li", {}, line))));
    problem.hidden = false;
  }
}

/** @param {ConfigStore} store @param {string} name */
export async function resetDialog(store, name) {
  const { config } = store.state ?? {};
  if (config === undefined) return;
  const facts = factsOf(config);
  if (facts.length === 0) return toast(`${name} is as it comes; there is nothing to reset.`);
  const agreed = await confirm({
    title: `Reset ${name}?`,
    body: [
      h("p", {}, "The agent will be as it comes. What goes:"),
      h("ul", {}, facts.map((fact) => h("li", {}, fact))),
    ],
    agree: "Reset to defaults",
    danger: true,
  });
  if (!agreed) return;
  const undo = await store.replaceAll("Reset", null, (error) => toast(error.message, { kind: "error" }));
  if (undo !== null) toast(`${name} is as it comes.`, { action: { label: "Undo", run: () => undone(undo) } });
}

/** @param {() => Promise<import("./config_store.js").Result>} undo */
async function undone(undo) {
  const { outcome, error } = await undo();
  if (outcome === "saved") toast("Undone.");
  else if (error !== null) toast(error.message, { kind: "error" });
}

/**
 * What somebody gave: an envelope of one agent, a bundle of several, or a bare configuration. Raises `SyntaxError`.
 *
 * @param {any} raw
 * @param {string} agent
 * @returns {Incoming}
 */
function incomingOf(raw, agent) {
  if (!isRecord(raw)) throw new SyntaxError("it must be an object in braces");
  let note = null;
  /** @type {[any, string | null]} */
  let [config, from] = [raw, null];
  if (isRecord(raw[BUNDLE])) {
    const there = Object.keys(raw[BUNDLE]);
    if (!there.includes(agent)) {
      throw new SyntaxError(`it is a bundle for ${there.join(", ") || "no agent"}, and has nothing for ${agent}`);
    }
    [config, from] = [raw[BUNDLE][agent], agent];
    if (there.length > 1) note = `It is a bundle of ${there.length} agents; only the part for ${agent} is taken.`;
  } else if ("config" in raw) {
    [config, from] = [raw.config, typeof raw.agentName === "string" ? raw.agentName : null];
  }
  if (!isRecord(config)) throw new SyntaxError("its config must be an object in braces");
  const blocks = Array.isArray(config.customBlocks) ? config.customBlocks.filter(isRecord) : [];
  const scripts = blocks.filter((each) => each.type === "script").map((each) => ({
    name: String(each.name ?? each.id ?? "without a name"),
    content: typeof each.content === "string" ? each.content : JSON.stringify(each.content) ?? "",
  }));
  if (from !== null && from !== agent) {
    note ??= `It was exported from ${from}. Ids of blocks that ${agent} does not have do nothing.`;
  }
  return { config, from, scripts, facts: factsOf(config), note };
}

/** @param {Incoming} incoming */
function reportOf({ facts, scripts, note }) {
  return [
    note && h("p", { class: "notice" }, note),
    h("p", {}, facts.length === 0 ? "It changes nothing: the agent will be as it comes." : "It brings:"),
    facts.length > 0 && h("ul", {}, facts.map((fact) => h("li", {}, fact))),
    scripts.length > 0 && h(
      "section",
      { class: "import-scripts", "aria-label": "Scripts that come in" },
      h(
        "p",
        { class: "notice warn" },
        icon("warning"),
        h("strong", {}, ` ${counted(scripts.length, "script")} come${scripts.length === 1 ? "s" : ""} in. `),
        "A script is a program that runs whenever the prompt is made, in the sandbox. Read it before you take it; nothing has run yet.",
      ),
      scripts.map((one) =>
        h(
          "details",
          { open: true },
          h(
            "summary",
            {},
            h("strong", {}, one.name),
            h("span", { class: "quiet small" }, ` ${counted(one.content.split("\n").length, "line")}`),
          ),
          h("pre", { tabindex: "0", "aria-label": `Script ${one.name}` }, one.content),
        )
      ),
    ),
  ];
}

/** What a configuration changes, in words. @param {any} config */
function factsOf(config) {
  const count = (/** @type {unknown} */ value) => Array.isArray(value) ? value.length : 0;
  const overrides = isRecord(config.overrides) ? Object.keys(config.overrides) : [];
  return [
    count(config.customBlocks) > 0 &&
    `${counted(count(config.customBlocks), "block")} of one's own: ${
      config.customBlocks.map((/** @type {any} */ each) => each?.name ?? "?").join(", ")
    }`,
    overrides.length > 0 && `changes of ${counted(overrides.length, "block")}: ${overrides.join(", ")}`,
    count(config.blockOrder) > 0 && "an order of the blocks",
    count(config.disabledTools) > 0 &&
    `${counted(count(config.disabledTools), "tool")} switched off: ${config.disabledTools.join(", ")}`,
    config.disableAutoAnalysis === true && "no analysis after each generation",
  ].filter((fact) => typeof fact === "string");
}

/** @param {string} name @param {string} text */
function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 0);
}

/** @param {unknown} value @returns {value is Record<string, any>} */
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param {number} count @param {string} noun */
function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
