/** Who is connected: the sessions of MCP clients. */

import { h } from "../../dom.js";
import { api, segment, subscribe } from "../../engine.js";
import { watch } from "../../watch.js";
import { counted } from "../tools/words.js";
import { keyedList, setText } from "../../keyed_list.js";

/**
 * @typedef {{
 *   id: string, client_name: string | null, client_version: string | null, protocol_version: string,
 *   created_at: string, last_seen: string, stream: boolean, calls: number, agent: string, presentation: string | null,
 * }} Session `calls` are those that run
 */

/** How often what is said of time is said anew, and how seldom the rows are asked for again, milliseconds. */
const TICK_MS = 5000;
const CALLS_MS = 2000;

const HEADS = ["Client", "Protocol", "Agent", "Tools as", "Stream", "Runs", "Last seen"];

export function sessionTable() {
  const body = h("tbody", {});
  const table = h(
    "div",
    { class: "table-box" },
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
  const none = h(
    "p",
    { class: "quiet small" },
    "No client has a session. Clients of the newest protocol have none: their calls are in the list all the same.",
  );
  const title = h("h2", {}, "Connected");
  const show = keyedList(body, (/** @type {Session} */ session) => session.id, sessionRow);
  /** @type {Session[]} */
  let sessions = [];
  let tick = 0;
  let due = 0;
  let end = () => {};

  function draw() {
    setText(title, sessions.length === 0 ? "Nobody is connected" : `Connected: ${sessions.length}`);
    table.hidden = sessions.length === 0;
    none.hidden = sessions.length > 0;
    show(sessions);
  }

  const state = watch(["sessions"], (signal) => api.get("/status", { signal }), (status) => {
    sessions = status.sessions;
    draw();
  });

  return {
    element: h("section", { class: "card sessions", "aria-label": "Connected clients" }, title, none, table),
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

/** @returns {import("../../keyed_list.js").Row<Session>} */
function sessionRow() {
  const client = h("td", {});
  const protocol = h("td", { class: "mono" });
  const agent = h("a", {});
  const form = h("td", {});
  const stream = h("td", {});
  const calls = h("td", { class: "number" });
  const last = h("td", {});
  return {
    element: h("tr", {}, client, protocol, h("td", {}, agent), form, stream, calls, last),
    update(session) {
      setText(client, [session.client_name ?? "unnamed", session.client_version].filter(Boolean).join(" "));
      client.title = `session ${session.id}`;
      setText(protocol, session.protocol_version);
      setText(agent, session.agent);
      agent.setAttribute("href", `#/agents/${segment(session.agent)}`);
      setText(form, session.presentation ?? "as the agent");
      setText(stream, session.stream ? "open" : "none");
      setText(calls, counted(session.calls, "call"));
      setText(last, agoOf(session.last_seen));
      last.title = new Date(session.last_seen).toLocaleString();
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
