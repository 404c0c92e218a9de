/**
 * What a script gives, while it is written. Owns asking the engine to run it: after a pause, never an empty one, and
 * only the answer to the newest text is shown.
 *
 * @typedef {import("./block_list.js").Scope} Scope
 */

import { duration, h, icon, replace } from "../../dom.js";
import { api, EngineError, segment } from "../../engine.js";
import { tokensOf } from "./block_order.js";

/** A script runs this long after the last key, milliseconds. */
const PAUSE_MS = 400;

/**
 * @param {{ scope: Scope, text: () => string, failedAt: (line: number | null) => void }} options
 *   `failedAt` is told the line of an error, where the engine knows it.
 */
export function evaluation({ scope, text, failedAt }) {
  const path = scope.kind === "story" ? `/api/stories/${segment(scope.story ?? "")}/blocks` : "/api/blocks";
  const state = h("span", { class: "quiet small push" });
  const output = h("div", { class: "evaluation-output", "aria-live": "polite" });
  const element = h(
    "section",
    { class: "evaluation", "aria-label": "Output of the script" },
    h(
      "div",
      { class: "toolbar" },
      h("h4", {}, "Output"),
      state,
      h(
        "button",
        { type: "button", class: "bare", title: "Run the script again", onclick: () => void run() },
        icon("play"),
        "Run again",
      ),
    ),
    output,
    h(
      "p",
      { class: "quiet small" },
      "Runs as you type, in the sandbox: no files, no network, limits of time and memory. Nothing is kept of it. " +
        "The text for the model is made anew for each prompt.",
    ),
  );
  /** @type {AbortController | null} */
  let running = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pause;
  /** @type {string | null} */
  let asked = null;

  async function run() {
    clearTimeout(pause);
    running?.abort();
    const content = text();
    asked = content;
    if (content.trim() === "") {
      running = null;
      element.classList.remove("is-running");
      failedAt(null);
      replace(state);
      return replace(output, h("p", { class: "quiet" }, "Nothing to run yet. A script returns a text."));
    }
    const mine = running = new AbortController();
    element.classList.add("is-running");
    replace(state, "Running…");
    const started = performance.now();
    try {
      const options = { signal: mine.signal };
      const answer = await api.post(`${path}/eval-script`, { content, agent: scope.agent }, options);
      if (mine.signal.aborted) return;
      replace(state, duration((performance.now() - started) / 1000));
      show(answer);
    } catch (error) {
      if (mine.signal.aborted) return;
      if (!(error instanceof EngineError)) throw error;
      replace(state);
      failedAt(null);
      replace(output, h("p", { class: "notice bad" }, `The script was not run: ${error.message}`));
    }
    element.classList.remove("is-running");
    running = null;
  }

  /** @param {{ result: string | null, error: string | null, line?: number | null }} answer */
  function show({ result, error, line = null }) {
    failedAt(error === null ? null : line);
    if (error !== null) {
      const where = line === null ? "Error" : `Error in line ${line}`;
      replace(output, h("p", { class: "notice bad" }, h("strong", {}, `${where}: `), error || "no message"));
    } else if (result === null) {
      replace(
        output,
        h("p", { class: "notice" }, h("strong", {}, "No output. "), "The block is left out of the prompt as it is."),
      );
    } else {
      replace(output, h("pre", {}, result), h("p", { class: "quiet small" }, `about ${tokensOf(result)} tokens`));
    }
  }

  return {
    element,
    run,
    /** The script was changed. */
    changed() {
      if (text() === asked) return;
      clearTimeout(pause);
      pause = setTimeout(() => void run(), PAUSE_MS);
    },
    stop() {
      clearTimeout(pause);
      running?.abort();
      running = null;
      asked = null;
    },
  };
}
