/**
 * The page: which view is shown, and the connection. Owns the address after the `#`; each view owns the rest of it.
 *
 * @typedef {{ element: HTMLElement, show(path: string[]): void, hide(): void }} View
 * @typedef {{ id: string, title: string, paths: RegExp, create: () => View }} ViewKind
 *   `paths` are those that the view has something at, as they stand in the address behind `#/id/`.
 */

import { contextBar } from "./context_bar.js";
import { h, replace } from "./dom.js";
import { follow, takeToken, useToken, watchConnection } from "./engine.js";
import * as agents from "./views/agents.js";
import * as calls from "./views/calls.js";
import * as live from "./views/live.js";
import * as programs from "./views/programs.js";
import * as tools from "./views/tools.js";

/** @type {readonly ViewKind[]} */
const KINDS = [
  { id: "live", title: "Live", paths: /^$/, create: live.create },
  { id: "tools", title: "Tools", paths: /^[^/]*$/, create: tools.create },
  { id: "calls", title: "Calls", paths: /^\d*$/, create: calls.create },
  { id: "agents", title: "Agents", paths: /^(space\/[^/]+|story\/[^/]+\/[^/]+)?$/, create: agents.create },
  { id: "programs", title: "Code Mode", paths: /^(sdk\/)?[^/]*$/, create: programs.create },
];

/** @type {Map<string, View>} */
const views = new Map();

/** @type {View | null} */
let shown = null;

const main = found("main");
const navigation = found("navigation");

function route() {
  const address = location.hash.replace(/^#\/?|\/$/g, "");
  const [id, ...rest] = address.split("/");
  const kind = address === "" ? KINDS[0] : KINDS.find((each) => each.id === id);
  const isKnown = kind !== undefined && kind.paths.test(rest.join("/"));
  const view = isKnown ? viewOf(kind) : null;
  if (view !== shown || view === null) {
    shown?.hide();
    shown = view;
    replace(main, view === null ? nothingHere(address) : view.element);
    document.title = isKnown ? `${kind.title} · Space` : "No such view · Space";
  }
  for (const link of navigation.querySelectorAll("a")) {
    if (isKnown && link.dataset.view === kind.id) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  view?.show(rest.map(decoded));
}

/** @param {ViewKind} kind */
function viewOf(kind) {
  let view = views.get(kind.id);
  if (view === undefined) views.set(kind.id, view = kind.create());
  return view;
}

/** What stands where an address leads nowhere: another view would be taken for what was meant. @param {string} address */
function nothingHere(address) {
  return h(
    "div",
    { class: "empty", role: "alert" },
    h("h1", {}, "There is no such view"),
    h("p", {}, "Nothing is at ", h("code", {}, `#/${decoded(address)}`), ". These are there:"),
    h("p", {}, KINDS.flatMap(({ id, title }, index) => [index > 0 && " · ", h("a", { href: `#/${id}` }, title)])),
  );
}

/** What asks for the token, while that is missing. @type {ReturnType<typeof tokenForm> | null} */
let form = null;

/** @param {import("./engine.js").ConnectionState} state */
function showConnection(state) {
  const texts = {
    connecting: "Connecting…",
    connected: "Connected",
    lost: "The engine does not answer. Trying again…",
    token: "The engine asks for its token",
    "wrong-token": "The engine asks for its token",
  };
  const element = found("connection");
  element.className = `connection-${state}`;
  replace(element, h("span", { class: "dot", "aria-hidden": "true" }), h("span", {}, texts[state]));
  document.body.classList.toggle("is-lost", state === "lost");
  if (state === "connected") form?.element.remove();
  if (state === "connected") form = null;
  else if (state === "token" || state === "wrong-token") {
    if (form === null) main.before((form = tokenForm()).element);
    form.ask(state === "wrong-token");
  }
  // Without the token there is nothing to see in a view, and nothing to choose.
  main.hidden = found("context").hidden = form !== null;
}

function tokenForm() {
  const field = h("input", { type: "password", name: "token", autocomplete: "off", required: true });
  const refusal = h("p", { class: "notice bad", role: "alert", hidden: true });
  const element = h(
    "form",
    {
      id: "token",
      onsubmit: (event) => {
        event.preventDefault();
        refusal.hidden = true;
        useToken(field.value.trim());
      },
    },
    h("div", { class: "toolbar" }, [
      h("label", {}, "This engine was started with a token. ", field),
      h("button", { class: "primary" }, "Open"),
    ]),
    refusal,
    h("p", { class: "quiet" }, h("code", {}, "space panel"), " opens this page with the token already in place."),
  );
  return {
    element,
    /** @param {boolean} isWrong */
    ask(isWrong) {
      refusal.hidden = !isWrong;
      replace(refusal, isWrong && "That token was not accepted.");
      field.focus();
      field.select();
    },
  };
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
addEventListener("hashchange", ({ oldURL }) => {
  // The tab that shows the panel already keeps showing what it showed, whatever token the address brings.
  if (!takeToken(new URL(oldURL).hash)) route();
});
found("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
route();
follow();
