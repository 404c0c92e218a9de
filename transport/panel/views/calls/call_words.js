/** What a row of a call says, in words for a person. Holds no state. */

import { duration } from "../../dom.js";

/** @typedef {import("./call_feed.js").CallRow} CallRow */

/** @type {Record<CallRow["state"], string>} */
const KINDS = { running: "accent", done: "good", failed: "bad", refused: "warn", cancelled: "" };

/** How it stands. @param {CallRow} row */
export const stateOf = (row) => ({ label: row.state, kind: KINDS[row.state] ?? "" });

/** Who made the call: the agent, else the client, else which way it came. @param {CallRow} row */
export function whoOf(row) {
  return row.agent ?? row.client ?? (row.source === "rest" ? "REST" : row.source);
}

/** How long it took or has taken. @param {CallRow} row */
export const tookOf = (row) => row.seconds === null ? "" : duration(row.seconds);

/** How long it has run, in seconds. @param {CallRow} row */
export const elapsedOf = (row) => Math.max(Date.now() / 1000 - row.started_at, 0);
