/**
 * The view "Tools": presets by group with the person's word about each, every tool with the reason why it is offered
 * or not, and what the last changes of the context have shown and hidden. Owns what is searched, open and expanded.
 *
 * @typedef {import("./tools/words.js").PresetFacts} PresetFacts
 * @typedef {import("./tools/words.js").ToolFacts} ToolFacts
 * @typedef {{ presets: PresetFacts[], tools: ToolFacts[], orphans: { preset: string, state: string }[] }} Known
 */

import { h } from "../dom.js";
import { api, segment } from "../engine.js";
import { attempt } from "../messages.js";
import { watch } from "../watch.js";
import { agentSelect } from "./tools/agent_select.js";
import { contextChanges } from "./tools/context_changes.js";
import { groupSection, groupsOf } from "./tools/groups.js";
import { keyedList, setText } from "../keyed_list.js";
import { setOverride } from "./tools/override.js";
import { stateFilter } from "./tools/state_filter.js";
import { keyOfTool, nameOf, toolRow } from "./tools/tool_row.js";
import { closest, fitting, isNameLike } from "./tools/tool_search.js";
import { unknownTool } from "./tools/unknown_tool.js";
import { counted, factsOf, isOffered } from "./tools/words.js";

export const title = "Tools";

/** @returns {import("../main.js").View} */
export function create() {
  /** @type {Known | null} */
  let known = null;
  /** @type {string | null} */
  let open = null;
  let isNewlyOpen = false;
  let isShown = false;
  /** @type {Set<string>} */
  const expanded = new Set();

  const search = h("input", {
    type: "search",
    class: "tool-search",
    placeholder: "Find a tool: its name, or what it does",
    "aria-label": "Find a tool",
    autocomplete: "off",
    spellcheck: "false",
    oninput: update,
    onkeydown: leaveSearch,
  });
  const filter = stateFilter(update);
  const agents = agentSelect("As agent", "No agent: all tools", () => state.again());
  const expandAll = h("button", { class: "bare", onclick: () => toggleAll(true) }, "Expand all");
  const collapseAll = h("button", { class: "bare", onclick: () => toggleAll(false) }, "Collapse all");
  const summary = h("p", { class: "quiet small", role: "status" });
  const problem = h("p", { class: "notice bad", hidden: true });
  const groups = h("div", { class: "groups" });
  const found = h("ul", { class: "tools card", "aria-label": "Tools found" });
  const unknown = unknownTool();
  const aside = h("aside", { "aria-label": "Changes of context", hidden: true });
  const changes = contextChanges((isEmpty) => {
    aside.hidden = isEmpty;
    element.classList.toggle("has-no-changes", isEmpty);
  });
  aside.append(changes.element);
  const element = h(
    "div",
    { class: "tools-view has-no-changes" },
    h("h1", { class: "offscreen" }, "Tools"),
    h(
      "div",
      { class: "tools-main" },
      h(
        "div",
        { class: "toolbar" },
        search,
        filter.element,
        h("label", { class: "quiet" }, "As agent ", agents.element),
      ),
      h("div", { class: "toolbar tools-summary" }, summary, h("span", { class: "push" }), expandAll, collapseAll),
      problem,
      groups,
      unknown.element,
      found,
    ),
    aside,
  );

  const deeds = { override, goThere, expand };
  const showGroups = keyedList(
    groups,
    (/** @type {import("./tools/groups.js").GroupItem} */ group) => group.name,
    (group) => groupSection(group.name, () => ({ open, flat: false, agent: agents.value() }), deeds),
  );
  const showFound = keyedList(
    found,
    keyOfTool,
    () => toolRow(() => ({ open, flat: true, agent: agents.value() }), deeds),
  );

  const state = watch(
    ["context", "presets", "tools", "agents", "units"],
    async (signal) => {
      const agent = agents.value();
      const [presets, tools] = await Promise.all([
        api.get("/api/presets", { signal }),
        api.get(`/api/tools${agent === "" ? "" : `?agent=${segment(agent)}`}`, { signal }),
      ]);
      return { presets: presets.presets, orphans: presets.orphaned_overrides, tools: tools.tools };
    },
    (now) => {
      known = now;
      problem.hidden = true;
      update();
    },
    (error) => {
      problem.hidden = false;
      setText(problem, error.message);
    },
  );

  function update() {
    if (known === null) return;
    const isFlat = search.value.trim() !== "" || filter.value() !== "";
    if (isNewlyOpen) revealOpen(known);
    const matching = fitting(known.tools, search.value);
    const shown = matching.filter(filter.admits);
    filter.update(matching);
    groups.hidden = isFlat;
    found.hidden = !isFlat || shown.length === 0;
    expandAll.hidden = collapseAll.hidden = isFlat;
    expandAll.disabled = known.presets.every((preset) => expanded.has(preset.name));
    collapseAll.disabled = expanded.size === 0;
    const offered = known.tools.filter((tool) => isOffered(tool.state)).length;
    setText(
      summary,
      isFlat
        ? `${counted(shown.length, "tool")} found of ${known.tools.length}`
        : `${offered} of ${counted(known.tools.length, "tool")} offered ${whose(agents.value())}`,
    );
    if (isFlat) showFound(shown);
    else showGroups(groupsOf(known, expanded));
    unknown.update(isFlat ? unknownOf(known.tools, matching, shown) : null);
    if (isNewlyOpen) {
      isNewlyOpen = false;
      element.querySelector(".tool.is-open")?.scrollIntoView({ block: "nearest" });
    }
  }

  /**
   * What is said of what is not found. Only the name of the address and what is written as a name is asked about.
   *
   * @param {ToolFacts[]} tools
   * @param {ToolFacts[]} matching
   * @param {ToolFacts[]} shown those of the state that was chosen
   */
  function unknownOf(tools, matching, shown) {
    const name = search.value.trim();
    const isAddress = name === open && !tools.some((tool) => nameOf(tool) === name || tool.tool_id === name);
    if (isAddress || matching.length === 0) {
      return { name, isKnown: false, asks: isAddress || isNameLike(name), closest: closest(tools, name) };
    }
    return shown.length > 0 ? null : { name, isKnown: true, asks: false, closest: [] };
  }

  /** Make sure that the tool of the address is on the page: its preset expanded, or found by its name. @param {Known} now */
  function revealOpen(now) {
    const tool = now.tools.find((each) => nameOf(each) === open || each.tool_id === open);
    if (tool === undefined) {
      search.value = open ?? "";
      filter.clear();
    } else if (search.value.trim() !== "" && (!unknown.element.hidden || fitting([tool], search.value).length === 0)) {
      search.value = "";
      filter.clear();
    } else if (!filter.admits(tool)) {
      filter.clear();
    }
    const home = tool?.preset ?? tool?.presets[0];
    if (home !== undefined) expanded.add(home);
  }

  /**
   * @param {string} name
   * @param {string} wanted
   */
  async function override(name, wanted) {
    const preset = known?.presets.find((each) => each.name === name) ?? orphan(name);
    const tools = (known?.tools ?? []).filter((tool) => tool.presets.includes(name)).map(nameOf);
    const now = await setOverride(preset, wanted, tools);
    if (now !== undefined && known !== null) {
      known.presets = known.presets.map((each) => each.name === name ? { ...each, ...now } : each);
      update();
    }
    state.again();
    changes.again();
    return now !== undefined;
  }

  /** @param {import("./tools/words.js").Pattern} pattern */
  async function goThere(pattern) {
    await attempt(() => api.patch("/api/context", Object.fromEntries(factsOf(pattern))));
    state.again();
    changes.again();
  }

  /**
   * @param {string} preset
   * @param {boolean} isExpanded
   */
  function expand(preset, isExpanded) {
    if (isExpanded) expanded.add(preset);
    else expanded.delete(preset);
    update();
  }

  /** @param {boolean} isExpanded */
  function toggleAll(isExpanded) {
    expanded.clear();
    if (isExpanded) known?.presets.forEach((preset) => expanded.add(preset.name));
    update();
  }

  /** @param {KeyboardEvent} event */
  function leaveSearch(event) {
    if (event.key === "ArrowDown" || event.key === "Enter") {
      const first = /** @type {HTMLElement | null} */ (found.hidden ? null : found.querySelector("a"));
      if (first === null) return;
      event.preventDefault();
      first.focus();
      if (event.key === "Enter" && first.getAttribute("aria-expanded") !== "true") first.click();
    } else if (event.key === "Escape" && search.value !== "") {
      event.preventDefault();
      search.value = "";
      update();
    }
  }

  /** `/` goes to the search from anywhere in the view; in a list of tools the arrows go from one to the next. @param {KeyboardEvent} event */
  function keys(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const isTyping = target.matches("input, textarea, select");
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      search.focus();
    } else if (target.matches(".tool-name") && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      const links = /** @type {HTMLElement[]} */ ([...element.querySelectorAll(".tool-name")])
        .filter((each) => each.checkVisibility());
      const next = links[links.indexOf(target) + (event.key === "ArrowDown" ? 1 : -1)];
      event.preventDefault();
      (next ?? (event.key === "ArrowUp" && !found.hidden ? search : target)).focus();
    }
  }

  return {
    element,
    show(path) {
      const name = path[0] || null;
      isNewlyOpen = name !== null && name !== open;
      open = name;
      if (!isShown) {
        isShown = true;
        document.addEventListener("keydown", keys);
        agents.start();
        state.start();
        changes.start();
      }
      update();
    },
    hide() {
      isShown = false;
      document.removeEventListener("keydown", keys);
      agents.stop();
      state.stop();
      changes.stop();
    },
  };
}

/** @param {string} name @returns {PresetFacts} */
function orphan(name) {
  return {
    name,
    group: "",
    risk: "normal",
    default_state: "auto",
    contexts: [],
    tool_ids: [],
    resource_ids: [],
    prompt_ids: [],
    override_state: "auto",
    active: false,
    active_reason: null,
  };
}

/** @param {string} agent */
const whose = (agent) => agent === "" ? "now" : `to the agent ${agent} now`;
