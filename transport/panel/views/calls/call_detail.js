/**
 * One call, whole: its arguments and its result, who made it, how it ended. Owns asking for it again when it changes,
 * and for another one.
 *
 * @typedef {import("./call_feed.js").CallRow} CallRow
 * @typedef {CallRow & {
 *   arguments: unknown, arguments_cut: boolean, result_cut: boolean, command: string | null,
 *   result: { content: any[], structured_content: unknown, is_error: boolean } | null,
 * }} WholeCall
 */

import { clock, duration, foreign, h, icon, replace, visible } from "../../dom.js";
import { api, segment } from "../../engine.js";
import { copy } from "../../messages.js";
import { isPassing, watch } from "../../watch.js";
import { addressOf as addressOfProgram } from "../programs/program_list.js";
import { setText } from "../../keyed_list.js";
import { addressOf as addressOfTool } from "../tools/tool_row.js";
import { elapsedOf, stateOf } from "./call_words.js";
import { contentOf, pretty, textOf } from "./call_content.js";
import { cancelCall, progressBar } from "./running_calls.js";

/** How often the time that has passed is shown anew, milliseconds. */
const TICK_MS = 250;

/** @param {() => void} drawn called once another call is there to be seen */
export function callDetail(drawn) {
  /** @type {number | null} */
  let id = null;
  /** @type {WholeCall | null} */
  let call = null;
  /** The version that is shown or asked for. */
  let version = -1;
  let tick = 0;

  const tool = h("a", { class: "mono" });
  const badge = h("span", { class: "badge" });
  const close = h("a", { href: "#/calls", class: "detail-close", "aria-label": "Close the call" }, icon("close"));
  const facts = h("dl", { class: "call-facts" });
  const took = h("dd", {});
  const bar = progressBar();
  const said = h("span", { class: "small" });
  const progress = h("div", { class: "detail-progress", hidden: true }, bar.element, said);
  const cancel = h("button", {
    onclick: async () => {
      cancel.disabled = true;
      if (id !== null) await cancelCall(id);
      cancel.disabled = false;
    },
  }, "Cancel the call");
  const copyCommand = h("button", { onclick: () => copy(call?.command ?? "") }, icon("copy"), "Copy as space call");
  const copyArguments = h(
    "button",
    { onclick: () => copy(textOf(call?.arguments)) },
    icon("copy"),
    "Copy arguments",
  );
  const error = h("pre", { class: "notice bad detail-error", hidden: true });
  const given = h("section", {});
  const result = h("section", {});
  const problem = h("p", { class: "notice bad", hidden: true });
  const body = h(
    "div",
    { class: "detail-body" },
    facts,
    progress,
    h("div", { class: "toolbar" }, cancel, copyCommand, copyArguments),
    error,
    given,
    result,
  );
  const element = h(
    "section",
    { class: "card call-detail", "aria-label": "The call", hidden: true },
    h("div", { class: "detail-head" }, h("h2", {}, tool), badge, close),
    problem,
    body,
  );

  const state = watch(
    [],
    (signal) => api.get(`/api/calls/${id}`, { signal }),
    draw,
    (failure) => {
      // A call that is seen stays so; the page tries again.
      if (isPassing(failure) && call?.id === id) return;
      version = -1;
      call = null;
      body.hidden = true;
      problem.hidden = false;
      setText(problem, visible(failure.message));
      setText(tool, `Call ${id}`);
      tool.removeAttribute("href");
      badge.hidden = true;
    },
  );

  /** @param {WholeCall} now */
  function draw(now) {
    const isOther = call?.id !== now.id;
    const before = call;
    call = now;
    version = now.version;
    problem.hidden = true;
    body.hidden = badge.hidden = false;
    setText(tool, visible(now.tool));
    tool.setAttribute("href", addressOfTool(now.tool));
    const outcome = stateOf(now);
    setText(badge, outcome.label);
    badge.className = `badge ${outcome.kind}`;
    drawFacts(now);
    progress.hidden = now.state !== "running";
    bar.update(now, now.tool);
    setText(said, visible(now.progress?.message ?? ""));
    cancel.hidden = !now.cancellable || now.state !== "running";
    copyCommand.disabled = now.command === null;
    copyCommand.title = now.command ?? "Not all arguments are kept, so the call cannot be written down";
    const whole = errorOf(now);
    error.hidden = whole === null;
    setText(error, visible(whole ?? ""));
    error.className = `notice ${outcome.label === "refused" ? "warn" : "bad"} detail-error`;
    const wasShortened = before?.arguments_cut !== now.arguments_cut;
    if (isOther || wasShortened || before?.tool !== now.tool) drawArguments(now);
    if (isOther || before?.state !== now.state || before?.result_cut !== now.result_cut) drawResult(now);
    if (isOther) {
      element.scrollTop = 0;
      drawn();
    }
    clearInterval(tick);
    tick = now.state === "running" ? setInterval(() => setText(took, tookText(now)), TICK_MS) : 0;
  }

  /** @param {WholeCall} now */
  function drawFacts(now) {
    setText(took, tookText(now));
    /** @type {[string, import("../../dom.js").Child][]} */
    const rows = [
      ["Began", clock(now.started_at)],
      ["Agent", now.agent === null ? null : h("a", { href: `#/agents/${segment(now.agent)}` }, foreign(now.agent))],
      ["Client", foreignOr(now.client)],
      ["Came by", { mcp: "MCP", rest: "REST or the command line", program: "a program" }[now.source] ?? now.source],
      ["Program", now.program_id === null ? null : h("a", { href: addressOfProgram(now.program_id) }, now.program_id)],
      ["By", foreignOr(now.via)],
      ["Task", now.task_id],
      ["Session", now.session_id],
    ];
    replace(
      facts,
      h("dt", {}, now.state === "running" ? "Runs for" : "Took"),
      took,
      ...rows.filter(([, value]) => value !== null).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
    );
  }

  /** @param {WholeCall} now */
  function drawArguments(now) {
    replace(
      given,
      h("h3", {}, "Arguments", now.arguments_cut && h("span", { class: "quiet small" }, " shortened")),
      h(
        "pre",
        { tabindex: "0", "aria-label": "Arguments" },
        visible(now.arguments_cut ? String(now.arguments) : pretty(now.arguments)),
      ),
    );
  }

  /** @param {WholeCall} now */
  function drawResult(now) {
    const said = now.result;
    if (said === null || error.hidden === false && isOnlyText(said)) return replace(result);
    const structured = said.structured_content;
    const repeats = said.content.some((block) => block.type === "text" && isSame(block.text, structured));
    replace(
      result,
      h("h3", {}, "Result", now.result_cut && h("span", { class: "quiet small" }, " shortened")),
      ...said.content.map(contentOf),
      structured !== null && !repeats &&
        h(
          "details",
          {},
          h("summary", {}, "Structured content"),
          h("pre", { tabindex: "0", "aria-label": "Structured content" }, visible(pretty(structured))),
        ),
    );
  }

  return {
    element,
    /** @param {number | null} wanted */
    show(wanted) {
      if (wanted === id) return;
      state.stop();
      clearInterval(tick);
      id = wanted;
      version = -1;
      element.hidden = id === null;
      if (id === null) call = null;
      else state.start();
    },
    /** The row of the call has come, maybe with news. @param {CallRow | undefined} row */
    update(row) {
      if (row === undefined || row.id !== id || row.version <= version) return;
      version = row.version;
      state.again();
    },
  };
}

/** @param {string | null} text */
const foreignOr = (text) => text === null ? null : foreign(text);

/** @param {CallRow} call */
const tookText = (call) => duration(call.seconds ?? elapsedOf(call));

/** Why it failed, whole: the row has only how that begins, in one line. @param {WholeCall} call */
function errorOf(call) {
  if (call.error === null) return null;
  const text = call.result?.content.find((block) => block.type === "text")?.text;
  return typeof text === "string" && inLine(text).startsWith(inLine(call.error)) ? text.trim() : call.error;
}

/** @param {string} text */
const inLine = (text) => text.trim().replace(/\s+/g, " ");

/** @param {NonNullable<WholeCall["result"]>} result */
const isOnlyText = ({ content, structured_content }) =>
  structured_content === null && content.length === 1 && content[0].type === "text";

/**
 * @param {string} text
 * @param {unknown} value
 */
function isSame(text, value) {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
  } catch {
    return false;
  }
}
