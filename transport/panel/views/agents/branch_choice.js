/**
 * Which branch of a story is the active one, where it has several: agents and their runs are those of that branch. Owns
 * that choice, which is the story's own and so everybody's.
 */

import { choiceMenu } from "../../choice_menu.js";
import { h } from "../../dom.js";
import { api, segment } from "../../engine.js";
import { attempt, toast } from "../../messages.js";
import { watch } from "../../watch.js";

/** @typedef {{ branches: { id: string, name: string }[], activeBranchId: string }} Branches */

export function branchChoice() {
  /** @type {string | null} */
  let story = null;
  /** @type {Branches | null} */
  let known = null;
  const menu = choiceMenu("Branch", choose);
  const element = h(
    "div",
    { class: "branch-choice", hidden: true, title: "The branch that the story's agents read and write" },
    h("span", { class: "quiet small" }, "Branch"),
    menu.element,
  );

  const loader = watch(
    ["blocks"],
    async (signal) => {
      const wanted = story;
      return wanted === null
        ? null
        : { wanted, now: await api.get(`/api/stories/${segment(wanted)}/branches`, { signal }) };
    },
    (loaded) => {
      if (loaded !== null && loaded.wanted !== story) return void loader.again();
      known = loaded?.now ?? null;
      update();
    },
    () => {
      known = null;
      update();
    },
  );

  function update() {
    const branches = known?.branches ?? [];
    element.hidden = branches.length < 2;
    menu.update(
      branches.map((each) => ({ value: each.id, label: each.name || each.id })),
      known?.activeBranchId ?? "",
    );
  }

  /** @param {string} branchId */
  async function choose(branchId) {
    if (story === null) return;
    const path = `/api/stories/${segment(story)}/branches/active`;
    menu.button.disabled = true;
    const now = await attempt(() => api.put(path, { branchId }));
    menu.button.disabled = false;
    known = now ?? known;
    update();
    const { name } = known?.branches.find((each) => each.id === branchId) ?? {};
    if (now !== undefined) toast(`The story goes on in ${name || branchId}.`);
    menu.button.focus();
  }

  return {
    element,
    /** @param {string | null} now the story that is looked at */
    follow(now) {
      if (now === story) return;
      story = now;
      known = null;
      update();
      void loader.again();
    },
    start: loader.start,
    stop: loader.stop,
  };
}
