/**
 * Marks of what was just changed, over the picture. Owns since when something is marked, and how long.
 *
 * @typedef {import("./picture_follower.js").Shown} Shown
 * @typedef {{
 *   id: string, label: string, change: "added" | "changed", left: number, top: number, width: number, height: number,
 * }} Mark
 * @typedef {{ mark: Mark, at: number }} Living
 */

import { h, visible } from "../../dom.js";
import { api } from "../../engine.js";
import { keyedList, setText } from "../../keyed_list.js";
import { watch } from "../../watch.js";

/** How long something stays marked, milliseconds; then it fades, which `live.css` does within this time. */
const MARKED_MS = 6000;
const FADE_MS = 900;

/** How often the page looks whether a mark is due to fade, milliseconds. */
const LOOK_MS = 250;

/** @param {ReturnType<typeof import("./stage.js").stage>} stage */
export function markFollower(stage) {
  const note = h("p", { class: "quiet small live-note", hidden: true });
  const list = h("div", { class: "marks", role: "list", "aria-label": "What was just changed", onkeydown: step });
  const show = keyedList(list, (/** @type {Living} */ each) => each.mark.id, markRow);

  /** @type {Map<string, Living>} */
  let living = new Map();
  /** @type {Shown | null} */
  let shown = null;
  /** Up to where changes are marked, and since when those that live. */
  let reached = 0;
  let since = 0;
  let keeps = false;
  /** Whether marks are to be asked for. */
  let isWanted = false;
  let look = 0;
  const state = watch([], load, take);

  /** @param {Shown} now */
  function follow(now) {
    const before = shown;
    shown = now;
    if (list.parentElement === null) stage.overlay.append(list);
    if (before === null || before.name !== now.name || now.revision < reached) {
      if (before?.world !== now.world || now.revision < reached) reached = now.revision;
      forget();
      return;
    }
    if (now.revision === before.revision && living.size === 0) return;
    isWanted = true;
    state.again();
  }

  /** @param {AbortSignal} signal */
  async function load(signal) {
    const at = shown;
    if (at === null || !isWanted) return null;
    isWanted = false;
    if (living.size === 0) since = reached;
    const asked = Promise.all([
      marksSince(at, reached, signal),
      since < reached ? marksSince(at, since, signal) : null,
    ]);
    try {
      const [fresh, all] = await asked;
      return { at, fresh, all };
    } catch (error) {
      isWanted = true;
      throw error;
    }
  }

  /** @param {Awaited<ReturnType<typeof load>>} taken */
  function take(taken) {
    if (taken === null) return;
    const { at, fresh, all } = taken;
    if (shown === null || shown.name !== at.name || shown.world !== fresh.world_id) return;
    /** @type {Map<string, Living>} */
    const next = new Map();
    const now = Date.now();
    for (const mark of fresh.marks) next.set(mark.id, { mark, at: now });
    for (const mark of all?.marks ?? []) {
      const old = living.get(mark.id);
      if (old !== undefined && !next.has(mark.id)) next.set(mark.id, { mark, at: old.at });
    }
    living = next;
    // The places are those of a later picture, which is on its way: they are asked for again with it.
    if (fresh.revision === at.revision) reached = fresh.revision;
    note.hidden = fresh.complete;
    setText(note, fresh.complete ? "" : "More was changed than is marked.");
    draw();
  }

  function draw() {
    show([...living.values()]);
    const marks = /** @type {HTMLElement[]} */ ([...list.children]);
    if (!marks.some((each) => each.tabIndex === 0) && marks.length > 0) marks[0].tabIndex = 0;
    if (living.size > 0 && look === 0) look = setInterval(age, LOOK_MS);
  }

  /** Let go of what has been marked for long enough, but for one that somebody looks at. */
  function age() {
    const now = Date.now();
    for (const [id, each] of living) {
      const element = /** @type {HTMLElement | undefined} */ (find(id));
      const looked = element?.matches(":hover, :focus") ?? false;
      if (keeps || looked) each.at = now;
      const old = now - each.at;
      element?.classList.toggle("is-fading", old > MARKED_MS);
      if (old > MARKED_MS + FADE_MS) living.delete(id);
    }
    if (living.size !== list.children.length) draw();
    if (living.size === 0) stopLooking();
  }

  /** @param {string} id */
  const find = (id) => [...list.children].find((each) => /** @type {HTMLElement} */ (each).dataset.id === id);

  function forget() {
    living = new Map();
    if (shown !== null) since = reached = Math.max(reached, shown.revision);
    note.hidden = true;
    show([]);
    stopLooking();
  }

  function stopLooking() {
    clearInterval(look);
    look = 0;
  }

  /** @param {KeyboardEvent} event */
  function step(event) {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const marks = /** @type {HTMLElement[]} */ ([...list.children]);
    const from = marks.indexOf(/** @type {any} */ (document.activeElement));
    if (by === undefined || from < 0) return;
    event.preventDefault();
    const next = marks[Math.min(Math.max(from + by, 0), marks.length - 1)];
    marks[from].tabIndex = -1;
    next.tabIndex = 0;
    next.focus({ preventScroll: true });
  }

  return {
    note,
    follow,
    start() {
      state.start();
      draw();
    },
    stop() {
      state.stop();
      stopLooking();
    },
    /** Whether marks stay. @param {boolean} now */
    keep(now) {
      keeps = now;
    },
  };
}

/**
 * @param {Shown} at
 * @param {number} revision
 * @param {AbortSignal} signal
 * @returns {Promise<{ world_id: string, surface: string, revision: number, complete: boolean, marks: Mark[] }>}
 */
function marksSince(at, revision, signal) {
  const parameters = new URLSearchParams({ since: String(revision), surface: at.surface });
  for (const [name, value] of Object.entries(at.pixels ?? {})) parameters.set(name, String(value));
  return api.get(`/api/view/marks?${parameters}`, { signal });
}

/** @returns {import("../../keyed_list.js").Row<Living>} */
function markRow() {
  const label = h("span", { class: "mark-label" });
  const element = h("div", { class: "mark", role: "listitem", tabindex: "-1" }, label);
  return {
    element,
    update({ mark }) {
      const text = `${mark.change === "added" ? "Added" : "Changed"}: ${visible(mark.label)}`;
      element.dataset.id = mark.id;
      element.classList.toggle("is-added", mark.change === "added");
      element.classList.toggle("is-low", mark.top > 0.5);
      element.classList.toggle("is-right", mark.left > 0.5);
      element.setAttribute("aria-label", text);
      setText(label, text);
      element.style.left = `${100 * mark.left}%`;
      element.style.top = `${100 * mark.top}%`;
      element.style.width = `${100 * mark.width}%`;
      element.style.height = `${100 * mark.height}%`;
    },
  };
}
