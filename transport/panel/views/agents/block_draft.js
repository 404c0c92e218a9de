/**
 * A text field that saves itself: when it is left, with Ctrl+S, and after a pause. Owns that nothing typed is lost: what
 * comes from the engine never goes over it, a refusal leaves it where it is, and it outlives the view.
 *
 * @typedef {import("./config_store.js").State} State
 * @typedef {import("./config_store.js").Result} Result
 * @typedef {import("./config_store.js").ConfigStore} ConfigStore
 * @typedef {Map<string, { text: string, seen: State }>} Drafts texts that are not saved yet, by their key
 */

import { h, replace } from "../../dom.js";

/** A pause of this long saves, milliseconds: longer than a thought between two words, shorter than a look away. */
const PAUSE_MS = 1500;

/**
 * Let the field save itself. `read` gives the engine's text, or undefined where there is none now; `write` sends one,
 * and `base` is what the person saw when they began. `problem` says what is wrong with a text, which is then not sent.
 *
 * @param {HTMLInputElement | HTMLTextAreaElement} field
 * @param {{
 *   store: ConfigStore, drafts: Drafts, key: string,
 *   read: (state: State) => string | undefined,
 *   write: (text: string, options: { base: State }) => Promise<Result>,
 *   problem?: (text: string) => string | null,
 *   shown?: (text: string) => void,
 * }} options
 */
export function selfSaving(field, { store, drafts, key, read, write, problem = () => null, shown = () => {} }) {
  const status = h("span", { class: "draft-state small", "aria-live": "polite" });
  /** The engine's text that the field is compared with. */
  let known = "";
  /** What the person saw when they began to type. @type {State | null} */
  let seen = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pause;
  let saving = false;
  let said = "";

  const kept = drafts.get(key);
  const first = store.state === null ? undefined : read(store.state);
  if (kept !== undefined) {
    known = read(kept.seen) ?? "";
    seen = kept.seen;
    show(kept.text);
    say("Not saved yet", "unsaved");
  } else if (first !== undefined) {
    known = first;
    show(first);
  }

  field.addEventListener("input", typed);
  field.addEventListener("blur", () => void flush());
  field.addEventListener("keydown", (event) => {
    const { key: pressed, ctrlKey, metaKey } = /** @type {KeyboardEvent} */ (event);
    if (pressed.toLowerCase() !== "s" || !(ctrlKey || metaKey)) return;
    event.preventDefault();
    void flush(true);
  });

  const dirty = () => seen !== null && field.value !== known;

  function typed() {
    shown(field.value);
    clearTimeout(pause);
    if (field.value === known) {
      if (!saving) settle();
      return say("", "");
    }
    seen ??= store.state;
    if (seen === null) return;
    drafts.set(key, { text: field.value, seen });
    const wrong = problem(field.value);
    if (wrong !== null) return say(wrong, "wrong");
    if (!isStale()) {
      say("Not saved yet", "unsaved");
      pause = setTimeout(() => void flush(), PAUSE_MS);
    }
  }

  /** Save what was typed. With `asked` it is said, too, where there is nothing to save. */
  async function flush(asked = false) {
    clearTimeout(pause);
    if (saving) return;
    if (!dirty()) {
      if (asked) say("Saved", "saved");
      return;
    }
    const base = /** @type {State} */ (seen);
    const text = field.value;
    const wrong = problem(text);
    if (wrong !== null) return say(wrong, "wrong");
    saving = true;
    say("Saving…", "saving");
    const { outcome, error } = await write(text, { base }).finally(() => {
      saving = false;
    });
    if (outcome === "refused") {
      say(`Not saved: ${error?.message}`, "wrong");
      status.append(" ", h("button", { class: "small", onclick: () => void flush() }, "Try again"));
      return;
    }
    const now = store.state === null ? undefined : read(store.state);
    known = now ?? text;
    if (field.value === text) {
      settle();
      if (known !== text) show(known);
      say(outcome === "saved" ? "Saved" : "", "saved");
    } else if (outcome === "theirs") {
      // The other version was taken, over a text that was typed on meanwhile: that one is newer than the question.
      seen = store.state;
      typed();
    } else {
      seen = store.state;
      typed();
    }
  }

  /** The engine has something new. */
  function refresh() {
    if (store.state === null) return;
    if (saving) {
      if (store.conflict !== null) return say("Not saved: there are two versions", "wrong");
      return say(store.waiting ? "Waiting for the engine…" : "Saving…", "saving");
    }
    const text = read(store.state);
    if (text === undefined) return;
    if (!dirty()) {
      if (text !== known || field.value !== text) {
        known = text;
        show(text);
      }
      return;
    }
    if (text === field.value) {
      known = text;
      settle();
      return say("Saved", "saved");
    }
    if (isStale()) {
      clearTimeout(pause);
      say("Changed in another window meanwhile: saving asks which to keep", "wrong");
    }
  }

  /** Whether somebody else has changed the text since the person began. */
  function isStale() {
    const text = store.state === null ? undefined : read(store.state);
    return text !== undefined && text !== known;
  }

  function settle() {
    seen = null;
    drafts.delete(key);
    clearTimeout(pause);
  }

  /** @param {string} text */
  function show(text) {
    const { selectionStart, selectionEnd } = field;
    field.value = text;
    if (document.activeElement === field) field.setSelectionRange(selectionStart, selectionEnd);
    shown(text);
  }

  /**
   * @param {string} text
   * @param {string} kind
   */
  function say(text, kind) {
    if (said === `${kind} ${text}`) return;
    said = `${kind} ${text}`;
    status.className = `draft-state small ${kind && `is-${kind}`}`;
    replace(status, text);
  }

  return {
    status,
    refresh,
    flush,
    /** Whether it holds something that the engine does not have. */
    get dirty() {
      return saving || dirty();
    },
    /** Leave what was typed, and show what the engine has. */
    discard() {
      settle();
      const text = store.state === null ? undefined : read(store.state);
      if (text !== undefined) show(known = text);
      say("", "");
    },
  };
}

/**
 * Put a text where the caret is, so that the browser's own undo takes it back.
 *
 * @param {HTMLTextAreaElement} field
 * @param {string} text
 */
export function insertText(field, text) {
  field.focus();
  // The one way that keeps the field's undo; what replaces it in the standards does not.
  if (document.execCommand("insertText", false, text)) return;
  field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
