/**
 * Both versions of what two people have changed at once, for the person to pick. Owns the dialog; the picking changes
 * nothing before it is whole, and closing the dialog leaves everything waiting.
 *
 * @typedef {import("./config_store.js").Conflict} Conflict
 * @typedef {import("./config_changes.js").Difference} Difference
 */

import { h, icon, replace } from "../../dom.js";
import { copy, toast } from "../../messages.js";
import { markedDifference } from "./text_difference.js";

/** @type {Record<string, string>} */
const NAMES = {
  enabled: "Switched on",
  order: "Place",
  contentMode: "Content mode",
  customContent: "Text",
  content: "Content",
  name: "Name",
  role: "Role",
  type: "Type",
  id: "Id",
  providerId: "Provider",
  modelId: "Model",
  temperature: "Temperature",
  generationMode: "Generation mode",
};

/**
 * A notice that is there while something waits to be picked, and the dialog that it opens.
 *
 * @param {{ readonly conflict: Conflict | null, subscribe(fn: () => void): () => void }} store
 */
export function conflictNotice(store) {
  const element = h("div", { class: "notice warn conflict-notice", role: "alert", hidden: true });
  /** @type {Conflict | null} */
  let shown = null;
  /** @type {HTMLDialogElement | null} */
  let dialog = null;

  function update() {
    if (store.conflict === shown) return;
    shown = store.conflict;
    dialog?.remove();
    dialog = null;
    element.hidden = shown === null;
    if (shown === null) return;
    replace(
      element,
      icon("warning"),
      h(
        "span",
        {},
        `“${shown.label}” was changed elsewhere while you were at it. Yours is kept here, and not saved yet.`,
      ),
      h("button", { onclick: open }, "Show both versions…"),
    );
    open();
  }

  function open() {
    if (shown === null || !element.isConnected) return;
    if (dialog === null) {
      dialog = conflictDialog(shown);
      document.body.append(dialog);
    }
    if (!dialog.open) dialog.showModal();
  }

  const off = store.subscribe(update);
  return {
    element,
    /** Show what waits; once the notice is on the page. */
    update() {
      update();
      if (shown !== null) open();
    },
    stop() {
      off();
      dialog?.remove();
    },
  };
}

/** @param {Conflict} conflict */
function conflictDialog({ label, differences, resolve }) {
  /** @type {Map<string, boolean>} */
  const picks = new Map();
  const several = differences.length > 1;
  const apply = h("button", { class: "primary", disabled: true, onclick: () => end(picks) }, "Use what I picked");
  const dialog = h("dialog", { class: "conflict", "aria-labelledby": "conflict-title" });
  const cards = differences.map((each) =>
    differenceCard(each, several, (mine) => {
      picks.set(each.key, mine);
      apply.disabled = picks.size < differences.length;
    })
  );

  /** @param {Map<string, boolean>} picked */
  function end(picked) {
    dialog.close();
    const lost = differences.filter((each) => picked.get(each.key) !== true).flatMap((each) => each.fields)
      .map((field) => field.mine).filter((value) => typeof value === "string" && value !== "");
    if (lost.length > 0) {
      const run = () => copy(lost.join("\n\n"));
      toast("The other version is used. Yours can still be copied.", { action: { label: "Copy mine", run } });
    }
    resolve(new Set(differences.map((each) => each.key).filter((key) => picked.get(key) === true)));
  }
  const all = (/** @type {boolean} */ mine) => end(new Map(differences.map((each) => [each.key, mine])));

  replace(
    dialog,
    h("h2", { id: "conflict-title" }, "Changed in two places"),
    h(
      "p",
      { class: "quiet" },
      `While you were changing “${label}”, the same was changed elsewhere and saved. Nothing of either is lost: pick which one counts.`,
    ),
    h("div", { class: "conflict-cards" }, cards),
    h(
      "div",
      { class: "dialog-buttons conflict-buttons" },
      h("button", { class: "bare", onclick: () => dialog.close() }, "Decide later"),
      h("button", { onclick: () => all(false) }, several ? "Take theirs everywhere" : "Take theirs"),
      h(
        "button",
        { class: several ? "" : "primary", onclick: () => all(true) },
        several ? "Keep mine everywhere" : "Keep mine",
      ),
      several && apply,
    ),
  );
  return dialog;
}

/**
 * @param {Difference} difference
 * @param {boolean} several
 * @param {(mine: boolean) => void} pick
 */
function differenceCard({ subject, fields }, several, pick) {
  const buttons = [["Take theirs", false], ["Keep mine", true]].map(([text, mine]) =>
    h("button", {
      "aria-pressed": "false",
      onclick: (/** @type {MouseEvent} */ event) => {
        for (const each of buttons) each.setAttribute("aria-pressed", String(each === event.currentTarget));
        pick(mine === true);
      },
    }, String(text))
  );
  return h(
    "section",
    { class: "card conflict-card", "aria-label": subject },
    h(
      "div",
      { class: "toolbar" },
      h("h3", {}, subject),
      several &&
        h("div", { class: "segments push", role: "group", "aria-label": `Which version of ${subject}` }, buttons),
    ),
    fields.map((field) => {
      const [theirs, mine] = markedDifference(said(field.theirs), said(field.mine));
      return h(
        "div",
        { class: "conflict-field" },
        h("div", { class: "quiet small" }, NAMES[field.name] ?? field.name),
        h(
          "div",
          { class: "versions" },
          h(
            "div",
            {},
            h("div", { class: "version-title" }, "Theirs, as it is saved"),
            h("pre", { tabindex: "0", "aria-label": "Theirs" }, ...theirs),
          ),
          h(
            "div",
            {},
            h("div", { class: "version-title" }, "Mine, as you have it here"),
            h("pre", { tabindex: "0", "aria-label": "Mine" }, ...mine),
          ),
        ),
      );
    }),
  );
}

/** @param {unknown} value */
function said(value) {
  if (value === undefined || value === null) return "(nothing)";
  if (value === "") return "(empty)";
  if (value === true) return "yes";
  if (value === false) return "no";
  if (Array.isArray(value)) return value.length === 0 ? "(as it comes)" : value.join("\n");
  return typeof value === "string" ? value : JSON.stringify(value);
}
