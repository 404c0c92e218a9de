/**
 * Undo and redo: as buttons, as keys, and as the list of steps. The same commands as `space undo` and `space redo`.
 *
 * @typedef {{ label: string }} Step
 * @typedef {{ world_id: string, revision: number, undo: Step[], redo: Step[] }} History
 * @typedef {{ key: string, label: string, way: "undo" | "redo", steps: number }} Row
 */

import { foreign, h, icon, visible } from "../../dom.js";
import { api, EngineError } from "../../engine.js";
import { attempt, confirm, toast } from "../../messages.js";
import { keyedList, setText } from "../../keyed_list.js";
import { counted } from "../tools/words.js";

const DONE = Object.freeze({ undo: "Undone", redo: "Redone" });

/** How often steps are tried to be gone while somebody else changes the world. */
const MOST_TRIES = 6;

/** Steps of which the engine tells at once, and those that a question names. */
const MOST_SHOWN = 1000;
const ADDED_SHOWN = 5;

export function historyPanel() {
  /** @type {History | null} */
  let history = null;
  /** Steps are gone one request after the other, however fast the key is pressed. */
  /** @type {Promise<unknown>} */
  let under = Promise.resolve();

  const undo = moveButton("undo", () => move("undo", 1));
  const redo = moveButton("redo", () => move("redo", 1));
  const future = h("ol", { class: "steps steps-redo", "aria-label": "Undone steps" });
  const past = h("ol", { class: "steps", "aria-label": "Steps, newest first" });
  const now = h("div", { class: "steps-now small" }, h("span", {}, "now"));
  const said = h("p", { class: "offscreen", role: "status" });
  const old = h("p", { class: "notice warn small", hidden: true });
  const none = h("p", { class: "quiet small" }, "Nothing has been done in this world yet.");
  const element = h(
    "section",
    { class: "card live-history", "aria-label": "History" },
    h("h2", {}, "History"),
    said,
    old,
    none,
    h("div", { class: "steps-box" }, future, now, past),
  );
  const create = (/** @type {Row} */ row) => stepRow(row, move);
  const keyOf = (/** @type {Row} */ row) => row.key;
  const showFuture = keyedList(future, keyOf, create);
  const showPast = keyedList(past, keyOf, create);

  /**
   * @param {"undo" | "redo"} way
   * @param {number} steps
   */
  function move(way, steps) {
    const seen = history;
    under = under.then(() => attempt(() => steps === 1 || seen === null ? one(way) : several(way, steps, seen)));
    return under;
  }

  /** @param {"undo" | "redo"} way */
  async function one(way) {
    const gone = await api.post(`/api/world/${way}`);
    // A single one is seen in the picture and in the list, and there may be many one after another.
    setText(said, `${DONE[way]}: ${labelsOf(gone, way).map(visible).join()}.`);
  }

  /**
   * All of several steps must be those that the person sees; what came meanwhile is asked about, once.
   *
   * @param {"undo" | "redo"} way
   * @param {number} steps
   * @param {History} seen
   */
  async function several(way, steps, seen) {
    let goal = steps;
    let base = seen.revision;
    let agreed = false;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      try {
        const gone = await api.post(`/api/world/${way}`, { steps: goal, base_revision: base });
        const count = labelsOf(gone, way).length;
        const text = `${DONE[way]}: ${counted(count, "step")}.`;
        setText(said, text);
        if (gone.stopped === null) return toast(text);
        return toast(`${text} Then somebody else changed the world, and ${goal - count} more stay as they were.`);
      } catch (error) {
        if (!(error instanceof EngineError) || error.status !== 409) throw error;
      }
      /** @type {History} */
      const now = await api.get(`/api/world/history?limit=${MOST_SHOWN}`);
      const added = addedTo(seen, now);
      if (way === "redo" || added === null) {
        return toast("The world has changed since, and these steps are others now. Choose again.", { kind: "error" });
      }
      goal = steps + added;
      base = now.revision;
      // Who has said yes to that may well mean what is drawn while the page asks again.
      agreed ||= await confirm({
        title: "The agent has drawn since",
        body: [
          h("p", {}, `${counted(added, "step")} came after what you saw. Undo ${added === 1 ? "that" : "those"} too?`),
          h(
            "ul",
            { class: "steps-added" },
            now.undo.slice(0, Math.min(added, ADDED_SHOWN)).map(({ label }) => h("li", {}, foreign(label))),
            added > ADDED_SHOWN && h("li", { class: "quiet" }, `and ${added - ADDED_SHOWN} more`),
          ),
        ],
        agree: `Undo all ${goal} steps`,
      });
      if (!agreed) return;
    }
    toast("The agent draws faster than it can be undone. Cancel its call first, under Calls.", { kind: "error" });
  }

  return {
    buttons: h("div", { class: "history-buttons", role: "group", "aria-label": "Undo and redo" }, undo, redo),
    element,
    /** @param {History} given */
    update(given) {
      history = given;
      old.hidden = true;
      showButton(undo, "Undo", given.undo[0]);
      showButton(redo, "Redo", given.redo[0]);
      none.hidden = given.undo.length + given.redo.length > 0;
      now.parentElement?.toggleAttribute("hidden", !none.hidden);
      now.hidden = given.redo.length === 0;
      showFuture(rowsOf("redo", given.redo).reverse());
      showPast(rowsOf("undo", given.undo));
    },
    /** @param {EngineError} error */
    failed(error) {
      old.hidden = false;
      setText(old, `This list is old. ${visible(error.message)}`);
    },
    /** @param {KeyboardEvent} event */
    onKey(event) {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || isWriting(event.target)) return;
      const key = event.key.toLowerCase();
      const way = key === "z" ? (event.shiftKey ? "redo" : "undo") : key === "y" ? "redo" : null;
      if (way === null) return;
      event.preventDefault();
      if (document.querySelector("dialog[open]") === null) move(way, 1);
    },
  };
}

/**
 * @param {any} gone
 * @param {"undo" | "redo"} way
 * @returns {string[]}
 */
const labelsOf = (gone, way) =>
  (way === "undo" ? gone.undone : gone.redone).map((/** @type {Step} */ each) => each.label);

/**
 * How many steps have come on top of those that were seen; null where it is not that alone.
 *
 * @param {History} seen
 * @param {History} now
 */
function addedTo(seen, now) {
  const added = now.revision - seen.revision;
  const isSame = seen.undo.every(({ label }, index) => now.undo[index + added]?.label === label);
  return added > 0 && now.world_id === seen.world_id && now.redo.length === 0 && isSame ? added : null;
}

/**
 * @param {"undo" | "redo"} way
 * @param {Step[]} steps the next one first
 * @returns {Row[]}
 */
function rowsOf(way, steps) {
  // From the far end, so that a row is the same one when another comes before it.
  return steps.map(({ label }, index) => ({ key: `${steps.length - index} ${label}`, label, way, steps: index + 1 }));
}

/**
 * @param {"undo" | "redo"} name
 * @param {() => void} run
 */
function moveButton(name, run) {
  return h("button", { onclick: run, disabled: true }, icon(name), h("span", {}));
}

/**
 * @param {HTMLButtonElement} button
 * @param {string} word
 * @param {Step | undefined} step
 */
function showButton(button, word, step) {
  button.disabled = step === undefined;
  setText(
    /** @type {HTMLElement} */ (button.lastElementChild),
    step === undefined ? word : `${word} ${visible(step.label)}`,
  );
  button.title = step === undefined ? `Nothing to ${word.toLowerCase()}` : `${word}: ${visible(step.label)}`;
}

/**
 * @param {Row} first
 * @param {(way: "undo" | "redo", steps: number) => void} move
 * @returns {import("../../keyed_list.js").Row<Row>}
 */
function stepRow(first, move) {
  let row = first;
  const label = h("span", { class: "step-label" });
  const button = h("button", { class: "bare step-go small", onclick: () => move(row.way, row.steps) });
  return {
    element: h("li", {}, label, button),
    update(now) {
      row = now;
      setText(label, visible(now.label));
      const word = now.way === "undo" ? "Undo" : "Redo";
      const others = now.way === "undo" ? "later" : "earlier";
      setText(button, now.steps === 1 ? `${word} this` : `${word} this and ${others}`);
      button.setAttribute("aria-label", `${button.textContent}: ${label.textContent}, ${counted(now.steps, "step")}`);
      button.title = now.steps === 1
        ? `${word}es this step alone`
        : `${word}es this step and the ${counted(now.steps - 1, "step")} ${now.way === "undo" ? "after" : "before"} it`;
    },
  };
}

/** @param {EventTarget | null} target */
function isWriting(target) {
  return target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input:not([type=checkbox]):not([type=radio]), textarea, select"));
}
