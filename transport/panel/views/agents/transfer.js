/**
 * The configuration of one agent on its way out and in: export, import, and back to how the agent comes. Owns these
 * three questions. What comes in is shown before any of it is taken, scripts as the text that they are.
 *
 * @typedef {import("./config_store.js").ConfigStore} ConfigStore
 * @typedef {import("./incoming.js").Incoming} Incoming
 */

import { h } from "../../dom.js";
import { api } from "../../engine.js";
import { attempt, confirm, toast } from "../../messages.js";
import { factsOf, incomingOf, scriptsSection } from "./incoming.js";
import { askImport, refusalOf, showExport } from "./transfer_dialog.js";

/** @param {ConfigStore} store @param {string} agent */
export async function exportDialog(store, agent) {
  const envelope = await attempt(() => api.get(`${store.base}/export-config`));
  if (envelope === undefined) return;
  showExport({
    title: "Export the configuration",
    note: "What you have changed about the blocks and tools of this agent. Keys of providers are never in it.",
    name: `${agent}-context.json`,
    value: envelope,
  });
}

/**
 * @param {ConfigStore} store
 * @param {string} agent
 * @param {string} name for people
 */
export function importDialog(store, agent, name) {
  askImport({
    title: "Import a configuration",
    lead: `It replaces what you have changed about ${name}. That can be undone.`,
    placeholder: '{"agentName": …, "config": {…}}',
    agree: "Replace the configuration",
    agreeBriefly: "Replace it",
    read: (raw) => incomingOf(raw, agent),
    report: reportOf,
    scripts: ({ scripts }) => scripts.length,
    async take({ config }) {
      /** @type {string[]} */
      let refused = [];
      const undo = await store.replaceAll("Import", config, (error) => {
        refused = refusalOf(error);
      });
      if (undo === null) return { refused };
      toast("The configuration was replaced.", { action: { label: "Undo", run: () => undone(undo) } });
      return null;
    },
  });
}

/** @param {ConfigStore} store @param {string} name */
export async function resetDialog(store, name) {
  const { config } = store.state ?? {};
  if (config === undefined) return;
  const facts = factsOf(config);
  if (facts.length === 0) return toast(`${name} is as it comes; there is nothing to reset.`);
  const agreed = await confirm({
    title: `Reset ${name}?`,
    body: [
      h("p", {}, "The agent will be as it comes. What goes:"),
      h("ul", {}, facts.map((fact) => h("li", {}, fact))),
    ],
    agree: "Reset to defaults",
    danger: true,
  });
  if (!agreed) return;
  const undo = await store.replaceAll("Reset", null, (error) => toast(error.message, { kind: "error" }));
  if (undo !== null) toast(`${name} is as it comes.`, { action: { label: "Undo", run: () => undone(undo) } });
}

/** @param {() => Promise<import("./config_store.js").Result>} undo */
async function undone(undo) {
  const { outcome, error } = await undo();
  if (outcome === "saved") toast("Undone.");
  else if (error !== null) toast(error.message, { kind: "error" });
}

/** @param {Incoming} incoming */
function reportOf({ facts, scripts, note }) {
  return [
    note && h("p", { class: "notice" }, note),
    h("p", {}, facts.length === 0 ? "It changes nothing: the agent will be as it comes." : "It brings:"),
    facts.length > 0 && h("ul", {}, facts.map((fact) => h("li", {}, fact))),
    scriptsSection(scripts),
  ];
}
