/** The calls of a program in the order in which they were made, each as a bar over the time that it took. */

import { duration, h, replace, visible } from "../../dom.js";
import { keyedList, setText } from "../../keyed_list.js";
import { addressOf } from "../tools/tool_row.js";

/**
 * One call; times are seconds from the start of the program, `seconds` is null while it runs.
 *
 * @typedef {{ tool: string, arguments: string, started: number, seconds: number | null, error: string | null }} CallFacts
 * @typedef {CallFacts & { index: number, from: number, span: number, now: number }} Bar
 */

/** The narrowest bar, in percent of all: what took no time is seen as well. */
const NARROWEST = 0.6;

export function timeline() {
  const list = h("ol", { class: "timeline" });
  const note = h("p", { class: "quiet small" });
  const element = h("div", {}, note, list);
  const show = keyedList(list, (/** @type {Bar} */ bar) => String(bar.index), callRow);
  return {
    element,
    /**
     * @param {CallFacts[]} calls
     * @param {number} now seconds from the start of the program; the end of what still runs
     */
    update(calls, now) {
      const from = Math.min(...calls.map((call) => call.started));
      const to = Math.max(...calls.map((call) => call.started + (call.seconds ?? Math.max(now - call.started, 0))));
      const span = Math.max(to - from, 1e-4);
      setText(
        note,
        calls.length === 0
          ? "It has called no tool."
          : `${duration(from)} until the first call, most of it for the check; ${duration(to - from)} from there ` +
            "to the end of the last one.",
      );
      show(calls.map((call, index) => ({ ...call, index, from, span, now })));
    },
  };
}

/** @returns {import("../../keyed_list.js").Row<Bar>} */
function callRow() {
  const tool = h("a", { class: "mono" });
  const took = h("span", { class: "quiet small call-took" });
  const bar = h("span", { class: "bar" });
  const track = h("span", { class: "track", "aria-hidden": "true" }, bar);
  const look = h("summary", { class: "mono small" });
  const whole = h("pre", {});
  const error = h("p", { class: "call-error small" });
  const details = h(
    "details",
    {
      ontoggle: () => {
        if (details.open) replace(whole, pretty(look.textContent ?? ""));
      },
    },
    look,
    whole,
  );
  const element = h("li", { class: "call" }, h("span", { class: "call-line" }, tool, track, took), details, error);
  return {
    element,
    update(call) {
      setText(tool, call.tool);
      tool.setAttribute("href", addressOf(call.tool));
      const seconds = call.seconds ?? Math.max(call.now - call.started, 0);
      setText(took, call.seconds === null ? "running…" : duration(call.seconds));
      took.title = `began after ${duration(call.started)}`;
      bar.className = `bar ${call.error !== null ? "bad" : call.seconds === null ? "running" : ""}`;
      const width = Math.max(100 * seconds / call.span, NARROWEST);
      bar.style.width = `${width}%`;
      bar.style.left = `${Math.min(100 * (call.started - call.from) / call.span, 100 - width)}%`;
      setText(look, visible(call.arguments));
      details.hidden = call.arguments === "" || call.arguments === "{}";
      setText(error, visible(call.error ?? ""));
      error.hidden = call.error === null;
    },
  };
}

/** @param {string} text */
export function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
