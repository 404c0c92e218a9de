/**
 * The picture of the current surface, asked for again after each change. Owns that one request is under way, that the
 * newest wins, and that the page shows the picture before until the next one is decoded.
 *
 * A drawing and a map come as SVG, in units of their own; a scene as PNG, in pixels of the page.
 *
 * @typedef {{ left: number, top: number, width: number, height: number }} Box
 * @typedef {{
 *   name: string, world: string, surface: string, kind: "svg" | "png", revision: number, box: Box,
 *   pixels: { width: number, height: number } | null,
 * }} Shown a picture of the same things has the same name
 */

import { api, EngineError, send, subscribe } from "../../engine.js";

/** The surface that has no SVG. */
const SCENE = "scene";

/** What a PNG may have on each side, in pixels: the engine's own limits. */
const LEAST_SIDE = 16;
const MOST_SIDE = 2000;

/** How long the element must have kept its size before a picture of that size is asked for, milliseconds. */
const RESIZE_MS = 150;

/**
 * @param {ReturnType<typeof import("./stage.js").stage>} stage
 * @param {(shown: Shown) => void} changed
 */
export function pictureFollower(stage, changed) {
  /** @type {string | null} */
  let surface = null;
  let activity = "";
  /** @type {{ key: string, etag: string } | null} */
  let held = null;
  /** @type {string | null} */
  let url = null;
  /** @type {AbortController | null} what ends everything */
  let active = null;
  /** @type {AbortController | null} what ends the request under way */
  let request = null;
  let stale = false;
  let resize = 0;
  /** @type {(() => void)[]} */
  let ends = [];

  const sizes = new ResizeObserver(() => {
    stage.resized();
    clearTimeout(resize);
    resize = setTimeout(() => surface === SCENE && again(), RESIZE_MS);
  });

  async function contextChanged() {
    const mine = active;
    if (mine === null) return;
    try {
      const context = await api.get("/api/context", { signal: mine.signal });
      if (mine.signal.aborted) return;
      // A scene may take long; nobody waits for a picture of where they are no more.
      if (context.surface !== surface) request?.abort();
      surface = context.surface;
      activity = context.activity ?? "";
      again();
    } catch (error) {
      if (!mine.signal.aborted) failed(error);
    }
  }

  async function again() {
    stale = true;
    if (request !== null || surface === null) return;
    while (stale && active !== null) {
      stale = false;
      request = new AbortController();
      try {
        await load(surface, request.signal);
      } catch (error) {
        if (!request.signal.aborted) failed(error);
      } finally {
        request = null;
      }
    }
  }

  /** @param {unknown} error */
  function failed(error) {
    if (!(error instanceof EngineError)) throw error;
    if (error.status !== 0) stage.refuse(error.message);
  }

  /**
   * @param {string} wanted
   * @param {AbortSignal} signal
   */
  async function load(wanted, signal) {
    const pixels = wanted === SCENE ? pixelsOf(stage.element) : null;
    const parameters = new URLSearchParams({ surface: wanted });
    for (const [name, value] of Object.entries(pixels ?? {})) parameters.set(name, String(value));
    const path = `/api/view.${pixels === null ? "svg" : "png"}?${parameters}`;
    // The engine may be in another activity already; then the picture is asked for once more, whatever its tag.
    const doing = activity;
    const key = `${path} ${doing}`;
    /** @type {Record<string, string>} */
    const headers = held?.key === key ? { "If-None-Match": held.etag } : {};
    stage.busy(true);
    const response = await send("GET", path, { headers, signal });
    if (response.status === 304) return stage.busy(false);
    if (!response.ok) throw await problemOf(response);
    const etag = response.headers.get("ETag") ?? "";
    const revision = Number(response.headers.get("X-Space-Revision"));
    const world = response.headers.get("X-Space-World") ?? "";
    const blob = await response.blob();
    const text = pixels === null ? await blob.text() : "";
    const box = pixels === null ? boxOf(text) : boxAt(stage.element);
    const name = [world, wanted, doing].join(" ");
    const next = URL.createObjectURL(blob);
    const image = new Image();
    image.alt = `The ${pixels === null ? "canvas" : "scene"} at revision ${revision}`;
    image.draggable = false;
    image.src = next;
    try {
      await image.decode();
    } catch {
      URL.revokeObjectURL(next);
      throw new EngineError(422, "No picture", "The browser cannot show the picture that the engine made.");
    }
    if (signal.aborted) return URL.revokeObjectURL(next);
    if (url !== null) URL.revokeObjectURL(url);
    url = next;
    held = { key, etag };
    const kind = pixels === null ? "svg" : "png";
    stage.busy(false);
    stage.show({ image, box, name, revision, ground: groundOf(text) });
    changed({ name, world, surface: wanted, kind, revision, box, pixels });
  }

  return {
    again,
    start() {
      if (active !== null) return;
      active = new AbortController();
      sizes.observe(stage.element);
      ends = [subscribe(["context"], contextChanged), subscribe(["world"], again)];
      contextChanged();
    },
    stop() {
      active?.abort();
      request?.abort();
      active = null;
      sizes.disconnect();
      clearTimeout(resize);
      ends.forEach((end) => end());
    },
  };
}

/** @param {Response} response */
export async function problemOf(response) {
  const text = await response.text();
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

/** @param {HTMLElement} element */
function pixelsOf(element) {
  const { width, height } = boxAt(element);
  const scale = Math.min(devicePixelRatio, MOST_SIDE / width, MOST_SIDE / height);
  const side = (/** @type {number} */ length) => Math.min(Math.max(Math.round(length * scale), LEAST_SIDE), MOST_SIDE);
  return { width: side(width), height: side(height) };
}
