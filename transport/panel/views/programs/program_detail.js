/**
 * One program whole: its code, what it called, printed and gave. While it runs, its calls come from the list of calls,
 * since the engine keeps the program itself only when it has ended. Owns what is followed of one id at a time.
 *
 * @typedef {import("./program_list.js").ProgramFacts} ProgramFacts
 * @typedef {import("./timeline.js").CallFacts} CallFacts
 * @typedef {ProgramFacts & { code: string, logs: string[], result: string | null, calls: CallFacts[] }} Program
 * @typedef {{ program: Program, runCall: import("./running_calls.js").CallRow | null }} Loaded
 */

import { clock, duration, h, icon, replace, visible } from "../../dom.js";
import { api, segment } from "../../engine.js";
import { attempt, copy, toast } from "../../messages.js";
import { watch } from "../../watch.js";
import { setText, whenChanged } from "../../keyed_list.js";
import { counted, sentence } from "../tools/words.js";
import { codeLines } from "./highlight.js";
import { outcomeOf, startOf } from "./program_list.js";
import { runningCalls } from "./running_calls.js";
import { pretty, timeline } from "./timeline.js";

/** How often the time of what runs is shown anew, milliseconds. */
const TICK_MS = 200;

export function programDetail() {
  /** @type {string | null} */
  let id = null;
  /** @type {Loaded | null} */
  let loaded = null;
  /** What the engine has said of an id that it does not know; ids come once, so it is not asked again. */
  /** @type {import("../../engine.js").EngineError | null} */
  let unknown = null;
  /** @type {{ id: string, calls: ReturnType<typeof runningCalls> } | null} */
  let follower = null;
  let ticking = 0;

  const heading = h("h2", {});
  const badge = h("span", { class: "badge" });
  const facts = h("p", { class: "quiet small" });
  const cancel = h("button", { class: "danger", hidden: true, onclick: cancelRun }, "Cancel");
  const failure = h("pre", { class: "notice bad program-failure" });
  const problem = h("p", { class: "notice bad", hidden: true });
  const code = h("pre", { class: "code numbered", tabindex: "0", "aria-label": "Code" });
  const calls = timeline();
  const callsCount = h("span", { class: "quiet small" });
  const logs = h("pre", { tabindex: "0", "aria-label": "Console" });
  const logsEmpty = h("p", { class: "quiet small" });
  const result = h("pre", { class: "code", tabindex: "0", "aria-label": "Result" });
  const resultEmpty = h("p", { class: "quiet small" });
  const body = h(
    "div",
    { class: "program-body", hidden: true },
    h(
      "div",
      { class: "toolbar program-head" },
      heading,
      badge,
      h("span", { class: "push" }),
      cancel,
      h("button", { onclick: () => loaded && copy(loaded.program.code) }, icon("copy"), "Copy code"),
      h(
        "button",
        {
          title: "As a file for `space run`, with the line that runs it",
          onclick: () => loaded && copy(asFile(loaded.program)),
        },
        icon("copy"),
        "Copy as file",
      ),
    ),
    facts,
    failure,
    h("section", { "aria-label": "Program" }, h("h3", {}, "Code"), code),
    h("section", { "aria-label": "Calls" }, h("h3", {}, "Calls ", callsCount), calls.element),
    h("section", { "aria-label": "Printed" }, h("h3", {}, "Console"), logs, logsEmpty),
    h("section", { "aria-label": "Returned" }, h("h3", {}, "Result"), result, resultEmpty),
  );
  const element = h(
    "div",
    { class: "program-detail" },
    h("a", { class: "program-back", href: "#/programs" }, "All programs"),
    problem,
    body,
  );

  const showCode = whenChanged((/** @type {[string, number | null]} */ [text, line]) => {
    replace(code, codeLines(text));
    if (line !== null) code.children[line - 1]?.classList.add("is-faulty");
  });
  const showLogs = whenChanged((/** @type {string[]} */ lines) => setText(logs, visible(lines.join("\n"))));
  const showResult = whenChanged((/** @type {string} */ text) => replace(result, codeLines(pretty(text))));

  const state = watch(
    ["programs", "calls"],
    async (signal) => await load(signal),
    (now) => {
      loaded = now;
      problem.hidden = true;
      update();
    },
    (error) => {
      if (error.status === 404) unknown = error;
      problem.hidden = false;
      body.hidden = true;
      replace(problem, sentence(visible(error.message)));
    },
  );

  /**
   * @param {AbortSignal} signal
   * @returns {Promise<Loaded | null>}
   */
  async function load(signal) {
    const wanted = id;
    if (wanted === null) return null;
    // What has ended changes no more.
    if (loaded?.program.id === wanted && !loaded.program.running) return loaded;
    if (unknown !== null) throw unknown;
    const program = /** @type {Program} */ (await api.get(`/api/programs/${segment(wanted)}`, { signal }));
    if (!program.running) return { program, runCall: null };
    if (follower?.id !== wanted) follower = { id: wanted, calls: runningCalls(wanted) };
    const { calls, run } = await follower.calls.read(signal);
    return { program: { ...program, calls: calls.map(callOf(program)) }, runCall: run };
  }

  function update() {
    if (loaded === null || loaded.program.id !== id) return;
    const { program, runCall } = loaded;
    body.hidden = false;
    const outcome = outcomeOf(program);
    setText(heading, visible(program.description) || program.id);
    setText(badge, outcome.label);
    badge.className = `badge ${outcome.kind}`;
    failure.hidden = program.failure === null;
    setText(failure, visible(program.failure ?? ""));
    cancel.hidden = runCall === null || !runCall.cancellable;
    showCode([program.code, faultyLine(program.failure)]);
    setText(callsCount, program.running ? `${program.calls.length} so far` : String(program.calls.length));
    showLogs(program.logs);
    logs.hidden = program.logs.length === 0;
    logsEmpty.hidden = program.logs.length > 0;
    setText(logsEmpty, program.running ? "What it prints is shown once it has ended." : "It has printed nothing.");
    result.hidden = program.result === null;
    resultEmpty.hidden = program.result !== null;
    showResult(program.result ?? "");
    setText(resultEmpty, program.running ? "It has not ended yet." : "It has returned nothing.");
    updateTime();
    if (program.running && ticking === 0) ticking = setInterval(updateTime, TICK_MS);
    if (!program.running) stopTicking();
  }

  function updateTime() {
    if (loaded === null) return;
    const { program } = loaded;
    const now = program.seconds ?? Math.max(Date.now() / 1000 - startOf(program), 0);
    setText(
      facts,
      [
        clock(startOf(program)),
        `agent ${program.agent}`,
        `${duration(now)}${program.running ? " so far" : ""}`,
        ...(program.running ? [] : [`${counted(program.steps, "step")} to undo`]),
        program.id,
      ].join(" · "),
    );
    calls.update(program.calls, now);
  }

  function stopTicking() {
    clearInterval(ticking);
    ticking = 0;
  }

  async function cancelRun() {
    const call = loaded?.runCall;
    if (call === null || call === undefined) return;
    cancel.disabled = true;
    const done = await attempt(async () => {
      await api.post(`/api/calls/${call.id}/cancel`);
      return true;
    });
    cancel.disabled = false;
    if (done) toast("Cancelled. What it did before that stays done; Undo takes it back.");
    state.again();
  }

  return {
    element,
    /** @param {string} wanted */
    show(wanted) {
      if (wanted !== id) {
        id = wanted;
        loaded = unknown = null;
        body.hidden = true;
        problem.hidden = true;
        stopTicking();
      }
      state.start();
      state.again();
    },
    hide() {
      state.stop();
      stopTicking();
    },
  };
}

/**
 * A row of the list of calls, as the program's own record will have it.
 *
 * @param {Program} program
 */
function callOf(program) {
  return (/** @type {import("./running_calls.js").CallRow} */ row) => ({
    tool: row.tool,
    arguments: row.arguments_preview,
    started: Math.max(row.started_at - startOf(program), 0),
    seconds: row.seconds,
    error: row.error,
  });
}

/**
 * The line that a failure names, counted from 1.
 *
 * @param {string | null} failure
 */
function faultyLine(failure) {
  const found = failure?.match(/\bline (\d+), column \d+/);
  return found ? Number(found[1]) : null;
}

/**
 * What `space run` takes: the code, with who ran it and how above. A first line that the check looks for stays first.
 *
 * @param {Program} program
 */
function asFile(program) {
  const about = program.description.replace(/\s+/g, " ").trim();
  const lines = program.code.trimEnd().split("\n");
  const first = /^\s*\/\/\s*@ts-/.test(lines[0]) ? lines.splice(0, 1) : [];
  const comments = [...(about === "" ? [] : [`// ${about}`]), `// space run --agent ${program.agent} FILE.ts`];
  return [...first, ...comments, ...lines, ""].join("\n");
}
