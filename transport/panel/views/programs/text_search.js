/** A search in a long text on the page: how often, where, and from one place to the next. Changes nothing of the text. */

import { h, icon } from "../../dom.js";
import { setText } from "../../keyed_list.js";

/** Places that are shown, at most: beyond that, nobody goes from one to the next. */
const MOST_PLACES = 999;

const ALL = "text-search";
const CURRENT = "text-search-current";

/**
 * @param {HTMLElement} text what is searched; its children are the lines
 * @param {string} label
 */
export function textSearch(text, label) {
  /** @type {Range[]} */
  let places = [];
  let at = 0;
  const field = h("input", {
    type: "search",
    placeholder: label,
    "aria-label": label,
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => look(true),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      go(event.shiftKey ? -1 : 1);
    },
  });
  const count = h("span", { class: "quiet small", role: "status" });
  const buttons = h(
    "span",
    { hidden: true },
    h("button", { class: "bare", "aria-label": "Previous place", onclick: () => go(-1) }, icon("up")),
    h("button", { class: "bare", "aria-label": "Next place", onclick: () => go(1) }, icon("down")),
  );
  const element = h("div", { class: "text-search toolbar" }, field, count, buttons);

  /** @param {boolean} isNew */
  function look(isNew) {
    const wanted = field.value.toLowerCase();
    places = wanted === "" ? [] : placesOf(text, wanted);
    at = isNew ? 0 : Math.min(at, Math.max(places.length - 1, 0));
    buttons.hidden = places.length < 2;
    show(isNew);
  }

  /** @param {number} by */
  function go(by) {
    if (places.length === 0) return;
    at = (at + by + places.length) % places.length;
    show(true);
  }

  /** @param {boolean} scrolls */
  function show(scrolls) {
    const many = places.length === MOST_PLACES ? `${MOST_PLACES}+` : String(places.length);
    setText(count, field.value === "" ? "" : places.length === 0 ? "not found" : `${at + 1} of ${many}`);
    if (typeof Highlight === "function") {
      CSS.highlights.set(ALL, new Highlight(...places));
      CSS.highlights.set(CURRENT, new Highlight(...places.slice(at, at + 1)));
    }
    const box = places[at]?.getBoundingClientRect();
    if (!scrolls || box === undefined) return;
    const frame = text.getBoundingClientRect();
    if (box.top < frame.top || box.bottom > frame.bottom) {
      text.scrollTop += box.top - frame.top - frame.height / 3;
    }
  }

  return { element, again: () => look(false) };
}

/**
 * @param {HTMLElement} text
 * @param {string} wanted
 */
function placesOf(text, wanted) {
  /** @type {Range[]} */
  const places = [];
  for (const line of text.children) {
    const said = (line.textContent ?? "").toLowerCase();
    for (let at = said.indexOf(wanted); at >= 0; at = said.indexOf(wanted, at + wanted.length)) {
      places.push(rangeIn(line, at, at + wanted.length));
      if (places.length === MOST_PLACES) return places;
    }
  }
  return places;
}

/**
 * @param {Element} line
 * @param {number} from
 * @param {number} to
 */
function rangeIn(line, from, to) {
  const range = document.createRange();
  const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  let before = 0;
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const after = before + (node.textContent ?? "").length;
    if (from >= before && from < after) range.setStart(node, from - before);
    if (to > before && to <= after) {
      range.setEnd(node, to - before);
      break;
    }
    before = after;
  }
  return range;
}
