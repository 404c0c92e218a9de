/**
 * A field for a script: line numbers, a mark at the line of an error, indentation. Owns the keys in it: Tab leaves the
 * field as everywhere, until the person has chosen that it indents; Escape, then Tab, always leaves it.
 */

import { h, replace } from "../../dom.js";
import { insertText } from "./block_draft.js";

const INDENT = "  ";

/** The lines that the field shows without scrolling: at least, and at most. */
const LEAST_LINES = 6;
const MOST_LINES = 26;

let tabIndents = false;

/** @param {{ id: string, label: string }} options */
export function codeField({ id, label }) {
  const numbers = h("pre", { class: "code-numbers", "aria-hidden": "true" });
  const hint = h("span", { class: "quiet small", id: `${id}-hint` });
  const area = h("textarea", {
    ...{ id, class: "code-area", wrap: "off", spellcheck: "false", autocomplete: "off", autocapitalize: "off" },
    ...{ "aria-label": label, "aria-describedby": `${id}-hint` },
    onscroll: () => numbers.scrollTop = area.scrollTop,
    oninput: changed,
    onkeydown: pressed,
    onblur: left,
  });
  const mode = h("button", { type: "button", class: "small", "aria-pressed": "false", onclick: toggle }, "Tab indents");
  const element = h(
    "div",
    { class: "code" },
    h("div", { class: "code-field" }, numbers, area),
    h("div", { class: "toolbar code-foot" }, mode, hint),
  );
  /** Whether Escape was pressed, so that the next Tab leaves. */
  let leaving = false;
  /** @type {number | null} */
  let marked = null;
  let shown = "";

  function toggle() {
    tabIndents = !tabIndents;
    sayMode();
    area.focus();
  }

  function left() {
    leaving = false;
    sayMode();
  }

  function sayMode() {
    mode.setAttribute("aria-pressed", String(tabIndents));
    if (!tabIndents) replace(hint, "Tab leaves the field.");
    else if (leaving) replace(hint, "The next Tab leaves the field.");
    else replace(hint, "Tab and Shift+Tab indent. Esc, then Tab, leaves the field.");
  }

  function changed() {
    const lines = area.value.split("\n").length;
    const key = `${lines} ${marked}`;
    if (key !== shown) {
      shown = key;
      area.rows = Math.min(MOST_LINES, Math.max(LEAST_LINES, lines + 1));
      const all = Array.from({ length: lines }, (_, index) => index + 1);
      const until = marked === null || marked > lines ? lines : marked - 1;
      replace(
        numbers,
        all.slice(0, until).map((each) => `${each}\n`).join(""),
        until < lines && h("mark", {}, `${marked}`),
        until < lines && `\n${all.slice(until + 1).map((each) => `${each}\n`).join("")}`,
      );
    }
    numbers.scrollTop = area.scrollTop;
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    if (event.key === "Escape" && tabIndents) {
      leaving = true;
      sayMode();
    } else if (event.key === "Tab" && tabIndents && !leaving && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      indent(event.shiftKey);
    } else if (event.key === "Enter" && !event.isComposing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const before = area.value.slice(0, area.selectionStart);
      const blanks = /^[ \t]*/.exec(before.slice(before.lastIndexOf("\n") + 1))?.[0] ?? "";
      if (blanks === "") return;
      event.preventDefault();
      insertText(area, `\n${blanks}`);
    } else if (leaving && event.key !== "Tab" && event.key !== "Shift") {
      leaving = false;
      sayMode();
    }
  }

  /** @param {boolean} back */
  function indent(back) {
    const { selectionStart: start, selectionEnd: end, value } = area;
    if (!back && !value.slice(start, end).includes("\n")) return insertText(area, INDENT);
    const from = value.lastIndexOf("\n", start - 1) + 1;
    const old = value.slice(from, end);
    const lines = old.split("\n");
    const fresh = lines.map((line) => back ? line.replace(/^( {1,2}|\t)/, "") : line && INDENT + line).join("\n");
    if (fresh === old) return;
    area.setSelectionRange(from, end);
    insertText(area, fresh);
    if (lines.length > 1) area.setSelectionRange(from, from + fresh.length);
    else area.setSelectionRange(Math.max(from, start + fresh.length - old.length), from + fresh.length);
  }

  sayMode();
  changed();
  return {
    element,
    area,
    /** Whether Escape is for the field: it leaves the mode in which Tab indents. */
    get takesEscape() {
      return tabIndents && document.activeElement === area;
    },
    /** The text was set from outside. */
    changed,
    /**
     * Mark the line where an error is; null for none.
     *
     * @param {number | null} line
     */
    mark(line) {
      marked = line;
      changed();
    },
  };
}
