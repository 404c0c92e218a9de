/** What a row of a call says, in words for a person. Holds no state. */

import { duration, visible } from "../../dom.js";

/** @typedef {import("./call_feed.js").CallRow} CallRow */

/** @type {Record<CallRow["state"], string>} */
const KINDS = { running: "accent", done: "good", failed: "bad", refused: "warn", cancelled: "" };

/** How an error begins that goes on with its reason. */
const SAID_BY_ROW =
  /^(?:Invalid arguments for \S+; it was not run: |refused: (?:the program was checked and not run\. )?)(?=\S)/;

/**
 * How it stands, and the kind of its badge.
 *
 * @param {CallRow} row
 */
export function stateOf(row) {
  return { label: row.state, kind: KINDS[row.state] };
}

/**
 * Why it did not go well, as briefly as a list needs it: without what the row says already. "" where it went well.
 *
 * @param {CallRow} row
 */
export function reasonOf(row) {
  return visible((row.error ?? "").replace(SAID_BY_ROW, ""));
}

/**
 * Who made the call: its client, or else which way it came, and as which agent. Without the version of the client, which
 * nobody tells clients apart by.
 *
 * @param {CallRow} row
 */
export function whoOf(row) {
  const client = row.client?.replace(/ v?\d[\w.+-]*$/, "") ?? "";
  const way = client || (row.source === "rest" ? "REST" : row.source === "program" ? "program" : "MCP");
  return visible(row.agent === null ? way : `${way} · ${row.agent}`);
}

/** How long it took or has taken. @param {CallRow} row */
export const tookOf = (row) => row.seconds === null ? "" : duration(row.seconds);

/** How long it has run, in seconds. @param {CallRow} row */
export const elapsedOf = (row) => Math.max(Date.now() / 1000 - row.started_at, 0);
