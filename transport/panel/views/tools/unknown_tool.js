/** What the engine says of a name that no tool has: that there is none, and which ones are meant perhaps. */

import { h, replace } from "../../dom.js";
import { api, EngineError, segment } from "../../engine.js";
import { addressOf } from "./tool_row.js";
import { sentence } from "./words.js";

/** How long nobody must have typed before the engine is asked, milliseconds. */
const PAUSE_MS = 450;

/**
 * What is looked for and not found. `isKnown`: there are some, but none in the state chosen. `asks`: the engine knows
 * more of such a name, such as what has become of the tool. `closest` are tools that may be meant.
 *
 * @typedef {{ name: string, isKnown: boolean, asks: boolean, closest: string[] }} Unknown
 */

export function unknownTool() {
  const element = h("div", { class: "card unknown-tool", role: "status", "aria-label": "No such tool", hidden: true });
  let shown = "";
  let timer = 0;
  /** What the engine has said, by the name: it is asked once about each. @type {Map<string, Promise<Answer | null>>} */
  const answers = new Map();

  /** @param {string} key @param {string} name */
  async function look(key, name) {
    let answer = answers.get(name);
    if (answer === undefined) answers.set(name, answer = answerFor(name));
    const said = await answer;
    if (said === null) answers.delete(name);
    else if (key === shown) replace(element, h("p", {}, sentence(said.message)), links(said.suggestions));
  }

  return {
    element,
    /** @param {Unknown | null} wanted */
    update(wanted) {
      element.hidden = wanted === null;
      const key = JSON.stringify(wanted);
      if (key === shown) return;
      shown = key;
      clearTimeout(timer);
      if (wanted === null) return;
      const { name, isKnown, asks, closest } = wanted;
      if (isKnown) replace(element, h("p", { class: "quiet" }, "No tool is in that state. Choose another one above."));
      else {
        replace(
          element,
          h("p", { class: "quiet" }, `No tool fits “${name}”.${closest.length > 0 ? " Perhaps you mean:" : ""}`),
          links(closest),
        );
      }
      if (asks) timer = setTimeout(() => look(key, name), PAUSE_MS);
    },
  };
}

/** @typedef {{ message: string, suggestions: string[] }} Answer */

/**
 * The engine's word about the name; null where nobody answered.
 *
 * @param {string} name
 * @returns {Promise<Answer | null>}
 */
async function answerFor(name) {
  try {
    const { reason, suggestions } = await api.get(`/api/tools/${segment(name)}`);
    return { message: reason, suggestions };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return error.status !== 404 ? null : { message: error.message, suggestions: error.body?.suggestions ?? [] };
  }
}

/** @param {string[]} names */
function links(names) {
  return h("div", { class: "toolbar" }, names.map((each) => h("a", { class: "mono", href: addressOf(each) }, each)));
}
