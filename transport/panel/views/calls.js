/**
 * The view "Calls": who is connected, what runs, and the last calls of tools with one of them whole.
 * Owns which call is open; the address says it: `#/calls`, `#/calls/ID`.
 */

import { h, visible } from "../dom.js";
import { actorTable } from "./calls/actor_table.js";
import { callDetail } from "./calls/call_detail.js";
import { addressOf, callFeed } from "./calls/call_feed.js";
import { callFilter } from "./calls/call_filter.js";
import { callList } from "./calls/call_list.js";
import { runningCalls } from "./calls/running_calls.js";
import { sessionTable } from "./calls/session_table.js";
import { setText } from "../keyed_list.js";
import { counted } from "./tools/words.js";

export const title = "Calls";

/** Calls that the list holds: as many as the engine keeps. */
const MOST_CALLS = 10_000;

/** Where the pane is below the list; `calls.css` says the same. */
const NARROW = "(max-width: 900px)";

/** How long the keyboard must rest on a call before the pane follows it, milliseconds. */
const REST_MS = 90;

/** @returns {import("../main.js").View} */
export function create() {
  /** @type {number | null} */
  let open = null;
  /** The timer of the pane that follows the keyboard. */
  let rest = 0;
  let drawing = 0;
  const narrow = matchMedia(NARROW);
  let anew = false;
  /** Whether the pane is to be seen where it is below the list: not while the keyboard goes through the list. */
  let comes = true;

  const problem = h("p", { class: "notice bad", hidden: true });
  const count = h("span", { class: "quiet small", role: "status" });
  const filter = callFilter(apply);
  const detail = callDetail(() => {
    if (comes && narrow.matches) detail.element.scrollIntoView({ block: "start" });
    comes = true;
  });
  const running = runningCalls();
  const sessions = sessionTable();
  const actors = actorTable();
  const list = callList({
    opened: (id) => go(id, false),
    moved: (id) => {
      clearTimeout(rest);
      if (open !== null) rest = setTimeout(() => go(id, true), REST_MS);
    },
  });
  const feed = callFeed({
    most: MOST_CALLS,
    changed: (isAnew) => {
      anew ||= isAnew;
      problem.hidden = true;
      // Many changes between two frames are one.
      if (drawing === 0) drawing = requestAnimationFrame(draw);
    },
    failed: (error) => {
      problem.hidden = false;
      setText(problem, `This list is old. ${visible(error.message)}`);
    },
  });
  const both = h("div", { class: "calls-both" }, list.element, detail.element);
  const element = h(
    "div",
    {
      class: "calls-view",
      onkeydown: (event) => {
        if (event.key === "Escape" && open !== null && !event.defaultPrevented) location.hash = "#/calls";
      },
    },
    h("h1", { class: "offscreen" }, "Calls"),
    h("div", { class: "calls-top" }, sessions.element, actors.element),
    problem,
    running.element,
    h("div", { class: "toolbar calls-tools" }, filter.element, count),
    both,
  );

  function draw() {
    drawing = 0;
    if (anew && feed.engineChanges() > 1) {
      list.restart();
      // The numbers begin at one again: what is open would be another call.
      if (open !== null) location.hash = "#/calls";
    }
    anew = false;
    running.update(feed.rows());
    apply();
    if (open !== null) detail.update(feed.get(open));
  }

  function apply() {
    const rows = feed.rows();
    const matching = filter.select(rows);
    list.update(matching, rows.length, filter.isOn());
    const all = counted(rows.length, "call");
    setText(count, filter.isOn() ? `${matching.length.toLocaleString()} of ${all}` : all);
  }

  /**
   * @param {number} id
   * @param {boolean} instead whether Back leads past the call that was open
   */
  function go(id, instead) {
    clearTimeout(rest);
    comes = !instead;
    if (instead) location.replace(addressOf(id));
    else location.hash = addressOf(id);
  }

  return {
    element,
    show(path) {
      const wasInside = detail.element.contains(document.activeElement);
      open = /^\d+$/.test(path[0] ?? "") ? Number(path[0]) : null;
      both.classList.toggle("is-open", open !== null);
      detail.show(open);
      feed.start();
      sessions.start();
      actors.start();
      running.start();
      list.open(open);
      if (open === null && wasInside) list.focus();
      if (open !== null) detail.update(feed.get(open));
    },
    hide() {
      clearTimeout(rest);
      cancelAnimationFrame(drawing);
      drawing = 0;
      feed.stop();
      sessions.stop();
      actors.stop();
      running.stop();
      detail.show(null);
    },
  };
}
