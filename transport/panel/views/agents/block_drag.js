/** Moving a row of a list with a pointer. Owns the gesture: the list says what is moved, and does it at the drop. */

/** A pointer that has moved less than this has clicked, pixels. */
const CLICK_PX = 4;

/** How far beyond its group a row is pulled before the list is told, pixels. */
const BEYOND_PX = 28;

/** This near to the edge of the window the page scrolls, pixels, and this far with each frame. */
const EDGE_PX = 56;
const SCROLL_PX = 9;

/**
 * Let the row be moved by its handle, among its group only.
 *
 * @param {HTMLElement} handle
 * @param {HTMLElement} row
 * @param {{ rows: () => HTMLElement[], begin: () => void, drop: (index: number | null) => void,
 *   beyond: () => void }} list
 *   `rows` are those of the group, in their order; `drop` gets the new index, or null when nothing is to be moved;
 *   `beyond` hears that the row was pulled out of its group.
 */
export function draggable(handle, row, { rows, begin, drop, beyond }) {
  handle.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    handle.setPointerCapture(event.pointerId);
    follow(event.clientY + scrollY, event.pointerId);
  });

  /**
   * @param {number} startY
   * @param {number} pointer
   */
  function follow(startY, pointer) {
    /** @type {ReturnType<typeof picture> | null} */
    let seen = null;
    let clientY = startY - scrollY;
    let told = false;
    let frame = 0;

    /** @param {PointerEvent} event */
    function moved(event) {
      clientY = event.clientY;
      if (seen === null) {
        if (Math.abs(clientY + scrollY - startY) < CLICK_PX) return;
        seen = picture();
        begin();
        row.classList.add("is-dragged");
        seen.group.forEach((each) => each.classList.add("is-parting"));
        frame = requestAnimationFrame(scroll);
      }
      place();
    }

    function place() {
      if (seen === null) return;
      const wanted = clientY + scrollY - startY;
      const { shift, index } = seen.at(wanted);
      row.style.transform = `translateY(${shift}px)`;
      seen.part(index);
      if (!told && Math.abs(wanted - shift) > BEYOND_PX) {
        told = true;
        beyond();
      }
    }

    function scroll() {
      const before = scrollY;
      if (clientY < EDGE_PX) scrollBy(0, -SCROLL_PX);
      else if (clientY > innerHeight - EDGE_PX) scrollBy(0, SCROLL_PX);
      if (scrollY !== before) place();
      frame = requestAnimationFrame(scroll);
    }

    /** @param {boolean} dropped */
    function end(dropped) {
      cancelAnimationFrame(frame);
      handle.removeEventListener("pointermove", moved);
      handle.removeEventListener("pointerup", up);
      handle.removeEventListener("pointercancel", cancel);
      removeEventListener("keydown", escape, true);
      if (handle.hasPointerCapture(pointer)) handle.releasePointerCapture(pointer);
      if (seen === null) return;
      const { index } = seen.at(clientY + scrollY - startY);
      row.classList.remove("is-dragged");
      for (const each of seen.group) {
        each.classList.remove("is-parting");
        each.style.transform = "";
      }
      drop(dropped && index !== seen.from ? index : null);
    }

    const up = () => end(true);
    const cancel = () => end(false);
    const escape = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      end(false);
    };
    handle.addEventListener("pointermove", moved);
    handle.addEventListener("pointerup", up);
    handle.addEventListener("pointercancel", cancel);
    addEventListener("keydown", escape, true);
  }

  /** The group as it was when the drag began: nothing in it is measured again. */
  function picture() {
    const group = rows();
    const from = group.indexOf(row);
    const boxes = group.map((each) => {
      const { top, bottom } = each.getBoundingClientRect();
      return { top: top + scrollY, bottom: bottom + scrollY, middle: (top + bottom) / 2 + scrollY };
    });
    const mine = boxes[from];
    const gap = boxes.length > 1 ? boxes[1].top - boxes[0].bottom : 0;
    const step = mine.bottom - mine.top + gap;
    return {
      group,
      from,
      /** @param {number} wanted */
      at(wanted) {
        const shift = Math.min(Math.max(wanted, boxes[0].top - mine.top), boxes[boxes.length - 1].bottom - mine.bottom);
        const above = boxes.slice(0, from).filter((each) => each.middle > mine.top + shift).length;
        const below = boxes.slice(from + 1).filter((each) => each.middle < mine.bottom + shift).length;
        return { shift, index: from - above + below };
      },
      /** @param {number} index */
      part(index) {
        group.forEach((each, place) => {
          if (place === from) return;
          const aside = place > from && place <= index ? -step : place < from && place >= index ? step : 0;
          each.style.transform = aside === 0 ? "" : `translateY(${aside}px)`;
        });
      },
    };
  }
}
