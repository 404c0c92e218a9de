/** What an agent of Space's is: its form, where that comes from, its file; copied and removed here. Owns that card. */

import { h, replace } from "../../dom.js";
import { api, segment } from "../../engine.js";
import { attempt, confirm, toast } from "../../messages.js";
import { watch } from "../../watch.js";
import { named } from "./agent_name.js";
import { formDialog } from "./form_dialog.js";

/** @type {Record<string, string>} */
const MODES = {
  native: "each tool with its own schema",
  code: "programs call the tools",
  both: "tools, and programs that call them",
};

/**
 * @param {string} id
 * @param {(agent: any) => void} changed is told the agent whenever it was loaded
 */
export function ownAgent(id, changed) {
  const facts = h("dl", { class: "facts" });
  const fault = h("div", { class: "notice bad", hidden: true });
  const description = h("p", { class: "quiet agent-description" });
  const composition = h("pre", { tabindex: "0", "aria-label": "composition.yml" });
  const place = h("dl", { class: "facts" });
  const file = h("div", {}, h("div", { class: "quiet small" }, "composition.yml, the whole agent"), composition);
  const more = h("details", {}, h("summary", {}, "What it is made of"), place, file);
  const element = h("div", { class: "own-agent" }, description, fault, facts, more);
  /** @type {any} */
  let agent = null;

  const name = () => named(agent?.names ?? {}, id).text;

  const loader = watch(
    ["agents", "tools", "presets"],
    (signal) => api.get(`/api/agents/${segment(id)}`, { signal }),
    (now) => {
      agent = now;
      replace(description, named(now.descriptions, "").text);
      fault.hidden = now.usable;
      if (!now.usable) {
        replace(
          fault,
          h("strong", {}, "This agent cannot be used. "),
          now.unusable.reason,
          h(
            "div",
            { class: "small mono" },
            now.unusable.file,
            now.unusable.row === null ? "" : `, row ${now.unusable.row}`,
          ),
        );
      }
      replace(
        facts,
        now.usable && [
          fact("Form", `${now.mode}: ${MODES[now.mode] ?? ""}`, `chosen by ${now.mode_source}`),
          fact(
            "Tools",
            `${now.capability_count} to use now`,
            now.tools.length === now.capability_count ? "" : `the client's list shows ${now.tools.length}`,
          ),
        ].flat(),
      );
      replace(
        place,
        fact("Model", "the client that connects brings its own", ""),
        fact("Folder", now.path, now.trust === "user" ? "yours" : "ships with Space"),
      );
      file.hidden = now.composition.text === null;
      composition.textContent = now.composition.text ?? "";
      changed(now);
    },
    (error) => {
      replace(fault, error.message);
      fault.hidden = false;
    },
  );

  return {
    element,
    start: loader.start,
    stop: loader.stop,

    async copy() {
      const made = await formDialog({
        title: `Copy ${name()}`,
        agree: "Copy",
        intro: [
          h(
            "p",
            { class: "quiet" },
            "The copy is yours: a folder whose composition you can change, with the blocks as they are now.",
          ),
        ],
        fields: [
          {
            name: "id",
            label: "Id",
            value: `my-${id}`.replace(/^my-my-/, "my-"),
            required: true,
            hint: "small letters, digits and -",
          },
          { name: "name", label: "Name", hint: "as it is shown; may be left empty" },
        ],
        submit: ({ id: copy, name }) =>
          api.post("/api/agents", { from: id, id: copy, ...(name === "" ? {} : { name }) }),
      });
      if (made !== null) location.hash = `#/agents/space/${segment(made.id)}`;
    },

    async remove() {
      const agreed = await confirm({
        title: `Remove ${name()}?`,
        body: [
          h("p", {}, "Its folder is removed, for good: ", h("code", {}, agent?.path ?? id)),
          h("p", {}, "What you have changed about its blocks is kept in the archive of the data folder."),
        ],
        agree: "Remove the agent",
        danger: true,
      });
      if (!agreed) return;
      const gone = await attempt(() => api.delete(`/api/agents/${segment(id)}`));
      if (gone === undefined) return;
      toast(gone.configuration_kept_as ? `Removed. Its blocks are kept as ${gone.configuration_kept_as}.` : "Removed.");
      location.hash = "#/agents";
    },
  };
}

/** @param {string} name @param {string} value @param {string} more */
function fact(name, value, more) {
  return [h("dt", {}, name), h("dd", {}, value, more && h("span", { class: "quiet" }, ` (${more})`))];
}
