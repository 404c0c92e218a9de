// The harness inside a runner: reads frames on stdin, runs programs, answers on stdout. It is deno's main module, and a
// program never is: those are compiled with AsyncFunction, so that nothing of the module loader's trust is theirs.
//
// Everything the harness needs is taken before the first program, and the intrinsics are frozen, so a program can
// mislead neither the harness nor another run through a prototype. This is hygiene; the walls are the process's.
//
// Code comes into a program by one way only: AsyncFunction, which only the harness has. What makes code out of text
// (eval and the constructors of functions) refuses, and a program in whose own code there is an `import` is not run:
// deno would load modules of its own (node:…, data:…) under no permission.

const {freeze, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, keys, getOwnPropertySymbols} = Object;
const {ownKeys} = Reflect;
const {stringify, parse} = JSON;
const {isArray} = Array;
const {min, max} = Math;
const AsyncFunction = (async () => {}).constructor;
const MAKERS = [Function, AsyncFunction, (function* () {}).constructor, (async function* () {}).constructor];
const realEval = eval;
const realSetTimeout = setTimeout, realSetInterval = setInterval;
const realClearTimeout = clearTimeout, realClearInterval = clearInterval;
const {inspect, stdin, stdout, version} = Deno;
const encoder = new TextEncoder(), decoder = new TextDecoder();
const PromiseRejection = PromiseRejectionEvent, ErrorReport = ErrorEvent;

const MAX_NESTING = 200; // arrays and objects in one value; the host's JSON reader recurses as well
const FRAME_BYTES = 4_000_000; // a little below what the host takes, so that the program hears of it
const MESSAGE_CHARS = 4_000;
const PATH_CHARS = 200;
const STACK_FRAMES = 5;
const READ_BYTES = 1 << 16;
const MOST_DELAY = 2 ** 31 - 1; // milliseconds of a timer; deno would warn of more, by code that it loads too late
const HEADER_LINES = 3; // what AsyncFunction and "use strict" put before the program's first line
const BODY_HEADER_LINES = 2; // the same of a body, which has no "use strict"
const BODY = "#body"; // ends the source of a body, so that its lines are not taken for those of the program
const INSPECT = {depth: 6, colors: false, strAbbreviateSize: 100_000, iterableLimit: 1_000, breakLength: 120};
const SOURCE = "space-program-"; // and the number of the run

// What stays of the global object: the language, and what needs no permission and has no name for the outside.
const KEPT = new Set([
  "globalThis", "Infinity", "NaN", "undefined", "eval", "isFinite", "isNaN", "parseFloat", "parseInt", "decodeURI",
  "decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "unescape", "Object", "Function", "Boolean",
  "Symbol", "Error", "AggregateError", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError",
  "URIError", "SuppressedError", "DisposableStack", "AsyncDisposableStack", "Number", "BigInt", "Math", "Date",
  "Temporal", "String", "RegExp", "Array", "Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array",
  "Int32Array", "Uint32Array", "Float16Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array", "Map",
  "Set", "WeakMap", "WeakSet", "WeakRef", "FinalizationRegistry", "ArrayBuffer", "DataView", "JSON", "Promise",
  "Reflect", "Proxy", "Iterator", "Intl", "URL", "URLSearchParams", "TextEncoder", "TextDecoder", "atob", "btoa",
  "structuredClone", "queueMicrotask", "setTimeout", "setInterval", "clearTimeout", "clearInterval", "AbortController",
  "AbortSignal", "Event", "EventTarget", "DOMException", "crypto",
]);

const runs = new Map(); // run id -> state, while it runs
const calls = new Map(); // call id -> {run, resolve, reject, site, ErrorClass, name}
const timers = new Set(); // whatever programs have started; they end with the outermost run
let nextCall = 1;

// --- frames ---

function send(frame) {
  const bytes = encoder.encode(stringify(frame) + "\n");
  for (let at = 0; at < bytes.length;) at += stdout.writeSync(at ? bytes.subarray(at) : bytes);
}

// Said once when it is so, and again to each ping.
function sayReady() {
  send({t: "ready", deno: version.deno, v8: version.v8});
}

async function readFrames() {
  const buffer = new Uint8Array(READ_BYTES);
  let line = "";
  for (;;) {
    const count = await stdin.read(buffer);
    if (count === null) return;
    const text = decoder.decode(buffer.subarray(0, count), {stream: true});
    let start = 0;
    for (let end; (end = text.indexOf("\n", start)) >= 0; start = end + 1) {
      const frame = parse(line + text.slice(start, end));
      line = "";
      if (frame.t === "run") run(frame);
      else if (frame.t === "ret") settle(frame);
      else if (frame.t === "ping") sayReady();
    }
    line += text.slice(start);
  }
}

// --- values: what JSON would change is refused, in words that say where it is ---

// Errors of our own are told from the program's by identity: `instanceof` would ask a proxy, and with it the program.
const lossyErrors = new WeakSet(), sizeErrors = new WeakSet();

function tooLarge(limit) {
  const error = new RangeError(limit);
  sizeErrors.add(error);
  throw error;
}

// `walk` is where in the value we are: what contains it, under which keys, and how much may still come.
function snapshot(value, walk) {
  if (--walk.values < 0) tooLarge(walk.tooMany);
  switch (typeof value) {
    case "string":
      if ((walk.left -= value.length + 2) < 0) tooLarge(walk.tooLong);
      return value;
    case "boolean":
      walk.left -= 5;
      return value;
    case "number":
      walk.left -= 2;
      if (value - value !== 0) lossy(walk, `is ${value}; JSON has no such number, use null or a string`);
      return value;
    case "undefined":
      lossy(walk, "is undefined; use null");
    case "bigint":
      lossy(walk, "is a BigInt; use Number(x) or String(x)");
    case "function":
      lossy(walk, "is a function; only data can leave the program");
    case "symbol":
      lossy(walk, "is a symbol; use a string");
  }
  if (value === null) {
    walk.left -= 4;
    return null;
  }
  const {ancestors, trail} = walk;
  const depth = ancestors.length;
  if ((walk.left -= 2) < 0) tooLarge(walk.tooLong);
  if (depth >= MAX_NESTING) lossy(walk, `is nested deeper than ${MAX_NESTING}`);
  if (ancestors.includes(value)) lossy(walk, "refers back to what contains it; JSON has no cycles");
  let copy;
  if (isArray(value)) {
    ancestors.push(value);
    copy = [];
    const length = value.length;
    for (let i = 0; i < length; i++) {
      trail[depth] = i;
      copy.push(snapshot(value[i], walk));
    }
  } else {
    const prototype = getPrototypeOf(value);
    if (prototype !== null && prototype !== Object.prototype) lossy(walk, described(value, prototype));
    if (getOwnPropertySymbols(value).length) lossy(walk, "has a member named by a symbol; use a string");
    ancestors.push(value);
    copy = {__proto__: null};
    for (const key of keys(value)) {
      const member = value[key];
      if (member === undefined) continue; // as JSON.stringify does: an optional member that is not there
      if ((walk.left -= key.length + 4) < 0) tooLarge(walk.tooLong);
      trail[depth] = key;
      defineProperty(copy, key, {value: snapshot(member, walk), enumerable: true, writable: true, configurable: true});
    }
  }
  ancestors.pop();
  return copy;
}

// `root` names the value in messages, `limits` are those of the run.
function walkOf(root, limits) {
  const {values} = limits, bytes = min(limits.value_bytes, FRAME_BYTES);
  return {
    root, left: bytes, values, ancestors: [], trail: [],
    tooLong: `the ${root} is larger than ${bytes} bytes (value_bytes)`,
    tooMany: `the ${root} has more than ${values} values (values): count each number, text, array and object in it`,
  };
}

function lossy(walk, what) {
  let path = walk.root;
  for (const key of walk.trail.slice(0, walk.ancestors.length)) {
    path += typeof key === "number" ? `[${key}]` : IDENTIFIER.test(key) ? `.${key}` : `[${stringify(key)}]`;
  }
  const error = new TypeError(`${cut(path, PATH_CHARS)} ${what}`);
  lossyErrors.add(error);
  throw error;
}

const IDENTIFIER = /^[A-Za-z_$][\w$]{0,60}$/;
const ADVICE = {
  __proto__: null, Date: "use .toISOString()", Map: "use Object.fromEntries(map) or [...map]", Set: "use [...set]",
  Promise: "await it", RegExp: "use String(x)", Error: "use its .message",
};

function described(value, prototype) {
  for (const kind of [Promise, Map, Set, Date, RegExp, Error]) {
    if (value instanceof kind) return `is ${kind === Error ? "an" : "a"} ${kind.name}; ${ADVICE[kind.name]}`;
  }
  if (ArrayBuffer.isView(value)) return `is a typed array; use Array.from(x)`;
  const maker = getOwnPropertyDescriptor(prototype, "constructor")?.value;
  const name = typeof maker === "function" ? getOwnPropertyDescriptor(maker, "name")?.value : undefined;
  const what = typeof name === "string" && name ? `an instance of ${cut(name, 60)}` : "no plain object";
  return `is ${what}; give a plain object, for example {...x}`;
}

function cut(text, most) {
  return text.length > most ? text.slice(0, most) + ` … (${text.length - most} more characters)` : text;
}

// --- one run ---

async function run(frame) {
  const id = frame.run;
  const state = {id, source: SOURCE + id, logLeft: frame.log_chars, pending: 0, over: false};
  const limits = {value_bytes: frame.value_bytes, values: frame.values};
  runs.set(id, state);
  let answer;
  try {
    const names = [], values = [];
    for (const space of frame.namespaces) {
      const ErrorClass = space.error ? errorClass(space.error[0], space.error[1]) : Error;
      names.push(space.name);
      values.push(namespace(state, space, ErrorClass, limits));
      if (space.error) {
        names.push(space.error[0]);
        values.push(ErrorClass);
      }
    }
    names.push("console");
    values.push(consoleOf(state));
    // In a block of its own, so that it may declare a name that it was given.
    const compiled = js => new AsyncFunction(...names, `"use strict"; {\n${js}\n}\n//# sourceURL=${state.source}`);
    const program = compiled(frame.js);
    refuseImports(frame.js, compiled, state.source);
    // Called without a receiver, so that `this` is undefined.
    const value = await program(...values);
    answer = {ok: true};
    if (value !== undefined) answer.value = snapshot(value, walkOf("result", limits));
  } catch (error) {
    answer = failure(error, state);
  }
  state.over = true;
  runs.delete(id);
  const done = {t: "done", run: id, ...answer, unawaited: state.pending};
  if (answer.ok && encoder.encode(stringify(answer)).length > min(frame.value_bytes, FRAME_BYTES)) {
    delete done.value;
    done.ok = false;
    Object.assign(done, outputLimit(walkOf("result", limits).tooLong));
  }
  if (!runs.size) stopTimers();
  send(done);
}

function outputLimit(message) {
  return {kind: "output-limit", message: `${message}; return less`};
}

// Whether there is an `import` in the code of a program is told by who reads it: with a character in the word that no
// code may have, a text that was valid stays so only where the word stands in a string, a comment or an expression.
// A word that is followed by one of the marks below loads nothing.
const IMPORT = /(?<![\w$])import(?![\w$]|\s*[:,}=;)\]])/g;

function refuseImports(js, compiled, source) {
  const places = [...js.matchAll(IMPORT)].map(found => found.index);
  // Whether one of the first so many words is code.
  const isCode = count => {
    let text = "", at = 0;
    for (const place of places.slice(0, count)) {
      text += js.slice(at, place) + "\x01";
      at = place + 1;
    }
    try {
      compiled(text + js.slice(at));
      return false;
    } catch {
      return true;
    }
  };
  if (!places.length || !isCode(places.length)) return;
  let none = 0, some = places.length;
  while (some - none > 1) {
    const middle = (none + some) >> 1;
    if (isCode(middle)) some = middle;
    else none = middle;
  }
  const before = js.slice(0, places[none]).split("\n");
  const line = before.length, column = before.at(-1).length + 1;
  const error = new SyntaxError(NO_IMPORTS);
  error.stack; // else it would be made later, and with it frames of none
  framesOf.set(error, [{source, line, column, text: `line ${line}, column ${column}`}]);
  throw error;
}

const NO_IMPORTS = "a program cannot import anything (a member of that name is reached as x[\"import\"])";

function failure(error, state) {
  if (sizeErrors.has(error)) return {ok: false, ...outputLimit(error.message)};
  if (lossyErrors.has(error)) return {ok: false, kind: "invalid-output", message: cut(error.message, MESSAGE_CHARS)};
  const said = {ok: false, kind: "exception", name: "", message: "", line: null, column: null, frames: []};
  try {
    if (error instanceof Error) {
      said.name = cut(String(error.name), 100);
      said.message = cut(String(error.message), MESSAGE_CHARS);
      error.stack; // it is made when first asked for, and with it the frames
      const frames = framesOf.get(error) ?? [];
      const own = frames.filter(site => site.source === state.source);
      if (own.length) {
        said.line = own[0].line;
        said.column = own[0].column;
      }
      said.frames = own.slice(0, STACK_FRAMES).map(site => site.text);
    } else {
      said.message = cut(`${typeof error === "object" ? inspect(error, INSPECT) : String(error)} was thrown, which is no Error`, MESSAGE_CHARS);
    }
  } catch {
    said.message ||= "what was thrown cannot be shown";
  }
  return said;
}

function namespace(state, space, ErrorClass, limits) {
  const made = {__proto__: null};
  for (const name of space.functions) {
    const value = binding(state, space.name, name, ErrorClass, limits);
    defineProperty(made, name, {value, enumerable: !space.unlisted.includes(name)});
  }
  for (const name of ownKeys(space.bodies)) {
    const value = (...parameters) => functionOf(space.bodies[name], parameters, state.source);
    defineProperty(made, name, {value, enumerable: true});
  }
  for (const name of ownKeys(space.data)) {
    defineProperty(made, name, {value: frozen(space.data[name]), enumerable: true});
  }
  return freeze(made);
}

// A text that the host vouches for as a function of its own, in sloppy mode, that sees globals and its parameters only.
function functionOf(text, parameters, source) {
  // The names come from the program, and a name with a default would be code.
  for (const name of parameters) {
    if (typeof name !== "string" || !IDENTIFIER.test(name)) throw new TypeError("a parameter is a name");
  }
  const compiled = js => new AsyncFunction(...parameters, `${js}\n//# sourceURL=${source}${BODY}`);
  let made;
  try {
    made = compiled(text);
  } catch (error) {
    throw located(error, text, compiled, source + BODY);
  }
  refuseImports(text, compiled, source);
  return made;
}

// V8 does not tell a program where its syntax is wrong. So the first line is sought up to which the text is wrong in
// the same way, whatever follows: what follows is no token, or a bracket where that is what is wrong.
function located(error, text, compiled, source) {
  const lines = text.split("\n");
  const wrong = count => {
    const message = end => {
      try {
        compiled(`${lines.slice(0, count).join("\n")}\n${end}`);
      } catch (other) {
        return other.message;
      }
    };
    return message("\x01") === error.message && message(")") === error.message;
  };
  let none = 0, some = lines.length;
  while (some - none > 1) {
    const middle = (none + some) >> 1;
    if (wrong(middle)) some = middle;
    else none = middle;
  }
  const frames = [{source, line: some, column: 1, text: `body line ${some}, column 1`}];
  framesOf.set(error, frames);
  defineProperty(error, "stack", {value: stackText(error, frames), writable: true, configurable: true});
  return error;
}

function frozen(value) {
  if (value !== null && typeof value === "object") {
    for (const key of ownKeys(value)) frozen(value[key]);
    freeze(value);
  }
  return value;
}

function binding(state, space, name, ErrorClass, limits) {
  const shown = IDENTIFIER.test(name) ? `${space}.${name}` : `${space}[${stringify(name)}]`;
  const call = (...given) => new Promise((resolve, reject) => {
    if (state.over) throw new Error(`the run is over; ${shown} was not called`);
    if (given.length > 1) throw new TypeError(`${shown} takes one argument, not ${given.length}`);
    let args = null;
    try {
      if (given.length && given[0] !== undefined) args = snapshot(given[0], walkOf("argument", limits));
    } catch (error) {
      if (sizeErrors.has(error)) throw new RangeError(`${shown}: ${error.message}`);
      if (lossyErrors.has(error)) throw new TypeError(`${shown}: ${error.message}`);
      throw error;
    }
    const id = nextCall++;
    const site = {};
    Error.captureStackTrace(site, call);
    send({t: "call", run: state.id, id, ns: space, name, args});
    state.pending++;
    calls.set(id, {state, resolve, reject, site, ErrorClass, name});
  });
  defineProperty(call, "name", {value: name});
  return freeze(call);
}

function settle(frame) {
  const call = calls.get(frame.id);
  if (!call) return;
  calls.delete(frame.id);
  call.state.pending--;
  if (frame.ok) {
    call.resolve(frame.v);
    return;
  }
  const error = new call.ErrorClass(frame.e, call.name);
  call.site.stack;
  const frames = framesOf.get(call.site) ?? [];
  framesOf.set(error, frames);
  defineProperty(error, "stack", {value: stackText(error, frames), writable: true, configurable: true});
  call.reject(error);
}

function errorClass(name, member) {
  const made = class extends Error {
    constructor(message, called) {
      super(message);
      defineProperty(this, "name", {value: name, writable: true, configurable: true});
      if (member && called !== undefined) this[member] = called;
    }
  };
  defineProperty(made, "name", {value: name});
  return made;
}

function consoleOf(state) {
  const made = {};
  for (const level of ["log", "info", "warn", "error", "debug"]) {
    made[level] = (...given) => {
      write(state, level, () => given.map(each => (typeof each === "string" ? each : shownValue(each))).join(" "));
    };
  }
  // Models write these as well. A model reads the value as it is; drawing a table would cost it more.
  for (const name of ["table", "dir"]) {
    made[name] = value => write(state, "log", () => (typeof value === "string" ? value : shownValue(value)));
  }
  return freeze(made);
}

function shownValue(value) {
  // An error is shown as a person would write it down; its stack is of the harness for the most part.
  return value instanceof Error ? `${value.name}: ${value.message}` : inspect(value, INSPECT);
}

function write(state, level, text) {
  if (state.over || state.logLeft <= 0) return; // said once already, below
  let shown = text();
  const size = shown.length + 1;
  const full = size > state.logLeft;
  if (full) shown = shown.slice(0, state.logLeft);
  state.logLeft -= size;
  send({t: "log", run: state.id, level, s: shown, full});
}

// --- where an error is: V8 hands its call sites to us and to nobody else ---

const framesOf = new WeakMap();

Error.prepareStackTrace = (error, sites) => {
  const frames = [];
  for (const site of sites) {
    const source = site.getScriptNameOrSourceURL();
    if (typeof source !== "string" || !source.startsWith(SOURCE)) continue;
    const isBody = source.endsWith(BODY);
    const line = site.getLineNumber() - (isBody ? BODY_HEADER_LINES : HEADER_LINES);
    const name = site.getFunctionName();
    const column = site.getColumnNumber();
    const where = `${isBody ? "body " : ""}line ${line}, column ${column}`;
    if (line > 0) frames.push({source, line, column, text: name && name !== "anonymous" && name !== "eval" ? `${name}, ${where}` : where});
  }
  framesOf.set(error, frames);
  return stackText(error, frames);
};

function stackText(error, frames) {
  let head = "Error";
  try {
    head = `${error.name}: ${error.message}`;
  } catch { /* a getter of the program's */ }
  return head + frames.map(site => `\n    at ${site.text}`).join("");
}

// --- before the first program ---

function trackedTimers() {
  const start = (real, once) => (callback, delay, ...given) => {
    if (typeof callback !== "function") throw new TypeError("a timer needs a function");
    const milliseconds = min(max(Number(delay) || 0, 0), MOST_DELAY); // NaN is 0
    const id = real(() => {
      if (once) timers.delete(id);
      callback(...given);
    }, milliseconds);
    timers.add(id);
    return id;
  };
  const stop = real => id => {
    timers.delete(id);
    real(id);
  };
  return {
    setTimeout: start(realSetTimeout, true), setInterval: start(realSetInterval, false),
    clearTimeout: stop(realClearTimeout), clearInterval: stop(realClearInterval),
  };
}

function stopTimers() {
  for (const id of timers) realClearTimeout(id);
  timers.clear();
}

function lastRun() {
  let last;
  for (const state of runs.values()) last = state;
  return last;
}

function reportUncaught(event, error) {
  event.preventDefault(); // else deno ends, and with it what other runs of this lease do
  const state = lastRun();
  if (state) write(state, "error", () => {
    try {
      return `uncaught: ${shownValue(error)}`;
    } catch {
      return "uncaught: something that cannot be shown";
    }
  });
}

function emptyGlobals() {
  const own = trackedTimers();
  for (const name of ownKeys(globalThis)) {
    if (name in own) defineProperty(globalThis, name, {value: own[name], writable: true, configurable: true});
    else if (!KEPT.has(name) && !delete globalThis[name]) throw new Error(`the global ${String(name)} stays`);
  }
  // deno calls this to ask about an error that nobody caught. Its own would need the rest of the event target, which the
  // global object's prototype would give back to programs.
  defineProperty(globalThis, "dispatchEvent", {value: event => {
    if (event instanceof PromiseRejection) reportUncaught(event, event.reason);
    else if (event instanceof ErrorReport) reportUncaught(event, event.error);
  }});
  Object.setPrototypeOf(globalThis, Object.prototype);
}

// Freezes all that can be reached from the globals. A frozen prototype would also forbid an object below it to have a
// member of the same name by assignment, so those that programs do assign become accessors which define it there. Of
// Object.prototype that is all: a plain object may count words, and one of them may be "valueOf".
const ASSIGNED = new Set(["constructor", "toString", "valueOf", "toLocaleString", "name", "message", "toJSON", "stack"]);

function freezeIntrinsics() {
  const seen = new Set(), queue = [];
  const visit = value => {
    if ((typeof value === "object" && value !== null) || typeof value === "function") {
      if (!seen.has(value)) {
        seen.add(value);
        queue.push(value);
      }
    }
  };
  const hidden = [
    async () => {}, function* () {}, async function* () {}, [][Symbol.iterator](),
    new Map().entries(), new Set().values(), ""[Symbol.iterator](), "".matchAll(/x/g), (function* () {})(),
    (async function* () {})(), Uint8Array, Iterator.from({next() {}}), [].values().map(x => x),
  ];
  for (const name of ownKeys(globalThis)) {
    if (name === "globalThis") continue;
    const value = globalThis[name]; // some are made when first asked for
    visit(value);
    defineProperty(globalThis, name, {value, writable: false, configurable: false});
  }
  for (const value of hidden) visit(getPrototypeOf(value)), typeof value === "function" && visit(value);
  seen.add(globalThis);
  while (queue.length) {
    const object = queue.pop();
    visit(getPrototypeOf(object));
    const isPrototype = typeof object === "object" || object === Function.prototype;
    for (const key of ownKeys(object)) {
      const {value, get, set, configurable, writable} = getOwnPropertyDescriptor(object, key);
      visit(value);
      visit(get);
      visit(set);
      const assigned = ASSIGNED.has(key) || object === Object.prototype;
      if (isPrototype && configurable && writable && assigned) assignable(object, key, value);
    }
    freeze(object);
  }
  for (const maker of [realEval, ...MAKERS]) {
    if (seen.has(maker)) throw new Error(`${maker.name} can still be reached`);
  }
}

function assignable(prototype, key, value) {
  defineProperty(prototype, key, {
    get: freeze(() => value),
    set: freeze(function (given) {
      if (this === prototype) throw new TypeError(`${String(key)} of an intrinsic cannot be changed`);
      defineProperty(this, key, {value: given, writable: true, enumerable: true, configurable: true});
    }),
  });
}

// Puts functions that refuse in the place of those that make code out of text. They keep name and prototype, so that
// `f instanceof Function` and `f.constructor.name` are as everywhere.
function closeCodeFromText() {
  const closed = name => {
    const refuse = function () {
      throw new EvalError(`${name} is closed: a program cannot make code out of text`);
    };
    return defineProperty(refuse, "name", {value: name});
  };
  for (const real of MAKERS) {
    const stub = closed(real.name);
    defineProperty(stub, "prototype", {value: real.prototype, writable: false});
    defineProperty(real.prototype, "constructor", {value: stub, writable: real === Function, configurable: true});
  }
  defineProperty(globalThis, "Function", {value: Function.prototype.constructor, writable: true, configurable: true});
  defineProperty(globalThis, "eval", {value: closed("eval"), writable: true, configurable: true});
}

emptyGlobals();
closeCodeFromText();
freezeIntrinsics();
sayReady();
await readFrames();
