/** Whether programs can be run, and by what: the code runtime as `/status` tells of it. */

import { h, replace } from "../../dom.js";
import { whenChanged } from "../../keyed_list.js";
import { counted, sentence } from "../tools/words.js";

/**
 * @typedef {{
 *   available: boolean, reason: string | null, deno_version: string | null, walls: string[],
 *   most_leases: number, kills: Record<string, number>, compiler: { missing: string | null },
 * }} Runtime
 */

export function runtimeLine() {
  const element = h("div", { class: "runtime", role: "status", "aria-label": "Code runtime" });
  const show = whenChanged((/** @type {Runtime & { running: number }} */ runtime) => {
    element.classList.toggle("notice", !runtime.available);
    element.classList.toggle("warn", !runtime.available);
    replace(element, runtime.available ? ready(runtime) : missing(runtime));
  });
  return {
    element,
    /**
     * @param {Runtime} runtime
     * @param {number} running programs that run now
     */
    update({ available, reason, deno_version, walls, most_leases, kills, compiler }, running) {
      const { missing: lacking } = compiler;
      show({ available, reason, deno_version, walls, most_leases, kills, compiler: { missing: lacking }, running });
    },
  };
}

/** @param {Runtime & { running: number }} runtime */
function ready({ deno_version, walls, running, most_leases, kills, compiler }) {
  const killed = Object.entries(kills).filter(([, count]) => count > 0);
  return [
    h("span", { class: "badge good" }, "Programs can be run"),
    h(
      "span",
      { class: "quiet small" },
      deno_version === null ? "starts with the first program" : `deno ${deno_version}`,
    ),
    h("span", { class: "quiet small" }, `${running} of ${most_leases} running`),
    walls.length > 0 &&
    h(
      "details",
      { class: "walls quiet small" },
      h("summary", {}, `behind ${counted(walls.length, "wall")}`),
      h("p", {}, walls.join(" · ")),
    ),
    killed.length > 0 &&
    h(
      "span",
      { class: "quiet small" },
      `ended by force: ${killed.map(([why, count]) => `${why} ${count}`).join(", ")}`,
    ),
    compiler.missing !== null && h("span", { class: "badge warn" }, compiler.missing),
  ];
}

/** @param {Runtime} runtime */
function missing({ reason }) {
  return [
    h("strong", {}, "Programs cannot be run. "),
    h("span", {}, sentence((reason ?? "The engine does not say why").replace(/\.$/, ""))),
    h("span", {}, "; agents that present code cannot be used until then; the others can."),
  ];
}
