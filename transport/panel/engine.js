/**
 * The engine as the page knows it: requests with the token, and what has changed there.
 *
 * Owns the token of this tab and the one event stream. A view asks again when a topic that it shows has changed; the
 * stream says only that, so a slow page misses nothing but what is out of date.
 *
 * @typedef {"context"|"world"|"presets"|"tools"|"agents"|"sessions"|"calls"|"programs"|"units"|"blocks"} Topic
 * @typedef {"connecting"|"connected"|"lost"|"token"|"wrong-token"} ConnectionState
 *   `token`: the engine asks for one and this tab has none; `wrong-token`: it did not accept the one that this tab has.
 * @typedef {{ body?: unknown, headers?: Record<string, string>, signal?: AbortSignal }} RequestOptions
 */

const TOKEN_KEY = "space-token";

/** How long the page waits before it asks for the stream again, milliseconds: at first, and at most. */
const RETRY_MS = 250;
const MOST_RETRY_MS = 4000;

/** How long until an engine that asks for a token is tried once more without a new one: it may have been started anew. */
const TOKEN_RETRY_MS = 15_000;

/** What can stand in a header; no other token was ever given out. */
const SENDABLE = /^[\x21-\x7e]+$/;

/** The engine writes a comment at least every 15 s; a stream silent for longer is one whose engine is gone. */
const SILENCE_MS = 40_000;

/** What is said where something else than the form for it would show the refusal. */
const NO_TOKEN = "This page does not have the engine’s token.";

/** What the engine says of a request that it refused: its status, and what was wrong. */
export class EngineError extends Error {
  /**
   * @param {number} status 0 when nobody answered
   * @param {string} title
   * @param {string} detail
   * @param {any} body
   */
  constructor(status, title, detail, body = null) {
    super(detail || title);
    this.name = "EngineError";
    this.status = status;
    this.title = title;
    this.body = body;
  }
}

let token = firstToken();

/** @type {Map<string, Set<() => void>>} */
const readers = new Map();

/** @type {Set<(state: ConnectionState) => void>} */
const watchers = new Set();

/** @type {ConnectionState} */
let state = "connecting";

/** @type {{ engine: string, versions: Record<string, number> } | null} */
let seen = null;

/** Ends the wait for the next try. @type {(() => void) | null} */
let hurry = null;

/** Ends the stream that is read. @type {AbortController | null} */
let stream = null;

/** Whether somebody has given a token since the last stream was asked for. */
let isTokenNew = false;

/**
 * A request; gives the response whatever it says, and raises where nobody answered. While the engine asks for a token
 * that this page does not have, nothing is sent: it would be refused.
 *
 * @param {string} method
 * @param {string} path
 * @param {RequestOptions} [options]
 * @returns {Promise<Response>}
 */
export async function send(method, path, options) {
  if (lacksToken()) throw new EngineError(403, "Token required", NO_TOKEN);
  return await sent(method, path, options);
}

/**
 * @param {string} method
 * @param {string} path
 * @param {RequestOptions} [options]
 */
async function sent(method, path, { body, headers = {}, signal } = {}) {
  if (token !== null && !SENDABLE.test(token)) {
    refuseToken(token);
    throw new EngineError(403, "Token required", NO_TOKEN);
  }
  /** @type {Record<string, string>} */
  const all = { ...headers };
  if (token !== null) all["Authorization"] = `Bearer ${token}`;
  if (body !== undefined) all["Content-Type"] = "application/json";
  try {
    return await fetch(path, {
      method,
      headers: all,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      cache: "no-store",
      redirect: "error",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new EngineError(0, "No answer", "The engine does not answer. It may have ended; the page goes on trying.");
  }
}

/**
 * A request whose answer is JSON; the answer's ETag comes along where there is one.
 *
 * @param {string} method
 * @param {string} path
 * @param {RequestOptions} [options]
 * @returns {Promise<{ value: any, etag: string | null }>}
 */
export async function ask(method, path, options) {
  const used = token;
  const response = await send(method, path, options);
  const text = await wholly(response.text(), options?.signal);
  const value = parsed(text);
  if (!response.ok) {
    if (isTokenRefusal(response.status, value)) {
      refuseToken(used);
      throw new EngineError(403, "Token required", NO_TOKEN, value);
    }
    throw new EngineError(
      response.status,
      value?.title ?? `HTTP ${response.status}`,
      value?.detail ?? value?.error?.message ?? text.slice(0, 500),
      value,
    );
  }
  return { value, etag: response.headers.get("ETag") };
}

export const api = Object.freeze({
  /** @param {string} path @param {RequestOptions} [options] */
  get: async (path, options) => (await ask("GET", path, options)).value,
  /** @param {string} path @param {unknown} [body] @param {RequestOptions} [options] */
  post: async (path, body = {}, options) => (await ask("POST", path, { ...options, body })).value,
  /** @param {string} path @param {unknown} body @param {RequestOptions} [options] */
  put: async (path, body, options) => (await ask("PUT", path, { ...options, body })).value,
  /** @param {string} path @param {unknown} body @param {RequestOptions} [options] */
  patch: async (path, body, options) => (await ask("PATCH", path, { ...options, body })).value,
  /** @param {string} path @param {RequestOptions} [options] */
  delete: async (path, options) => (await ask("DELETE", path, options)).value,
});

/**
 * The body of an answer. Raises as `send` does where it breaks off.
 *
 * @template T
 * @param {Promise<T>} body
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>}
 */
export async function wholly(body, signal) {
  try {
    return await body;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new EngineError(0, "No answer", "The engine's answer broke off. It may have ended; the page goes on trying.");
  }
}

/**
 * One segment of a path, whatever is in it.
 *
 * @param {string} text
 */
export const segment = (text) => encodeURIComponent(text);

/**
 * Have `changed` called whenever one of the topics has changed at the engine, or may have: after the stream was lost.
 * Gives what ends it.
 *
 * @param {Topic[]} topics
 * @param {() => void} changed
 */
export function subscribe(topics, changed) {
  for (const topic of topics) {
    let set = readers.get(topic);
    if (set === undefined) readers.set(topic, set = new Set());
    set.add(changed);
  }
  return () => topics.forEach((topic) => readers.get(topic)?.delete(changed));
}

/**
 * Have `changed` called with the state of the connection, now and whenever it changes.
 *
 * @param {(state: ConnectionState) => void} changed
 */
export function watchConnection(changed) {
  watchers.add(changed);
  changed(state);
}

/**
 * Keep this token for the tab, and try with it.
 *
 * @param {string} given
 */
export function useToken(given) {
  token = given;
  sessionStorage.setItem(TOKEN_KEY, given);
  become("connecting");
  isTokenNew = true;
  stream?.abort();
  hurry?.();
}

/**
 * Use the token that the address brings, if it brings one; the address shows it no longer then, but `instead`. Gives
 * whether it did.
 *
 * @param {string} instead a hash
 */
export function takeToken(instead) {
  const given = tokenOfAddress(instead);
  if (given !== null) useToken(given);
  return given !== null;
}

/** @param {unknown} error */
export const isTokenRequired = (error) => error instanceof EngineError && error.title === "Token required";

/** Follow the engine for as long as the page is open. */
export async function follow() {
  let wait = RETRY_MS;
  for (;;) {
    try {
      await readStream(() => {
        wait = RETRY_MS;
      });
    } catch (error) {
      if (!(error instanceof EngineError || error instanceof DOMException || error instanceof TypeError)) throw error;
    }
    // Somebody has given another token meanwhile: that one is tried at once.
    if (isTokenNew) continue;
    if (!lacksToken()) become("lost");
    await new Promise((resolve) => {
      hurry = () => resolve(undefined);
      setTimeout(resolve, lacksToken() ? TOKEN_RETRY_MS : wait);
    });
    wait = Math.min(wait * 2, MOST_RETRY_MS);
  }
}

/** @param {() => void} answered */
async function readStream(answered) {
  const gone = new AbortController();
  const used = token;
  stream = gone;
  isTokenNew = false;
  let silence = setTimeout(() => gone.abort(), SILENCE_MS);
  try {
    const response = await sent("GET", "/api/events", { signal: gone.signal });
    if (!response.ok || response.body === null) {
      const value = parsed(await response.text());
      if (isTokenRefusal(response.status, value)) refuseToken(used);
      throw new EngineError(response.status, value?.title ?? "Refused", value?.detail ?? "", value);
    }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(silence);
      silence = setTimeout(() => gone.abort(), SILENCE_MS);
      text += value;
      const frames = text.split("\n\n");
      text = /** @type {string} */ (frames.pop());
      const data = frames.flatMap((frame) => frame.split("\n").filter((line) => line.startsWith("data: ")));
      const last = data.at(-1);
      if (last === undefined) continue;
      answered();
      take(JSON.parse(last.slice("data: ".length)));
    }
  } finally {
    clearTimeout(silence);
    gone.abort();
  }
}

/** @param {{ engine: string, versions: Record<string, number> }} now */
function take(now) {
  const before = seen;
  seen = now;
  // What changed while nobody listened is not known: after a gap, everything may have.
  const all = state !== "connected" || before === null || before.engine !== now.engine;
  become("connected");
  /** @type {Set<() => void>} */
  const calls = new Set();
  const topics = all ? [...readers.keys()] : Object.keys(now.versions);
  for (const topic of topics) {
    if (all || before?.versions[topic] !== now.versions[topic]) readers.get(topic)?.forEach((each) => calls.add(each));
  }
  calls.forEach((each) => each());
}

/** @param {ConnectionState} now */
function become(now) {
  if (state === now) return;
  state = now;
  watchers.forEach((each) => each(now));
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * @param {number} status
 * @param {any} value
 */
function isTokenRefusal(status, value) {
  return status === 403 && value?.title === "Token required";
}

/** Whether the engine has said that it asks for a token, or for another one than this tab has. */
function lacksToken() {
  return state === "token" || state === "wrong-token";
}

/** @param {string | null} used by the request that was refused; an older one says nothing about the present token */
function refuseToken(used) {
  if (used === token) become(token === null ? "token" : "wrong-token");
}

function firstToken() {
  const given = tokenOfAddress();
  if (given === null) return sessionStorage.getItem(TOKEN_KEY);
  sessionStorage.setItem(TOKEN_KEY, given);
  return given;
}

/**
 * The token that the address brings, or null. It is in no address and no history of the tab any more then.
 *
 * @param {string} [instead]
 */
function tokenOfAddress(instead = "") {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given !== null) history.replaceState(null, "", `${location.pathname}${instead}`);
  return given;
}
