/**
 * The blocks of one agent as one list: the system message, then the user message. Owns the rows, by the ids of their
 * blocks, and moving them; what comes from the engine changes rows in their place, so that focus, open editors and
 * texts stay.
 *
 * @typedef {import("./block_order.js").Block} Block
 * @typedef {import("./block_order.js").Role} Role
 * @typedef {import("./config_store.js").ConfigStore} ConfigStore
 * @typedef {{ kind: "space" | "story", story?: string, agent: string }} Scope
 * @typedef {{ store: ConfigStore, scope: Scope, drafts: import("./block_draft.js").Drafts, opened: Set<string>,
 *   hintId: string, announce: (text: string) => void }} Shared what the parts of one list have in common
 * @typedef {ReturnType<typeof blockRow>} Row
 */

import { h, icon, replace } from "../../dom.js";
import { toast } from "../../messages.js";
import { addDialog } from "./block_add.js";
import { draggable } from "./block_drag.js";
import { blocksOf, moved, orderPatch, ROLES } from "./block_order.js";
import { carried } from "./block_outcome.js";
import { blockRow } from "./block_row.js";

const STAYS_IN_ROLE = "Blocks move within their role: system and user blocks go into two messages. " +
  "A block of yours changes its role in its editor.";

/** @type {Record<Role, { title: string, means: string }>} */
const GROUPS = {
  system: { title: "System message", means: "What the agent is, what it has, how it works" },
  user: { title: "User message", means: "What comes after it, as the person's part" },
};

const NOT_OVER_MCP = "An MCP client gets it only through the prompt space_context";

/**
 * What a list had open and half-typed, by its agent: it is there again when the person comes back.
 *
 * @type {Map<string, { drafts: Shared["drafts"], opened: Set<string> }>}
 */
const remembered = new Map();

let lists = 0;

/**
 * The list; it follows the store until `stop`. `showReport` takes the engine's preview of the prompt, for what only that
 * knows: sizes, and scripts that fail.
 *
 * @param {ConfigStore} store
 * @param {Scope} scope
 */
export function blockList(store, scope) {
  const key = JSON.stringify([scope.kind, scope.story, scope.agent]);
  const memory = remembered.get(key) ?? { drafts: new Map(), opened: new Set() };
  remembered.set(key, memory);
  const number = ++lists;
  const hint = h("span", { id: `block-hint-${number}`, hidden: true }, "Drag, or press Alt and Up or Down, to move.");
  const live = h("p", { class: "offscreen", "aria-live": "polite" });
  /** @type {Shared} */
  const shared = { store, scope, ...memory, hintId: hint.id, announce: (text) => replace(live, text) };

  /** @type {Map<string, Row>} */
  const rows = new Map();
  const groups = { system: group("system"), user: group("user") };
  const waiting = h("p", { class: "empty" }, "Loading the blocks…");
  const absent = h("p", { class: "quiet small block-absent", hidden: true });
  const dialog = addDialog(shared, shownAnew);
  const add = h("button", { class: "block-add", onclick: dialog.open }, icon("plus"), "Add Context Block");
  const whole = h(
    "div",
    { class: "block-groups", hidden: true },
    ROLES.map((role) => groups[role].element),
    add,
    absent,
  );
  const element = h(
    "section",
    { class: "block-list", "aria-label": "Context blocks", onkeydown: pressed },
    ...[hint, live, waiting, whole, dialog.element],
  );

  /** What the person has moved and the engine does not have yet. @type {readonly import("./block_order.js").Move[]} */
  let moves = [];
  let saving = false;
  let dragging = false;
  /** @type {string | null} */
  let fresh = null;
  /** @type {Map<string, { tokens?: number, error?: string }>} */
  let reports = new Map();

  function render() {
    const { state } = store;
    if (state === null || dragging) return;
    const blocks = moves.reduce(moved, /** @type {readonly Block[]} */ (blocksOf(state)));
    const present = new Set(blocks.map((block) => block.id));
    for (const [id, row] of rows) {
      if (!present.has(id)) leave(id, row);
    }
    for (const block of blocks) {
      const row = rows.get(block.id);
      if (row === undefined) addRow(block);
      else row.update(block);
    }
    for (const role of ROLES) {
      const here = blocks.filter((block) => block.role === role).map((block) => block.id);
      place(groups[role], here);
    }
    waiting.hidden = true;
    whole.hidden = false;
    const ids = Object.keys(state.config.overrides).filter((id) => !present.has(id));
    absent.hidden = ids.length === 0;
    replace(absent, `Kept for blocks that are not there at the moment: ${ids.join(", ")}.`);
    if (fresh !== null && rows.has(fresh)) focusFresh(fresh);
  }

  /** @param {Block} block */
  function addRow(block) {
    const row = blockRow(shared, block);
    row.report(reports.get(block.id) ?? null);
    rows.set(block.id, row);
    draggable(row.grip, row.element, {
      rows: () => rowsOf(row.block.role).map((each) => each.element),
      begin() {
        dragging = true;
      },
      drop(index) {
        dragging = false;
        if (index === null) render();
        else move(row, index);
      },
      beyond: () => toast(STAYS_IN_ROLE),
    });
  }

  /**
   * The block is gone; its row goes as well, but not with what somebody is typing in it.
   *
   * @param {string} id
   * @param {Row} row
   */
  function leave(id, row) {
    const go = () => {
      const next =
        /** @type {HTMLElement | null} */ (row.element.nextElementSibling ?? row.element.previousElementSibling);
      const focused = row.element.contains(document.activeElement);
      row.stop();
      row.element.remove();
      rows.delete(id);
      const control = next?.querySelector(".block-chevron") ?? add;
      if (focused) /** @type {HTMLElement} */ (control).focus();
      showEmpty();
    };
    if (row.dirty) row.leave(go);
    else go();
  }

  /**
   * Put the rows into this order, moving as few as possible; one that was left behind stays at the end.
   *
   * @param {ReturnType<typeof group>} where
   * @param {string[]} ids
   */
  function place({ list }, ids) {
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    ids.forEach((id, index) => {
      const { element: row } = /** @type {Row} */ (rows.get(id));
      const there = list.children[index];
      if (there === row) return;
      // A row that went further down leaves its place to the one behind it: then only that row moves.
      if (there?.nextElementSibling === row && !there.contains(focused)) list.append(there);
      else list.insertBefore(row, there ?? null);
    });
    if (focused !== document.activeElement && list.contains(focused)) focused?.focus();
    showEmpty();
  }

  function showEmpty() {
    for (const role of ROLES) groups[role].empty.hidden = groups[role].list.childElementCount > 0;
  }

  /** @param {Role} role */
  function rowsOf(role) {
    return [...groups[role].list.children].flatMap((each) => {
      const row = rows.get(/** @type {HTMLElement} */ (each).dataset.id ?? "");
      return row === undefined ? [] : [row];
    });
  }

  /**
   * @param {Row} row
   * @param {number} index among those of its role
   */
  function move(row, index) {
    const { role, name } = row.block;
    const ids = rowsOf(role).map((each) => each.id);
    const from = ids.indexOf(row.id);
    ids.splice(index, 0, ...ids.splice(from, 1));
    const [after, before] = [ids[index - 1] ?? null, ids[index + 1] ?? null];
    moves = [...moves, { id: row.id, role, after, before, down: index > from }];
    render();
    const here = rowsOf(role);
    shared.announce(`${name} is now ${here.indexOf(row) + 1} of ${here.length} ${role} blocks.`);
    void saveOrder();
  }

  /** What was moved is moved in the order that the engine has at that time: another window's moves stay. */
  async function saveOrder() {
    if (saving) return;
    saving = true;
    while (moves.length > 0) {
      const mine = moves;
      const saved = store.state !== null && await carried(
        store.change("The order of the blocks", (config) => {
          const now = { .../** @type {import("./config_store.js").State} */ (store.state), config };
          const blocks = mine.reduce(moved, /** @type {readonly Block[]} */ (blocksOf(now)));
          return orderPatch(now, blocks.map((block) => block.id));
        }, { relative: true }),
      );
      moves = saved ? moves.slice(mine.length) : [];
    }
    saving = false;
    render();
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const head = target.closest(".block-head");
    const row = rows.get(target.closest("li")?.dataset.id ?? "");
    if (head === null || row === undefined || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (step === 0) return;
    event.preventDefault();
    if (!event.altKey) return focusBeside(row, step, target);
    const here = rowsOf(row.block.role);
    const index = here.indexOf(row) + step;
    if (index >= 0 && index < here.length) return move(row, index);
    shared.announce(`${row.block.name} is ${step < 0 ? "first" : "last"} in its role. ${STAYS_IN_ROLE}`);
    if (rows.size > here.length) toast(STAYS_IN_ROLE);
  }

  /**
   * @param {Row} row
   * @param {number} step
   * @param {HTMLElement} control
   */
  function focusBeside(row, step, control) {
    const all = ROLES.flatMap(rowsOf);
    const next = all[all.indexOf(row) + step];
    const kind = [...control.classList].find((each) => each.startsWith("block-")) ?? "block-chevron";
    /** @type {HTMLElement | null | undefined} */ (next?.element.querySelector(`.${kind}`))?.focus();
  }

  /** @param {string} id */
  function shownAnew(id) {
    fresh = id;
    render();
  }

  /** @param {string} id */
  function focusFresh(id) {
    fresh = null;
    const row = /** @type {Row} */ (rows.get(id));
    row.open(true);
    row.element.scrollIntoView({ block: "nearest" });
    /** @type {HTMLElement | null} */ (row.element.querySelector(".block-chevron"))?.focus();
    shared.announce(`${row.block.name} was added to the ${row.block.role} blocks.`);
  }

  /** @param {Role} role */
  function group(role) {
    const { title, means } = GROUPS[role];
    const list = h("ol", { class: "blocks", "aria-label": title });
    const empty = h("p", { class: "quiet small block-none", hidden: true }, `No ${role} blocks.`);
    const note = scope.kind === "space" && role === "user" ? NOT_OVER_MCP : means;
    const head = h("div", { class: "block-divider" }, h("h3", {}, title), h("span", { class: "quiet small" }, note));
    return { element: h("div", {}, head, list, empty), list, empty };
  }

  /** @param {BeforeUnloadEvent} event */
  function unloading(event) {
    if ([...rows.values()].some((row) => row.dirty)) event.preventDefault();
  }

  addEventListener("beforeunload", unloading);
  const unsubscribe = store.subscribe(render);
  render();
  return {
    element,
    /** @param {any} preview */
    showReport(preview) {
      reports = reportsOf(preview);
      for (const [id, row] of rows) row.report(reports.get(id) ?? null);
    },
    /** Follow the store no longer. What was typed is saved, or kept for the next list of this agent. */
    stop() {
      unsubscribe();
      removeEventListener("beforeunload", unloading);
      for (const row of rows.values()) row.stop();
    },
  };
}

/** @param {any} preview */
function reportsOf(preview) {
  /** @type {Map<string, { tokens?: number, error?: string }>} */
  const reports = new Map();
  for (const { id, tokens } of preview?.blocks ?? []) reports.set(id, { tokens });
  for (const { id, message } of [...preview?.scriptErrors ?? [], ...preview?.blockErrors ?? []]) {
    reports.set(id, { ...reports.get(id), error: message });
  }
  return reports;
}
