/**
 * The settings of one story: which models its agents have, and how it is written. The same care as `config_store.js`:
 * changes go one after the other with the revision that was seen, and what somebody else has changed is asked about.
 *
 * @typedef {import("./config_store.js").Result} Result
 * @typedef {{ id: string, name: string, settings: Record<string, any>, etag: string }} Story
 * @typedef {{ path: string[], value: unknown }} Setting `value` null takes it away
 */

import { ask, EngineError, segment } from "../../engine.js";
import { watch } from "../../watch.js";
import { pendingChanges } from "./pending_changes.js";

/** @param {string} story */
export function settingsStore(story) {
  const path = `/api/stories/${segment(story)}`;
  /** @type {Story | null} */
  let state = null;
  let written = 0;
  const pending = pendingChanges();

  const loader = watch(
    ["blocks"],
    async (signal) => ({ before: written, answer: await ask("GET", path, { signal }) }),
    ({ before, answer }) => before === written ? take(answer) : void loader.again(),
  );

  /** @param {{ value: any, etag: string | null }} answer */
  function take({ value, etag }) {
    state = Object.freeze({ id: value.id, name: value.name, settings: value.settings, etag: etag ?? "" });
    pending.tell();
    return state;
  }

  /**
   * @param {string} label
   * @param {Setting[]} settings
   * @param {Story} from
   * @returns {Promise<Result>}
   */
  async function bring(label, settings, from) {
    let wanted = settings;
    for (;;) {
      if (wanted.length === 0) return { outcome: "theirs", error: null };
      try {
        const request = { body: bodyOf(from.settings, wanted), headers: { "If-Match": from.etag } };
        const answer = await pending.insisted(() => ask("PATCH", `${path}/settings`, request));
        written += 1;
        take(answer);
        return { outcome: "saved", error: null };
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        if (error.body?.revision === undefined) return { outcome: "refused", error };
      }
      const now = take(await pending.insisted(() => ask("GET", path)));
      const clashes = wanted.filter(({ path, value }) => {
        const there = valueAt(now.settings, path);
        return there !== valueAt(from.settings, path) && there !== (value ?? undefined);
      });
      if (clashes.length > 0) {
        const mine = await picked(label, clashes, now);
        wanted = wanted.filter((each) => !clashes.includes(each) || mine.has(keyOf(each)));
      }
      from = now;
    }
  }

  /**
   * @param {string} label
   * @param {Setting[]} clashes
   * @param {Story} now
   */
  function picked(label, clashes, now) {
    const differences = clashes.map((each) => {
      const name = each.path[each.path.length - 1];
      const field = { name, mine: each.value ?? undefined, theirs: valueAt(now.settings, each.path), clash: true };
      const subject = each.path.length > 1 ? `Model of ${each.path[1]}` : now.name;
      return { key: keyOf(each), subject, block: null, fields: [field], clash: true };
    });
    return pending.picked(label, differences);
  }

  return {
    get state() {
      return state;
    },
    get conflict() {
      return pending.conflict();
    },
    get unsaved() {
      return pending.unsaved();
    },
    get waiting() {
      return pending.waiting();
    },
    subscribe: pending.subscribe,
    start: loader.start,
    stop: loader.stop,

    /**
     * Change settings, such as `["modelOverrides", "generation", "modelId"]`. `base` is the state that the person saw.
     *
     * @param {string} label
     * @param {Setting[]} settings
     * @param {Story | null} [base]
     * @returns {Promise<Result>}
     */
    change(label, settings, base = null) {
      return pending.inTurn(() => bring(label, settings, base ?? /** @type {Story} */ (state)));
    },
  };
}

/** @typedef {ReturnType<typeof settingsStore>} SettingsStore */

/**
 * @param {Record<string, any>} settings
 * @param {string[]} path
 */
export function valueAt(settings, path) {
  /** @type {any} */
  let value = settings;
  for (const name of path) value = value?.[name];
  return value ?? undefined;
}

/** @param {Setting} setting */
function keyOf({ path }) {
  return JSON.stringify(path);
}

/**
 * The settings that these touch, each as a whole.
 *
 * @param {Record<string, any>} settings
 * @param {Setting[]} changes
 */
function bodyOf(settings, changes) {
  /** @type {Record<string, any>} */
  const body = {};
  for (const { path: [top, ...rest], value } of changes) {
    if (rest.length === 0) {
      body[top] = value;
      continue;
    }
    const [key, field] = rest;
    const all = body[top] ?? { ...settings[top] };
    const one = { ...all[key], [field]: value };
    if (value === null) delete one[field];
    if (Object.keys(one).length === 0) delete all[key];
    else all[key] = one;
    body[top] = all;
  }
  return body;
}
