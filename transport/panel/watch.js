/**
 * What a view shows, loaded again whenever it has changed, and tried again where it could not be loaded.
 * Owns that no two loads of the same thing run at once, and how long the page waits between two that failed.
 */

import { EngineError, subscribe } from "./engine.js";

/** How long after a load that failed the next one begins, milliseconds: at first, and at most. */
const RETRY_MS = 500;
const MOST_RETRY_MS = 8000;

/** What a server answers when another time may go better, below 500: it was too slow, or asked too often. */
const PASSING = Object.freeze([408, 425, 429]);

/**
 * Load once it is started, and after each change of the topics while it is; changes that come during a load become one
 * more load after it. `failed` is told of an error of the engine. Where nobody answered, or the engine failed, the load
 * is tried again until it goes well, and `failed` is not told the same twice; what the engine refused is asked for again
 * with the next change, or `again`.
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
  let wait = RETRY_MS;
  /** The timer of the next try; 0 where none is due. */
  let due = 0;
  /** What `failed` was told since the last load that went well, and since somebody else than the timer asked. */
  let told = "";

  async function again() {
    told = "";
    await run();
  }

  async function run() {
    clearTimeout(due);
    due = 0;
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
      if (mine.signal.aborted) return;
      wait = RETRY_MS;
      told = "";
      loaded(value);
    } catch (error) {
      if (mine.signal.aborted) return;
      if (!(error instanceof EngineError)) throw error;
      if (isPassing(error)) later();
      if (told !== error.message) failed(error);
      told = error.message;
    }
  }

  function later() {
    clearTimeout(due);
    due = setTimeout(run, wait);
    wait = Math.min(wait * 2, MOST_RETRY_MS);
  }

  /** The network is back: what waits for it need not wait longer. */
  function hurry() {
    if (due !== 0) run();
  }

  return {
    again,
    start() {
      if (active !== null) return;
      active = new AbortController();
      unsubscribe = subscribe(topics, again);
      addEventListener("online", hurry);
      wait = RETRY_MS;
      again();
    },
    stop() {
      unsubscribe();
      removeEventListener("online", hurry);
      clearTimeout(due);
      due = 0;
      active?.abort();
      active = null;
    },
  };
}

/**
 * Whether another time may go better: nobody answered, or the engine failed; not what it refused.
 *
 * @param {EngineError} error
 */
export const isPassing = ({ status }) => status === 0 || status >= 500 || PASSING.includes(status);
