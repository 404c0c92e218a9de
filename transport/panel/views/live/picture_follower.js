/**
 * The picture of the current surface, asked for again after each change. Owns that one request is under way, that the
 * newest wins, that the page shows the picture before until the next one is decoded, and how a picture is asked for.
 *
 * A drawing and a map come as SVG, in units of their own; a scene as PNG, in pixels of the page. So does a drawing that
 * is too large for the browser to draw it again with each change, until it has become smaller.
 *
 * @typedef {{ left: number, top: number, width: number, height: number }} Box
 * @typedef {{
 *   name: string, world: string, surface: string, revision: number, box: Box,
 *   pixels: { width: number, height: number } | null, isLarge: boolean,
 * }} Shown a picture of the same things has the same name; `isLarge` where pixels stand for an SVG
 * @typedef {Shown & { image: HTMLImageElement, url: string, ground: string, held: { key: string, etag: string } }} Taken
 */

import { api, EngineError, send, wholly } from "../../engine.js";
import { isPassing, watch } from "../../watch.js";

/** The surface that has no SVG. */
export const SCENE = "scene";

/** What a PNG may have on each side, in pixels: the engine's own limits. */
const LEAST_SIDE = 16;
const MOST_SIDE = 2000;

/** How long the element must have kept its size before a picture of that size is asked for, milliseconds. */
const RESIZE_MS = 150;

/** An SVG of more bytes is shown as pixels: Chromium takes 150 ms for such a one, and again for each zoom. */
const LARGE_BYTES = 600_000;

/** So is one for which this browser takes longer, milliseconds, if that may be for its size, bytes. */
const SLOW_MS = 250;
const SLOW_BYTES = 150_000;

/** The part of the size that was too large which is small again: else each change would turn it over. */
const SMALL_AGAIN = 0.8;

/** How long nothing must have changed before the page asks whether it is small again, and how often, milliseconds. */
const QUIET_MS = 2000;
const PROBE_MS = 10_000;

/** From this zoom on, pixels are asked for as many as there can be. */
const CLOSE = 1.2;

/**
 * @param {ReturnType<typeof import("./stage.js").stage>} stage
 * @param {(shown: Shown) => void} changed
 */
export function pictureFollower(stage, changed) {
  /** @type {string | null} */
  let surface = null;
  let activity = "";
  let world = "";
  /** @type {Taken | null} */
  let shown = null;
  let isStarted = false;
  let isLoading = false;
  let resize = 0;
  let probe = 0;
  let probed = -PROBE_MS;
  /** Bytes from which on the SVG of something was too large, by what it is. @type {Map<string, number>} */
  const large = new Map();

  const picture = watch(["world"], waiting, take, failed);
  const context = watch(["context"], (signal) => api.get("/api/context", { signal }), (now) => {
    const isOther = now.surface !== surface;
    surface = now.surface;
    activity = now.activity ?? "";
    // A scene may take long; nobody waits for a picture of where they are no more.
    if (isOther) picture.stop();
    if (isLoading && !isOther) picture.again();
    isLoading = true;
    picture.start();
  }, failed);

  const sizes = new ResizeObserver(() => {
    stage.resized();
    sizeChanged();
  });
  stage.zoomed(sizeChanged);

  function sizeChanged() {
    clearTimeout(resize);
    if (shown?.pixels) resize = setTimeout(picture.again, RESIZE_MS);
  }

  /** @param {EngineError} error */
  function failed(error) {
    if (!isPassing(error)) stage.refuse(error.message);
    else stage.outdate(`${error.message}${error.status === 0 ? "" : " Trying again\u2026"}`);
  }

  /** @param {string} wanted */
  const nameOf = (wanted) => [world, wanted, activity].join(" ");

  /** @param {AbortSignal} signal */
  async function waiting(signal) {
    stage.busy(true);
    try {
      return await load(surface ?? "", signal);
    } finally {
      stage.busy(false);
    }
  }

  /**
   * The picture, or null where the one that is shown is it.
   *
   * @param {string} wanted
   * @param {AbortSignal} signal
   * @returns {Promise<Taken | null>}
   */
  async function load(wanted, signal) {
    const name = nameOf(wanted);
    const isLarge = wanted !== SCENE && large.has(name);
    const pixels = wanted === SCENE || isLarge ? pixelsOf(stage.element, isLarge && stage.zoom() > CLOSE) : null;
    const parameters = new URLSearchParams({ surface: wanted });
    for (const [side, value] of Object.entries(pixels ?? {})) parameters.set(side, String(value));
    const path = `/api/view.${pixels === null ? "svg" : "png"}?${parameters}`;
    // The engine may be in another activity already; then the picture is asked for once more, whatever its tag.
    const key = `${path} ${activity}`;
    /** @type {Record<string, string>} */
    const headers = shown?.held.key === key && !stage.isEmpty() ? { "If-None-Match": shown.held.etag } : {};
    const response = await send("GET", path, { headers, signal });
    if (response.status === 304) return null;
    if (!response.ok) throw await problemOf(response);
    world = response.headers.get("X-Space-World") ?? "";
    // What this world is like was known only by what another one was.
    const turns = wanted !== SCENE && large.has(nameOf(wanted)) !== isLarge;
    const bytes = Number(response.headers.get("Content-Length"));
    const isTooLarge = pixels === null && bytes > LARGE_BYTES;
    if (isTooLarge) large.set(nameOf(wanted), LARGE_BYTES);
    if (turns || isTooLarge) {
      await response.body?.cancel();
      return await load(wanted, signal);
    }
    const taken = await decoded(response, { name: nameOf(wanted), wanted, pixels, isLarge, key, signal });
    return taken ?? await load(wanted, signal);
  }

  /**
   * The picture of an answer. Null where the browser could not show the SVG, which is shown as pixels from now on.
   *
   * @param {Response} response
   * @param {{
   *   name: string, wanted: string, pixels: Shown["pixels"], isLarge: boolean, key: string, signal: AbortSignal,
   * }} asked
   * @returns {Promise<Taken | null>}
   */
  async function decoded(response, { name, wanted, pixels, isLarge, key, signal }) {
    const revision = Number(response.headers.get("X-Space-Revision"));
    const held = { key, etag: response.headers.get("ETag") ?? "" };
    const blob = await wholly(response.blob(), signal);
    const text = pixels === null ? await blob.text() : "";
    const box = pixels === null ? boxOf(text) : boxAt(stage.element);
    const url = URL.createObjectURL(blob);
    const image = new Image();
    image.alt = `The ${wanted === SCENE ? "scene" : "canvas"} at revision ${revision}`;
    image.draggable = false;
    image.src = url;
    const began = performance.now();
    try {
      await image.decode();
    } catch {
      URL.revokeObjectURL(url);
      if (pixels === null && !signal.aborted) {
        large.set(name, blob.size);
        return null;
      }
      throw new EngineError(422, "No picture", "The browser cannot show the picture that the engine made.");
    }
    if (signal.aborted) {
      URL.revokeObjectURL(url);
      throw new DOMException("Nobody waits for the picture any more.", "AbortError");
    }
    if (pixels === null && blob.size > SLOW_BYTES && performance.now() - began > SLOW_MS) large.set(name, blob.size);
    const ground = isLarge ? cornerOf(image) : groundOf(text);
    // Pixels have other units, so where somebody looks at them is another place.
    const shownAs = isLarge ? `${name} pixels` : name;
    return { name: shownAs, world, surface: wanted, revision, box, pixels, isLarge, image, url, ground, held };
  }

  /** @param {Taken | null} taken */
  function take(taken) {
    if (taken === null) return stage.outdate(null);
    if (shown !== null) URL.revokeObjectURL(shown.url);
    shown = taken;
    stage.show(taken);
    changed(taken);
    const name = nameOf(taken.surface);
    if (!taken.isLarge && taken.pixels === null && large.has(name)) picture.again();
    clearTimeout(probe);
    if (!taken.isLarge) return;
    const wait = Math.max(QUIET_MS, probed + PROBE_MS - performance.now());
    probe = setTimeout(() => look(taken.surface, name), wait);
  }

  /**
   * Ask how large the SVG is now, once nothing changes any more.
   *
   * @param {string} wanted
   * @param {string} name
   */
  async function look(wanted, name) {
    probed = performance.now();
    try {
      const response = await send("HEAD", `/api/view.svg?surface=${encodeURIComponent(wanted)}`);
      const bytes = Number(response.headers.get("Content-Length"));
      const limit = large.get(name);
      const isThere = response.ok && response.headers.get("X-Space-World") === world && nameOf(wanted) === name;
      if (!isThere || limit === undefined || bytes === 0 || bytes > limit * SMALL_AGAIN) return;
      large.delete(name);
      picture.again();
    } catch (error) {
      // The next change asks anew.
      if (!(error instanceof EngineError)) throw error;
    }
  }

  return {
    start() {
      if (isStarted) return;
      isStarted = true;
      sizes.observe(stage.element);
      context.start();
    },
    stop() {
      isStarted = isLoading = false;
      context.stop();
      picture.stop();
      sizes.disconnect();
      clearTimeout(resize);
      clearTimeout(probe);
    },
  };
}

/** @param {Response} response */
export async function problemOf(response) {
  const text = await wholly(response.text());
  try {
    const { title, detail } = JSON.parse(text);
    return new EngineError(response.status, title, detail);
  } catch {
    return new EngineError(response.status, `HTTP ${response.status}`, text.slice(0, 500));
  }
}

/** The part of the plane that an SVG picture shows. @param {string} svg @returns {Box} */
function boxOf(svg) {
  const found = /viewBox="([-+.\deE]+) ([-+.\deE]+) ([-+.\deE]+) ([-+.\deE]+)"/.exec(svg);
  if (found === null) return { left: 0, top: 0, width: 1024, height: 768 };
  const [left, top, width, height] = found.slice(1).map(Number);
  return { left, top, width, height };
}

/** The colour behind what an SVG picture shows, so that the page goes on with it. @param {string} svg */
const groundOf = (svg) => /<rect [^>]*fill="(#[\da-fA-F]{6})"/.exec(svg)?.[1] ?? "";

/** @param {HTMLElement} element @returns {Box} */
function boxAt(element) {
  return { left: 0, top: 0, width: Math.max(element.clientWidth, 1), height: Math.max(element.clientHeight, 1) };
}

/**
 * Pixels of a picture that fills the element.
 *
 * @param {HTMLElement} element
 * @param {boolean} asManyAsCanBe
 */
function pixelsOf(element, asManyAsCanBe) {
  const { width, height } = boxAt(element);
  const most = Math.min(MOST_SIDE / width, MOST_SIDE / height);
  const scale = asManyAsCanBe ? most : Math.min(devicePixelRatio, most);
  const side = (/** @type {number} */ length) => Math.min(Math.max(Math.round(length * scale), LEAST_SIDE), MOST_SIDE);
  return { width: side(width), height: side(height) };
}

/** The colour in the corner of a picture, where nothing is painted on its ground. @param {HTMLImageElement} image */
function cornerOf(image) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d");
  if (context === null) return "";
  context.drawImage(image, 0, 0, 1, 1, 0, 0, 1, 1);
  const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
  return `rgb(${red} ${green} ${blue})`;
}
