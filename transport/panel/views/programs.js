/**
 * The view "Code Mode": whether programs can be run, the last ones, and the SDK that an agent's model reads.
 * Owns which of these is shown; the address says it: `#/programs`, `#/programs/ID`, `#/programs/sdk`.
 */

import { h } from "../dom.js";
import { api } from "../engine.js";
import { watch } from "../watch.js";
import { programDetail } from "./programs/program_detail.js";
import { addressOf, programList } from "./programs/program_list.js";
import { runtimeLine } from "./programs/runtime_line.js";
import { sdkView } from "./programs/sdk_view.js";
import { setText } from "../keyed_list.js";

export const title = "Code Mode";

/** The part of the address that stands for the SDK; ids of programs begin with `program-`. */
const SDK = "sdk";

/** Where the list and a program stand side by side, as in programs.css; elsewhere the list comes first. */
const WIDE = "(min-width: 901px)";

/** @returns {import("../main.js").View} */
export function create() {
  /** @type {string | null} */
  let open = null;
  /** @type {import("./programs/program_list.js").ProgramFacts[]} */
  let programs = [];
  /** Whether the programs were had since the view was shown. */
  let known = false;
  let isSdk = false;
  /** @type {import("./programs/runtime_line.js").Runtime | null} */
  let state = null;

  const runtime = runtimeLine();
  const list = programList(() => open);
  const detail = programDetail();
  const sdk = sdkView();
  const problem = h("p", { class: "notice bad", hidden: true });
  const toPrograms = h("a", { href: "#/programs" }, "Programs");
  const toSdk = h("a", { href: `#/programs/${SDK}` }, "SDK");
  const choose = h("div", { class: "empty program-choose" }, "Choose a program to see what it did.");
  const both = h("div", { class: "programs-both" }, list.element, choose, detail.element);
  const element = h(
    "div",
    { class: "programs-view" },
    h("h1", { class: "offscreen" }, "Code Mode"),
    h(
      "div",
      { class: "toolbar programs-top" },
      h("nav", { class: "subnav", "aria-label": "Code Mode" }, toPrograms, toSdk),
      runtime.element,
    ),
    problem,
    both,
    sdk.element,
  );

  /** @param {import("../engine.js").EngineError} error */
  const failed = (error) => {
    problem.hidden = false;
    setText(problem, error.message);
  };
  const rows = watch(
    ["programs"],
    async (signal) => (await api.get("/api/programs", { signal })).programs,
    (now) => {
      programs = now;
      known = true;
      problem.hidden = true;
      list.update(programs);
      update();
      openNewest();
    },
    failed,
  );
  const runtimeState = watch(
    ["programs", "agents"],
    async (signal) => (await api.get("/status", { signal })).code_runtime,
    (now) => {
      state = now;
      update();
    },
    failed,
  );

  /** Where there is room beside the list, a program is shown; Back does not lead to where none was. */
  function openNewest() {
    if (known && open === null && !isSdk && programs.length > 0 && wide.matches) {
      location.replace(addressOf(programs[0].id));
    }
  }
  const wide = matchMedia(WIDE);
  wide.addEventListener("change", openNewest);

  function update() {
    if (state !== null) runtime.update(state, programs.filter((each) => each.running).length);
    choose.hidden = open !== null || programs.length === 0;
    both.classList.toggle("has-none", programs.length === 0 && open === null);
  }

  return {
    element,
    show(path) {
      isSdk = path[0] === SDK;
      open = isSdk ? null : path[0] || null;
      both.hidden = isSdk;
      sdk.element.hidden = !isSdk;
      both.classList.toggle("is-open", open !== null);
      detail.element.hidden = open === null;
      (isSdk ? toSdk : toPrograms).setAttribute("aria-current", "page");
      (isSdk ? toPrograms : toSdk).removeAttribute("aria-current");
      rows.start();
      runtimeState.start();
      if (isSdk) {
        if (path[1]) sdk.choose(path[1]);
        sdk.start();
      } else sdk.stop();
      if (open === null) detail.hide();
      else detail.show(open);
      list.update(programs);
      update();
      openNewest();
    },
    hide() {
      known = false;
      rows.stop();
      runtimeState.stop();
      detail.hide();
      sdk.stop();
    },
  };
}
