/** The calls of a program that runs, from the list of all calls. Owns what was read of that list already. */

import { api } from "../../engine.js";

/** Calls that are asked for at once, the most that the engine gives. */
const MOST_AT_ONCE = 1000;

/** The tool that runs programs; its call is the one to cancel. */
const RUN_CODE = "space_run_code";

/**
 * @typedef {{
 *   id: number, version: number, tool: string, program_id: string | null, started_at: number, seconds: number | null,
 *   state: string, error: string | null, cancellable: boolean, arguments_preview: string,
 * }} CallRow
 */

/** @param {string} programId */
export function runningCalls(programId) {
  /** @type {Map<number, CallRow>} */
  const own = new Map();
  let engine = "";
  /** @type {number | null} */
  let after = null;

  return {
    /**
     * The calls until now, in the order in which they were made, and the one that runs the program, where that is known.
     *
     * @param {AbortSignal} signal
     * @returns {Promise<{ calls: CallRow[], run: CallRow | null }>}
     */
    async read(signal) {
      for (;;) {
        const since = after === null ? "" : `&after=${after}`;
        const log = await api.get(`/api/calls?limit=${MOST_AT_ONCE}${since}`, { signal });
        if (log.engine !== engine && after !== null) {
          own.clear();
          after = null;
          continue;
        }
        engine = log.engine;
        for (const row of log.calls) {
          if (row.program_id === programId) own.set(row.id, row);
          after = Math.max(after ?? 0, row.version);
        }
        if (since === "" || log.calls.length < MOST_AT_ONCE) break;
      }
      const rows = [...own.values()].sort((one, other) => one.id - other.id);
      return {
        calls: rows.filter((row) => row.tool !== RUN_CODE),
        run: rows.find((row) => row.tool === RUN_CODE && row.state === "running") ?? null,
      };
    },
  };
}
