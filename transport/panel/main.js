/**
 * The page: which view is shown, and the connection. Owns the address after the `#`; each view owns the rest of it.
 *
 * @typedef {{ element: HTMLElement, show(path: string[]): void, hide(): void }} View
 * @typedef {{ id: string, title: string, create: () => View }} ViewKind
 */

import { contextBar } from "./context_bar.js";
import { h, replace } from "./dom.js";
import { follow, useToken, watchConnection } from "./engine.js";
import * as agents from "./views/agents.js";
import * as calls from "./views/calls.js";
import * as live from "./views/live.js";
import * as programs from "./views/programs.js";
import * as tools from "./views/tools.js";

/** @type {readonly ViewKind[]} */
const KINDS = [
  { id: "live", title: "Live", create: live.create },
  { id: "tools", title: "Tools", create: tools.create },
  { id: "calls", title: "Calls", create: calls.create },
  { id: "agents", title: "Agents", create: agents.create },
  { id: "programs", title: "Code Mode", create: programs.create },
];

/** @type {Map<string, View>} */
const views = new Map();

/** @type {View | null} */
let shown = null;

const main = found("main");
const navigation = found("navigation");

function route() {
  const [id, ...path] = location.hash.replace(/^#\/?/, "").split("/").map(decoded);
  const kind = KINDS.find((each) => each.id === id) ?? KINDS[0];
  let view = views.get(kind.id);
  if (view === undefined) views.set(kind.id, view = kind.create());
  if (view !== shown) {
    shown?.hide();
    shown = view;
    replace(main, view.element);
    document.title = `${kind.title} · Space`;
  }
  for (const link of navigation.querySelectorAll("a")) {
    if (link.dataset.view === kind.id) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  view.show(path);
}

/** @param {import("./engine.js").ConnectionState} state */
function showConnection(state) {
  const texts = {
    connecting: "Connecting…",
    connected: "Connected",
    lost: "The engine does not answer. Trying again…",
    token: "The engine asks for its token",
  };
  const element = found("connection");
  element.className = `connection-${state}`;
  replace(element, h("span", { class: "dot", "aria-hidden": "true" }), h("span", {}, texts[state]));
  document.body.classList.toggle("is-lost", state === "lost");
  const form = document.getElementById("token");
  if (state !== "token") form?.remove();
  else if (form === null) main.before(tokenForm());
}

function tokenForm() {
  const field = h("input", { type: "password", name: "token", autocomplete: "off", required: true });
  return h(
    "form",
    {
      id: "token",
      onsubmit: (event) => {
        event.preventDefault();
        useToken(field.value);
      },
    },
    h("label", {}, "This engine was started with a token. ", field),
    h("button", { class: "primary" }, "Open"),
    h("p", { class: "quiet" }, "`space panel` opens this page with the token already in place."),
  );
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {string} id */
function found(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}

replace(
  navigation,
  KINDS.map(({ id, title }) => h("a", { href: `#/${id}`, data: { view: id } }, title)),
);
found("context").append(contextBar());
watchConnection(showConnection);
addEventListener("hashchange", route);
route();
follow();
