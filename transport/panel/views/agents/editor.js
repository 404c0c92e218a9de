/**
 * Everything that can be said of one agent: what it is, its model and tools, its blocks, and beside them what the model
 * reads. Owns how these stand together, and whether everything is saved; each part owns itself.
 *
 * @typedef {import("./agent_list.js").Scope} Scope
 * @typedef {import("./config_store.js").ConfigStore} ConfigStore
 * @typedef {import("./settings_store.js").SettingsStore} SettingsStore
 */

import { h, icon, replace } from "../../dom.js";
import { toast } from "../../messages.js";
import { named, showName } from "./agent_name.js";
import { blockList } from "./block_list.js";
import { conflictNotice } from "./conflict_dialog.js";
import { modelCard } from "./model_card.js";
import { ownAgent } from "./own_agent.js";
import { preview } from "./preview.js";
import { toolSwitches } from "./tool_switches.js";
import { exportDialog, importDialog, resetDialog } from "./transfer.js";

/** The agent that can be kept from running after each generation, and the planner that can go before the writer. */
const ANALYZER = "librarian.analyze";
const PLANNED = ["generation.writer", "generation.prewriter"];

/**
 * @param {Scope} scope
 * @param {ConfigStore} store
 * @param {SettingsStore | null} settings of the story, where the agent is one of a story
 */
export function agentEditor(scope, store, settings) {
  const title = h("h1", {}, scope.agent);
  const description = h("p", { class: "quiet agent-description" });
  const saved = h("span", { class: "save-state small", role: "status", "aria-label": "Saving" });
  const problem = h("div", { class: "notice bad", role: "alert", hidden: true });
  const conflicts = [store, settings].flatMap((each) => each === null ? [] : conflictNotice(each));
  let usable = true;
  const remove = h("button", { hidden: true, onclick: () => own?.remove() }, "Remove…");
  const copy = scope.kind === "space" ? h("button", { onclick: () => own?.copy() }, "Copy agent…") : null;
  const own = scope.kind === "space"
    ? ownAgent(scope.agent, (agent) => {
      showName(title, named(agent.names, agent.id));
      remove.hidden = agent.trust !== "user";
      usable = agent.usable;
      update();
    })
    : null;
  const actions = h(
    "div",
    { class: "toolbar" },
    h("button", { onclick: () => exportDialog(store, scope.agent) }, "Export…"),
    h("button", { onclick: () => importDialog(store, scope.agent, name()) }, "Import…"),
    h("button", { onclick: () => resetDialog(store, name()) }, "Reset…"),
  );
  const model = scope.kind === "story" && settings !== null ? modelCard(settings, scope) : null;
  const tools = toolSwitches(store);
  const toggles = agentToggles(scope.agent, store, settings);
  const blocks = blockList(store, scope);
  const side = preview(store.base, blocks.showReport);

  const parts = [["edit", "Edit"], ["preview", "Preview"]].map(([part, text]) =>
    h("button", {
      "aria-pressed": String(part === "edit"),
      data: { part },
      onclick: () => {
        body.dataset.part = part;
        for (const each of parts) each.setAttribute("aria-pressed", String(each.dataset.part === part));
      },
    }, text)
  );
  const body = h(
    "div",
    { class: "agent-body", data: { part: "edit" } },
    h("div", { class: "segments part-switch", role: "group", "aria-label": "Part" }, parts),
    h(
      "div",
      { class: "agent-columns" },
      h("div", { class: "agent-edit" }, toggles.element, model?.element, tools.element, blocks.element),
      h("div", { class: "agent-preview" }, side.element),
    ),
  );
  const element = h(
    "article",
    { class: "agent-editor", "aria-label": `Agent ${scope.agent}` },
    h("a", { class: "back", href: "#/agents" }, icon("chevron"), "All agents"),
    h(
      "header",
      { class: "agent-head" },
      h("div", { class: "agent-title" }, title, saved),
      h(
        "div",
        { class: "toolbar agent-actions" },
        actions,
        copy,
        own !== null && remove,
      ),
    ),
    own?.element ?? description,
    problem,
    conflicts.map((each) => each.element),
    body,
  );

  function name() {
    return title.textContent ?? scope.agent;
  }

  function update() {
    const { state, error } = store;
    if (state !== null && own === null) {
      replace(title, state.displayName);
      replace(description, state.description);
    }
    // Where the agent itself cannot be had there is nothing to edit, and the reason stands above.
    const none = state === null && error !== null && error.status !== 0;
    body.hidden = actions.hidden = saved.hidden = none || !usable;
    // One that is gone is said to be gone once, and nothing is offered that could be done with it.
    const gone = none && error.status === 404;
    if (own !== null && copy !== null) own.element.hidden = copy.hidden = gone;
    remove.hidden ||= gone;
    problem.hidden = error === null || error.status === 0 || !usable;
    if (error !== null) replace(problem, error.message);
    const open = store.unsaved + (settings?.unsaved ?? 0);
    const waiting = store.waiting || settings?.waiting === true;
    const picking = store.conflict !== null || (settings?.conflict ?? null) !== null;
    saved.dataset.state = open === 0 ? "saved" : waiting || picking ? "waiting" : "saving";
    const text = open === 0
      ? "Everything is saved"
      : picking
      ? `${open} not saved: two versions`
      : waiting
      ? `${open} not saved: the engine does not answer yet`
      : "Saving…";
    if (saved.textContent !== text) saved.textContent = text;
  }

  const offs = [store.subscribe(update), settings?.subscribe(update) ?? (() => {})];
  store.start();
  settings?.start();
  own?.start();
  model?.start();
  side.start();
  update();

  return {
    element,
    /** What waited for the person before the page showed this. */
    shown() {
      conflicts.forEach((each) => each.update());
    },
    /** Changes that are under way go on; the stores are kept by whoever made them. */
    stop() {
      blocks.stop();
      [...offs, tools.stop, toggles.stop, side.stop, store.stop, ...conflicts.map((each) => each.stop)].forEach((off) =>
        off()
      );
      settings?.stop();
      own?.stop();
      model?.stop();
    },
  };
}

/**
 * What can be switched about this agent alone.
 *
 * @param {string} agent
 * @param {ConfigStore} store
 * @param {SettingsStore | null} settings
 */
function agentToggles(agent, store, settings) {
  const element = h("div", { class: "card agent-toggles", hidden: true });
  const box = h("input", { type: "checkbox", role: "switch" });
  /** While something is asked for and not answered, the switch stands where the person has put it. */
  let changing = 0;
  /** @param {() => Promise<import("./config_store.js").Result>} change */
  const told = async (change) => {
    changing += 1;
    const { outcome, error } = await change().finally(() => {
      changing -= 1;
    });
    if (outcome === "refused" && error !== null) toast(error.message, { kind: "error" });
    update();
  };
  if (agent === ANALYZER) {
    element.append(h("label", { class: "switch" }, box, "Analyze after each generation"));
    box.addEventListener(
      "change",
      () =>
        told(() => {
          const disableAutoAnalysis = !box.checked;
          return store.change("Analysis after each generation", () => ({ disableAutoAnalysis }));
        }),
    );
  } else if (settings !== null) {
    element.append(
      h("label", { class: "switch" }, box, "Plan before writing"),
      h(
        "p",
        { class: "quiet small" },
        "The prewriter makes a brief first, and the writer writes from that. It holds for the whole story.",
      ),
    );
    box.addEventListener(
      "change",
      () =>
        told(() => {
          const value = box.checked ? "prewriter" : "standard";
          return settings.change("Plan before writing", [{ path: ["generationMode"], value }]);
        }),
    );
  }

  function update() {
    if (changing > 0 || (agent === ANALYZER ? store : settings)?.state == null) return;
    element.hidden = agent !== ANALYZER && !PLANNED.includes(agent);
    box.checked = agent === ANALYZER
      ? store.state?.config.disableAutoAnalysis !== true
      : settings?.state?.settings.generationMode === "prewriter";
  }

  const offs = [store.subscribe(update), settings?.subscribe(update) ?? (() => {})];
  update();
  return { element, stop: () => offs.forEach((off) => off()) };
}
