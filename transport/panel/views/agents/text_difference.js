/** Two texts with the words marked in which they differ. Pure; gives nodes of text and marks. */

import { h } from "../../dom.js";

/** Words of each text up to which all that is common is found; the work grows with the product of both. */
const MOST_WORDS = 1200;

/**
 * @param {string} one
 * @param {string} other
 * @returns {[import("../../dom.js").Child[], import("../../dom.js").Child[]]}
 */
export function markedDifference(one, other) {
  const [a, b] = [one, other].map((text) => text.split(/(?<=\s)(?=\S)/));
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const [middleA, middleB] = [a, b].map((words) => words.slice(head, words.length - tail));
  const [keptA, keptB] = common(middleA, middleB);
  const parts = (/** @type {string[]} */ words, /** @type {string[]} */ middle, /** @type {Set<number>} */ kept) => [
    words.slice(0, head).join(""),
    ...runs(middle, kept),
    words.slice(words.length - tail).join(""),
  ];
  return [parts(a, middleA, keptA), parts(b, middleB, keptB)];
}

/**
 * Where the words stand that both have in the same order, as many as can be.
 *
 * @param {string[]} a
 * @param {string[]} b
 * @returns {[Set<number>, Set<number>]}
 */
function common(a, b) {
  /** @type {[Set<number>, Set<number>]} */
  const kept = [new Set(), new Set()];
  if (a.length > MOST_WORDS || b.length > MOST_WORDS) return kept;
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i][j] = a[i] === b[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) {
      kept[0].add(i++);
      kept[1].add(j++);
    } else if (lengths[i + 1][j] >= lengths[i][j + 1]) i += 1;
    else j += 1;
  }
  return kept;
}

/**
 * @param {string[]} words
 * @param {Set<number>} kept
 */
function runs(words, kept) {
  /** @type {import("../../dom.js").Child[]} */
  const parts = [];
  for (let at = 0; at < words.length;) {
    const plain = kept.has(at);
    let end = at;
    while (end < words.length && kept.has(end) === plain) end += 1;
    const text = words.slice(at, end).join("");
    parts.push(plain ? text : h("mark", {}, text));
    at = end;
  }
  return parts;
}
