/** The last calls that change something, beside the picture: who made them, and what came of them. */

import { clock, h } from "../../dom.js";
import { api, EngineError, segment, subscribe } from "../../engine.js";
import { addressOf, callFeed } from "../calls/call_feed.js";
import { stateOf, tookOf, whoOf } from "../calls/call_words.js";
import { keyedList, setText } from "../../keyed_list.js";

/** @typedef {import("../calls/call_feed.js").CallRow} CallRow */

/** Calls of the list, and the latest ones among which they are looked for. */
const SHOWN = 8;
const LOOKED_AT = 200;

export function justNow() {
  /** Tools that the engine was asked about, and those of which it says that they change nothing. */
  /** @type {Set<string>} */
  const asked = new Set();
  /** @type {Set<string>} */
  const readers = new Set();
  /** Tools that were not offered when they were asked about, and so said nothing of themselves. @type {Set<string>} */
  const silent = new Set();
  const list = h("ul", { class: "now-list" });
  const empty = h("p", { class: "quiet small" }, "No agent has changed anything since the engine began.");
  const show = keyedList(list, (/** @type {CallRow} */ row) => String(row.id), callItem);
  let end = () => {};
  const feed = callFeed({ most: LOOKED_AT, changed: update });

  function update() {
    /** @type {CallRow[]} */
    const changing = [];
    for (const row of feed.rows().toReversed()) {
      if (readers.has(row.tool)) continue;
      learn(row.tool);
      if (changing.push(row) === SHOWN) break;
    }
    empty.hidden = changing.length > 0;
    show(changing);
  }

  /** @param {string} tool */
  async function learn(tool) {
    if (asked.has(tool)) return;
    asked.add(tool);
    try {
      const { definition } = await api.get(`/api/tools/${segment(tool)}`);
      if (definition === null) silent.add(tool);
      if (!definition?.annotations?.readOnlyHint) return;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      // What is no tool changes nothing.
      if (error.status !== 404) return;
    }
    readers.add(tool);
    update();
  }

  function toolsChanged() {
    for (const tool of silent) asked.delete(tool);
    silent.clear();
    update();
  }

  return {
    element: h("section", { class: "card live-now", "aria-label": "Just now" }, h("h2", {}, "Just now"), empty, list),
    start() {
      end();
      end = subscribe(["tools"], toolsChanged);
      feed.start();
    },
    stop() {
      end();
      feed.stop();
    },
  };
}

/** @returns {import("../../keyed_list.js").Row<CallRow>} */
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
