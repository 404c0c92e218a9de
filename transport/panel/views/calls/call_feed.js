/**
 * The rows of calls, as the engine keeps them: the last ones at first, then what has changed since. Owns the rows.
 *
 * @typedef {{
 *   id: number, version: number, source: "mcp" | "rest" | "program", tool: string, via: string | null,
 *   agent: string | null, session_id: string | null, client: string | null, program_id: string | null,
 *   task_id: string | null, started_at: number, seconds: number | null,
 *   state: "running" | "done" | "failed" | "refused" | "cancelled", error: string | null,
 *   progress: { done: number, total: number | null, message: string | null } | null, cancellable: boolean,
 *   arguments_preview: string, read_only: boolean | null,
 * }} CallRow `read_only`: whether its tool changes nothing; null where that is not known
 */

import { api } from "../../engine.js";
import { watch } from "../../watch.js";

/** Rows of one request: the most that the engine gives. */
const MOST_ROWS = 1000;

/** The shortest time between two requests, milliseconds: of a thousand calls a second, each is none of its own. */
const PAUSE_MS = 60;

/** @param {number} id */
export const addressOf = (id) => `#/calls/${id}`;

/**
 * Follow the calls while it is started. `most` is how many of the last ones are wanted; `changed` is called after each
 * change with whether all began anew, as they do with another engine.
 *
 * @param {{
 *   most: number, changed: (anew: boolean) => void, failed?: (error: import("../../engine.js").EngineError) => void,
 * }} options
 */
export function callFeed({ most, changed, failed }) {
  /** @type {string | null} */
  let engine = null;
  let engines = 0;
  let version = 0;
  let asked = -PAUSE_MS;
  /** Whether earlier rows are still to come: a page that is left meanwhile goes on with them later. */
  let lacks = false;
  /** @type {Map<number, CallRow>} */
  let byId = new Map();
  /** By id, the oldest first. @type {CallRow[]} */
  let rows = [];

  /**
   * @param {string} query
   * @param {AbortSignal} signal
   * @returns {Promise<{ engine: string, version: number, kept: number, calls: CallRow[] }>}
   */
  const ask = (query, signal) => api.get(`/api/calls?${query}`, { signal });

  /** @param {AbortSignal} signal */
  async function load(signal) {
    await new Promise((resolve) => setTimeout(resolve, asked + PAUSE_MS - performance.now()));
    if (signal.aborted) return;
    asked = performance.now();
    let answer = await ask(
      engine === null ? `limit=${Math.min(most, MOST_ROWS)}` : `after=${version}&limit=${MOST_ROWS}`,
      signal,
    );
    const anew = answer.engine !== engine;
    if (anew && engine !== null) {
      engine = null;
      answer = await ask(`limit=${Math.min(most, MOST_ROWS)}`, signal);
    }
    if (signal.aborted) return;
    if (anew) [byId, rows, engines] = [new Map(), [], engines + 1];
    engine = answer.engine;
    if (anew) lacks = Math.min(answer.kept, most) > answer.calls.length;
    version = answer.version;
    take(answer, anew);
    if (lacks) await loadEarlier(signal);
    while (!anew && answer.calls.length === MOST_ROWS && !signal.aborted) {
      answer = await ask(`after=${version}&limit=${MOST_ROWS}`, signal);
      if (answer.engine !== engine) return;
      version = answer.version;
      take(answer, false);
    }
  }

  /** The rest of what the engine keeps, after the newest are there. @param {AbortSignal} signal */
  async function loadEarlier(signal) {
    for (let from = 0; from < version;) {
      const answer = await ask(`after=${from}&limit=${MOST_ROWS}`, signal);
      if (signal.aborted || answer.engine !== engine) return;
      take(answer, false);
      if (answer.calls.length < MOST_ROWS) break;
      from = answer.version;
    }
    lacks = false;
  }

  /**
   * @param {{ kept: number, calls: CallRow[] }} answer
   * @param {boolean} anew
   */
  function take({ kept, calls }, anew) {
    let last = rows.at(-1)?.id ?? 0;
    let sorted = true;
    for (const row of calls) {
      const old = byId.get(row.id);
      if (old === undefined) {
        rows.push(row);
        sorted &&= row.id > last;
        last = row.id;
      } else if (old.version < row.version) Object.assign(old, row);
      if (old === undefined) byId.set(row.id, row);
    }
    if (!sorted) rows.sort((one, other) => one.id - other.id);
    const most_kept = Math.min(kept, most);
    while (rows.length > most_kept) byId.delete(/** @type {CallRow} */ (rows.shift()).id);
    changed(anew);
  }

  const state = watch(["calls"], load, () => {}, failed);
  return {
    start: state.start,
    stop: state.stop,
    /** Every row, the oldest first; changed in place by what comes later. */
    rows: () => rows,
    /** How many engines have been followed. */
    engineChanges: () => engines,
    /** @param {number} id */
    get: (id) => byId.get(id),
  };
}
