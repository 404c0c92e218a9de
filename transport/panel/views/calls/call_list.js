/**
 * The list of calls, newest first, however many there are: only the rows that are seen are on the page.
 * Owns the scroll, the active row and the keyboard. Which call is open is for the view to say.
 *
 * @typedef {import("./call_feed.js").CallRow} CallRow
 */

import { h } from "../../dom.js";
import { setText } from "../../keyed_list.js";
import { callListRow, COLUMNS } from "./call_list_row.js";

/** Rows above and below what is seen, so that a short scroll finds them there. */
const SPARE = 6;

/** Height of a row in CSS pixels, on a wide and on a narrow window; `calls.css` says the same. */
const ROW = 32;
const NARROW_ROW = 52;
const NARROW = "(max-width: 640px)";

/** @param {{ opened: (id: number) => void, moved: (id: number) => void }} tells */
export function callList({ opened, moved }) {
  /** @type {CallRow[]} newest first */
  let rows = [];
  /** @type {Map<number, ReturnType<typeof callListRow>>} */
  const drawn = new Map();
  /** @type {number | null} */
  let active = null;
  /** @type {number | null} */
  let open = null;
  /** @type {number | null} */
  let sought = null;
  /** The newest call that somebody has seen who is scrolled away. */
  let seen = 0;
  let frame = 0;
  const narrow = matchMedia(NARROW);

  const body = h("div", { class: "calls-body", role: "rowgroup" });
  const grid = h(
    "div",
    {
      class: "calls-scroll",
      role: "grid",
      tabindex: "0",
      "aria-label": "Calls, newest first",
      "aria-readonly": "true",
      onscroll: () => soon(),
      onkeydown: onKey,
      onclick: onClick,
      onfocus: () => {
        if (active === null && rows.length > 0) activate(firstSeen());
      },
    },
    body,
  );
  const head = h(
    "div",
    { class: "call-row calls-head", "aria-hidden": "true" },
    COLUMNS.map((name) => h("span", {}, name)),
  );
  const news = h("button", { class: "primary calls-news", hidden: true, onclick: toNewest });
  const empty = h("div", { class: "empty", hidden: true });
  const element = h("div", { class: "card calls-list" }, head, grid, empty, news);
  narrow.addEventListener("change", () => layOut(0));
  new ResizeObserver(() => soon()).observe(grid);

  const height = () => narrow.matches ? NARROW_ROW : ROW;
  const firstSeen = () => Math.min(Math.ceil(grid.scrollTop / height()), rows.length - 1);
  const pageOf = () => Math.max(Math.floor(grid.clientHeight / height()) - 1, 1);

  function soon() {
    if (frame === 0) frame = requestAnimationFrame(draw);
  }

  function draw() {
    frame = 0;
    const each = height();
    const from = Math.max(Math.floor(grid.scrollTop / each) - SPARE, 0);
    const to = Math.min(Math.ceil((grid.scrollTop + grid.clientHeight) / each) + SPARE, rows.length);
    /** @type {Set<number>} */
    const wanted = new Set();
    for (let index = from; index < to; index++) wanted.add(rows[index].id);
    for (const [id, row] of drawn) {
      if (wanted.has(id)) continue;
      row.element.remove();
      drawn.delete(id);
    }
    let next = body.firstElementChild;
    for (let index = from; index < to; index++) {
      const call = rows[index];
      let row = drawn.get(call.id);
      if (row === undefined) drawn.set(call.id, row = callListRow(call.id));
      row.update(call, { index, top: index * each, isActive: call.id === active, isOpen: call.id === open });
      // In the order in which they are read, which is that of the page.
      if (row.element === next) next = next.nextElementSibling;
      else body.insertBefore(row.element, next);
    }
    if (active !== null && drawn.has(active)) grid.setAttribute("aria-activedescendant", `call-${active}`);
    else grid.removeAttribute("aria-activedescendant");
    if (grid.scrollTop < each) seen = rows[0]?.id ?? 0;
    showNews();
  }

  function showNews() {
    let count = 0;
    while (count < rows.length && rows[count].id > seen) count++;
    news.hidden = count === 0;
    setText(news, `${count.toLocaleString()} new`);
    news.setAttribute("aria-label", `${count.toLocaleString()} new: to the newest call`);
  }

  function toNewest() {
    grid.scrollTop = 0;
    grid.focus({ preventScroll: true });
    if (rows.length > 0) activate(0);
    soon();
  }

  /** @param {number} added rows above what is seen, which stays where it is */
  function layOut(added) {
    const each = height();
    const isAway = grid.scrollTop >= each;
    body.style.height = `${rows.length * each}px`;
    grid.setAttribute("aria-rowcount", String(rows.length));
    if (isAway && added !== 0) grid.scrollTop += added * each;
    draw();
  }

  /** @param {number} index */
  function activate(index) {
    active = rows[index].id;
    const each = height();
    const [top, bottom] = [index * each, (index + 1) * each];
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (bottom > grid.scrollTop + grid.clientHeight) grid.scrollTop = bottom - grid.clientHeight;
    draw();
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    if (rows.length === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = indexOf(active);
    if ((event.key === "Enter" || event.key === " ") && at >= 0) {
      event.preventDefault();
      opened(rows[at].id);
      return;
    }
    /** @type {Record<string, number>} */
    const targets = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + pageOf(),
      PageUp: at - pageOf(),
      Home: 0,
      End: rows.length - 1,
    };
    if (!(event.key in targets)) return;
    event.preventDefault();
    const target = at < 0 && event.key !== "End" ? firstSeen() : targets[event.key];
    activate(Math.min(Math.max(target, 0), rows.length - 1));
    moved(/** @type {number} */ (active));
  }

  /** @param {MouseEvent} event */
  function onClick(event) {
    const row = /** @type {Element} */ (event.target).closest(".call-row");
    const id = Number(/** @type {HTMLElement | null} */ (row)?.dataset.id);
    const index = indexOf(id);
    if (index < 0) return;
    activate(index);
    opened(id);
  }

  /** Where the call is, by halving: ids fall. @param {number | null} id */
  function indexOf(id) {
    if (id === null || Number.isNaN(id)) return -1;
    let [low, high] = [0, rows.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (rows[middle].id === id) return middle;
      if (rows[middle].id > id) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  /** Go to the call that was opened by its address, once it has come. */
  function find() {
    const index = indexOf(sought);
    if (index < 0) return;
    sought = null;
    activate(index);
  }

  return {
    element,
    /**
     * @param {CallRow[]} now newest first
     * @param {number} all how many there are without the filter
     * @param {boolean} isFiltered
     */
    update(now, all, isFiltered) {
      const each = height();
      // What is seen at the top stays there, whatever comes before it.
      const top = rows[Math.min(Math.floor(grid.scrollTop / each), rows.length - 1)]?.id ?? null;
      const before = indexOf(top);
      rows = now;
      const after = indexOf(top);
      empty.hidden = rows.length > 0;
      setText(
        empty,
        isFiltered && all > 0
          ? "No call is like that. Change the filter above."
          : "No tool has been called since the engine began. Connect an agent, or try: space call",
      );
      layOut(before >= 0 && after >= 0 ? after - before : 0);
      find();
    },
    /** @param {number | null} id */
    open(id) {
      open = id;
      if (active !== id) sought = id;
      find();
      soon();
    },
    focus() {
      grid.focus({ preventScroll: true });
    },
    /** Other calls come, with ids of their own. */
    restart() {
      drawn.forEach((row) => row.element.remove());
      drawn.clear();
      rows = [];
      active = sought = null;
      seen = 0;
      grid.scrollTop = 0;
    },
  };
}
