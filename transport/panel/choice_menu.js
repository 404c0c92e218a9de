/**
 * A choice that is a command: looking through it with the keys changes nothing, Enter or a click does. A select would
 * not do: with the arrow keys it takes each entry that is passed, and with Escape the last one.
 *
 * @typedef {{ value: string, label: string }} Choice
 */

import { foreign, h, icon, replace, visible } from "./dom.js";
import { setText } from "./keyed_list.js";

/** Between the button and its list, pixels. */
const GAP_PX = 4;

/**
 * A button that says what is chosen, and opens the list. `chosen` is told what the person takes, unless it is the one
 * that holds.
 *
 * @param {string} label
 * @param {(value: string) => void} chosen
 */
export function choiceMenu(label, chosen) {
  /** @type {readonly Choice[]} */
  let choices = [];
  let value = "";
  const text = h("span", {});
  const button = h(
    "button",
    {
      ...{ type: "button", class: "choice", role: "combobox", "aria-label": label },
      ...{ "aria-haspopup": "listbox", "aria-expanded": "false" },
      onkeydown,
    },
    text,
    icon("chevron"),
  );
  const list = h("div", {
    ...{ class: "choice-list", role: "listbox", "aria-label": label, popover: "auto" },
    onkeydown: step,
    onbeforetoggle: (event) => {
      if (event.newState === "open") show();
    },
    ontoggle: (event) => {
      button.setAttribute("aria-expanded", String(event.newState === "open"));
      if (event.newState === "open") opened();
    },
  });
  // The click that closes an open list does not open it again.
  button.popoverTargetElement = list;
  const element = h("span", { class: "choice-menu" }, button, list);

  function opened() {
    const { left, bottom } = button.getBoundingClientRect();
    list.style.top = `${bottom + GAP_PX}px`;
    list.style.left = `${Math.max(GAP_PX, Math.min(left, innerWidth - list.offsetWidth - GAP_PX))}px`;
    list.style.maxHeight = `${innerHeight - bottom - 3 * GAP_PX}px`;
    // The list may have told of itself only after somebody has gone on in it.
    if (list.contains(document.activeElement)) return;
    (options().find((each) => each.dataset.value === value) ?? options()[0])?.focus();
  }

  function options() {
    return [...list.querySelectorAll("button")];
  }

  function show() {
    setText(text, visible(choices.find((each) => each.value === value)?.label ?? ""));
    // A list that somebody has open stays as it is; it is made anew when it is opened next.
    if (list.matches(":popover-open")) return;
    replace(
      list,
      choices.map((each) =>
        h("button", {
          ...{ type: "button", class: "bare", role: "option", tabindex: "-1", data: { value: each.value } },
          "aria-selected": String(each.value === value),
          onclick: () => take(each.value),
        }, foreign(each.label))
      ),
    );
  }

  /** @param {string} wanted */
  function take(wanted) {
    list.hidePopover();
    button.focus();
    if (wanted !== value) chosen(wanted);
  }

  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    list.showPopover();
    opened();
  }

  /** @param {KeyboardEvent} event */
  function step(event) {
    const all = options();
    const at = all.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === "Tab") list.hidePopover();
    else if (to !== undefined) {
      event.preventDefault();
      all[Math.min(Math.max(to, 0), all.length - 1)]?.focus();
    } else if (event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const begins = (/** @type {HTMLButtonElement} */ each) =>
        each.textContent?.toLowerCase().startsWith(event.key.toLowerCase());
      [...all.slice(at + 1), ...all.slice(0, at + 1)].find(begins)?.focus();
    }
  }

  show();
  return {
    element,
    button,
    /** @param {readonly Choice[]} now @param {string} holds */
    update(now, holds) {
      choices = now;
      value = holds;
      show();
    },
  };
}
