/**
 * The configuration of one agent's blocks, as the engine has it, and every change of it that this window makes.
 *
 * Owns that nothing is lost: changes go one after the other, each with the revision that the person saw (`If-Match`).
 * One that meets somebody else's change of the same thing waits until the person has picked (`conflict`); one that finds
 * no engine waits for it. Shows nothing; `conflict_dialog.js` shows a conflict.
 *
 * @typedef {import("./config_changes.js").Config} Config
 * @typedef {import("./config_requests.js").Request} Request
 * @typedef {{ id: string, role: "system" | "user", order: number, source: string, content: string,
 *   contentPreview: string }} BuiltinBlock
 * @typedef {{ agentName: string, displayName: string, description: string, config: Config, etag: string,
 *   builtinBlocks: BuiltinBlock[], availableTools: string[], unknownTools: string[] }} State
 *   Frozen: each answer of the engine makes another one, so an old one is what somebody saw then.
 * @typedef {"saved" | "theirs" | "refused"} Outcome
 *   `theirs`: the person took the other version, so a field must show `state` again. `refused`: the engine did not take
 *   it, and `error` says why; what was typed stays where it is.
 * @typedef {{ outcome: Outcome, error: EngineError | null }} Result
 * @typedef {import("./pending_changes.js").Conflict} Conflict
 * @typedef {{ base?: State, relative?: boolean }} ChangeOptions
 *   `base` is the `state` that the person saw when they BEGAN to edit, kept since the focus of the field; without it the
 *   present one. A change by somebody else since then is a conflict, and is not written over.
 *   `relative`: the patch says what is to be done with whatever there is. Where somebody else was quicker it is made anew
 *   of what they have made, and nobody is asked.
 */

import { ask, EngineError, subscribe } from "../../engine.js";
import { watch } from "../../watch.js";
import { differencesOf, merged, wantedAfter } from "./config_changes.js";
import { ownChanges } from "./own_changes.js";
import { pendingChanges } from "./pending_changes.js";
import { customRequests, newId, patchRequests, without } from "./config_requests.js";

/** What a block says follows the world; that is looked at again this long after it has moved, milliseconds. */
const SETTLED_MS = 250;

/** @type {Result} */
const SAVED = Object.freeze({ outcome: "saved", error: null });

/**
 * The store of the configuration at that path, such as `/api/agent-blocks/standard`.
 *
 * @param {string} base
 */
export function configStore(base) {
  /** @type {State | null} */
  let state = null;
  /** @type {EngineError | null} */
  let error = null;
  /** Grows with each answer to a change; what was asked before it is older than it. */
  let written = 0;
  const own = ownChanges();
  const pending = pendingChanges();
  const { tell, inTurn, insisted, picked } = pending;
  let unsubscribe = () => {};
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let settling;

  const loader = watch(
    ["blocks", "agents"],
    async (signal) => ({ before: written, answer: await ask("GET", base, { signal }) }),
    ({ before, answer }) => {
      if (before !== written) return void loader.again();
      const recovered = error !== null;
      error = null;
      if (!take(answer) && recovered) tell();
    },
    (failure) => {
      error = failure;
      tell();
    },
  );

  /** @param {{ value: any, etag: string | null }} answer */
  function take({ value, etag }) {
    const next = frozenState(value, etag ?? "");
    if (state !== null && JSON.stringify(state) === JSON.stringify(next)) return false;
    state = next;
    own.met(next);
    tell();
    return true;
  }

  async function newest() {
    const answer = await insisted(() => ask("GET", base));
    take(answer);
    return /** @type {State} */ (state);
  }

  /**
   * Bring a configuration from what it was to what is wanted, by the requests that `requests` makes of the two.
   *
   * @param {string} label
   * @param {State | undefined} seen what the person saw; the present state where that is undefined
   * @param {(config: Config) => Config} want what they want, made of what there is
   * @param {(from: Config, to: Config) => Request[]} requests
   * @param {boolean} [relative] whether `want` is asked again where the engine has something else by then
   * @returns {Promise<Result>}
   */
  async function bring(label, seen, want, requests, relative = false) {
    try {
      let from = own.since(seen ?? seenNow(), seenNow());
      let to = want(from.config);
      for (;;) {
        const met = await carryOut(from, requests(from.config, to));
        if (met === null) return SAVED;
        if (met instanceof EngineError) return { outcome: "refused", error: met };
        if (relative) {
          from = met;
          to = want(met.config);
          continue;
        }
        const clashes = differencesOf(from.config, to, met.config).filter((each) => each.clash);
        const mine = clashes.length === 0 ? new Set() : await picked(label, clashes);
        const next = merged(from.config, to, met.config, (key) => mine.has(key));
        if (clashes.length > 0 && requests(met.config, next).length === 0) return { outcome: "theirs", error: null };
        from = met;
        to = next;
      }
    } catch (failure) {
      return refused(failure);
    }
  }

  /**
   * Send these one after the other. Null when all are done, the present state where it is not what `from` was, and the
   * refusal where the engine refused.
   *
   * @param {State} from
   * @param {Request[]} requests
   * @returns {Promise<State | EngineError | null>}
   */
  async function carryOut(from, requests) {
    let etag = from.etag;
    for (const { method, path, body } of requests) {
      try {
        const answer = await insisted(() => ask(method, `${base}${path}`, { body, headers: { "If-Match": etag } }));
        took(etag, answer);
        etag = answer.etag ?? etag;
      } catch (failure) {
        if (!(failure instanceof EngineError)) throw failure;
        if (failure.status !== 409 && failure.status !== 404) return failure;
        const now = await newest();
        return failure.body?.revision !== undefined || now.etag !== etag ? now : failure;
      }
    }
    loader.again();
    return null;
  }

  /**
   * Take the answer to a change, which is the configuration after it.
   *
   * @param {string} etag what it was based on
   * @param {{ value: any, etag: string | null }} answer
   */
  function took(etag, answer) {
    written += 1;
    if (state === null || answer.etag === null || answer.value?.overrides === undefined) return;
    take(withConfig(state, answer.value, answer.etag));
    own.made(etag, state);
  }

  function seenNow() {
    if (state === null) throw new Error("nothing is changed before it was loaded");
    return state;
  }

  /** @param {string} id @param {State} seen */
  function blockOf(id, seen) {
    return seen.config.customBlocks.find((each) => each.id === id);
  }

  return {
    base,
    /** What the engine has, or null until it has answered first. */
    get state() {
      return state;
    },
    /** Why the newest state could not be had, or null. */
    get error() {
      return error;
    },
    /** What waits for the person to pick, or null. */
    get conflict() {
      return pending.conflict();
    },
    /** How many changes the engine has not confirmed yet. */
    get unsaved() {
      return pending.unsaved();
    },
    /** Whether they wait for an engine that does not answer. */
    get waiting() {
      return pending.waiting();
    },

    /**
     * Have a function called after each change of any of these; gives what ends that.
     */
    subscribe: pending.subscribe,

    start() {
      loader.start();
      unsubscribe();
      unsubscribe = subscribe(["context", "world", "presets", "tools"], () => {
        clearTimeout(settling);
        settling = setTimeout(loader.again, SETTLED_MS);
      });
    },

    /** Follow the engine no longer. Changes that are under way go on. */
    stop() {
      loader.stop();
      unsubscribe();
      clearTimeout(settling);
    },

    /**
     * Change overrides (a null removes a field, or a whole override), `blockOrder`, `disabledTools`,
     * `disableAutoAnalysis`, by a patch made of the configuration. `label` says what it is, for a conflict.
     *
     * @param {string} label
     * @param {(config: Config) => object} makePatch
     * @param {ChangeOptions} [options]
     * @returns {Promise<Result>}
     */
    change(label, makePatch, { base: seen, relative } = {}) {
      return inTurn(() =>
        bring(
          label,
          seen,
          (config) => wantedAfter(config, makePatch(config)),
          (from, to) => patchRequests(from, to),
          relative,
        )
      );
    },

    /**
     * Add a custom block; without an id it gets one.
     *
     * @param {{ name: string, role: "system" | "user", type: "simple" | "script", content: string, order?: number,
     *   enabled?: boolean, id?: string }} block
     * @returns {Promise<Result & { id: string }>}
     */
    async addCustom(block) {
      const added = { ...block, id: block.id ?? newId() };
      const result = await inTurn(() => posted(added));
      return { ...result, id: added.id };
    },

    /**
     * Change fields of a custom block, such as `{ content }`. Where somebody has deleted it meanwhile, keeping mine makes
     * it anew.
     *
     * @param {string} id
     * @param {{ name?: string, role?: "system" | "user", content?: string, enabled?: boolean, order?: number,
     *   type?: "simple" | "script" }} change
     * @param {ChangeOptions} [options]
     * @returns {Promise<Result>}
     */
    updateCustom(id, change, { base: seen } = {}) {
      const name = blockOf(id, seen ?? seenNow())?.name ?? id;
      return inTurn(() =>
        bring(
          name,
          seen,
          (config) => ({
            ...config,
            customBlocks: config.customBlocks.map((each) => each.id === id ? { ...each, ...change } : each),
          }),
          customRequests,
        )
      );
    },

    /**
     * Delete a custom block. Gives what brings it back as it was, with its override and its place; null where it stayed.
     *
     * @param {string} id
     * @returns {Promise<(() => Promise<Result>) | null>}
     */
    async removeCustom(id) {
      const seen = seenNow();
      const block = blockOf(id, seen);
      if (block === undefined) return null;
      const { outcome } = await inTurn(() =>
        bring(`Deleting ${block.name}`, seen, (config) => without(config, id), customRequests)
      );
      if (outcome !== "saved" || blockOf(id, seenNow()) !== undefined) return null;
      const override = seen.config.overrides[id];
      const at = seen.config.blockOrder.indexOf(id);
      return () =>
        inTurn(async () => {
          const result = await posted(block);
          if (result.outcome !== "saved") return result;
          const present = seenNow();
          const order = present.config.blockOrder.filter((each) => each !== id);
          if (at >= 0) order.splice(Math.min(at, order.length), 0, id);
          return bring(block.name, present, (config) => ({
            ...config,
            overrides: override === undefined ? config.overrides : { ...config.overrides, [id]: override },
            blockOrder: order,
          }), patchRequests);
        });
    },

    /**
     * Replace the whole configuration, or with null make the agent as it comes. Gives what brings the old one back, with
     * everything that was in it; null with the reason in `failed` where the engine refused.
     *
     * @param {string} label
     * @param {object | null} config
     * @param {(error: EngineError) => void} failed
     * @returns {Promise<(() => Promise<Result>) | null>}
     */
    replaceAll(label, config, failed) {
      return inTurn(async () => {
        try {
          return await replaced(label, config);
        } catch (failure) {
          failed(/** @type {EngineError} */ (refused(failure).error));
          return null;
        }
      });
    },
  };

  /**
   * @param {string} label
   * @param {object | null} config
   */
  async function replaced(label, config) {
    for (;;) {
      const before = await newest();
      const { error: refusal } = config === null
        ? await sent("/reset", {}, before.etag)
        : await sent("/import-config", { config }, before.etag);
      if (refusal === null) {
        const after = seenNow();
        return () => inTurn(() => restore(`Undo: ${label}`, before, after));
      }
      // What has come in between is part of what an undo brings back.
      if (refusal.body?.revision === undefined) throw refusal;
    }
  }

  /**
   * Bring a configuration back that was replaced. What has been changed since then stays, or is asked about.
   *
   * @param {string} label
   * @param {State} before
   * @param {State} after
   */
  async function restore(label, before, after) {
    const done = await sent("/import-config", { config: before.config }, after.etag);
    if (done.error?.body?.revision === undefined) return done;
    return bring(
      label,
      after,
      () => before.config,
      (from, to) => [...customRequests(from, to), ...patchRequests(from, to)],
    );
  }

  /**
   * @param {string} path
   * @param {object} body
   * @param {string} [etag]
   * @returns {Promise<Result>}
   */
  async function sent(path, body, etag) {
    try {
      const headers = etag === undefined ? undefined : { "If-Match": etag };
      await insisted(() => ask("POST", `${base}${path}`, { body, headers }));
      written += 1;
      await newest();
      return SAVED;
    } catch (failure) {
      return refused(failure);
    }
  }

  /**
   * @param {{ id: string }} block
   * @returns {Promise<Result>}
   */
  async function posted(block) {
    const result = await sent("/custom", block);
    // The answer to an earlier try may have been lost with the engine that was to give it.
    if (result.error?.status === 409 && blockOf(block.id, await newest()) !== undefined) {
      return SAVED;
    }
    return result;
  }
}

/** @typedef {ReturnType<typeof configStore>} ConfigStore */

/**
 * @param {unknown} failure
 * @returns {Result}
 */
function refused(failure) {
  if (!(failure instanceof EngineError)) throw failure;
  return { outcome: "refused", error: failure };
}

/**
 * @param {State} state
 * @param {any} config
 * @param {string} etag
 */
function withConfig(state, config, etag) {
  const { etag: _, ...rest } = state;
  const { warning: _warning, unknownTools: _unknown, setAside: _aside, ...plain } = config;
  return { value: { ...rest, config: plain }, etag };
}

/**
 * @param {any} value
 * @param {string} etag
 * @returns {State}
 */
function frozenState(value, etag) {
  return Object.freeze({
    agentName: value.agentName,
    displayName: value.displayName,
    description: value.description,
    config: Object.freeze(value.config),
    builtinBlocks: Object.freeze(value.builtinBlocks),
    availableTools: Object.freeze(value.availableTools),
    unknownTools: Object.freeze(value.unknownTools ?? []),
    etag,
  });
}
