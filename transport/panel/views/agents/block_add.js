/**
 * The dialog that makes a block. Owns what is typed in it until the block is made: closing it, or a refusal, loses
 * nothing.
 *
 * @typedef {import("./block_order.js").Role} Role
 */

import { h, replace } from "../../dom.js";
import { codeField } from "./block_code.js";
import { isOnlyAskedFor, MAX_NAME_LENGTH, NO_SLUG, ONLY_ASKED_FOR } from "./block_custom.js";
import { evaluation } from "./block_evaluation.js";
import { lastOrder, slugOf } from "./block_order.js";

/** @type {readonly { type: "simple" | "script", label: string, means: string }[]} */
const TYPES = [
  { type: "simple", label: "Simple", means: "A text that stands in the prompt as it is." },
  { type: "script", label: "Script", means: "JavaScript that returns the text, run in the sandbox for each prompt." },
];

/** @type {readonly { role: Role, means: string }[]} */
const ROLE_MEANS = [
  { role: "system", means: "Part of the system message: what the agent is and how it works." },
  { role: "user", means: "Part of the user message, which comes after it." },
];

let dialogs = 0;

/**
 * A dialog, made once and opened as often as wanted. `added` gets the id of the new block.
 *
 * @param {{ store: import("./config_store.js").ConfigStore, scope: import("./block_list.js").Scope }} place
 * @param {(id: string) => void} added
 */
export function addDialog({ store, scope }, added) {
  const prefix = `new-block-${++dialogs}`;
  /** @type {"simple" | "script"} */
  let type = "simple";
  /** @type {Role} */
  let role = scope.kind === "space" ? "system" : "user";

  const name = h("input", {
    ...{ id: `${prefix}-name`, maxlength: MAX_NAME_LENGTH, required: true, autocomplete: "off" },
    oninput: warn,
  });
  const warning = h("p", { class: "notice warn small", role: "status", hidden: true }, NO_SLUG);
  const types = choice("Type", TYPES.map(({ type: value, label }) => [value, label]), (value) => {
    type = value === "script" ? "script" : "simple";
    show();
  });
  const roles = choice("Role", ROLE_MEANS.map(({ role: value }) => [value, value]), (value) => {
    role = value === "system" ? "system" : "user";
    show();
  });
  const means = h("p", { class: "quiet small" });
  const unread = h("p", { class: "notice warn small", role: "status", hidden: true }, ONLY_ASKED_FOR);
  const text = h("textarea", { id: `${prefix}-text`, rows: 8, "aria-label": "Text" });
  const code = codeField({ id: `${prefix}-script`, label: "Script" });
  const output = evaluation({ scope, text: () => code.area.value, failedAt: code.mark });
  code.area.addEventListener("input", output.changed);
  const refusal = h("p", { class: "notice bad", role: "alert", hidden: true });
  const submit = h("button", { class: "primary" }, "Add block");
  const element = h(
    "dialog",
    { class: "block-dialog", "aria-label": "Add a context block", onclose: output.stop },
    h("h2", {}, "Add a context block"),
    h(
      "form",
      { method: "dialog", onsubmit: add },
      h(
        "div",
        { class: "block-form" },
        h("label", { for: name.id }, "Name"),
        name,
        h("span", {}, "Role"),
        roles,
        h("span", {}, "Type"),
        types,
      ),
      warning,
      means,
      unread,
      text,
      code.element,
      output.element,
      refusal,
      h(
        "div",
        { class: "dialog-buttons" },
        h("button", { type: "button", onclick: () => element.close() }, "Cancel"),
        submit,
      ),
    ),
  );
  // Escape in the script field leaves its indentation first.
  element.addEventListener("cancel", (event) => {
    if (code.takesEscape) event.preventDefault();
  });

  function show() {
    const isScript = type === "script";
    press(types, type);
    press(roles, role);
    text.hidden = isScript;
    unread.hidden = !isOnlyAskedFor(scope, role);
    code.element.hidden = output.element.hidden = !isScript;
    replace(
      means,
      TYPES.find((each) => each.type === type)?.means ?? "",
      " ",
      ROLE_MEANS.find((each) => each.role === role)?.means ?? "",
    );
    if (isScript && element.open) {
      code.changed();
      void output.run();
    }
  }

  function warn() {
    warning.hidden = name.value.trim() === "" || slugOf(name.value) !== "";
  }

  /** @param {Event} event */
  async function add(event) {
    event.preventDefault();
    const { state } = store;
    const content = type === "script" ? code.area.value : text.value;
    const empty = name.value.trim() === ""
      ? name
      : content.trim() === ""
      ? (type === "script" ? code.area : text)
      : null;
    if (empty !== null) {
      refuse(empty === name ? "Give the block a name." : "Give the block a text.");
      return empty.focus();
    }
    if (state === null) return refuse("The agent is not loaded yet.");
    refusal.hidden = true;
    submit.disabled = true;
    const block = { name: name.value.trim(), role, type, content, order: lastOrder(state, role), enabled: true };
    const { outcome, error, id } = await store.addCustom(block).finally(() => submit.disabled = false);
    if (outcome !== "saved") return refuse(error?.message ?? "The block was not added.");
    name.value = text.value = code.area.value = "";
    code.changed();
    warn();
    element.close();
    added(id);
  }

  /** @param {string} reason */
  function refuse(reason) {
    refusal.hidden = false;
    replace(refusal, reason);
  }

  show();
  return {
    element,
    open() {
      refusal.hidden = true;
      element.showModal();
      name.focus();
      show();
    },
  };
}

/**
 * @param {string} label
 * @param {[value: string, text: string][]} values
 * @param {(value: string) => void} chosen
 */
function choice(label, values, chosen) {
  return h(
    "div",
    { class: "segments", role: "group", "aria-label": label },
    values.map(([value, text]) => h("button", { type: "button", data: { value }, onclick: () => chosen(value) }, text)),
  );
}

/**
 * @param {HTMLElement} group
 * @param {string} value
 */
function press(group, value) {
  for (const button of group.querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.dataset.value === value));
  }
}
