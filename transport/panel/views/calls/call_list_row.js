/** One row of the list of calls. */

import { clock, h } from "../../dom.js";
import { setText } from "../../keyed_list.js";
import { stateOf, tookOf, whoOf } from "./call_words.js";

/** @typedef {import("./call_feed.js").CallRow} CallRow */

/** What the cells are, in their order. */
export const COLUMNS = Object.freeze(["Time", "Tool", "Who", "Arguments or error", "Took", "State"]);

/** @param {number} id */
export function callListRow(id) {
  const cells = ["time", "tool", "who", "look", "took"].map((name) =>
    h("span", { class: `call-${name}`, role: "gridcell" })
  );
  const [time, tool, who, look, took] = cells;
  const badge = h("span", { class: "badge" });
  const element = h(
    "div",
    { class: "call-row", role: "row", id: `call-${id}`, data: { id: String(id) } },
    cells,
    h("span", { class: "call-state", role: "gridcell" }, badge),
  );
  let version = -1;
  return {
    element,
    /**
     * @param {CallRow} row
     * @param {{ index: number, top: number, isActive: boolean, isOpen: boolean }} place
     */
    update(row, { index, top, isActive, isOpen }) {
      element.style.transform = `translateY(${top}px)`;
      element.setAttribute("aria-rowindex", String(index + 1));
      element.classList.toggle("is-active", isActive);
      element.setAttribute("aria-selected", String(isOpen));
      if (version === row.version) return;
      version = row.version;
      const state = stateOf(row);
      setText(time, clock(row.started_at));
      setText(tool, row.tool);
      tool.title = row.via === null ? row.tool : `${row.tool}, by ${row.via}`;
      setText(who, whoOf(row));
      who.title = [row.agent, row.client, row.source].filter((each) => each !== null).join(" · ");
      setText(look, row.error ?? (row.arguments_preview === "{}" ? "" : row.arguments_preview));
      look.classList.toggle("is-error", row.error !== null);
      setText(took, tookOf(row));
      setText(badge, state.label);
      badge.className = `badge ${state.kind}`;
    },
  };
}
