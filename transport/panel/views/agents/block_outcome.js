/** What became of a change, said to the person. Owns the words for a change that was refused. */

import { toast } from "../../messages.js";

/**
 * Wait for a change; a refusal is said with the engine's own words. Gives whether it was saved.
 *
 * @param {Promise<import("./config_store.js").Result>} change
 */
export async function carried(change) {
  const { outcome, error } = await change;
  if (error !== null) toast(error.message, { kind: "error" });
  return outcome === "saved";
}
