/**
 * The editor of a block that a person has made: its name, its role, and its text or script. Owns deleting it, which is
 * undone and not asked about.
 *
 * @typedef {import("./block_order.js").Block} Block
 * @typedef {import("./block_order.js").CustomBlock} CustomBlock
 * @typedef {import("./block_list.js").Shared} Shared
 */

import { h } from "../../dom.js";
import { toast } from "../../messages.js";
import { codeField } from "./block_code.js";
import { insertText, selfSaving } from "./block_draft.js";
import { evaluation } from "./block_evaluation.js";
import { ROLES, slugOf } from "./block_order.js";
import { carried } from "./block_outcome.js";
import { contextReference, fragmentReference } from "./block_reference.js";

/** Characters of a name. */
export const MAX_NAME_LENGTH = 100;

/** What a name without a letter or digit of the marker means. */
export const NO_SLUG =
  "This name has none of a–z and 0–9, so it does not show in the block's marker: the model reads the block under its id alone.";

/** What the role means for an agent of Space's own, whose model is that of the client. */
export const ONLY_ASKED_FOR =
  "An MCP client gets a user block only through the prompt space_context: a client that does not ask for that prompt " +
  "works without this block. The system blocks go to every client.";

/**
 * Whether a block of this role reaches nobody who does not ask for it.
 *
 * @param {import("./block_list.js").Scope} scope
 * @param {import("./block_order.js").Role} role
 */
export const isOnlyAskedFor = (scope, role) => scope.kind === "space" && role === "user";

/**
 * @param {Shared} shared
 * @param {Block} first
 */
export function customEditor({ store, scope, drafts, announce }, first) {
  const { id } = first;
  let block = /** @type {CustomBlock} */ (first.custom);
  const isScript = block.type === "script";
  let isShown = false;

  const name = h("input", { id: `name-${id}`, maxlength: MAX_NAME_LENGTH, autocomplete: "off" });
  const warning = h("p", { class: "notice warn small", hidden: true }, NO_SLUG);
  const nameDraft = selfSaving(name, {
    ...{ store, drafts, key: `${id}/name` },
    read: (state) => mine(state)?.name,
    write: (text, options) => store.updateCustom(id, { name: text }, options),
    problem: (text) => text.trim() === "" ? "A block needs a name" : null,
    shown: (text) => warning.hidden = text.trim() === "" || slugOf(text) !== "",
  });
  const role = h(
    "div",
    { class: "segments", role: "group", "aria-label": "Role" },
    ROLES.map((each) => h("button", { data: { role: each }, onclick: () => changeRole(each) }, each)),
  );

  const unread = h("p", { class: "notice warn small", hidden: true }, ONLY_ASKED_FOR);

  const code = isScript ? codeField({ id: `text-${id}`, label: "Script" }) : null;
  const area = code?.area ?? h("textarea", { id: `text-${id}`, "aria-label": "Text", spellcheck: "true" });
  const output = code && evaluation({ scope, text: () => area.value, failedAt: code.mark });
  const draft = selfSaving(area, {
    ...{ store, drafts, key: `${id}/content` },
    read: (state) => mine(state)?.content,
    write: (text, options) => store.updateCustom(id, { content: text }, options),
    shown() {
      if (code === null) area.rows = Math.min(24, Math.max(5, area.value.split("\n").length + 1));
      code?.changed();
      if (isShown) output?.changed();
    },
  });
  const insert = (/** @type {string} */ text) => insertText(area, text);
  const fragments = fragmentReference(scope, insert, { script: isScript });

  const element = h(
    "div",
    { class: "block-editor" },
    h(
      "div",
      { class: "block-identity" },
      h("label", { for: name.id }, "Name"),
      name,
      h("span", {}, "Role"),
      role,
      nameDraft.status,
    ),
    warning,
    unread,
    h(
      "div",
      { class: "toolbar" },
      h("h4", {}, isScript ? "Script" : "Text"),
      h(
        "span",
        { class: "quiet small" },
        isScript ? "JavaScript that returns the text of the block" : "stands in the prompt as it is",
      ),
      h("span", { class: "push" }, draft.status),
    ),
    h(
      "div",
      { class: isScript ? "script-panes" : "" },
      code?.element ?? area,
      output?.element,
    ),
    isScript && contextReference(scope, insert),
    fragments?.element,
    h("div", { class: "toolbar" }, h("button", { class: "small block-delete", onclick: remove }, "Delete this block")),
  );

  /** @param {import("./config_store.js").State} state */
  function mine({ config }) {
    return config.customBlocks.find((each) => each.id === id);
  }

  /** @param {import("./block_order.js").Role} wanted */
  async function changeRole(wanted) {
    if (wanted === block.role) return;
    showRole(wanted);
    if (await carried(store.updateCustom(id, { role: wanted }))) {
      announce(`${block.name} is a ${wanted} block now.`);
    } else showRole(block.role);
  }

  /** @param {import("./block_order.js").Role} shown */
  function showRole(shown) {
    unread.hidden = !isOnlyAskedFor(scope, shown);
    for (const button of role.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(button.dataset.role === shown));
    }
  }

  async function remove() {
    const { name: deleted } = block;
    await draft.flush();
    const undo = await store.removeCustom(id);
    if (undo === null) return;
    toast(`Deleted “${deleted}”.`, { action: { label: "Undo", run: () => void carried(undo()) } });
  }

  /** @param {Block} now */
  function update(now) {
    if (now.custom === null) return;
    block = now.custom;
    showRole(block.role);
    nameDraft.refresh();
    draft.refresh();
  }

  update(first);
  return {
    element,
    update,
    async flush() {
      await Promise.all([nameDraft.flush(), draft.flush()]);
    },
    discard() {
      nameDraft.discard();
      draft.discard();
    },
    get dirty() {
      return nameDraft.dirty || draft.dirty;
    },
    /** It is shown. */
    opened() {
      isShown = true;
      code?.changed();
      void output?.run();
    },
    closed() {
      isShown = false;
      output?.stop();
    },
    stop() {
      fragments?.stop();
      output?.stop();
    },
  };
}
