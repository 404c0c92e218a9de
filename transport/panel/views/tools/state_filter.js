/** Which states of tools are shown: all, what is offered or not, or one state alone. */

import { h, replace } from "../../dom.js";
import { whenChanged } from "../../keyed_list.js";
import { isOffered, stateLabel } from "./words.js";

/** @typedef {import("./words.js").ToolFacts} ToolFacts */

const STATES = ["shown", "program", "hidden", "risk", "off", "colliding", "unknown"];

/** @type {Record<string, (tool: ToolFacts) => boolean>} */
const KINDS = {
  "": () => true,
  "+": (tool) => isOffered(tool.state),
  "-": (tool) => !isOffered(tool.state),
};

/** @param {() => void} chosen */
export function stateFilter(chosen) {
  const element = h("select", { "aria-label": "State", onchange: chosen });
  /** @param {ToolFacts} tool */
  const admits = (tool) => (KINDS[element.value] ?? ((each) => each.state === element.value))(tool);
  const show = whenChanged((/** @type {[string, string][]} */ options) => {
    const value = element.value;
    replace(element, options.map(([key, label]) => h("option", { value: key, selected: key === value }, label)));
  });
  return {
    element,
    admits,
    value: () => element.value,
    clear() {
      element.value = "";
    },
    /** Count anew. What is chosen stays so, also when nothing is like that any more. @param {ToolFacts[]} tools */
    update(tools) {
      /** @param {(tool: ToolFacts) => boolean} test */
      const count = (test) => tools.filter(test).length;
      /** @type {[string, string][]} */
      const options = [
        ["", `Any state (${tools.length})`],
        ["+", `Offered (${count(KINDS["+"])})`],
        ["-", `Not offered (${count(KINDS["-"])})`],
      ];
      for (const state of STATES) {
        const number = count((tool) => tool.state === state);
        if (state === "shown" && number === count(KINDS["+"])) continue;
        if (number > 0 || element.value === state) options.push([state, `· ${stateLabel(state)} (${number})`]);
      }
      show(options);
    },
  };
}
