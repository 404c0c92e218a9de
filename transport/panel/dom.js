/**
 * Elements of the page. Text is always text: nothing here, and nothing elsewhere, parses markup.
 *
 * @typedef {Node | string | number | null | undefined | false} Child
 * @typedef {string | number | boolean | null | undefined | ((event: any) => void) | Record<string, string>} Value
 */

/** The drawing of a chevron and the like: paths in a box of 16 by 16. */
const ICONS = Object.freeze({
  chevron: "M6 3.5 10.5 8 6 12.5",
  grip: "M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01",
  undo: "M3 7h7a3.5 3.5 0 0 1 0 7H7M3 7l3-3M3 7l3 3",
  redo: "M13 7H6a3.5 3.5 0 0 0 0 7h3M13 7l-3-3M13 7l-3 3",
  copy: "M6 6h7v7H6zM10 6V3H3v7h3",
  close: "M4 4l8 8M12 4l-8 8",
  plus: "M8 3v10M3 8h10",
  play: "M5 3.5v9l7-4.5z",
  up: "M8 13V3M4 7l4-4 4 4",
  down: "M8 3v10M4 9l4 4 4-4",
  warning: "M8 2.5 14.5 13.5h-13zM8 7v3M8 11.8h.01",
  check: "M3 8.5 6.5 12 13 4.5",
});

/**
 * An element with attributes and children. `on…` attributes take functions, `class` and the like take text, `data`
 * takes a record; `true` is an attribute without value, `false`, `null` and `undefined` leave one out.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, Value>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(name.slice(2).toLowerCase(), value);
    } else if (typeof value === "object") {
      for (const [key, text] of Object.entries(value)) element.dataset[key] = text;
    } else if (name === "value" && "value" in element) {
      /** @type {any} */ (element).value = String(value);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  append(element, children);
  return element;
}

/**
 * Put these children into the node instead of what it holds.
 *
 * @param {Element} node
 * @param {...(Child | Child[])} children
 */
export function replace(node, ...children) {
  node.replaceChildren();
  append(node, children);
}

/**
 * An icon of the page's own; decoration, so what it stands for is said beside it.
 *
 * @param {keyof typeof ICONS} name
 */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/**
 * Seconds for a person: "12 ms", "1.4 s", "3 min 5 s".
 *
 * @param {number} seconds
 */
export function duration(seconds) {
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}

/** Characters that are not seen, or that turn round how what stands beside them is seen. */
const UNSEEN =
  // deno-lint-ignore no-control-regex
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** Where joiners belong: between the parts of a picture character, and between letters that join. */
const JOINS =
  /^(?:[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]\u200d\p{Extended_Pictographic}|[\p{L}\p{M}][\u200c\u200d][\p{L}\p{M}])$/u;
const LATIN = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u;

/**
 * Text that others have written, with every character to be seen: a name with an override of the writing direction, or
 * with a NUL, would else look like another name, and turn round what stands beside it. Lines and tabs stay.
 *
 * @param {string} text
 */
export function visible(text) {
  return text.replace(UNSEEN, (character, /** @type {number} */ at) => {
    const code = /** @type {number} */ (character.codePointAt(0));
    if ((code === 0x200c || code === 0x200d) && joins(text, at)) return character;
    return `\u2039U+${code.toString(16).toUpperCase().padStart(4, "0")}\u203a`;
  });
}

/**
 * @param {string} text
 * @param {number} at where the joiner is
 */
function joins(text, at) {
  const before = [...text.slice(Math.max(at - 2, 0), at)].at(-1) ?? "";
  const after = [...text.slice(at + 1, at + 3)][0] ?? "";
  return JOINS.test(before + text[at] + after) && !LATIN.test(before + after);
}

/**
 * A text of others in a line with other things: every character to be seen, and its writing direction its own.
 *
 * @param {string} text
 */
export function foreign(text) {
  return h("bdi", {}, visible(text));
}

/**
 * A moment of today as its time, an earlier one with its date.
 *
 * @param {number} epochSeconds
 */
export function clock(epochSeconds) {
  const moment = new Date(epochSeconds * 1000);
  const sameDay = moment.toDateString() === new Date().toDateString();
  return sameDay ? moment.toLocaleTimeString() : moment.toLocaleString();
}

/**
 * @param {Element} element
 * @param {(Child | Child[])[]} children
 */
function append(element, children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}
