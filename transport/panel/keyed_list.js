/** Rows that are told apart by a key and kept while their data changes, so that focus, scroll and half-typed text stay. */

/**
 * A row on the page: its element, and how it takes newer data.
 *
 * @template T
 * @typedef {{ element: HTMLElement, update: (item: T) => void }} Row
 */

/**
 * Rows in `parent`, which holds nothing else. Gives the function that shows these items, in this order: a row that is
 * there already is updated where it stands, and moved only when it is out of order.
 *
 * @template T
 * @param {HTMLElement} parent
 * @param {(item: T) => string} keyOf
 * @param {(item: T) => Row<T>} create
 * @returns {(items: readonly T[]) => void}
 */
export function keyedList(parent, keyOf, create) {
  /** @type {Map<string, Row<T>>} */
  const rows = new Map();
  return (items) => {
    const wanted = new Map(items.map((item) => [keyOf(item), item]));
    for (const [key, row] of rows) {
      if (wanted.has(key)) continue;
      row.element.remove();
      rows.delete(key);
    }
    let next = parent.firstElementChild;
    for (const [key, item] of wanted) {
      let row = rows.get(key);
      if (row === undefined) rows.set(key, row = create(item));
      row.update(item);
      if (row.element === next) next = next.nextElementSibling;
      else parent.insertBefore(row.element, next);
    }
  };
}

/**
 * Give the node this text, and leave it alone where it has it: what is selected in it stays so.
 *
 * @param {Node} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Run `show` with a value whenever it is another than the last one, as JSON.
 *
 * @template T
 * @param {(value: T) => void} show
 * @returns {(value: T) => void}
 */
export function whenChanged(show) {
  /** @type {string | undefined} */
  let last;
  return (value) => {
    const now = JSON.stringify(value);
    if (now === last) return;
    last = now;
    show(value);
  };
}
