/** Which tools fit what somebody types, and which come closest where none does. Pure: asks nobody, shows nothing. */

import { nameOf } from "./tool_row.js";

/** @typedef {import("./words.js").ToolFacts} ToolFacts */

/** How many tools are named where none fits. */
const MOST_CLOSEST = 5;

/** How much of a word must be in another one for the two to be close, of 1. */
const CLOSE = 0.4;

/** Words that are in every other sentence and say nothing about a tool. */
const EMPTY_WORDS = new Set("a an and for how i in is it me my of on the to what with".split(" "));

/** Something that is written as the names of tools are: the engine knows more of it than that it is not there. */
const NAME = /^[a-z][a-z0-9]*([_.-][a-z0-9]+)+$/i;

/**
 * The tools that have every word of the query in their name, presets, title or description, in any order. Those that
 * have all of them in the name come first, then those with presets and title.
 *
 * @param {readonly ToolFacts[]} tools
 * @param {string} query
 * @returns {ToolFacts[]}
 */
export function fitting(tools, query) {
  const words = wordsOf(query);
  if (words.length === 0) return [...tools];
  const found = tools.flatMap((tool) => {
    const rank = textsOf(tool).findIndex((text) => words.every((word) => text.includes(word)));
    return rank < 0 ? [] : [{ tool, rank }];
  });
  return found.sort((one, other) => one.rank - other.rank).map((each) => each.tool);
}

/**
 * The names of the tools that come closest to the query, best first: those that have most of its words, or words like
 * them.
 *
 * @param {readonly ToolFacts[]} tools
 * @param {string} query
 */
export function closest(tools, query) {
  const words = wordsOf(query);
  const scored = tools.map((tool) => {
    const [name, , text] = textsOf(tool);
    const own = name.split(" ");
    const scores = words.map((word) =>
      Math.max(
        word.length > 2 && text.includes(word) ? 1 : 0,
        ...own.map((each) => likeness(word, each)).filter((each) => each >= CLOSE),
      )
    );
    return { name: nameOf(tool), score: scores.reduce((sum, each) => sum + each, 0) };
  });
  return scored.filter((each) => each.score > 0)
    .sort((one, other) => other.score - one.score || one.name.length - other.name.length)
    .slice(0, MOST_CLOSEST)
    .map((each) => each.name);
}

/** Whether this is written as a name of a tool. @param {string} query */
export const isNameLike = (query) => NAME.test(query);

/**
 * What a tool is found by, each text with more in it than the one before.
 *
 * @param {ToolFacts} tool
 */
function textsOf(tool) {
  const name = plain([tool.mcp_name, tool.tool_id].join(" "));
  const more = `${name} ${plain([...tool.presets, tool.title ?? ""].join(" "))}`;
  return [name, more, `${more} ${plain(tool.description ?? "")}`];
}

/** @param {string} query */
function wordsOf(query) {
  const all = plain(query).split(" ").filter((word) => word !== "");
  const telling = all.filter((word) => !EMPTY_WORDS.has(word));
  return telling.length > 0 ? telling : all;
}

/** @param {string} text */
const plain = (text) => text.toLowerCase().replace(/[-_.\s]+/g, " ");

/**
 * How much two words have in common, from 0 to 1: their pairs of letters.
 *
 * @param {string} one
 * @param {string} other
 */
function likeness(one, other) {
  const [pairs, others] = [pairsOf(one), pairsOf(other)];
  const common = pairs.filter((pair) => others.includes(pair)).length;
  return common === 0 ? 0 : 2 * common / (pairs.length + others.length);
}

/** @param {string} word */
const pairsOf = (word) => [...word].slice(1).map((letter, index) => [...word][index] + letter);
