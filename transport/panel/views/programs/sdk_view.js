/** The SDK of an agent as its model reads it, to be read and searched by a person. Owns the choice of agent and level. */

import { foreign, h, icon, replace } from "../../dom.js";
import { EngineError, segment, send } from "../../engine.js";
import { copy } from "../../messages.js";
import { watch } from "../../watch.js";
import { agentSelect } from "../tools/agent_select.js";
import { setText } from "../../keyed_list.js";
import { codeLines, fencedLines } from "./highlight.js";
import { textSearch } from "./text_search.js";

/** As the engine counts them for the levels of the SDK. */
const CHARACTERS_OF_A_TOKEN = 3.2;

/** The form that is code as a whole, and no text for a model. */
const DECLARATIONS = "what=declarations";

const FORMS = [
  { query: "", label: "As the model reads it" },
  { query: "level=full", label: "Level full: all comments" },
  { query: "level=no_result_docs", label: "Level no_result_docs" },
  { query: "level=no_field_docs", label: "Level no_field_docs" },
  { query: "level=catalogue", label: "Level catalogue: names alone" },
  { query: DECLARATIONS, label: "Declarations: what programs are checked against" },
];

export function sdkView() {
  const agents = agentSelect(
    "Agent",
    null,
    () => {
      absent.hidden = true;
      state.again();
    },
    (all) => [...all].sort((one, other) => Number(presentsCode(other)) - Number(presentsCode(one))),
    (missing) => {
      absent.hidden = false;
      replace(absent, "There is no agent ", h("code", {}, foreign(missing)), ". This is the SDK of another one.");
    },
  );
  const absent = h("p", { class: "notice warn", role: "alert", hidden: true });
  const form = h(
    "select",
    { "aria-label": "Form", onchange: () => state.again() },
    FORMS.map((each) => h("option", { value: each.query }, each.label)),
  );
  const size = h("p", { class: "quiet small", role: "status" });
  const problem = h("p", { class: "notice bad", hidden: true });
  const code = h("pre", { class: "sdk-text code", tabindex: "0", "aria-label": "The SDK" });
  const search = textSearch(code, "Search in the SDK");
  let text = "";
  const element = h(
    "div",
    { class: "sdk" },
    h(
      "div",
      { class: "toolbar" },
      h("label", { class: "quiet" }, "Agent ", agents.element),
      h("label", { class: "quiet" }, "Form ", form),
      search.element,
      h("button", { class: "push", onclick: () => copy(text) }, icon("copy"), "Copy"),
    ),
    absent,
    size,
    problem,
    code,
  );
  const state = watch(
    ["context", "presets", "tools", "agents", "units"],
    async (signal) => {
      const agent = agents.value();
      return agent === "" ? "" : await textOf(`/api/agents/${segment(agent)}/sdk?${form.value}`, signal);
    },
    (now) => {
      problem.hidden = true;
      code.hidden = now === "";
      if (now === text) return;
      text = now;
      const tokens = Math.round(text.length / CHARACTERS_OF_A_TOKEN);
      setText(size, `About ${tokens.toLocaleString("en")} tokens. It follows the context, as the tools do.`);
      const top = code.scrollTop;
      replace(code, form.value === DECLARATIONS ? codeLines(text) : fencedLines(text));
      code.scrollTop = top;
      search.again();
    },
    (error) => {
      problem.hidden = false;
      setText(problem, error.message);
      code.hidden = true;
      text = "";
      setText(size, "");
    },
  );
  return {
    element,
    start() {
      agents.start();
      state.start();
    },
    stop() {
      agents.stop();
      state.stop();
    },
    /** @param {string} agent */
    choose(agent) {
      absent.hidden = true;
      agents.choose(agent);
      state.again();
    },
  };
}

/** @param {import("../tools/agent_select.js").AgentFacts} agent */
const presentsCode = (agent) => agent.mode === "code" || agent.mode === "both";

/**
 * @param {string} path
 * @param {AbortSignal} signal
 */
async function textOf(path, signal) {
  const response = await send("GET", path, { signal });
  if (response.ok) return await response.text();
  const body = await response.json().catch(() => null);
  throw new EngineError(response.status, body?.title ?? `HTTP ${response.status}`, body?.detail ?? "", body);
}
