/** What to do with a world in which nothing has been done yet: how an agent comes to it. */

import { h, icon } from "../../dom.js";
import { api } from "../../engine.js";
import { copy } from "../../messages.js";
import { watch } from "../../watch.js";
import { setText } from "../../keyed_list.js";

const COMMAND = "space opencode";

export function welcome() {
  const address = h("code", {});
  const lead = h("p", {});
  const element = h(
    "div",
    { class: "stage-guide card", hidden: true },
    h("h2", {}, "Nothing has been drawn here yet"),
    lead,
    h("p", { class: "guide-line" }, address, copyButton("Copy the address", () => address.textContent ?? "")),
    h("p", { class: "quiet small" }, "or start opencode on it, in a terminal:"),
    h("p", { class: "guide-line" }, h("code", {}, COMMAND), copyButton("Copy the command", () => COMMAND)),
  );
  const state = watch(["sessions"], (signal) => api.get("/status", { signal }), (status) => {
    setText(address, status.engine.url);
    setText(
      lead,
      status.sessions.length === 0
        ? "Give this address to an agent (any MCP client):"
        : "An agent is connected: ask it to draw something. Another one finds the engine at:",
    );
  });
  let wanted = false;
  let started = false;

  function apply() {
    element.hidden = !wanted;
    if (wanted && started) state.start();
    else state.stop();
  }

  return {
    element,
    /** @param {boolean} isEmpty */
    update(isEmpty) {
      wanted = isEmpty;
      apply();
    },
    start() {
      started = true;
      apply();
    },
    stop() {
      started = false;
      apply();
    },
  };
}

/**
 * @param {string} label
 * @param {() => string} text
 */
function copyButton(label, text) {
  return h("button", { class: "bare", "aria-label": label, title: label, onclick: () => copy(text()) }, icon("copy"));
}
