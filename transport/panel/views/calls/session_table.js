/**
 * Who is connected: the sessions of MCP clients, those of one kind together, and apart from them the ones of whom nothing
 * has been heard for a while. A client that ends without a word leaves its session behind.
 *
 * @typedef {{
 *   id: string, client_name: string | null, client_version: string | null, protocol_version: string,
 *   created_at: string, last_seen: string, stream: boolean, calls: number, agent: string, presentation: string | null,
 * }} Session `calls` are those that run
 * @typedef {{ key: string, newest: Session, sessions: Session[], calls: number, streams: number }} Group
 *   sessions that differ in nothing but their ids and times
 */

import { foreign, h, replace, visible } from "../../dom.js";
import { api, segment, subscribe } from "../../engine.js";
import { watch } from "../../watch.js";
import { counted } from "../tools/words.js";
import { keyedList, setText } from "../../keyed_list.js";

/** How often what is said of time is said anew, and how seldom the rows are asked for again, milliseconds. */
const TICK_MS = 5000;
const CALLS_MS = 2000;

/** A client without a stream of which nothing was heard for longer may well be gone, milliseconds. */
const HERE_MS = 60_000;

const HEADS = ["Client", "Protocol", "Agent", "Tools as", "Stream", "Runs", "Last seen"];

export function sessionTable() {
  const here = groupTable();
  const gone = groupTable();
  const none = h(
    "p",
    { class: "quiet small" },
    "Clients of the newest protocol have no session: their calls are in the list all the same.",
  );
  const title = h("h2", {}, "Connected");
  const summary = h("summary", { class: "small" });
  const earlier = h("details", { class: "sessions-earlier", hidden: true }, summary, gone.element);
  /** @type {Session[]} */
  let sessions = [];
  let tick = 0;
  let due = 0;
  let end = () => {};

  function draw() {
    const now = Date.now();
    const [present, past] = [
      sessions.filter((each) => isHere(each, now)),
      sessions.filter((each) => !isHere(each, now)),
    ];
    setText(title, present.length === 0 ? "Nobody is connected" : `Connected now: ${present.length}`);
    here.show(groupsOf(present));
    gone.show(groupsOf(past));
    earlier.hidden = past.length === 0;
    setText(summary, `Earlier: ${counted(past.length, "session")} without a word for a minute or more`);
    none.hidden = sessions.length > 0;
  }

  const state = watch(["sessions"], (signal) => api.get("/status", { signal }), (status) => {
    sessions = status.sessions;
    draw();
  });

  return {
    element: h(
      "section",
      { class: "card sessions", "aria-label": "Connected clients" },
      title,
      none,
      here.element,
      earlier,
    ),
    start() {
      if (tick !== 0) return;
      state.start();
      tick = setInterval(draw, TICK_MS);
      // A call moves what is said of its session, but that is no reason to ask for each of a thousand.
      end = subscribe(["calls"], () => {
        if (due !== 0) return;
        due = setTimeout(() => {
          due = 0;
          state.again();
        }, CALLS_MS);
      });
    },
    stop() {
      state.stop();
      clearInterval(tick);
      clearTimeout(due);
      tick = due = 0;
      end();
    },
  };
}

function groupTable() {
  const body = h("tbody", {});
  const rows = keyedList(body, (/** @type {Group} */ group) => group.key, groupRow);
  const element = h(
    "div",
    { class: "table-box", hidden: true },
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h("tr", {}, HEADS.map((name) => h("th", { scope: "col", class: name === "Runs" ? "number" : null }, name))),
      ),
      body,
    ),
  );
  return {
    element,
    /** @param {Group[]} groups */
    show(groups) {
      element.hidden = groups.length === 0;
      rows(groups);
    },
  };
}

/**
 * @param {Session} session
 * @param {number} now epoch milliseconds
 */
const isHere = (session, now) => session.stream || session.calls > 0 || now - Date.parse(session.last_seen) < HERE_MS;

/**
 * Those of one kind together, in the order of their first.
 *
 * @param {Session[]} sessions
 * @returns {Group[]}
 */
function groupsOf(sessions) {
  /** @type {Map<string, Group>} */
  const groups = new Map();
  for (const each of sessions) {
    const key = JSON.stringify([
      each.client_name,
      each.client_version,
      each.protocol_version,
      each.agent,
      each.presentation,
    ]);
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, { key, newest: each, sessions: [each], calls: each.calls, streams: Number(each.stream) });
      continue;
    }
    group.sessions.push(each);
    group.calls += each.calls;
    group.streams += Number(each.stream);
    if (each.last_seen > group.newest.last_seen) group.newest = each;
  }
  return [...groups.values()];
}

/** @returns {import("../../keyed_list.js").Row<Group>} */
function groupRow() {
  const client = h("td", {});
  const protocol = h("td", { class: "mono" });
  const agent = h("a", {});
  const form = h("td", {});
  const stream = h("td", {});
  const calls = h("td", { class: "number" });
  const last = h("td", {});
  return {
    element: h("tr", {}, client, protocol, h("td", {}, agent), form, stream, calls, last),
    update({ newest, sessions, calls: running, streams }) {
      const name = [newest.client_name ?? "unnamed", newest.client_version].filter(Boolean).join(" ");
      const count = sessions.length;
      replace(client, foreign(name), count > 1 && h("span", { class: "quiet" }, ` × ${count}`));
      client.title = count > 1 ? counted(count, "session") : `session ${newest.id}`;
      setText(protocol, newest.protocol_version);
      setText(agent, visible(newest.agent));
      agent.setAttribute("href", `#/agents/${segment(newest.agent)}`);
      setText(form, newest.presentation ?? "as the agent");
      setText(stream, streams === 0 ? "none" : count === 1 ? "open" : `${streams} open`);
      setText(calls, counted(running, "call"));
      setText(last, agoOf(newest.last_seen));
      last.title = new Date(newest.last_seen).toLocaleString();
    },
  };
}

/** @param {string} iso */
function agoOf(iso) {
  const seconds = Math.max((Date.now() - Date.parse(iso)) / 1000, 0);
  if (seconds < 5) return "now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return `${Math.floor(seconds / 3600)} h ago`;
}
