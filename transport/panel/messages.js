/** What the page says to the person, and asks them. Owns the toasts and the question before something risky. */

import { foreign, h, icon } from "./dom.js";
import { EngineError, isTokenRequired } from "./engine.js";

/** How long a message stays, milliseconds; one with a button stays longer, since somebody has to reach it. */
const TOAST_MS = 5000;
const TOAST_WITH_BUTTON_MS = 12_000;

/**
 * Say something at the edge of the page. `action` is a button beside it.
 *
 * @param {string} text
 * @param {{ kind?: "note" | "error", action?: { label: string, run: () => void } }} [options]
 */
export function toast(text, { kind = "note", action } = {}) {
  const element = h(
    "div",
    { class: `toast toast-${kind}` },
    h("span", {}, foreign(text)),
    action && h("button", { onclick: () => (element.remove(), action.run()) }, action.label),
    h("button", { class: "bare", "aria-label": "Dismiss", onclick: () => element.remove() }, icon("close")),
  );
  document.getElementById("toasts")?.append(element);
  setTimeout(() => element.remove(), action ? TOAST_WITH_BUTTON_MS : TOAST_MS);
}

/**
 * Do something for the person, and say so where it fails. Gives its value, or undefined.
 *
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T | undefined>}
 */
export async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    // Of that the page says itself, in the place of its views.
    if (!isTokenRequired(error)) toast(error.message, { kind: "error" });
    return undefined;
  }
}

/**
 * Ask once. `body` says what would happen; true when the person agreed.
 *
 * @param {{ title: string, body: import("./dom.js").Child[], agree: string, danger?: boolean }} question
 * @returns {Promise<boolean>}
 */
export async function confirm({ title, body, agree, danger = false }) {
  return await answer(title, body, agree, danger) === "agreed";
}

/**
 * Ask for a short text; null when the person gave none.
 *
 * @param {{ title: string, label: string, agree: string }} question
 * @returns {Promise<string | null>}
 */
export async function askText({ title, label, agree }) {
  const field = h("input", { type: "text", name: "text", required: true, autocomplete: "off" });
  const given = await answer(title, [h("label", { class: "stacked" }, label, field)], agree, false);
  const text = field.value.trim();
  return given === "agreed" && text !== "" ? text : null;
}

/**
 * A dialog with a form: closed by its buttons, by Enter, and by Escape.
 *
 * @param {string} title
 * @param {import("./dom.js").Child[]} body
 * @param {string} agree
 * @param {boolean} danger
 * @returns {Promise<"agreed" | "">}
 */
function answer(title, body, agree, danger) {
  return new Promise((resolve) => {
    const form = h(
      "form",
      { method: "dialog" },
      h("h2", {}, title),
      h("div", { class: "dialog-body" }, ...body),
      h(
        "div",
        { class: "dialog-buttons" },
        h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
        h("button", { class: danger ? "danger" : "primary", value: "agreed" }, agree),
      ),
    );
    const dialog = h("dialog", {
      "aria-label": title,
      onclose: () => {
        dialog.remove();
        resolve(dialog.returnValue === "agreed" ? "agreed" : "");
      },
    }, form);
    document.body.append(dialog);
    dialog.showModal();
  });
}

/**
 * Put text on the clipboard, and say so.
 *
 * @param {string} text
 */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied.");
  } catch {
    const area = h("textarea", { class: "offscreen", value: text });
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    toast(copied ? "Copied." : "The browser did not let the page copy.", { kind: copied ? "note" : "error" });
  }
}
