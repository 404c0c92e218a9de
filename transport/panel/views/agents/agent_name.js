/**
 * What an agent is called for the person: the language that their browser asks for first, of those that Space's agents
 * have. Pure but for that question.
 *
 * @typedef {Record<string, string>} Texts by language: `en`, `zh`
 * @typedef {{ text: string, lang: string, other: string }} Named `other` is the one in the other language, or empty
 */

import { visible } from "../../dom.js";

const LANGUAGES = ["en", "zh"];

/** The one of these languages that the browser asks for first; English where it asks for neither. */
export function language() {
  const wanted = navigator.languages.map((each) => each.toLowerCase().split("-")[0]);
  return wanted.find((each) => LANGUAGES.includes(each)) ?? LANGUAGES[0];
}

/**
 * @param {Texts} texts
 * @param {string} fallback where there is none in any language
 * @returns {Named}
 */
export function named(texts, fallback) {
  const first = language();
  const there = [first, ...LANGUAGES.filter((each) => each !== first)].filter((each) => texts[each]);
  const text = texts[there[0]] ?? Object.values(texts)[0] ?? fallback;
  const other = there.map((each) => texts[each]).find((each) => each !== text) ?? "";
  return { text, lang: there[0] ?? "", other };
}

/**
 * Show a name in an element: the text, its language, and the other name as what hovering says.
 *
 * @param {HTMLElement} element
 * @param {Named} name
 */
export function showName(element, { text, lang, other }) {
  const shown = visible(text);
  if (element.textContent !== shown) element.textContent = shown;
  element.lang = lang;
  element.title = visible(other);
}
