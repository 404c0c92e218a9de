/** The statistics of the engine's actors, for whoever wants to know what the engine does: collapsed at first. */

import { duration, h } from "../../dom.js";
import { api } from "../../engine.js";
import { watch } from "../../watch.js";
import { keyedList, setText } from "../../keyed_list.js";

/**
 * @typedef {{
 *   name: string, depth: number, capacity: number, handled: number, refused: number, failed: number, withdrawn: number,
 *   busy_seconds: number, longest_seconds: number, seconds_per_message: number,
 * }} Actor
 */

/** How often the figures are asked for while somebody looks, milliseconds. */
const LOOK_MS = 1500;

/** @type {readonly [string, string, (actor: Actor) => string][]} */
const COLUMNS = [
  ["Waiting", "Messages in the mailbox, of so many that it takes", (actor) => `${actor.depth} / ${actor.capacity}`],
  ["Handled", "Steps that ran to their end", (actor) => actor.handled.toLocaleString()],
  ["Refused", "Steps that ended in an error of the asker", (actor) => actor.refused.toLocaleString()],
  ["Failed", "Steps that ended in a fault of the engine", (actor) => actor.failed.toLocaleString()],
  ["Withdrawn", "Messages that nobody waited for any more", (actor) => actor.withdrawn.toLocaleString()],
  ["Mean", "Time of a step", (actor) => brief(actor.seconds_per_message)],
  ["Longest", "The longest step", (actor) => brief(actor.longest_seconds)],
  ["Busy", "Time of all steps", (actor) => brief(actor.busy_seconds)],
];

export function actorTable() {
  const body = h("tbody", {});
  const show = keyedList(body, (/** @type {Actor} */ actor) => actor.name, actorRow);
  const state = watch([], (signal) => api.get("/status", { signal }), (status) => show(status.actors));
  let isStarted = false;
  let look = 0;
  const element = h(
    "details",
    { class: "card actors", ontoggle: apply },
    h("summary", {}, "Actors of the engine"),
    h(
      "div",
      { class: "table-box" },
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, "Actor"),
            COLUMNS.map(([name, meaning]) => h("th", { scope: "col", class: "number", title: meaning }, name)),
          ),
        ),
        body,
      ),
    ),
  );

  function apply() {
    clearInterval(look);
    if (isStarted && element.open) {
      state.start();
      look = setInterval(state.again, LOOK_MS);
    } else state.stop();
  }

  return {
    element,
    start() {
      if (isStarted) return;
      isStarted = true;
      apply();
    },
    stop() {
      isStarted = false;
      apply();
    },
  };
}

/** @returns {import("../../keyed_list.js").Row<Actor>} */
function actorRow() {
  const name = h("th", { scope: "row", class: "mono" });
  const cells = COLUMNS.map(() => h("td", { class: "number" }));
  return {
    element: h("tr", {}, name, cells),
    update(actor) {
      setText(name, actor.name);
      COLUMNS.forEach(([, , textOf], index) => setText(cells[index], textOf(actor)));
      cells[3].classList.toggle("is-bad", actor.failed > 0);
    },
  };
}

/** @param {number} seconds */
const brief = (seconds) => seconds > 0 && seconds < 0.001 ? `${(seconds * 1e6).toFixed(0)} µs` : duration(seconds);
