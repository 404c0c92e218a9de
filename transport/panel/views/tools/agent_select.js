/** Whose tools are looked at: a choice among the agents, kept up to date. */

import { h, replace } from "../../dom.js";
import { api } from "../../engine.js";
import { watch } from "../../watch.js";
import { whenChanged } from "../../keyed_list.js";
import { agentName } from "./words.js";

/**
 * @typedef {{
 *   id: string, names: Record<string, string>, usable: boolean, mode: string | null,
 *   unusable: { reason: string } | null,
 * }} AgentFacts
 */

/**
 * @param {string} label
 * @param {string | null} none the words for no agent; null where one has to be chosen, which is the first one then
 * @param {() => void} chosen called when the choice has changed
 * @param {(agents: AgentFacts[]) => AgentFacts[]} [order]
 * @param {(agent: string) => void} [missing] is told of the one that was chosen, where there is none such
 */
export function agentSelect(label, none, chosen, order = (agents) => agents, missing = () => {}) {
  let value = "";
  /** The one that is to be chosen once the agents are known. @type {string | null} */
  let wish = null;
  /** @type {AgentFacts[] | null} */
  let known = null;
  const element = h("select", {
    "aria-label": label,
    onchange: () => {
      value = element.value;
      chosen();
    },
  });
  const show = whenChanged((/** @type {AgentFacts[]} */ agents) => {
    replace(
      element,
      none !== null && h("option", { value: "" }, none),
      agents.map((agent) =>
        h(
          "option",
          { value: agent.id, disabled: !agent.usable, title: agent.unusable?.reason },
          `${agentName(agent)}${agentName(agent) === agent.id ? "" : ` (${agent.id})`}${
            agent.usable ? "" : ", cannot be used"
          }`,
        )
      ),
    );
    known = agents;
    settle();
  });
  const state = watch(
    ["agents"],
    async (signal) => (await api.get("/api/agents", { signal })).agents,
    (agents) =>
      show(
        order(agents)
          .map(({ id, names, usable, mode, unusable }) => ({ id, names, usable, mode, unusable })),
      ),
  );
  return {
    element,
    value: () => value,
    start: state.start,
    stop: state.stop,
    /** @param {string} id */
    choose(id) {
      wish = id;
      settle();
    },
  };

  function settle() {
    if (known === null) return;
    const wanted = wish ?? value;
    wish = null;
    const isThere = known.some((agent) => agent.id === wanted);
    const now = isThere ? wanted : none === null ? known.find((agent) => agent.usable)?.id ?? "" : "";
    element.value = now;
    if (now !== value) {
      value = now;
      chosen();
    }
    if (!isThere && wanted !== "") missing(wanted);
  }
}
