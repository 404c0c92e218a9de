/** What the engine says of presets and tools, in words for a person: states, contexts, risks, times. Holds no state. */

import { h, visible } from "../../dom.js";

/**
 * @typedef {Record<string, string | number | boolean>} Pattern
 * @typedef {{ command: string, path: string, body: { state: string } }} Remedy
 * @typedef {{
 *   tool: string, state: string, reason: string, mcp_name: string | null, tool_id: string | null,
 *   preset: string | null, risk: string | null, presets: string[], shown_in: Pattern[], remedy: Remedy | null,
 *   owners: string[], suggestions: string[], title?: string | null, description?: string | null, agent?: string,
 * }} ToolFacts
 * @typedef {{
 *   name: string, group: string, risk: string, default_state: string, contexts: Pattern[], tool_ids: string[],
 *   resource_ids: string[], prompt_ids: string[], override_state: string, active: boolean,
 *   active_reason: string | null,
 * }} PresetFacts
 */

/** @type {Record<string, { label: string, kind: string }>} */
const STATES = {
  shown: { label: "offered", kind: "good" },
  program: { label: "in programs", kind: "accent" },
  hidden: { label: "hidden here", kind: "" },
  off: { label: "turned off", kind: "warn" },
  risk: { label: "off by default", kind: "" },
  colliding: { label: "collides", kind: "bad" },
  unknown: { label: "missing", kind: "bad" },
};

/** @type {Record<string, { label: string, kind: string, allows: string }>} */
const RISKS = {
  normal: { label: "normal", kind: "", allows: "" },
  "filesystem-read": {
    label: "reads files",
    kind: "user",
    allows: "An agent may then read files{where}, and what stands in them goes to its model.",
  },
  "filesystem-write": {
    label: "writes files",
    kind: "warn",
    allows: "An agent may then create files{where} and write over those that are there. Undo does not bring them back.",
  },
  destructive: {
    label: "destructive",
    kind: "warn",
    allows: "An agent may then delete or replace what you have made. Changes inside a world can be undone; a deleted " +
      "world can be had back for 30 days.",
  },
  shell: {
    label: "shell",
    kind: "bad",
    allows:
      "An agent may then run commands and code on this computer, with everything that you yourself may do: read " +
      "and delete your files, use your network, start programs. Nothing of that can be undone here.",
  },
};

/** @param {string} state */
export const stateLabel = (state) => STATES[state]?.label ?? state;

/** @param {string} state */
export const stateKind = (state) => STATES[state]?.kind ?? "";

/** Whether the agent, or anybody, can have the tool called now. @param {string} state */
export const isOffered = (state) => state === "shown" || state === "program";

/** @param {string} risk */
export const riskLabel = (risk) => RISKS[risk]?.label ?? risk;

/** @param {string} risk */
export const riskKind = (risk) => RISKS[risk]?.kind ?? "warn";

/**
 * What turning on this preset lets an agent do; empty where nobody needs to be asked.
 *
 * @param {PresetFacts} preset
 */
export function riskAllows(preset) {
  const known = RISKS[preset.risk];
  if (known === undefined) return `An agent may then do what the risk "${preset.risk}" stands for.`;
  return known.allows.replace("{where}", preset.group === "general" ? " in the workspace folder" : "");
}

/**
 * What a pattern asks for, without the facts that may be anything.
 *
 * @param {Pattern} pattern
 * @returns {[string, string | number | boolean | null][]}
 */
export function factsOf(pattern) {
  return Object.entries(pattern)
    .filter(([, value]) => value !== "any")
    .map(([name, value]) => [name, value === "none" ? null : value]);
}

/**
 * A context as a place: "the scene", "graph on the canvas".
 *
 * @param {Pattern} pattern
 */
export function patternWords(pattern) {
  const { surface, activity, ...others } = Object.fromEntries(factsOf(pattern));
  const rest = Object.entries(others).map(([name, value]) => value === null ? `no ${name}` : `${name} ${value}`);
  const where = typeof surface === "string" ? `the ${surface}` : null;
  const place = typeof activity !== "string" ? where : where === null ? activity : `${activity} on ${where}`;
  const without = [surface === null && "no surface", activity === null && "no activity"].filter((each) =>
    each !== false
  );
  return [...(place === null ? [] : [place]), ...without, ...rest].join(", ") || "every context";
}

/**
 * Whether the preset offers its tools now, and why, or what it waits for.
 *
 * @param {PresetFacts} preset
 * @returns {{ label: string, kind: string, reason: string }}
 */
export function presetState(preset) {
  if (preset.active) {
    const byUser = preset.active_reason === "override";
    return { label: "active", kind: "good", reason: byUser ? "you turned it on" : "fits this context" };
  }
  if (preset.override_state === "off") return { label: "off", kind: "warn", reason: "you turned it off" };
  if (preset.default_state === "off") {
    return {
      label: "off by default",
      kind: "",
      reason: preset.risk === "normal" ? "" : "for its risk, until you choose On",
    };
  }
  const contexts = preset.contexts.map(patternWords);
  const more = contexts.length > 3 ? ` and ${contexts.length - 3} more` : "";
  return { label: "waiting", kind: "", reason: `for ${contexts.slice(0, 3).join(" or ") || "no context"}${more}` };
}

/**
 * A sentence of the engine's, with what it quotes as code shown as code.
 *
 * @param {string} text
 * @returns {import("../../dom.js").Child[]}
 */
export function sentence(text) {
  return visible(text).split("`").map((part, index) => index % 2 === 1 ? h("code", {}, part) : part);
}

/**
 * How long ago, in as few words as are true.
 *
 * @param {number} epochSeconds
 */
export function ago(epochSeconds) {
  const seconds = Date.now() / 1000 - epochSeconds;
  if (seconds < 10) return "just now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/**
 * The name for people of an agent of `GET /api/agents`.
 *
 * @param {{ id: string, names: Record<string, string> }} agent
 */
export const agentName = (agent) => visible(agent.names.en ?? Object.values(agent.names)[0] ?? agent.id);
