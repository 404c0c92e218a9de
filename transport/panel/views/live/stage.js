/**
 * Where the picture is looked at: zoom, pan and "fit". Owns which part is seen; knows nothing of what the picture shows.
 *
 * A place is kept in the units of the picture, so what somebody looks at stays where it is when the picture grows.
 *
 * @typedef {import("./picture_follower.js").Box} Box
 */

import { h, replace, visible } from "../../dom.js";
import { setText } from "../../keyed_list.js";

/** One step of the zoom, and how far it goes from the size that fits. */
const STEP = 1.25;
const SMALLEST = 0.2;
const LARGEST = 60;

/** How far an arrow key moves, in parts of the stage. */
const MOVE = 0.12;

/** How much one notch of the wheel (100 pixels) zooms: about a step. */
const WHEEL = 0.0022;

/** How long a picture may take before the stage says that it waits, milliseconds. */
const PATIENCE_MS = 400;

export function stage() {
  const overlay = h("div", { class: "stage-marks" });
  const picture = h("div", { class: "stage-picture" });
  const sheet = h("div", { class: "stage-sheet" }, picture, overlay);
  const message = h("p", { class: "notice stage-message", hidden: true, role: "status" });
  const old = h("p", { class: "notice warn stage-old small", hidden: true, role: "status" });
  const element = h(
    "section",
    {
      class: "stage",
      tabindex: "0",
      "aria-label": "The current surface. Plus and minus zoom, 0 fits, arrow keys move.",
      onkeydown: onKey,
      onwheel: onWheel,
      onpointerdown: onPress,
      ondblclick: onDouble,
    },
    sheet,
    message,
    old,
  );
  const level = h("button", { class: "stage-level", title: "Fit (0)", onclick: () => fit() }, "Fit");
  const controls = h(
    "div",
    { class: "segments", role: "group", "aria-label": "Zoom" },
    h("button", { "aria-label": "Zoom out", title: "Zoom out (−)", onclick: () => zoom(1 / STEP) }, "−"),
    level,
    h("button", { "aria-label": "Zoom in", title: "Zoom in (+)", onclick: () => zoom(STEP) }, "+"),
  );

  /** @type {Box | null} */
  let box = null;
  let what = "";
  /** Where the origin of the units is on the stage, and CSS pixels of a unit; null fits. */
  /** @type {{ x: number, y: number, scale: number } | null} */
  let place = null;
  let patience = 0;
  /** Told when the zoom is another. */
  let zoomed = () => {};
  let zoomedTo = 1;

  function fitting() {
    const { left, top, width, height } = box ?? { left: 0, top: 0, width: 1, height: 1 };
    const scale = Math.max(
      Math.min(element.clientWidth / width, element.clientHeight / height),
      1e-6,
    );
    return {
      scale,
      x: (element.clientWidth - width * scale) / 2 - left * scale,
      y: (element.clientHeight - height * scale) / 2 - top * scale,
    };
  }

  function lay() {
    if (box === null || element.clientWidth === 0) return;
    const fitted = fitting();
    const { x, y, scale } = place ?? fitted;
    sheet.style.left = `${x + box.left * scale}px`;
    sheet.style.top = `${y + box.top * scale}px`;
    sheet.style.width = `${box.width * scale}px`;
    sheet.style.height = `${box.height * scale}px`;
    const percent = Math.round(100 * scale / fitted.scale);
    setText(level, place === null ? "Fit" : `${percent} %`);
    level.setAttribute("aria-label", place === null ? "Fit" : `Fit (now ${percent} %)`);
    element.classList.toggle("is-moved", place !== null);
    if (zoomedTo === scale / fitted.scale) return;
    zoomedTo = scale / fitted.scale;
    zoomed();
  }

  /** Put the picture over the one before, which goes when the new one has been painted. @param {HTMLImageElement} image */
  function put(image) {
    while (picture.childElementCount > 1) picture.firstElementChild?.remove();
    const before = picture.firstElementChild;
    picture.append(image);
    before?.setAttribute("aria-hidden", "true");
    requestAnimationFrame(() => requestAnimationFrame(() => before?.remove()));
  }

  /** @param {string} reason */
  function refuse(reason) {
    clearTimeout(patience);
    sheet.hidden = old.hidden = true;
    element.style.background = "";
    what = "";
    setText(message, visible(reason));
    message.hidden = false;
  }

  function fit() {
    place = null;
    lay();
  }

  /**
   * @param {number} factor
   * @param {number} [x] what stays where it is, CSS pixels of the stage
   * @param {number} [y]
   */
  function zoom(factor, x = element.clientWidth / 2, y = element.clientHeight / 2) {
    const from = place ?? fitting();
    const least = fitting().scale;
    const scale = Math.min(Math.max(from.scale * factor, least * SMALLEST), least * LARGEST);
    const real = scale / from.scale;
    place = { scale, x: x - (x - from.x) * real, y: y - (y - from.y) * real };
    lay();
  }

  /** @param {number} dx @param {number} dy CSS pixels */
  function move(dx, dy) {
    const from = place ?? fitting();
    place = { ...from, x: from.x + dx, y: from.y + dy };
    lay();
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    if (event.target !== element || event.ctrlKey || event.metaKey || event.altKey) return;
    const [across, down] = [element.clientWidth * MOVE, element.clientHeight * MOVE];
    /** @type {Record<string, () => void>} */
    const deeds = {
      "+": () => zoom(STEP),
      "=": () => zoom(STEP),
      "-": () => zoom(1 / STEP),
      "0": fit,
      ArrowLeft: () => move(across, 0),
      ArrowRight: () => move(-across, 0),
      ArrowUp: () => move(0, down),
      ArrowDown: () => move(0, -down),
    };
    if (!(event.key in deeds)) return;
    event.preventDefault();
    deeds[event.key]();
  }

  /** @param {WheelEvent} event */
  function onWheel(event) {
    event.preventDefault();
    const at = element.getBoundingClientRect();
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 33 : event.deltaY;
    zoom(Math.exp(-pixels * WHEEL), event.clientX - at.left, event.clientY - at.top);
  }

  /** @param {MouseEvent} event */
  function onDouble(event) {
    if (place !== null) return fit();
    const at = element.getBoundingClientRect();
    zoom(2, event.clientX - at.left, event.clientY - at.top);
  }

  /** @param {PointerEvent} event */
  function onPress(event) {
    const target = /** @type {Element} */ (event.target);
    if (event.button !== 0 || target.closest("button, a, .stage-guide") !== null) return;
    let [x, y] = [event.clientX, event.clientY];
    element.setPointerCapture(event.pointerId);
    element.classList.add("is-dragged");
    const onMove = (/** @type {PointerEvent} */ next) => {
      if (next.clientX !== x || next.clientY !== y) move(next.clientX - x, next.clientY - y);
      [x, y] = [next.clientX, next.clientY];
    };
    const onEnd = () => {
      element.classList.remove("is-dragged");
      element.removeEventListener("pointermove", onMove);
      element.removeEventListener("pointerup", onEnd);
      element.removeEventListener("pointercancel", onEnd);
    };
    element.addEventListener("pointermove", onMove);
    element.addEventListener("pointerup", onEnd);
    element.addEventListener("pointercancel", onEnd);
  }

  return {
    element,
    controls,
    overlay,
    resized: lay,
    /** Whether no picture is shown. */
    isEmpty: () => what === "",
    /** How much larger the picture is seen than when it fits. */
    zoom: () => zoomedTo,
    /** Have `changed` called when the zoom is another. @param {() => void} changed */
    zoomed(changed) {
      zoomed = changed;
    },
    /**
     * Show a picture that is decoded. `name` is what it is a picture of; another one is seen whole at first. `ground`
     * is the colour around it, "" for that of the page.
     *
     * @param {{ image: HTMLImageElement, box: Box, name: string, revision: number, ground: string }} next
     */
    show({ image, box: now, name, revision, ground }) {
      if (name !== what) {
        place = null;
        replace(overlay);
      }
      what = name;
      box = now;
      message.hidden = old.hidden = true;
      sheet.hidden = false;
      lay();
      put(image);
      element.style.background = ground;
      element.dataset.revision = String(revision);
      element.dataset.picture = name;
    },
    /** There is no picture. @param {string} reason */
    refuse,
    /** The picture may not be the newest; it is where there is no reason. @param {string | null} reason */
    outdate(reason) {
      if (reason !== null && what === "") return refuse(reason);
      old.hidden = reason === null;
      setText(old, reason === null ? "" : `This picture is old. ${visible(reason)}`);
    },
    /** Whether a newer picture is awaited. @param {boolean} waits */
    busy(waits) {
      clearTimeout(patience);
      element.setAttribute("aria-busy", String(waits));
      element.classList.remove("is-waiting");
      if (waits) patience = setTimeout(() => element.classList.add("is-waiting"), PATIENCE_MS);
    },
  };
}
