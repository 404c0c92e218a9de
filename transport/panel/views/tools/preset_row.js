/** One preset in its group: whether it is active and why, its risk, the person's word about it, and its tools. */

import { h, icon, replace } from "../../dom.js";
import { keyedList, setText, whenChanged } from "../../keyed_list.js";
import { overrideControl } from "./override.js";
import { contextButtons, keyOfTool, toolRow } from "./tool_row.js";
import { counted, presetState, riskKind, riskLabel } from "./words.js";

/**
 * @typedef {import("./words.js").PresetFacts} PresetFacts
 * @typedef {import("./words.js").ToolFacts} ToolFacts
 * @typedef {import("./tool_row.js").Shown} Shown
 * @typedef {import("./tool_row.js").Deeds} Deeds
 * @typedef {{ preset: PresetFacts, tools: ToolFacts[], offered: number, expanded: boolean }} PresetItem
 */

/**
 * @param {string} name
 * @param {() => Shown} shown
 * @param {Deeds & { expand: (preset: string, expanded: boolean) => void }} deeds
 * @returns {import("../../keyed_list.js").Row<PresetItem>}
 */
export function presetRow(name, shown, deeds) {
  let isExpanded = false;
  const count = h("span", { class: "quiet small preset-count" });
  const toggle = h(
    "button",
    { class: "bare preset-name", onclick: () => deeds.expand(name, !isExpanded) },
    icon("chevron"),
    h("span", {}, name),
  );
  const active = h("span", { class: "badge" });
  const reason = h("span", { class: "quiet small" });
  const risk = h("span", { class: "badge" });
  const control = overrideControl(`${name}: off, auto or on`, (state) => deeds.override(name, state));
  const more = h("div", { class: "toolbar preset-more" });
  const tools = h("ul", { class: "tools" });
  const body = h("div", { class: "preset-body", hidden: true }, more, tools);
  const element = h(
    "li",
    { class: "preset", data: { preset: name } },
    h(
      "div",
      { class: "preset-line" },
      h("div", { class: "preset-what" }, toggle, count),
      h("div", { class: "preset-why" }, active, reason),
      h("div", { class: "preset-risk" }, risk),
      control.element,
    ),
    body,
  );
  const showTools = keyedList(
    tools,
    keyOfTool,
    () => toolRow(shown, deeds),
  );
  const showMore = whenChanged((/** @type {PresetFacts} */ preset) => {
    const had = more.contains(document.activeElement);
    const waits = !preset.active && preset.default_state === "auto" && preset.override_state === "auto";
    replace(
      more,
      waits ? contextButtons(preset.contexts, deeds) : null,
      also("Resources", preset.resource_ids),
      also("Adds to the prompt", preset.prompt_ids),
    );
    more.hidden = more.childElementCount === 0;
    if (had) toggle.focus();
  });

  return {
    element,
    update({ preset, tools: facts, offered, expanded }) {
      isExpanded = expanded;
      element.classList.toggle("is-active", preset.active);
      toggle.setAttribute("aria-expanded", String(expanded));
      setText(count, countWords(preset, offered));
      const now = presetState(preset);
      setText(active, now.label);
      active.className = `badge ${now.kind}`;
      setText(reason, now.reason);
      setText(risk, riskLabel(preset.risk));
      risk.className = `badge ${riskKind(preset.risk)}`;
      risk.hidden = preset.risk === "normal";
      control.update(preset.override_state);
      body.hidden = !expanded;
      if (expanded) {
        showMore(preset);
        showTools(facts);
      }
    },
  };
}

/**
 * @param {PresetFacts} preset
 * @param {number} offered
 */
function countWords(preset, offered) {
  const all = preset.tool_ids.length;
  if (all === 0) return preset.resource_ids.length > 0 ? counted(preset.resource_ids.length, "resource") : "no tools";
  // With an agent's eyes an active preset need not offer all that it has.
  return preset.active && offered < all ? `${offered} of ${counted(all, "tool")}` : counted(all, "tool");
}

/**
 * @param {string} title
 * @param {string[]} ids
 */
function also(title, ids) {
  return ids.length === 0 ? null : h("p", { class: "quiet small also" }, `${title}: `, h("code", {}, ids.join(", ")));
}
