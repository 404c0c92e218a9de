/**
 * The view of the agents: pick one, and change what the model reads. Owns the address below `#/agents`, and the stores,
 * which outlive their editor so that nothing that waits to be saved is lost.
 *
 * @typedef {import("./agents/agent_list.js").Scope} Scope
 */

import { foreign, h, replace } from "../dom.js";
import { segment } from "../engine.js";
import { agentList } from "./agents/agent_list.js";
import { configStore } from "./agents/config_store.js";
import { agentEditor } from "./agents/editor.js";
import { settingsStore } from "./agents/settings_store.js";

export const title = "Agents";

/** Where the list and an agent stand side by side, as in agents.css; elsewhere the list comes first. */
const WIDE = "(min-width: 761px)";

/** @returns {import("../main.js").View} */
export function create() {
  /** @type {Map<string, import("./agents/config_store.js").ConfigStore>} */
  const stores = new Map();
  /** @type {Map<string, import("./agents/settings_store.js").SettingsStore>} */
  const stories = new Map();
  /** @type {{ base: string, stop(): void } | null} */
  let open = null;
  let visible = false;
  /** @type {Scope | null} */
  let picked = null;
  /** The agent that is shown where none is picked. @type {string | null} */
  let first = null;

  const wide = matchMedia(WIDE);
  const list = agentList((agents) => {
    first = (agents.find((each) => each.default) ?? agents.find((each) => each.usable))?.id ?? null;
    openFirst();
    if (visible && picked !== null && open === null) showPicked(picked);
  });
  const pane = h("div", { class: "agent-pane" });
  const heading = h("h1", { class: "offscreen" }, "Agents");
  const element = h("div", { class: "agents" }, heading, list.element, pane);

  addEventListener("beforeunload", (event) => {
    const waiting = [...stores.values(), ...stories.values()].some((each) => each.unsaved > 0);
    if (waiting) event.preventDefault();
  });

  /** @param {Scope} scope */
  function show(scope) {
    const base = baseOf(scope);
    if (open?.base === base) return;
    open?.stop();
    let store = stores.get(base);
    if (store === undefined) stores.set(base, store = configStore(base));
    let settings = null;
    if (scope.kind === "story") {
      settings = stories.get(scope.story) ?? settingsStore(scope.story);
      stories.set(scope.story, settings);
    }
    const editor = agentEditor(scope, store, settings);
    replace(pane, editor.element);
    open = { base, stop: editor.stop };
    // A dialog opens on the page, where the element is once the router has put it there.
    queueMicrotask(editor.shown);
  }

  /**
   * An agent that the list does not have is not asked about: it is said that there is none. One that was made just now
   * comes with the list that is had next.
   *
   * @param {Scope} scope
   */
  function showPicked(scope) {
    if (list.knows(scope) === true || open?.base === baseOf(scope)) return show(scope);
    close();
    replace(
      pane,
      list.knows(scope) === false && h(
        "div",
        { class: "empty", role: "alert" },
        h("h1", {}, "There is no such agent"),
        h(
          "p",
          {},
          scope.kind === "space" ? "No agent of Space is called " : "This story, or an agent in it, is not there: ",
          h("code", {}, foreign(scope.kind === "space" ? scope.agent : `${scope.story}/${scope.agent}`)),
          ".",
        ),
        h("p", {}, h("a", { href: "#/agents" }, "All agents")),
      ),
    );
  }

  /** Where there is room beside the list, something is always shown; Back does not lead to where nothing was. */
  function openFirst() {
    if (visible && picked === null && first !== null && wide.matches) {
      location.replace(`#/agents/space/${segment(first)}`);
    }
  }
  wide.addEventListener("change", openFirst);

  function close() {
    open?.stop();
    open = null;
  }

  return {
    element,
    show(path) {
      if (!visible) list.start();
      visible = true;
      const scope = picked = scopeOf(path);
      list.pick(scope);
      // An agent that is shown has the heading of the page.
      heading.hidden = scope !== null;
      element.classList.toggle("has-agent", scope !== null);
      if (scope !== null) {
        showPicked(scope);
        if (open === null) void list.again();
      } else {
        close();
        replace(
          pane,
          h(
            "div",
            { class: "empty" },
            h("p", {}, "Pick an agent to see what its model reads, and to change it."),
            h("p", { class: "small" }, "Clients that name no agent get the one that is marked as default."),
          ),
        );
        openFirst();
      }
    },
    hide() {
      visible = false;
      first = null;
      close();
      list.stop();
    },
  };
}

/** @param {string[]} path @returns {Scope | null} */
function scopeOf([kind, ...rest]) {
  if (kind === "space" && rest.length === 1 && rest[0] !== "") return { kind, agent: rest[0] };
  if (kind === "story" && rest.length === 2) return { kind, story: rest[0], agent: rest[1] };
  return null;
}

/** @param {Scope} scope */
function baseOf(scope) {
  return scope.kind === "space"
    ? `/api/agent-blocks/${segment(scope.agent)}`
    : `/api/stories/${segment(scope.story)}/agent-blocks/${segment(scope.agent)}`;
}
