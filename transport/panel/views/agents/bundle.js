/**
 * The configurations of all agents of Space, or of a story, on their way out and in as one bundle. Owns these two
 * questions, and the way back: an undo brings back what each agent had, but never over what somebody has changed since.
 *
 * @typedef {{ kind: "space" } | { kind: "story", story: string, name: string }} Family
 * @typedef {import("./incoming.js").Incoming} Incoming
 * @typedef {{ agent: string, config: object }} Before
 * @typedef {{ agent: string, config: object, etag: string, warning: string | null }} Taken `config` is what it had
 */

import { h } from "../../dom.js";
import { api, ask, EngineError, segment } from "../../engine.js";
import { attempt, toast } from "../../messages.js";
import { BUNDLE, incomingBundle, scriptsSection } from "./incoming.js";
import { persistently } from "./persistently.js";
import { askImport, refusalOf, showExport } from "./transfer_dialog.js";

/** @param {Family} family */
export async function exportBundle(family) {
  const bundle = await attempt(() => api.get(`${rootOf(family)}/export-configs`));
  if (bundle === undefined) return;
  const count = Object.keys(bundle[BUNDLE] ?? {}).length;
  if (count === 0) return toast(`Every agent of ${nameOf(family)} is as it comes; there is nothing to export.`);
  showExport({
    title: `Export all agents of ${nameOf(family)}`,
    note: "What you have changed about the blocks and tools of each. Keys of providers are never in it.",
    name: `${family.kind === "space" ? "space" : family.story}-contexts.json`,
    value: bundle,
  });
}

/** @param {Family} family */
export function importBundle(family) {
  askImport({
    title: `Import agents of ${nameOf(family)}`,
    lead: "It replaces what you have changed about each agent that is in it; the others stay. That can be undone.",
    placeholder: `{"${BUNDLE}": {…}}`,
    agree: "Replace the configurations",
    agreeBriefly: "Replace them",
    read: incomingBundle,
    report: reportOf,
    scripts: (agents) => scriptsIn(agents).length,
    async take(agents) {
      try {
        return { shown: shownOf(family, agents, await carriedOut(family, agents)) };
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        return { refused: refusalOf(error, [BUNDLE]) };
      }
    },
  });
}

/**
 * @param {Family} family
 * @param {Map<string, Incoming>} agents
 */
async function carriedOut(family, agents) {
  const before = await Promise.all([...agents.keys()].map((agent) => kept(family, agent)));
  const body = { [BUNDLE]: Object.fromEntries([...agents].map(([agent, { config }]) => [agent, config])) };
  const { warning } = await insisted(() => api.post(`${rootOf(family)}/import-configs`, body));
  const known = before.filter((each) => each !== null);
  const taken = await Promise.all(known.map(async ({ agent, config }) => {
    const { value, etag } = await insisted(() => ask("GET", pathOf(family, agent)));
    const unknown = value.warning ? `${value.warning}: ${value.unknownTools.join(", ")}` : null;
    return { agent, config, etag: etag ?? "", warning: unknown };
  }));
  return { warning: /** @type {string | undefined} */ (warning), taken };
}

/**
 * What an agent has now; null for one that there is not, which the engine refuses with its own words.
 *
 * @param {Family} family
 * @param {string} agent
 * @returns {Promise<Before | null>}
 */
async function kept(family, agent) {
  try {
    return { agent, config: (await insisted(() => api.get(pathOf(family, agent)))).config };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return null;
  }
}

/**
 * Bring back what these had. Gives, by agent, what the engine said where it did not take it.
 *
 * @param {Family} family
 * @param {Taken[]} taken
 */
async function undone(family, taken) {
  /** @type {[string, string][]} */
  const refused = [];
  for (const { agent, config, etag } of taken) {
    try {
      const request = { body: { config }, headers: { "If-Match": etag } };
      await insisted(() => ask("POST", `${pathOf(family, agent)}/import-config`, request));
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      refused.push([agent, error.message]);
    }
  }
  return refused;
}

/**
 * Ask until somebody answers: whoever has asked is told what was done, also when the engine starts again meanwhile.
 *
 * @template T
 * @param {() => Promise<T>} request
 */
function insisted(request) {
  return persistently(request, () => {});
}

/** @param {Map<string, Incoming>} agents */
function reportOf(agents) {
  return [
    h("p", {}, "It brings:"),
    h(
      "ul",
      {},
      [...agents].map(([agent, { facts }]) =>
        h("li", {}, h("strong", {}, agent), `: ${facts.join("; ") || "nothing, so it will be as it comes"}`)
      ),
    ),
    scriptsSection(scriptsIn(agents)),
  ];
}

/**
 * @param {Family} family
 * @param {Map<string, Incoming>} agents
 * @param {{ warning?: string, taken: Taken[] }} done
 */
function shownOf(family, agents, { warning, taken }) {
  const undo = h("button", {
    onclick: async () => {
      undo.disabled = true;
      const refused = new Map(await undone(family, taken));
      for (const [agent, { result }] of rows) {
        const reason = refused.get(agent);
        result.textContent = reason === undefined ? "brought back" : `stays: ${reason}`;
      }
    },
  }, "Undo");
  const rows = new Map(taken.map(({ agent, warning: about }) => {
    const scripts = agents.get(agent)?.scripts ?? [];
    const result = h("span", {}, scripts.length === 0 ? "replaced" : `replaced, with ${namesOf(scripts)}`);
    return [agent, {
      result,
      element: h("li", {}, h("strong", {}, agent), ": ", result, about && h("div", { class: "small quiet" }, about)),
    }];
  }));
  return [
    warning ? h("p", { class: "notice warn" }, warning) : null,
    h("ul", { "aria-label": "Results", "aria-live": "polite" }, [...rows.values()].map((each) => each.element)),
    h("p", {}, undo),
  ];
}

/** The scripts of all of them, each named with its agent. @param {Map<string, Incoming>} agents */
function scriptsIn(agents) {
  return [...agents].flatMap(([agent, { scripts }]) =>
    scripts.map(({ name, content }) => ({ name: `${name} of ${agent}`, content }))
  );
}

/** @param {{ name: string }[]} scripts */
function namesOf(scripts) {
  return `${scripts.length === 1 ? "the script" : "the scripts"} ${scripts.map((each) => each.name).join(", ")}`;
}

/** @param {Family} family */
function nameOf(family) {
  return family.kind === "space" ? "Space" : family.name;
}

/** @param {Family} family */
function rootOf(family) {
  return family.kind === "space" ? "/api" : `/api/stories/${segment(family.story)}`;
}

/** @param {Family} family @param {string} agent */
function pathOf(family, agent) {
  return `${rootOf(family)}/agent-blocks/${segment(agent)}`;
}
