/** One row of the list of calls. */

import { clock, h, visible } from "../../dom.js";
import { setText } from "../../keyed_list.js";
import { reasonOf, stateOf, tookOf, whoOf } from "./call_words.js";

/** @typedef {import("./call_feed.js").CallRow} CallRow */

/** What the cells are, in their order. */
export const COLUMNS = Object.freeze(["Time", "Tool", "Who", "Arguments or error", "Took", "State"]);

/** @param {number} id */
export function callListRow(id) {
  const cells = ["time", "tool", "who", "look", "took"].map((name) =>
    h("span", { class: `call-${name}`, role: "gridcell" })
  );
  const [time, tool, who, look, took] = cells;
  // A cell is as high as its row; what is in it has two lines at most.
  const lines = h("span", { class: "call-lines" });
  look.append(lines);
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
      setText(tool, visible(row.tool));
      tool.title = visible(row.via === null ? row.tool : `${row.tool}, by ${row.via}`);
      setText(who, whoOf(row));
      who.title = visible([row.agent, row.client, row.source].filter((each) => each !== null).join(" · "));
      const given = row.arguments_preview === "{}" ? "" : visible(row.arguments_preview);
      setText(lines, row.error === null ? given : reasonOf(row));
      look.title = visible(row.error ?? "");
      element.classList.toggle("has-error", row.error !== null);
      look.classList.toggle("is-refused", state.label === "refused");
      setText(took, tookOf(row));
      setText(badge, state.label);
      badge.className = `badge ${state.kind}`;
    },
  };
}
