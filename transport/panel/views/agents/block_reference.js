/**
 * What a text may name: the members of `ctx`, and the fragments of the story. Owns both lists; a click puts an entry
 * where the caret is.
 *
 * @typedef {import("./block_list.js").Scope} Scope
 */

import { h, icon, replace } from "../../dom.js";
import { api, segment } from "../../engine.js";
import { copy } from "../../messages.js";
import { watch } from "../../watch.js";

/** @type {readonly [name: string, what: string][]} */
const OF_STORIES = [
  ["ctx.story", "the story: name, description, summary, settings"],
  ["ctx.proseFragments", "the recent prose that is in the context"],
  ["ctx.stickyGuidelines", "pinned guidelines"],
  ["ctx.stickyKnowledge", "pinned knowledge"],
  ["ctx.stickyCharacters", "pinned characters"],
  ["ctx.guidelineCatalog", "guidelines that are not pinned"],
  ["ctx.knowledgeCatalog", "knowledge that is not pinned"],
  ["ctx.characterCatalog", "characters that are not pinned"],
  ["ctx.authorInput", "what the author asks for now"],
  ["await ctx.getFragment(id)", "the fragment of that id, or null"],
  ["await ctx.getFragments(type)", "all fragments, or those of a type"],
  ["await ctx.getFragmentByTag(tag)", "the first fragment with that tag, or null"],
  ["await ctx.getFragmentsByTag(tag)", "all fragments with that tag"],
];

/** @type {readonly [name: string, what: string][]} */
const OF_SPACE = [
  ["ctx.story.name", "the name of the world"],
  ["ctx.story.settings.context", "what the person is doing: surface, activity, …"],
  ["ctx.story.settings.world", "the world: id, name, revision"],
  ["ctx.story.settings.worlds", "all worlds"],
  ["ctx.story.settings.agent", "the id of the agent"],
  ["ctx.enabledTools", "the names of the tools that it has"],
  ["ctx.modelId", "the model, where one is known"],
];

/**
 * @param {Scope} scope
 * @param {(text: string) => void} insert
 */
export function contextReference(scope, insert) {
  const members = scope.kind === "story" ? OF_STORIES : OF_SPACE;
  return h(
    "details",
    { class: "reference" },
    h("summary", {}, "What ctx holds"),
    h(
      "p",
      { class: "quiet small" },
      "The body of an async function of ctx: `await` and `return` work at its top level.",
    ),
    h(
      "ul",
      {},
      members.map(([name, what]) =>
        h(
          "li",
          {},
          h(
            "button",
            { class: "bare mono", title: "Insert", onmousedown: keepFocus, onclick: () => insert(name) },
            name,
          ),
          h("span", { class: "quiet" }, what),
        )
      ),
    ),
  );
}

/**
 * The fragments of the story, asked for when the list is opened and followed while it is open; null for Space's own
 * agents, which have no story.
 *
 * @param {Scope} scope
 * @param {(text: string) => void} insert
 * @param {{ script: boolean }} options
 */
export function fragmentReference(scope, insert, { script }) {
  if (scope.kind !== "story") return null;
  const list = h("div", { class: "fragments" });
  const filter = h("input", {
    ...{ type: "search", placeholder: "Find a fragment", "aria-label": "Find a fragment" },
    oninput: show,
  });
  const element = h(
    "details",
    { class: "reference", ontoggle: () => element.open ? fragments.start() : fragments.stop() },
    h("summary", {}, "Fragments of the story"),
    h(
      "p",
      { class: "quiet small" },
      "A tag such as ",
      h("code", {}, "<@ch-marazi>"),
      " becomes the whole fragment in the prompt, ",
      h("code", {}, "<@ch-marazi:short>"),
      " one line of it",
      script ? ", also in what a script returns." : ".",
    ),
    filter,
    list,
  );
  /** @type {any[]} */
  let found = [];

  const fragments = watch(
    ["blocks"],
    async (signal) => (await api.get(`/api/stories/${segment(scope.story ?? "")}/fragments`, { signal })).fragments,
    (now) => {
      if (JSON.stringify(now) === JSON.stringify(found) && list.childElementCount > 0) return;
      found = now;
      show();
    },
    (error) => replace(list, h("p", { class: "notice bad" }, error.message)),
  );

  function show() {
    const wanted = filter.value.trim().toLowerCase();
    const rows = found.filter((each) =>
      `${each.id} ${each.type} ${each.name} ${each.tags}`.toLowerCase().includes(wanted)
    );
    const types = [...new Set(rows.map((each) => each.type))].sort();
    if (found.length === 0) return replace(list, h("p", { class: "quiet" }, "The story has no fragments yet."));
    if (rows.length === 0) return replace(list, h("p", { class: "quiet" }, "No fragment is called so."));
    replace(
      list,
      types.map((type) =>
        h("section", {}, h("h5", {}, type), h("ul", {}, rows.filter((each) => each.type === type).map(row)))
      ),
    );
  }

  /** @param {any} fragment */
  function row({ id, name }) {
    const put = (/** @type {string} */ label, /** @type {string} */ text) =>
      h("button", {
        ...{ class: "bare small", "aria-label": `Insert ${text}`, title: text },
        onmousedown: keepFocus,
        onclick: () => insert(text),
      }, label);
    return h(
      "li",
      {},
      h("button", { class: "bare mono", "aria-label": `Copy ${id}`, onclick: () => copy(id) }, icon("copy"), id),
      h("span", { class: "fragment-name quiet" }, name),
      h(
        "span",
        {},
        script && put("lookup", `await ctx.getFragment("${id}")`),
        put("tag", `<@${id}>`),
        put("short tag", `<@${id}:short>`),
      ),
    );
  }

  return { element, stop: fragments.stop };
}

/**
 * The field keeps the focus, and with it the caret, when an entry is clicked.
 *
 * @param {Event} event
 */
function keepFocus(event) {
  event.preventDefault();
}
