/** What a view shows, loaded again whenever it has changed. Owns that no two loads of the same thing run at once. */

import { EngineError, subscribe } from "./engine.js";

/**
 * Load once it is started, and after each change of the topics while it is; changes that come during a load become one
 * more load after it. `failed` is told of an error of the engine; the next change, or `again`, tries anew.
 *
 * @template T
 * @param {import("./engine.js").Topic[]} topics
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {(value: T) => void} loaded
 * @param {(error: EngineError) => void} [failed]
 */
export function watch(topics, load, loaded, failed = () => {}) {
  let running = false;
  let stale = false;
  /** @type {AbortController | null} */
  let active = null;
  /** @type {() => void} */
  let unsubscribe = () => {};

  async function again() {
    if (active === null) return;
    stale = true;
    if (running) return;
    running = true;
    try {
      while (stale && active !== null) {
        stale = false;
        await once(active);
      }
    } finally {
      running = false;
    }
  }

  /** @param {AbortController} mine */
  async function once(mine) {
    try {
      const value = await load(mine.signal);
      if (!mine.signal.aborted) loaded(value);
    } catch (error) {
      if (mine.signal.aborted) return;
      if (!(error instanceof EngineError)) throw error;
      failed(error);
    }
  }

  return {
    again,
    start() {
      if (active !== null) return;
      active = new AbortController();
      unsubscribe = subscribe(topics, again);
      again();
    },
    stop() {
      unsubscribe();
      active?.abort();
      active = null;
    },
  };
}
