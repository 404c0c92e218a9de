/**
 * A person's word about presets: on, off or auto. Owns the question before something risky, which is asked once for
 * each preset and page, and the control with which one of the three is chosen.
 */

import { h } from "../../dom.js";
import { api, segment } from "../../engine.js";
import { attempt, confirm } from "../../messages.js";
import { riskAllows } from "./words.js";

/**
 * @typedef {import("./words.js").PresetFacts} PresetFacts
 * @typedef {import("./words.js").ToolFacts} ToolFacts
 */

const CHOICES = [
  { state: "off", label: "Off" },
  { state: "auto", label: "Auto" },
  { state: "on", label: "On" },
];

/** The presets about which this page has asked, and was answered yes. @type {Set<string>} */
const agreed = new Set();

/**
 * Tell the engine, after asking where that is due. Gives the preset's new row, or undefined where nothing was changed.
 *
 * @param {PresetFacts} preset
 * @param {string} state
 * @param {string[]} tools the names of its tools
 * @returns {Promise<PresetFacts | undefined>}
 */
export async function setOverride(preset, state, tools) {
  if (state === "on" && !await agrees(preset, tools)) return undefined;
  return await attempt(() => api.put(`/api/presets/${segment(preset.name)}/override`, { state }));
}

/** @param {PresetFacts} preset @param {string[]} tools */
async function agrees(preset, tools) {
  const allows = riskAllows(preset);
  if (allows === "" || agreed.has(preset.name)) return true;
  const yes = await confirm({
    title: `Turn on ${preset.name}?`,
    body: [
      h("p", {}, allows),
      tools.length > 0 &&
      h("p", {}, tools.length === 1 ? "Its tool: " : "Its tools: ", h("code", {}, tools.join(", "))),
      h("p", {}, "It stays on in every context until you choose Off or Auto, or until the engine ends."),
    ],
    agree: "Turn on",
    danger: preset.risk === "shell",
  });
  if (yes) agreed.add(preset.name);
  return yes;
}

/**
 * Three buttons of which one holds; the arrow keys go from one to the next. `choose` changes the state and says whether
 * it has; until then the control shows what was asked for.
 *
 * @param {string} label
 * @param {(state: string) => Promise<boolean>} choose
 */
export function overrideControl(label, choose) {
  let state = "auto";
  /** @type {string | null} */
  let wanted = null;
  let latest = 0;
  /** @type {Promise<unknown>} */
  let last = Promise.resolve();
  const buttons = CHOICES.map((choice) =>
    h(
      "button",
      { type: "button", role: "radio", data: { state: choice.state }, onclick: () => pick(choice.state) },
      choice.label,
    )
  );
  const element = h(
    "div",
    { class: "segments override", role: "radiogroup", "aria-label": label, onkeydown: step },
    ...buttons,
  );

  function show() {
    const now = wanted ?? state;
    for (const button of buttons) {
      const checked = button.dataset.state === now;
      button.setAttribute("aria-checked", String(checked));
      button.tabIndex = checked ? 0 : -1;
    }
  }

  /** @param {string} next */
  function pick(next) {
    if (next === (wanted ?? state)) return;
    const mine = ++latest;
    wanted = next;
    show();
    // One after the other, so that the last click is the one that holds.
    last = last.then(async () => {
      const done = await choose(next);
      if (done) state = next;
      if (mine !== latest) return;
      const focused = element.contains(document.activeElement);
      wanted = null;
      show();
      if (focused) buttons.find((button) => button.tabIndex === 0)?.focus();
    });
  }

  /** @param {KeyboardEvent} event */
  function step(event) {
    const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const at = buttons.indexOf(/** @type {any} */ (document.activeElement));
    const button = buttons[Math.min(Math.max(at + by, 0), buttons.length - 1)];
    button.focus();
    pick(button.dataset.state ?? "auto");
  }

  show();
  return {
    element,
    /** @param {string} now */
    update(now) {
      state = now;
      show();
    },
  };
}
