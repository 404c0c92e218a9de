/** The last calls that change something, beside the picture: who made them, and what came of them. */

import { clock, h, visible } from "../../dom.js";
import { addressOf, callFeed } from "../calls/call_feed.js";
import { reasonOf, stateOf, tookOf, whoOf } from "../calls/call_words.js";
import { keyedList, setText } from "../../keyed_list.js";

/** @typedef {import("../calls/call_feed.js").CallRow} CallRow */

/** Calls of the list, and the latest ones among which they are looked for. */
const SHOWN = 8;
const LOOKED_AT = 200;

export function justNow() {
  const list = h("ul", { class: "now-list" });
  const empty = h("p", { class: "quiet small" }, "No agent has changed anything since the engine began.");
  const old = h("p", { class: "notice warn small", hidden: true });
  const show = keyedList(list, (/** @type {CallRow} */ row) => String(row.id), callItem);
  const feed = callFeed({
    most: LOOKED_AT,
    changed: update,
    failed: (error) => {
      old.hidden = false;
      setText(old, `This list is old. ${visible(error.message)}`);
    },
  });

  function update() {
    /** @type {CallRow[]} */
    const changing = [];
    for (const row of feed.rows().toReversed()) {
      if (mayChange(row) && changing.push(row) === SHOWN) break;
    }
    empty.hidden = changing.length > 0;
    old.hidden = true;
    show(changing);
  }

  return {
    element: h(
      "section",
      { class: "card live-now", "aria-label": "Just now" },
      h("h2", {}, "Just now"),
      old,
      empty,
      list,
    ),
    start: feed.start,
    stop: feed.stop,
  };
}

/**
 * Whether a call changes something, as far as the engine knows. What a program has done stands there as calls of its own,
 * so the call that ran it is one only where it came to no good end. What is no tool changes nothing.
 *
 * @param {CallRow} row
 */
function mayChange(row) {
  if (row.read_only === true || (row.read_only === null && row.state === "refused")) return false;
  return row.source === "program" || row.program_id === null || row.state === "failed" || row.state === "refused";
}

/** @returns {import("../../keyed_list.js").Row<CallRow>} */
function callItem() {
  const tool = h("span", { class: "mono now-tool" });
  const state = h("span", { class: "badge" });
  const [began, who, took] = [h("span", {}), h("bdi", {}), h("span", {})];
  const facts = h("span", { class: "quiet small now-facts" }, began, who, took);
  const error = h("span", { class: "now-error small" });
  const link = h("a", {}, h("span", { class: "now-head" }, tool, state), facts, error);
  return {
    element: h("li", {}, link),
    update(row) {
      const outcome = stateOf(row);
      link.setAttribute("href", addressOf(row.id));
      setText(tool, visible(row.tool));
      setText(state, outcome.label);
      state.className = `badge ${outcome.kind}`;
      setText(began, clock(row.started_at));
      setText(who, whoOf(row));
      setText(took, tookOf(row));
      took.hidden = row.seconds === null;
      setText(error, reasonOf(row));
      error.title = visible(row.error ?? "");
      error.hidden = row.error === null;
      error.classList.toggle("is-refused", outcome.label === "refused");
    },
  };
}
