/** Requests that wait for an engine which does not answer: it may be starting again, and nothing typed is to be lost. */

import { EngineError } from "../../engine.js";

/** How long until the next try, milliseconds. */
const RETRY_MS = 500;

/**
 * Ask until somebody answers, or refuses. `waiting` is told whether nobody does.
 *
 * @template T
 * @param {() => Promise<T>} request
 * @param {(now: boolean) => void} waiting
 * @returns {Promise<T>}
 */
export async function persistently(request, waiting) {
  for (;;) {
    try {
      const answer = await request();
      waiting(false);
      return answer;
    } catch (error) {
      const silent = error instanceof EngineError && isSilence(error);
      waiting(silent);
      if (!silent) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** @param {EngineError} error */
function isSilence(error) {
  return error.status === 0 || error.status === 403 && error.title === "Token required";
}
