/** The last calls that change something, beside the picture: who made them, and what came of them. */

import { clock, h } from "../../dom.js";
import { api, EngineError, segment } from "../../engine.js";
import { addressOf, callFeed } from "../calls/call_feed.js";
import { stateOf, tookOf, whoOf } from "../calls/call_words.js";
import { keyedList, setText } from "../tools/keyed_list.js";

/** @typedef {import("../calls/call_feed.js").CallRow} CallRow */

/** Calls of the list, and the latest ones among which they are looked for. */
const SHOWN = 8;
const LOOKED_AT = 200;

export function justNow() {
  /** Tools of which the engine says that they change nothing. @type {Map<string, Promise<void>>} */
  const asked = new Map();
  /** @type {Set<string>} */
  const readers = new Set();
  const list = h("ul", { class: "now-list" });
  const empty = h("p", { class: "quiet small" }, "No agent has changed anything since the engine began.");
  const show = keyedList(list, (/** @type {CallRow} */ row) => String(row.id), callItem);
  const feed = callFeed({ most: LOOKED_AT, changed: update });

  function update() {
    const rows = feed.rows().slice().reverse();
    for (const { tool } of rows) learn(tool);
    const changing = rows.filter((row) => !readers.has(row.tool)).slice(0, SHOWN);
    empty.hidden = changing.length > 0;
    show(changing);
  }

  /** @param {string} tool */
  function learn(tool) {
    if (asked.has(tool)) return;
    asked.set(
      tool,
      api.get(`/api/tools/${segment(tool)}`).then((facts) => {
        // One that is not offered now says nothing of itself; it may later.
        if (facts.definition === null) asked.delete(tool);
        if (!facts.definition?.annotations?.readOnlyHint) return;
        readers.add(tool);
        update();
      }).catch((error) => {
        asked.delete(tool);
        if (!(error instanceof EngineError)) throw error;
      }),
    );
  }

  return {
    element: h("section", { class: "card live-now", "aria-label": "Just now" }, h("h2", {}, "Just now"), empty, list),
    start: feed.start,
    stop: feed.stop,
  };
}

/** @returns {import("../tools/keyed_list.js").Row<CallRow>} */
function callItem() {
  const tool = h("span", { class: "mono now-tool" });
  const state = h("span", { class: "badge" });
  const facts = h("span", { class: "quiet small" });
  const error = h("span", { class: "now-error small" });
  const link = h("a", {}, h("span", { class: "now-head" }, tool, state), facts, error);
  return {
    element: h("li", {}, link),
    update(row) {
      const outcome = stateOf(row);
      link.setAttribute("href", addressOf(row.id));
      setText(tool, row.tool);
      setText(state, outcome.label);
      state.className = `badge ${outcome.kind}`;
      setText(facts, [clock(row.started_at), whoOf(row), tookOf(row)].filter((each) => each !== "").join(" · "));
      setText(error, row.error ?? "");
      error.hidden = row.error === null;
    },
  };
}
