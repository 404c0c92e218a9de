/** The last programs, latest first: what each was, who ran it, and how it ended. */

import { clock, duration, foreign, h, icon, visible } from "../../dom.js";
import { segment } from "../../engine.js";
import { copy } from "../../messages.js";
import { keyedList, setText } from "../../keyed_list.js";
import { counted } from "../tools/words.js";

/**
 * @typedef {{
 *   id: string, agent: string, description: string, started_at: string, seconds: number | null,
 *   failure: string | null, call_count: number, steps: number, running: boolean,
 * }} ProgramFacts
 */

/** @param {string} id */
export const addressOf = (id) => `#/programs/${segment(id)}`;

/** Epoch seconds of when it began. @param {ProgramFacts} program */
export const startOf = (program) => Date.parse(program.started_at) / 1000;

/**
 * How it stands, in a word.
 *
 * @param {ProgramFacts} program
 * @returns {{ label: string, kind: string }}
 */
export function outcomeOf({ running, failure }) {
  if (running) return { label: "running", kind: "accent" };
  if (failure === null) return { label: "done", kind: "good" };
  const label = failure.split(":", 1)[0];
  return { label, kind: label === "abort" || label === "refused" ? "warn" : "bad" };
}

/** @param {() => string | null} open the id of the program that is looked at */
export function programList(open) {
  const list = h("ul", { class: "program-list", onkeydown: step });
  const address = `${location.origin}/mcp/code`;
  const empty = h(
    "div",
    { class: "empty", hidden: true },
    h("p", {}, "No program has been run since the engine began."),
    h("p", {}, "An agent that presents code runs them. Give this address to its MCP client:"),
    h(
      "p",
      {},
      h("code", {}, address),
      " ",
      h("button", { class: "bare", "aria-label": "Copy the address", onclick: () => copy(address) }, icon("copy")),
    ),
    h("p", {}, "Or do it yourself with ", h("code", {}, "space run FILE.ts"), "."),
  );
  const show = keyedList(list, (/** @type {ProgramFacts} */ program) => program.id, (program) => row(program, open));

  /** @param {KeyboardEvent} event */
  function step(event) {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (by === undefined) return;
    const links = [...list.querySelectorAll("a")];
    const next = links[links.indexOf(/** @type {any} */ (document.activeElement)) + by];
    event.preventDefault();
    next?.focus();
  }

  return {
    element: h("div", { class: "card program-rows" }, list, empty),
    /** @param {ProgramFacts[]} programs */
    update(programs) {
      empty.hidden = programs.length > 0;
      show(programs);
    },
  };
}

/**
 * @param {ProgramFacts} program
 * @param {() => string | null} open
 * @returns {import("../../keyed_list.js").Row<ProgramFacts>}
 */
function row(program, open) {
  const badge = h("span", { class: "badge" });
  const facts = h("span", { class: "quiet small" });
  const failure = h("span", { class: "program-failure small" });
  const link = h(
    "a",
    { href: addressOf(program.id) },
    h("span", { class: "program-title" }, h("span", {}, foreign(program.description || program.id)), badge),
    facts,
    failure,
  );
  return {
    element: h("li", {}, link),
    update(now) {
      const outcome = outcomeOf(now);
      setText(badge, outcome.label);
      badge.className = `badge ${outcome.kind}`;
      setText(facts, factsOf(now).join(" · "));
      setText(failure, now.failure === null ? "" : visible(now.failure.split("\n", 1)[0]));
      failure.hidden = now.failure === null;
      if (open() === now.id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    },
  };
}

/** @param {ProgramFacts} program */
function factsOf(program) {
  return [
    clock(startOf(program)),
    program.agent,
    ...(program.seconds === null ? [] : [
      duration(program.seconds),
      counted(program.call_count, "call"),
      counted(program.steps, "step"),
    ]),
  ];
}
