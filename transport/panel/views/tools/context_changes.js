/** What the last changes of the context have shown and hidden, newest first. */

import { clock, h, replace } from "../../dom.js";
import { watch } from "../../watch.js";
import { api } from "../../engine.js";
import { keyedList, setText } from "../../keyed_list.js";
import { addressOf } from "./tool_row.js";
import { ago, counted } from "./words.js";

/**
 * @typedef {{ from: unknown, to: unknown }} FromTo
 * @typedef {{
 *   at: number, facts: Record<string, FromTo>, overrides: Record<string, FromTo>, presets_shown: string[],
 *   presets_hidden: string[], tools_shown: string[], tools_hidden: string[],
 * }} Change
 */

/** How often "5 s ago" is said anew, milliseconds. */
const TICK_MS = 10_000;

/** From where on the list stands beside the tools, and so is open from the start. */
const WIDE = "(min-width: 1100px)";

/** @param {(isEmpty: boolean) => void} emptied is told whether there is anything to see, whenever that may have changed */
export function contextChanges(emptied) {
  const latest = h("span", { class: "quiet small" });
  const list = h("ol", { class: "changes" });
  const problem = h("p", { class: "notice bad", hidden: true });
  const element = h(
    "details",
    { class: "card context-changes", open: matchMedia(WIDE).matches },
    h("summary", {}, h("h2", {}, "Changes of context"), latest),
    problem,
    list,
  );
  /** @type {Change[]} */
  let changes = [];
  const show = keyedList(
    list,
    (/** @type {Change} */ change) => `${change.at} ${JSON.stringify(change.facts)}`,
    changeRow,
  );
  const state = watch(
    ["context", "presets", "tools"],
    async (signal) => (await api.get("/api/context/changes", { signal })).changes,
    (now) => {
      changes = now;
      problem.hidden = true;
      update();
    },
    (error) => {
      problem.hidden = false;
      setText(problem, error.message);
      update();
    },
  );
  let ticking = 0;

  function update() {
    emptied(changes.length === 0 && problem.hidden === true);
    show(changes);
    setText(latest, changes.length === 0 ? "" : ago(changes[0].at));
  }

  return {
    element,
    start() {
      state.start();
      ticking = setInterval(update, TICK_MS);
    },
    stop() {
      state.stop();
      clearInterval(ticking);
    },
    again: state.again,
  };
}

/**
 * @param {Change} change
 * @returns {import("../../keyed_list.js").Row<Change>}
 */
function changeRow(change) {
  const when = h("time", { class: "quiet small", title: clock(change.at) });
  const facts = [
    ...Object.entries(change.facts).sort(([one], [other]) => rank(one) - rank(other)),
    ...Object.entries(change.overrides ?? {}),
  ];
  const element = h(
    "li",
    {},
    h(
      "div",
      { class: "change-line" },
      h(
        "span",
        { class: "change-facts" },
        facts.length === 0 ? "The presets themselves have changed" : facts.flatMap(factWords),
      ),
      when,
    ),
    namesOf("shown", change.tools_shown),
    namesOf("hidden", change.tools_hidden),
    change.tools_shown.length + change.tools_hidden.length === 0 &&
      h("p", { class: "quiet small" }, "No tool was shown or hidden."),
  );
  return { element, update: (now) => setText(when, ago(now.at)) };
}

/** Where somebody is comes first; what follows from it, after. @param {string} fact */
const rank = (fact) => (["surface", "activity"].indexOf(fact) + 3) % 3;

/** @param {[string, { from: unknown, to: unknown }]} fact @param {number} index */
function factWords([name, { from, to }], index) {
  return [
    index > 0 && ", ",
    `${name} `,
    h("span", { class: "quiet" }, `${from ?? "none"} → `),
    h("strong", {}, String(to ?? "none")),
  ];
}

/**
 * @param {"shown" | "hidden"} what
 * @param {string[]} names
 */
function namesOf(what, names) {
  if (names.length === 0) return null;
  const list = h("div", { class: "change-names" });
  return h(
    "details",
    {
      ontoggle: () => {
        if (list.childElementCount === 0) {
          replace(list, names.map((name) => h("a", { class: "mono small", href: addressOf(name) }, name)));
        }
      },
    },
    h(
      "summary",
      {},
      h(
        "span",
        { class: `badge ${what === "shown" ? "good" : "warn"}` },
        `${what === "shown" ? "+" : "−"}${names.length}`,
      ),
      ` ${counted(names.length, "tool")} ${what}`,
    ),
    list,
  );
}
