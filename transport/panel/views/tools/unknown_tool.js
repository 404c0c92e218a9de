/** What the engine says of a name that no tool has: that there is none, and which ones are meant perhaps. */

import { h, replace } from "../../dom.js";
import { api, EngineError, segment } from "../../engine.js";
import { addressOf } from "./tool_row.js";
import { sentence } from "./words.js";

/** How long nobody must have typed before the engine is asked, milliseconds. */
const PAUSE_MS = 250;

export function unknownTool() {
  const element = h("div", { class: "card unknown-tool", role: "status", "aria-label": "No such tool", hidden: true });
  let asked = "";
  let timer = 0;

  /** @param {string} name */
  async function look(name) {
    try {
      await api.get(`/api/tools/${segment(name)}`);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (name !== asked) return;
      const names = /** @type {string[]} */ (error.body?.suggestions ?? []);
      replace(
        element,
        h("p", {}, sentence(error.message)),
        h("div", { class: "toolbar" }, names.map((each) => h("a", { class: "mono", href: addressOf(each) }, each))),
      );
    }
  }

  return {
    element,
    /** @param {{ name: string, isKnown: boolean } | null} wanted `isKnown`: there are some, but none in the state chosen */
    update(wanted) {
      element.hidden = wanted === null;
      const name = wanted === null || wanted.isKnown ? "" : wanted.name;
      if (name === asked && name !== "") return;
      asked = name;
      clearTimeout(timer);
      if (wanted === null) return;
      const text = wanted.isKnown
        ? "No tool is in that state. Choose another one above."
        : `No tool is called "${name}".`;
      replace(element, h("p", { class: "quiet" }, text));
      if (name !== "") timer = setTimeout(() => look(name), PAUSE_MS);
    },
  };
}
