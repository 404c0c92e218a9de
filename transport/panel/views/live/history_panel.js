/**
 * Undo and redo: as buttons, as keys, and as the list of steps. The same commands as `space undo` and `space redo`.
 *
 * @typedef {{ label: string }} Step
 * @typedef {{ world_id: string, revision: number, undo: Step[], redo: Step[] }} History
 * @typedef {{ key: string, label: string, way: "undo" | "redo", steps: number }} Row
 */

import { h, icon } from "../../dom.js";
import { api } from "../../engine.js";
import { attempt, toast } from "../../messages.js";
import { keyedList, setText } from "../../keyed_list.js";
import { counted } from "../tools/words.js";

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
  const none = h("p", { class: "quiet small" }, "Nothing has been done in this world yet.");
  const element = h(
    "section",
    { class: "card live-history", "aria-label": "History" },
    h("h2", {}, "History"),
    said,
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
    // Of several steps all must be those that the person sees.
    const body = steps === 1 ? {} : { steps, base_revision: history?.revision };
    under = under.then(() =>
      attempt(async () => {
        const gone = await api.post(`/api/world/${way}`, body);
        const labels = (way === "undo" ? gone.undone : gone.redone).map((/** @type {Step} */ each) => each.label);
        const done = labels.length === 1 ? labels[0] : counted(labels.length, "step");
        const text = `${way === "undo" ? "Undone" : "Redone"}: ${done}.${gone.stopped ? ` ${gone.stopped}` : ""}`;
        setText(said, text);
        // A single one is seen in the picture and in the list, and there may be many one after another.
        if (steps > 1) toast(text);
      })
    );
    return under;
  }

  return {
    buttons: h("div", { class: "history-buttons", role: "group", "aria-label": "Undo and redo" }, undo, redo),
    element,
    /** @param {History} given */
    update(given) {
      history = given;
      showButton(undo, "Undo", given.undo[0]);
      showButton(redo, "Redo", given.redo[0]);
      none.hidden = given.undo.length + given.redo.length > 0;
      now.parentElement?.toggleAttribute("hidden", !none.hidden);
      now.hidden = given.redo.length === 0;
      showFuture(rowsOf("redo", given.redo).reverse());
      showPast(rowsOf("undo", given.undo));
    },
    /** @param {import("../../engine.js").EngineError} error */
    failed(error) {
      if (error.status !== 0) toast(error.message, { kind: "error" });
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
  setText(/** @type {HTMLElement} */ (button.lastElementChild), step === undefined ? word : `${word} ${step.label}`);
  button.title = step === undefined ? `Nothing to ${word.toLowerCase()}` : `${word}: ${step.label}`;
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
      setText(label, now.label);
      setText(button, now.way === "undo" ? "Undo to here" : "Redo to here");
      button.setAttribute("aria-label", `${button.textContent}: ${now.label}, ${counted(now.steps, "step")}`);
      button.title = now.way === "undo"
        ? `Takes back this step and what came after it: ${counted(now.steps, "step")}`
        : `Does again ${counted(now.steps, "step")}, up to this one`;
    },
  };
}

/** @param {EventTarget | null} target */
function isWriting(target) {
  return target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input:not([type=checkbox]):not([type=radio]), textarea, select"));
}
