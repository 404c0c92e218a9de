/** Which calls the list shows: by text, by state, by the way they came. Owns these three controls. */

import { h } from "../../dom.js";
import { stateOf } from "./call_words.js";

/** @typedef {import("./call_feed.js").CallRow} CallRow */

/** @type {readonly CallRow["state"][]} */
const STATES = ["running", "done", "failed", "refused", "cancelled"];
const SOURCES = [["mcp", "MCP"], ["rest", "REST"], ["program", "programs"]];

/** @param {() => void} changed */
export function callFilter(changed) {
  const text = h("input", {
    type: "search",
    class: "calls-search",
    "aria-label": "Find calls",
    placeholder: "Tool, agent, client, error, arguments",
    oninput: changed,
  });
  const state = h(
    "select",
    { "aria-label": "State", onchange: changed },
    h("option", { value: "" }, "every state"),
    STATES.map((each) => h("option", { value: each }, each)),
  );
  const source = h(
    "select",
    { "aria-label": "Source", onchange: changed },
    h("option", { value: "" }, "every source"),
    SOURCES.map(([value, label]) => h("option", { value }, label)),
  );
  const clear = h("button", {
    class: "bare",
    hidden: true,
    onclick: () => {
      text.value = state.value = source.value = "";
      changed();
      text.focus();
    },
  }, "Clear");

  const words = () => text.value.toLowerCase().split(/\s+/).filter((each) => each !== "");
  const isOn = () => text.value.trim() !== "" || state.value !== "" || source.value !== "";

  /** What is looked through of a call, kept until the call changes. @type {WeakMap<CallRow, [number, string]>} */
  const haystacks = new WeakMap();

  /** @param {CallRow} row */
  function haystackOf(row) {
    const kept = haystacks.get(row);
    if (kept !== undefined && kept[0] === row.version) return kept[1];
    const made = [row.tool, row.via, row.agent, row.client, row.error, row.arguments_preview].join("\n").toLowerCase();
    haystacks.set(row, [row.version, made]);
    return made;
  }

  return {
    element: h("div", { class: "toolbar", role: "search", "aria-label": "Calls" }, text, state, source, clear),
    isOn,
    /**
     * Those that are wanted, the newest first.
     *
     * @param {CallRow[]} rows the oldest first
     */
    select(rows) {
      clear.hidden = !isOn();
      const wanted = words();
      /** @type {CallRow[]} */
      const found = [];
      for (let index = rows.length - 1; index >= 0; index--) {
        const row = rows[index];
        // Made for every row as it comes, so that the first letter need not wait for ten thousand of them.
        const haystack = haystackOf(row);
        if (state.value !== "" && stateOf(row).label !== state.value) continue;
        if (source.value !== "" && row.source !== source.value) continue;
        if (wanted.every((word) => haystack.includes(word))) found.push(row);
      }
      return found;
    },
  };
}
