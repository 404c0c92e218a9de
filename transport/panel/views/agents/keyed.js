/** Lists whose rows stay the same elements while what they show changes, so that focus and scrolling stay as well. */

/**
 * A list in `parent`. The function that it gives shows items: rows that are there already are updated in place, others
 * are made, and those of items that are gone are removed.
 *
 * @template Item
 * @template {{ element: Element, update: (item: Item) => void }} Row
 * @param {Element} parent
 * @param {(item: Item) => string} keyOf
 * @param {(item: Item) => Row} make
 */
export function keyed(parent, keyOf, make) {
  /** @type {Map<string, Row>} */
  let rows = new Map();

  /** @param {Item[]} items */
  return (items) => {
    /** @type {Map<string, Row>} */
    const next = new Map();
    let at = parent.firstElementChild;
    for (const item of items) {
      const key = keyOf(item);
      const row = rows.get(key) ?? make(item);
      row.update(item);
      next.set(key, row);
      // A row that is in its place is not touched: whatever has the focus would lose it.
      if (row.element === at) at = at.nextElementSibling;
      else parent.insertBefore(row.element, at);
    }
    for (const [key, row] of rows) if (next.get(key) !== row) row.element.remove();
    rows = next;
  };
}
