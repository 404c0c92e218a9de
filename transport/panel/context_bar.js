/**
 * What the person is doing, in every view: surface, activity and world. Owns these three controls; changing one is the
 * same command as `space context set` and `space world switch`.
 */

import { h, replace } from "./dom.js";
import { api, segment } from "./engine.js";
import { askText, attempt } from "./messages.js";
import { watch } from "./watch.js";

/** Drawing and graph are two activities on one canvas; the scene keeps the activity for when somebody comes back. */
const PLACES = [
  { id: "drawing", label: "Drawing", facts: { surface: "canvas", activity: "drawing" } },
  { id: "graph", label: "Graph", facts: { surface: "canvas", activity: "graph" } },
  { id: "scene", label: "Scene", facts: { surface: "scene" } },
];

/** The value of the entry that makes a new world; no id of a world looks like this. */
const NEW_WORLD = "\u0000new";

export function contextBar() {
  const places = h("div", { class: "segments", role: "group", "aria-label": "Surface" });
  const activity = h("select", {
    "aria-label": "Activity",
    onchange: () => change({ activity: activity.value || null }),
  });
  const world = h("select", { "aria-label": "World", onchange: switchWorld });
  const element = h(
    "div",
    { class: "context-bar" },
    places,
    h("label", {}, "Activity ", activity),
    h("label", {}, "World ", world),
  );
  let shown = "";

  const state = watch(
    ["context", "world", "presets"],
    async (signal) => {
      const [context, worlds, presets] = await Promise.all([
        api.get("/api/context", { signal }),
        api.get("/api/worlds", { signal }),
        api.get("/api/presets", { signal }),
      ]);
      return {
        context,
        worlds: worlds.worlds,
        activities: activitiesOf(presets.presets, context.activity),
        presets: presets.presets,
      };
    },
    (now) => {
      // A control that is rebuilt while somebody has it open would close under their hands.
      const key = JSON.stringify([
        now.context,
        now.worlds.map((/** @type {any} */ each) => [each.id, each.name, each.active]),
        now.activities,
      ]);
      if (key === shown) return;
      shown = key;
      showPlaces(now.context, now.presets);
      replace(
        activity,
        h("option", { value: "", selected: !now.context.activity }, "none"),
        now.activities.map((name) => h("option", { value: name, selected: name === now.context.activity }, name)),
      );
      replace(
        world,
        now.worlds.map((/** @type {any} */ each) => h("option", { value: each.id, selected: each.active }, each.name)),
        h("option", { value: NEW_WORLD }, "New world…"),
      );
    },
  );

  /**
   * @param {any} context
   * @param {any[]} presets
   */
  function showPlaces(context, presets) {
    const known = new Set(PLACES.map((each) => each.facts.surface));
    const others = [
      context.surface,
      ...presets.flatMap((preset) => preset.contexts.map((/** @type {any} */ each) => each.surface)),
    ].filter((each) => typeof each === "string" && each !== "any" && each !== "none" && !known.has(each));
    const all = [
      ...PLACES,
      ...[...new Set(others)].map((each) => ({ id: each, label: each, facts: { surface: each } })),
    ];
    const focused = /** @type {HTMLElement | null} */ (places.querySelector(":focus"))?.dataset.place;
    replace(
      places,
      all.map((each) =>
        h("button", {
          "aria-pressed": String(Object.entries(each.facts).every(([name, value]) => context[name] === value)),
          data: { place: each.id },
          onclick: () => change(each.facts),
        }, each.label)
      ),
    );
    if (focused !== undefined) {
      /** @type {HTMLElement | null} */ (places.querySelector(`[data-place="${CSS.escape(focused)}"]`))?.focus();
    }
  }

  /** @param {Record<string, unknown>} facts */
  async function change(facts) {
    await attempt(() => api.patch("/api/context", facts));
    refresh();
  }

  async function switchWorld() {
    if (world.value === NEW_WORLD) {
      const name = await askText({ title: "New world", label: "Name", agree: "Make and go there" });
      if (name !== null) {
        const made = await attempt(() => api.post("/api/worlds", { name }));
        if (made !== undefined) await attempt(() => api.post(`/api/worlds/${segment(made.id)}/activate`));
      }
    } else {
      await attempt(() => api.post(`/api/worlds/${segment(world.value)}/activate`));
    }
    refresh();
  }

  function refresh() {
    shown = "";
    state.again();
  }

  state.start();
  return element;
}

/**
 * @param {any[]} presets
 * @param {string | null | undefined} current
 */
function activitiesOf(presets, current) {
  const named = presets.flatMap((preset) => preset.contexts.map((/** @type {any} */ each) => each.activity));
  const all = [current, ...named].filter((each) => typeof each === "string" && each !== "any" && each !== "none");
  return [...new Set(all)].sort();
}
