/** The sections of the view "Tools": the groups of presets, the tools of no preset, and overrides of presets that are gone. */

import { h } from "../../dom.js";
import { keyedList, setText } from "../../keyed_list.js";
import { presetRow } from "./preset_row.js";
import { keyOfTool, toolRow } from "./tool_row.js";
import { isOffered } from "./words.js";

/**
 * @typedef {import("./words.js").ToolFacts} ToolFacts
 * @typedef {import("../tools.js").Known} Known
 * @typedef {import("./preset_row.js").PresetItem} PresetItem
 * @typedef {{ name: string, presets: PresetItem[], loose: ToolFacts[], orphans: Known["orphans"] }} GroupItem
 */

/** The name under which the tools of no preset stand. No preset has it: names have no spaces. */
const LOOSE = "without a preset";

/** The name of the section of overrides whose preset is gone. */
const ORPHANS = "gone presets";

/**
 * @param {Known} known
 * @param {Set<string>} expanded
 * @returns {GroupItem[]}
 */
export function groupsOf({ presets, tools, orphans }, expanded) {
  const byId = new Map(tools.filter((tool) => tool.tool_id !== null).map((tool) => [tool.tool_id, tool]));
  /** @type {Map<string, GroupItem>} */
  const groups = new Map();
  for (const preset of presets) {
    let group = groups.get(preset.group);
    if (group === undefined) {
      groups.set(preset.group, group = { name: preset.group, presets: [], loose: [], orphans: [] });
    }
    const own = preset.tool_ids.flatMap((id) => byId.get(id) ?? []);
    group.presets.push({
      preset,
      tools: own,
      offered: own.filter((tool) => isOffered(tool.state)).length,
      expanded: expanded.has(preset.name),
    });
  }
  const loose = tools.filter((tool) => tool.presets.length === 0);
  const last = [
    ...(loose.length > 0 ? [{ name: LOOSE, presets: [], loose, orphans: [] }] : []),
    ...(orphans.length > 0 ? [{ name: ORPHANS, presets: [], loose: [], orphans }] : []),
  ];
  return [...groups.values(), ...last];
}

/**
 * @param {string} name
 * @param {() => import("./tool_row.js").Shown} shown
 * @param {Parameters<typeof presetRow>[2]} deeds
 * @returns {import("../../keyed_list.js").Row<GroupItem>}
 */
export function groupSection(name, shown, deeds) {
  const heading = { [LOOSE]: "Tools without a preset", [ORPHANS]: "Your word about presets that are gone" }[name] ??
    name.charAt(0).toUpperCase() + name.slice(1);
  const active = h("span", { class: "quiet small" });
  const presets = h("ul", { class: "presets" });
  const loose = h("ul", { class: "tools" });
  const orphans = h("ul", { class: "tools" });
  const element = h(
    "section",
    { class: "card group", "aria-label": heading },
    h("div", { class: "group-line" }, h("h2", {}, heading), active),
    presets,
    loose,
    orphans,
  );
  const showPresets = keyedList(
    presets,
    (/** @type {import("./preset_row.js").PresetItem} */ item) => item.preset.name,
    (item) => presetRow(item.preset.name, shown, deeds),
  );
  const showLoose = keyedList(loose, keyOfTool, () => toolRow(shown, deeds));
  const showOrphans = keyedList(
    orphans,
    (/** @type {Known["orphans"][0]} */ item) => item.preset,
    (item) => orphanRow(item.preset, deeds),
  );
  return {
    element,
    update(group) {
      const count = group.presets.filter((item) => item.preset.active).length;
      setText(active, group.presets.length === 0 ? "" : `${count} of ${group.presets.length} active`);
      showPresets(group.presets);
      showLoose(group.loose);
      showOrphans(group.orphans);
    },
  };
}

/**
 * @param {string} name
 * @param {import("./tool_row.js").Deeds} deeds
 * @returns {import("../../keyed_list.js").Row<Known["orphans"][0]>}
 */
function orphanRow(name, deeds) {
  const said = h("span", { class: "quiet" });
  const clear = h("button", { "aria-label": `Clear ${name}`, onclick: () => deeds.override(name, "auto") }, "Clear");
  const element = h("li", { class: "tool tool-line" }, h("span", { class: "mono" }, name), said, clear);
  return {
    element,
    update: ({ state }) => setText(said, `You turned it ${state}. That holds again when the preset comes back.`),
  };
}
