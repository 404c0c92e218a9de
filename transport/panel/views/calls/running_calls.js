/** The calls that run, above all others: how far each is, for how long, and a button that ends it. */

import { duration, h, visible } from "../../dom.js";
import { api } from "../../engine.js";
import { attempt } from "../../messages.js";
import { keyedList, setText } from "../../keyed_list.js";
import { addressOf } from "./call_feed.js";
import { elapsedOf, whoOf } from "./call_words.js";

/** @typedef {import("./call_feed.js").CallRow} CallRow */

/** Seconds that a call has run before it is shown: most are over by then, and the page would jump with each. */
const LONG_SECONDS = 0.5;

/** How often the time that has passed is shown anew, milliseconds. */
const TICK_MS = 250;

export function runningCalls() {
  /** @type {CallRow[]} */
  let running = [];
  let isStarted = false;
  let tick = 0;
  const list = h("ul", { class: "running-list" });
  const element = h("section", { class: "card running", "aria-label": "Running calls", hidden: true }, list);
  const show = keyedList(list, (/** @type {CallRow} */ row) => String(row.id), runningRow);

  function draw() {
    running = running.filter((row) => row.state === "running");
    const long = running.filter((row) => elapsedOf(row) >= LONG_SECONDS);
    element.hidden = long.length === 0;
    show(long);
    const ticks = isStarted && running.length > 0;
    if (ticks && tick === 0) tick = setInterval(draw, TICK_MS);
    if (!ticks) {
      clearInterval(tick);
      tick = 0;
    }
  }

  return {
    element,
    /** @param {CallRow[]} rows every call */
    update(rows) {
      running = rows.filter((row) => row.state === "running");
      draw();
    },
    start() {
      isStarted = true;
      draw();
    },
    stop() {
      isStarted = false;
      draw();
    },
  };
}

/** @param {number} id */
export const cancelCall = (id) => attempt(() => api.post(`/api/calls/${id}/cancel`));

/**
 * @param {CallRow} first
 * @returns {import("../../keyed_list.js").Row<CallRow>}
 */
function runningRow(first) {
  const { id } = first;
  const tool = h("a", { class: "mono running-tool", href: addressOf(id) });
  const who = h("span", { class: "quiet small running-who" });
  const said = h("span", { class: "small running-said" });
  const elapsed = h("span", { class: "running-elapsed" });
  const bar = progressBar();
  const cancel = h("button", {
    onclick: async () => {
      cancel.disabled = true;
      await cancelCall(id);
      cancel.disabled = false;
    },
  }, "Cancel");
  return {
    element: h("li", {}, tool, who, h("span", { class: "running-progress" }, bar.element, said), elapsed, cancel),
    update(row) {
      setText(tool, visible(row.tool));
      setText(who, whoOf(row));
      setText(said, visible(row.progress?.message ?? ""));
      setText(elapsed, duration(elapsedOf(row)));
      bar.update(row, row.tool);
      cancel.hidden = !row.cancellable;
      cancel.setAttribute("aria-label", `Cancel ${visible(row.tool)}`);
    },
  };
}

/** How far a call is. One that does not say is shown as running, no more. */
export function progressBar() {
  const element = h("progress", { max: "1" });
  return {
    element,
    /**
     * @param {CallRow} row
     * @param {string} label
     */
    update({ progress }, label) {
      element.setAttribute("aria-label", `Progress of ${visible(label)}`);
      if (progress === null || progress.total === null || progress.total <= 0) {
        element.removeAttribute("value");
        element.title = progress === null ? "" : String(progress.done);
      } else {
        element.value = Math.min(progress.done / progress.total, 1);
        element.title = `${progress.done} of ${progress.total}`;
      }
    },
  };
}
