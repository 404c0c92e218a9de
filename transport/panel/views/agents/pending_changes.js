/**
 * The changes that a store has under way: one after the other, each until somebody has answered it, and what the person
 * has to pick before one can go on. Owns the queue and these counts; knows nothing of what is changed.
 *
 * @typedef {import("./config_changes.js").Difference} Difference
 * @typedef {{ label: string, differences: Difference[], resolve: (mine: Set<string>) => void }} Conflict
 *   `resolve` takes the keys of the differences in which mine is kept.
 */

import { persistently } from "./persistently.js";

export function pendingChanges() {
  /** @type {Set<() => void>} */
  const listeners = new Set();
  /** @type {Conflict | null} */
  let conflict = null;
  let unsaved = 0;
  let waiting = false;
  /** @type {Promise<unknown>} */
  let last = Promise.resolve();

  function tell() {
    listeners.forEach((each) => each());
  }

  return {
    tell,
    conflict: () => conflict,
    unsaved: () => unsaved,
    waiting: () => waiting,

    /** @param {() => void} changed */
    subscribe(changed) {
      listeners.add(changed);
      return () => void listeners.delete(changed);
    },

    /**
     * Do this after every change before it. Whoever stops following the store loses none of them.
     *
     * @template T
     * @param {() => Promise<T>} work
     * @returns {Promise<T>}
     */
    inTurn(work) {
      unsaved += 1;
      const done = last.then(work).finally(() => {
        unsaved -= 1;
        tell();
      });
      last = done.catch(() => {});
      tell();
      return done;
    },

    /**
     * Ask until somebody answers.
     *
     * @template T
     * @param {() => Promise<T>} request
     */
    insisted(request) {
      return persistently(request, (now) => {
        if (waiting === now) return;
        waiting = now;
        tell();
      });
    },

    /**
     * Wait until the person has picked: the keys of what is kept of mine.
     *
     * @param {string} label
     * @param {Difference[]} differences
     * @returns {Promise<Set<string>>}
     */
    picked(label, differences) {
      return new Promise((resolve) => {
        conflict = {
          label,
          differences,
          resolve(mine) {
            conflict = null;
            resolve(mine);
            tell();
          },
        };
        tell();
      });
    },
  };
}
