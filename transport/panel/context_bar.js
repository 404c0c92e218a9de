/**
 * What the person is doing, in every view: surface, activity and world. Owns these three controls; changing one is the
 * same command as `space context set` and `space world switch`.
 */

import { choiceMenu } from "./choice_menu.js";
import { h, icon, replace } from "./dom.js";
import { api, segment } from "./engine.js";
import { askText, attempt } from "./messages.js";
import { watch } from "./watch.js";

/** Drawing and graph are two activities on one canvas; the scene keeps the activity for when somebody comes back. */
const PLACES = [
  { id: "drawing", label: "Drawing", facts: { surface: "canvas", activity: "drawing" } },
  { id: "graph", label: "Graph", facts: { surface: "canvas", activity: "graph" } },
  { id: "scene", label: "Scene", facts: { surface: "scene" } },
];

export function contextBar() {
  const places = h("div", { class: "segments", role: "group", "aria-label": "Surface" });
  const activity = choiceMenu("Activity", (name) => change({ activity: name || null }));
  const world = choiceMenu("World", (id) => {
    void attempt(() => api.post(`/api/worlds/${segment(id)}/activate`)).then(refresh);
  });
  const activityPart = h(
    "span",
    { class: "context-part" },
    h("span", { class: "quiet" }, "Activity "),
    activity.element,
  );
  const element = h(
    "div",
    { class: "context-bar" },
    places,
    activityPart,
    h(
      "span",
      { class: "context-part" },
      h("span", { class: "quiet" }, "World "),
      world.element,
      h(
        "button",
        { class: "bare new-world", title: "New world…", "aria-label": "New world…", onclick: newWorld },
        icon("plus"),
      ),
    ),
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
      // In a place that has no activities it is only kept for later.
      activityPart.hidden = !hasActivities(now.context.surface, now.presets);
      activityPart.classList.toggle("is-said", places.querySelector("[aria-pressed=true]") !== null);
      activity.update(
        [{ value: "", label: "none" }, ...now.activities.map((name) => ({ value: name, label: name }))],
        now.context.activity || "",
      );
      world.update(
        now.worlds.map((/** @type {any} */ each) => ({ value: each.id, label: each.name })),
        now.worlds.find((/** @type {any} */ each) => each.active)?.id ?? "",
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

  async function newWorld() {
    const name = await askText({ title: "New world", label: "Name", agree: "Make and go there" });
    if (name === null) return;
    const made = await attempt(() => api.post("/api/worlds", { name }));
    if (made !== undefined) await attempt(() => api.post(`/api/worlds/${segment(made.id)}/activate`));
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

/**
 * Whether an activity means anything on the surface.
 *
 * @param {string | null} surface
 * @param {any[]} presets
 */
function hasActivities(surface, presets) {
  const places = presets.flatMap((preset) => preset.contexts);
  return places.some((each) =>
    each.surface === surface && typeof each.activity === "string" && each.activity !== "any"
  );
}
