/**
 * The changes that this window has made itself: to the person they are no conflict, whenever they began to type.
 *
 * @typedef {import("./config_store.js").State} State
 */

/** How many are remembered. With an older one the person is asked, which loses nothing. */
const MOST = 50;

export function ownChanges() {
  /** @type {{ from: string, to: State }[]} */
  let made = [];
  let forgotten = 0;
  /** How many changes there were when a state came: only later ones lead on from it, since contents may come back. */
  /** @type {WeakMap<State, number>} */
  const ages = new WeakMap();

  return {
    /** @param {State} state that the engine has just told */
    met(state) {
      ages.set(state, forgotten + made.length);
    },

    /** @param {string} from the revision that was changed @param {State} to what it is since */
    made(from, to) {
      made.push({ from, to });
      if (made.length <= MOST) return;
      made = made.slice(1);
      forgotten += 1;
    },

    /**
     * What this window has made of what was seen, without what anybody else has.
     *
     * @param {State} seen
     * @param {State} present
     */
    since(seen, present) {
      let reached = seen;
      for (const each of made.slice(Math.max(0, (ages.get(seen) ?? 0) - forgotten))) {
        if (each.from === reached.etag) reached = each.to;
      }
      return reached.etag === present.etag ? present : reached;
    },
  };
}
