/**
 * One tool in a list: its state, the engine's word about why, what would show it, and, opened, what it takes.
 * Owns the loading of that last part, which happens only while the row is open.
 */

import { foreign, h, replace, visible } from "../../dom.js";
import { api, EngineError, segment } from "../../engine.js";
import { setText, whenChanged } from "../../keyed_list.js";
import { schemaView } from "./schema_view.js";
import { factsOf, patternWords, riskKind, riskLabel, sentence, stateKind, stateLabel } from "./words.js";

/**
 * @typedef {import("./words.js").ToolFacts} ToolFacts
 * @typedef {import("./words.js").Pattern} Pattern
 *
 * @typedef {object} Shown what the whole view shows, beside the tool
 * @property {string | null} open the name of the tool that is open
 * @property {boolean} flat whether the row stands for itself, without its preset above it
 * @property {string} agent whose tools these are; empty for nobody's
 *
 * @typedef {object} Deeds
 * @property {(preset: string, state: string) => Promise<boolean>} override
 * @property {(pattern: Pattern) => void} goThere
 */

/** Buttons that lead to a context, at most; the sentence names the others. */
const MOST_CONTEXTS = 3;

/** @param {ToolFacts} tool */
export const nameOf = (tool) => tool.mcp_name ?? tool.tool;

/** @param {ToolFacts} tool */
export const keyOfTool = (tool) => `${tool.tool_id} ${nameOf(tool)}`;

/** @param {string | null} name */
export const addressOf = (name) => name === null ? "#/tools" : `#/tools/${segment(name)}`;

/**
 * @param {() => Shown} shown
 * @param {Deeds} deeds
 * @returns {import("../../keyed_list.js").Row<ToolFacts>}
 */
export function toolRow(shown, deeds) {
  const link = h("a", { class: "tool-name mono" });
  const state = h("span", { class: "badge" });
  const risk = h("span", { class: "badge" });
  const preset = h("span", { class: "tool-preset quiet small" });
  const reason = h("p", { class: "tool-reason quiet" });
  const actions = h("div", { class: "toolbar tool-actions" });
  const detail = h("div", { class: "tool-detail", hidden: true });
  const element = h(
    "li",
    { class: "tool" },
    h("div", { class: "tool-line" }, link, state, risk, preset),
    reason,
    actions,
    detail,
  );
  const loadDetail = detailOf(detail);

  const showReason = whenChanged((/** @type {string} */ text) => {
    replace(reason, sentence(text));
    reason.title = visible(text);
  });
  const showActions = whenChanged((/** @type {Pick<ToolFacts, "remedy" | "shown_in" | "preset">} */ now) => {
    const had = actions.contains(document.activeElement);
    replace(actions, remedyButton(now, deeds), contextButtons(now.shown_in, deeds));
    if (had) link.focus();
  });

  /** @param {ToolFacts} tool */
  function update(tool) {
    const { open, flat, agent } = shown();
    const name = nameOf(tool);
    const isOpen = open === name || (open !== null && open === tool.tool_id);
    element.dataset.tool = name;
    setText(link, name);
    link.setAttribute("href", addressOf(isOpen ? null : name));
    link.setAttribute("aria-expanded", String(isOpen));
    setText(state, stateLabel(tool.state));
    state.className = `badge ${stateKind(tool.state)}`;
    const isRisky = flat && tool.risk !== null && tool.risk !== "normal";
    risk.hidden = !isRisky;
    if (isRisky && tool.risk !== null) {
      setText(risk, riskLabel(tool.risk));
      risk.className = `badge ${riskKind(tool.risk)}`;
    }
    setText(preset, flat ? tool.presets.join(", ") : "");
    showReason(tool.reason);
    element.classList.toggle("is-open", isOpen);
    element.classList.toggle("is-whole", isOpen || flat);
    actions.hidden = !(isOpen || flat) || (tool.remedy === null && tool.shown_in.length === 0);
    showActions({ remedy: tool.remedy, shown_in: tool.shown_in, preset: tool.preset });
    detail.hidden = !isOpen;
    if (isOpen) loadDetail(name, agent, tool.state);
  }

  return { element, update };
}

/**
 * @param {Pick<ToolFacts, "remedy" | "preset">} tool
 * @param {Deeds} deeds
 */
function remedyButton({ remedy, preset }, deeds) {
  if (remedy === null || preset === null) return null;
  const state = remedy.body.state;
  return h(
    "button",
    { class: "primary", title: remedy.command, onclick: () => deeds.override(preset, state) },
    state === "auto" ? `Set ${preset} back to auto` : `Turn on ${preset}`,
  );
}

/**
 * @param {Pattern[]} patterns
 * @param {Deeds} deeds
 */
export function contextButtons(patterns, deeds) {
  return patterns
    .filter((pattern) => factsOf(pattern).length > 0)
    .slice(0, MOST_CONTEXTS)
    .map((pattern) => h("button", { onclick: () => deeds.goThere(pattern) }, `Go to ${patternWords(pattern)}`));
}

/**
 * Loads what a tool is and takes, whenever that may have become something else.
 *
 * @param {HTMLElement} element
 */
function detailOf(element) {
  let loaded = "";
  const show = whenChanged((/** @type {any} */ tool) => replace(element, detailView(tool)));
  return async (/** @type {string} */ name, /** @type {string} */ agent, /** @type {string} */ state) => {
    const key = JSON.stringify([name, agent, state]);
    if (key === loaded) return;
    loaded = key;
    try {
      const tool = await api.get(`/api/tools/${segment(name)}${agent === "" ? "" : `?agent=${segment(agent)}`}`);
      if (key === loaded) show(tool);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (key !== loaded) return;
      loaded = "";
      show({ error: error.message });
    }
  };
}

/** @param {any} tool */
function detailView(tool) {
  if (tool.error !== undefined) return [h("p", { class: "notice bad" }, tool.error)];
  const definition = tool.definition;
  if (definition === null) {
    return [h("p", { class: "quiet" }, "What it does and takes is shown here once it is offered.")];
  }
  return [
    h("h3", {}, foreign(definition.title ?? definition.name)),
    h("p", { class: "tool-description" }, visible(definition.description)),
    h("div", { class: "toolbar" }, hints(definition.annotations)),
    schemaView(definition.input_schema),
    definition.output_schema &&
    h(
      "details",
      { class: "schema" },
      h("summary", {}, "What it gives, as JSON schema"),
      h("pre", { tabindex: "0" }, JSON.stringify(definition.output_schema, null, 2)),
    ),
    h(
      "p",
      { class: "quiet small" },
      `Owner: ${(tool.owners.length > 0 ? tool.owners : [definition.owner]).join(", ")}`,
    ),
  ];
}

/** @param {Record<string, unknown> | null} annotations */
function hints(annotations) {
  if (annotations === null) return [];
  /** @type {[string, string, string][]} */
  const known = [
    ["readOnlyHint", "only reads", "good"],
    ["destructiveHint", "may delete or replace", "warn"],
    ["idempotentHint", "may be repeated", ""],
    ["openWorldHint", "reaches outside", "warn"],
  ];
  return known
    .filter(([name]) => annotations[name] === true)
    .map(([, words, kind]) => h("span", { class: `badge ${kind}` }, words));
}
