/**
 * Every agent that can be picked: Space's own, and those of a story that is chosen here. Owns the list and the choice of
 * the story; a row is a link, so that Back works.
 *
 * @typedef {{ kind: "space", agent: string } | { kind: "story", story: string, agent: string }} Scope
 */

import { h, icon, replace, visible } from "../../dom.js";
import { api, segment } from "../../engine.js";
import { watch } from "../../watch.js";
import { named, showName } from "./agent_name.js";
import { branchChoice } from "./branch_choice.js";
import { exportBundle, importBundle } from "./bundle.js";
import { formDialog } from "./form_dialog.js";
import { keyedList } from "../../keyed_list.js";

/** @param {(agents: any[]) => void} loaded is told Space's own agents whenever they were had */
export function agentList(loaded) {
  /** @type {Scope | null} */
  let picked = null;
  /** @type {{ agents: any[], problems: string[], stories: any[], storyAgents: any[] } | null} */
  let known = null;
  /** @type {string | null} */
  let story = null;
  const own = h("ul", { class: "agent-rows" });
  const ofStory = h("ul", { class: "agent-rows" });
  const problems = h("div", {});
  const choice = h("select", { "aria-label": "Story", onchange: choose });
  const another = h(
    "button",
    { class: "bare", title: "New story…", "aria-label": "New story…", onclick: createStory },
    icon("plus"),
  );
  const empty = h(
    "div",
    { class: "agent-empty" },
    h("p", { class: "quiet" }, "Nine agents write a story and look after it. They need one to begin with."),
    h("button", { class: "primary", onclick: createStory }, icon("plus"), "Create a story…"),
  );
  const branch = branchChoice();
  const ofSpace = transfers("Configurations of Space’s own agents", () => ({ kind: "space" }));
  const ofOneStory = transfers("Configurations of the story’s agents", () => {
    const { id = "", name } = known?.stories.find((each) => each.id === story) ?? {};
    return { kind: "story", story: id, name: name || id };
  });
  const fault = h("p", { class: "notice bad", role: "alert", hidden: true });
  const element = h(
    "nav",
    { class: "agent-list", "aria-label": "Agents", onkeydown: move },
    fault,
    h("h2", { id: "own-agents" }, "Space’s own agents"),
    own,
    problems,
    ofSpace,
    h("div", { class: "agent-list-head" }, h("h2", { id: "story-agents" }, "Story agents"), choice, another),
    branch.element,
    empty,
    ofStory,
    ofOneStory,
  );
  own.setAttribute("aria-labelledby", "own-agents");
  ofStory.setAttribute("aria-labelledby", "story-agents");

  const showOwn = keyedList(own, (/** @type {any} */ each) => `${each.trust} ${each.id}`, () => {
    const link = h("a", {});
    const name = h("span", { class: "agent-name" });
    return {
      element: h("li", {}, link),
      update(agent) {
        showName(name, named(agent.names, agent.id));
        link.href = `#/agents/space/${segment(agent.id)}`;
        current(link, picked?.kind === "space" && picked.agent === agent.id);
        replace(
          link,
          name,
          h(
            "span",
            { class: "agent-badges" },
            agent.default && h("span", { class: "badge accent" }, "default"),
            agent.trust === "user" && h("span", { class: "badge" }, "yours"),
            agent.usable
              ? h("span", { class: "badge", title: `presentation from ${agent.mode_source}` }, agent.mode)
              : h("span", { class: "badge bad" }, "unusable"),
            agent.usable && h(
              "span",
              { class: "quiet small agent-count", title: "tools that it can use now" },
              `${agent.capability_count} tool${agent.capability_count === 1 ? "" : "s"}`,
            ),
          ),
          !agent.usable && h("span", { class: "small agent-reason" }, agent.unusable.reason),
        );
      },
    };
  });

  const showOfStory = keyedList(ofStory, (/** @type {any} */ each) => each.agentName, () => {
    const link = h("a", {});
    return {
      element: h("li", {}, link),
      update(agent) {
        link.href = `#/agents/story/${segment(story ?? "")}/${segment(agent.agentName)}`;
        current(link, picked?.kind === "story" && picked.agent === agent.agentName && picked.story === story);
        replace(
          link,
          h("span", { class: "agent-name" }, agent.displayName),
          h("span", { class: "quiet small" }, agent.description),
        );
      },
    };
  });

  const loader = watch(
    ["agents", "blocks", "tools", "presets"],
    async (signal) => {
      const [{ agents, problems }, { stories }, all] = await Promise.all([
        api.get("/api/agents", { signal }),
        api.get("/api/stories", { signal }),
        api.get("/api/agent-blocks", { signal }),
      ]);
      return {
        agents,
        problems,
        stories,
        storyAgents: all.filter((/** @type {any} */ each) => each.family === "story"),
      };
    },
    (now) => {
      known = now;
      fault.hidden = true;
      update();
      loaded(now.agents);
    },
    (error) => {
      replace(fault, error.message);
      fault.hidden = false;
    },
  );

  function update() {
    if (known === null) return;
    const { agents, stories } = known;
    const ids = stories.map((each) => each.id);
    if (picked?.kind === "story") story = picked.story;
    if (story === null || !ids.includes(story)) story = picked?.kind === "story" ? story : ids[0] ?? null;
    showOwn(agents);
    replace(problems, known.problems.map((each) => h("p", { class: "notice warn small" }, each)));
    const key = JSON.stringify(stories.map((each) => [each.id, each.name]));
    if (choice.dataset.shown !== key) {
      choice.dataset.shown = key;
      replace(choice, stories.map((each) => h("option", { value: each.id }, visible(each.name || each.id))));
    }
    if (story !== null) choice.value = story;
    choice.hidden = another.hidden = stories.length === 0;
    empty.hidden = stories.length > 0;
    const isThere = story !== null && ids.includes(story);
    ofOneStory.hidden = !isThere;
    branch.follow(isThere ? story : null);
    showOfStory(isThere ? known.storyAgents : []);
  }

  function choose() {
    story = choice.value;
    if (picked?.kind === "story") location.hash = `#/agents/story/${segment(story)}/${segment(picked.agent)}`;
    else update();
  }

  async function createStory() {
    const made = await formDialog({
      title: "Create a story",
      agree: "Create",
      fields: [{ name: "name", label: "Name", required: true }],
      submit: ({ name }) => api.post("/api/stories", { name }),
    });
    if (made === null) return;
    story = made.id;
    await loader.again();
    location.hash = `#/agents/story/${segment(made.id)}/generation.writer`;
  }

  /** @param {KeyboardEvent} event */
  function move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const links = [...element.querySelectorAll("a")];
    const at = links.indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement));
    if (step === undefined || at < 0) return;
    event.preventDefault();
    links[Math.min(links.length - 1, Math.max(0, at + step))].focus();
  }

  return {
    element,
    /**
     * Whether there is such an agent; null while that is not known.
     *
     * @param {Scope} scope
     */
    knows(scope) {
      if (known === null) return null;
      if (scope.kind === "space") return known.agents.some((each) => each.id === scope.agent);
      return known.stories.some((each) => each.id === scope.story) &&
        known.storyAgents.some((each) => each.agentName === scope.agent);
    },
    again: loader.again,
    /** @param {Scope | null} scope */
    pick(scope) {
      picked = scope;
      update();
    },
    start() {
      loader.start();
      branch.start();
    },
    stop() {
      loader.stop();
      branch.stop();
    },
  };
}

/**
 * @param {string} label
 * @param {() => import("./bundle.js").Family} family
 */
function transfers(label, family) {
  return h(
    "div",
    { class: "agent-transfers", role: "group", "aria-label": label },
    h("button", { class: "bare", onclick: () => exportBundle(family()) }, "Export all…"),
    h("button", { class: "bare", onclick: () => importBundle(family()) }, "Import…"),
  );
}

/** @param {HTMLAnchorElement} link @param {boolean} is */
function current(link, is) {
  if (is) link.setAttribute("aria-current", "true");
  else link.removeAttribute("aria-current");
}
