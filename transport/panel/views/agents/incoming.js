/**
 * What somebody gives as a configuration, or as a bundle of several: what is in it, in words, before any of it is taken.
 * Pure. Whether it is valid is the engine's to say.
 *
 * @typedef {{ name: string, content: string }} Script
 * @typedef {{ config: object, scripts: Script[], facts: string[], note: string | null }} Incoming
 */

import { foreign, h, icon, visible } from "../../dom.js";

/** Where a bundle of several agents has its configurations. */
export const BUNDLE = "agentBlockConfigs";

/**
 * The part for one agent of an envelope of one, of a bundle of several, or of a bare configuration. Raises `SyntaxError`.
 *
 * @param {any} raw
 * @param {string} agent
 * @returns {Incoming}
 */
export function incomingOf(raw, agent) {
  if (!isRecord(raw)) throw new SyntaxError("it must be an object in braces");
  let note = null;
  /** @type {[any, string | null]} */
  let [config, from] = [raw, null];
  if (isRecord(raw[BUNDLE])) {
    const there = Object.keys(raw[BUNDLE]);
    if (!there.includes(agent)) {
      throw new SyntaxError(`it is a bundle for ${there.join(", ") || "no agent"}, and has nothing for ${agent}`);
    }
    [config, from] = [raw[BUNDLE][agent], agent];
    if (there.length > 1) note = `It is a bundle of ${there.length} agents; only the part for ${agent} is taken.`;
  } else if ("config" in raw) {
    [config, from] = [raw.config, typeof raw.agentName === "string" ? raw.agentName : null];
  }
  if (!isRecord(config)) throw new SyntaxError("its config must be an object in braces");
  if (from !== null && from !== agent) {
    note ??= `It was exported from ${from}. Ids of blocks that ${agent} does not have do nothing.`;
  }
  return { config, scripts: scriptsOf(config), facts: factsOf(config), note };
}

/**
 * The configurations of a bundle, by agent. Raises `SyntaxError`.
 *
 * @param {any} raw
 * @returns {Map<string, Incoming>}
 */
export function incomingBundle(raw) {
  if (!isRecord(raw)) throw new SyntaxError("it must be an object in braces");
  if (!isRecord(raw[BUNDLE])) {
    throw new SyntaxError(
      "config" in raw
        ? `it is the configuration of one agent${typeof raw.agentName === "string" ? `, ${raw.agentName}` : ""}; ` +
          "open the agent that is to have it, and import it there"
        : Object.keys(raw).length === 0
        ? "it is a bundle of no agent, and changes nothing"
        : `it has no ${BUNDLE}, as a bundle of several agents has`,
    );
  }
  return new Map(
    Object.entries(raw[BUNDLE]).map(([agent, config]) => {
      if (!isRecord(config)) throw new SyntaxError(`what it has for ${agent} must be an object in braces`);
      return [agent, { config, scripts: scriptsOf(config), facts: factsOf(config), note: null }];
    }),
  );
}

/** What a configuration changes, in words. @param {any} config */
export function factsOf(config) {
  const count = (/** @type {unknown} */ value) => Array.isArray(value) ? value.length : 0;
  const overrides = isRecord(config.overrides) ? Object.keys(config.overrides) : [];
  return [
    count(config.customBlocks) > 0 &&
    `${counted(count(config.customBlocks), "block")} of one's own: ${
      config.customBlocks.map((/** @type {any} */ each) => visible(String(each?.name ?? "?"))).join(", ")
    }`,
    overrides.length > 0 && `changes of ${counted(overrides.length, "block")}: ${overrides.join(", ")}`,
    count(config.blockOrder) > 0 && "an order of the blocks",
    count(config.disabledTools) > 0 &&
    `${counted(count(config.disabledTools), "tool")} switched off: ${config.disabledTools.join(", ")}`,
    config.disableAutoAnalysis === true && "no analysis after each generation",
  ].filter((fact) => typeof fact === "string");
}

/** @param {Script[]} scripts */
export function scriptsSection(scripts) {
  return scripts.length > 0 && h(
    "section",
    { class: "import-scripts", "aria-label": "Scripts that come in" },
    h(
      "p",
      { class: "notice warn" },
      icon("warning"),
      h("strong", {}, ` ${counted(scripts.length, "script")} come${scripts.length === 1 ? "s" : ""} in. `),
      "A script is a program that runs whenever the prompt is made, in the sandbox. Read it before you take it; nothing has run yet.",
    ),
    scripts.map((one) =>
      h(
        "details",
        { open: true },
        h(
          "summary",
          {},
          h("strong", {}, foreign(one.name)),
          h("span", { class: "quiet small" }, ` ${counted(one.content.split("\n").length, "line")}`),
        ),
        h("pre", { tabindex: "0", "aria-label": `Script ${visible(one.name)}` }, visible(one.content)),
      )
    ),
  );
}

/** @param {number} count @param {string} noun */
export function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** @param {Record<string, any>} config @returns {Script[]} */
function scriptsOf(config) {
  const blocks = Array.isArray(config.customBlocks) ? config.customBlocks.filter(isRecord) : [];
  return blocks.filter((each) => each.type === "script").map((each) => ({
    name: String(each.name ?? each.id ?? "without a name"),
    content: typeof each.content === "string" ? each.content : JSON.stringify(each.content) ?? "",
  }));
}

/** @param {unknown} value @returns {value is Record<string, any>} */
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
