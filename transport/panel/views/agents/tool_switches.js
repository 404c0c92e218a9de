/** Which of its tools an agent has: one switch for each. Owns these switches; the store saves them. */

import { h, replace } from "../../dom.js";
import { toast } from "../../messages.js";
import { keyedList } from "../../keyed_list.js";

/** From how many tools on there is a field to find some. */
const MANY = 12;

/**
 * @param {import("./config_store.js").ConfigStore} store
 */
export function toolSwitches(store) {
  const count = h("span", { class: "badge" });
  const filter = h("input", {
    type: "search",
    placeholder: "Find a tool",
    "aria-label": "Find a tool",
    oninput: update,
  });
  const list = h("ul", { class: "tool-switches", "aria-label": "Tools of this agent" });
  const none = h("p", { class: "quiet" });
  const unknown = h("div", { class: "notice warn", hidden: true });
  const bar = h(
    "div",
    { class: "toolbar" },
    filter,
    h("button", { onclick: () => set(matching(), true) }, "All on"),
    h("button", { onclick: () => set(matching(), false) }, "All off"),
  );
  const element = h(
    "details",
    { class: "card section tools-section" },
    h("summary", {}, h("h2", {}, "Tools"), count),
    h("div", { class: "section-body" }, bar, none, unknown, list),
  );

  /** What was asked for and is not answered yet: a switch stands where the person has put it. */
  /** @type {Map<string, { on: boolean }>} */
  const wishes = new Map();

  const show = keyedList(list, (/** @type {{ name: string, on: boolean }} */ each) => each.name, ({ name }) => {
    const box = h("input", { type: "checkbox", role: "switch", onchange: () => set([name], box.checked) });
    return {
      element: h("li", {}, h("label", { class: "switch" }, box, h("code", {}, name))),
      update({ on }) {
        box.checked = on;
      },
    };
  });

  function all() {
    const { availableTools = [], config } = store.state ?? {};
    const off = new Set(config?.disabledTools);
    return [...new Set([...availableTools, ...off])].filter((name) =>
      !(store.state?.unknownTools ?? []).includes(name)
    );
  }

  function matching() {
    const wanted = filter.value.trim().toLowerCase();
    return all().filter((name) => name.toLowerCase().includes(wanted));
  }

  /** @param {string[]} names @param {boolean} on */
  async function set(names, on) {
    const wish = { on };
    for (const name of names) wishes.set(name, wish);
    const changed = new Set(names);
    const { outcome, error } = await store.change("Tools", (config) => {
      const kept = config.disabledTools.filter((name) => !changed.has(name));
      return { disabledTools: on ? kept : [...kept, ...names] };
    });
    for (const name of names) if (wishes.get(name) === wish) wishes.delete(name);
    if (outcome === "refused" && error !== null) toast(error.message, { kind: "error" });
    update();
  }

  function update() {
    const { state } = store;
    if (state === null) return;
    const names = all();
    const off = new Set(state.config.disabledTools);
    const isOn = (/** @type {string} */ name) => wishes.get(name)?.on ?? !off.has(name);
    const on = names.filter(isOn).length;
    replace(count, on === names.length ? `${names.length}` : `${on} of ${names.length} on`);
    count.className = on === names.length ? "badge" : "badge warn";
    bar.hidden = names.length === 0;
    filter.hidden = names.length < MANY;
    none.hidden = names.length > 0;
    replace(none, "This agent works without tools.");
    show(matching().map((name) => ({ name, on: isOn(name) })));
    unknown.hidden = state.unknownTools.length === 0;
    if (!unknown.hidden) {
      replace(
        unknown,
        `Switched off as well, though the agent does not have them now: ${state.unknownTools.join(", ")}. `,
        h("button", { onclick: () => set(state.unknownTools, true) }, "Forget these"),
      );
    }
  }

  const stop = store.subscribe(update);
  update();
  return { element, stop };
}
