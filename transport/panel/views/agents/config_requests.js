/**
 * The requests that make one configuration of another. Pure: sends none of them.
 *
 * @typedef {import("./config_changes.js").Config} Config
 * @typedef {{ method: string, path: string, body?: unknown }} Request
 */

import { segment } from "../../engine.js";
import { patchOf } from "./config_changes.js";

const ID_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
const ID_LENGTH = 8;

/**
 * @param {Config} from
 * @param {Config} to
 * @returns {Request[]}
 */
export function patchRequests(from, to) {
  const body = patchOf(from, to);
  return Object.keys(body).length === 0 ? [] : [{ method: "PATCH", path: "/config", body }];
}

/**
 * @param {Config} from
 * @param {Config} to
 * @returns {Request[]}
 */
export function customRequests(from, to) {
  const had = new Map(from.customBlocks.map((each) => [each.id, each]));
  const has = new Map(to.customBlocks.map((each) => [each.id, each]));
  /** @type {Request[]} */
  const requests = [];
  for (const [id, block] of has) {
    const old = had.get(id);
    if (old === undefined) {
      requests.push({ method: "POST", path: "/custom", body: block });
      continue;
    }
    // Only what differs: naming `enabled` would set both switches of the block.
    const body = Object.fromEntries(Object.entries(block).filter(([name, value]) => Reflect.get(old, name) !== value));
    if (Object.keys(body).length > 0) requests.push({ method: "PUT", path: `/custom/${segment(id)}`, body });
  }
  for (const id of had.keys()) {
    if (!has.has(id)) requests.push({ method: "DELETE", path: `/custom/${segment(id)}` });
  }
  return requests;
}

/**
 * @param {Config} config
 * @param {string} id
 * @returns {Config}
 */
export function without(config, id) {
  const { [id]: _, ...overrides } = config.overrides;
  return {
    ...config,
    overrides,
    customBlocks: config.customBlocks.filter((each) => each.id !== id),
    blockOrder: config.blockOrder.filter((each) => each !== id),
  };
}

/** An id for a custom block that nobody else has chosen: one of a trillion. */
export function newId() {
  const numbers = crypto.getRandomValues(new Uint32Array(ID_LENGTH));
  return `cb-${[...numbers].map((each) => ID_CHARACTERS[each % ID_CHARACTERS.length]).join("")}`;
}
