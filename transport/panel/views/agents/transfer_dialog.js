/**
 * The two dialogs through which configurations go out and come in, of one agent or of several. Owns the file, the text,
 * and that nothing is taken before it was shown; whoever opens one says what is read and what is done with it.
 *
 * @typedef {import("../../dom.js").Child} Child
 */

import { h, icon, replace } from "../../dom.js";
import { copy } from "../../messages.js";
import { counted } from "./incoming.js";

/** What the engine takes at most in one request, bytes. */
const MOST_BODY_BYTES = 4 * 1024 * 1024;

/** Of that, what the request has beside what comes in, bytes: a name or two. */
const BESIDE_BYTES = 1024;

/** A file that is never read, bytes: indented as deeply as anybody would, it is still too large. */
const MOST_FILE_BYTES = 16 * 1024 * 1024;

/**
 * Show what goes out, to copy or to keep as a file.
 *
 * @param {{ title: string, note: string, name: string, value: unknown }} what
 */
export function showExport({ title, note, name, value }) {
  const text = JSON.stringify(value, null, 2);
  const dialog = h("dialog", { class: "transfer", "aria-label": title, onclose: () => dialog.remove() });
  replace(
    dialog,
    h("h2", {}, title),
    h("p", { class: "quiet" }, note),
    h("pre", { class: "transfer-text", tabindex: "0", "aria-label": "The configuration" }, text),
    h(
      "div",
      { class: "dialog-buttons" },
      h("button", { class: "bare", onclick: () => dialog.close() }, "Close"),
      h("button", { onclick: () => copy(text) }, icon("copy"), "Copy"),
      h("button", { class: "primary", onclick: () => download(name, text) }, "Download"),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
}

/**
 * Ask for a text or a file. `read` makes something of it, and raises `SyntaxError` for what is none; `report` shows it.
 * `take` does it: gives the lines that say why nothing was taken, or what is shown instead of the dialog's content; with
 * null the dialog closes.
 *
 * @template Read
 * @param {{ title: string, lead: string, placeholder: string, agree: string, agreeBriefly: string,
 *   read: (raw: any) => Read, report: (read: Read) => (Child | Child[])[], scripts: (read: Read) => number,
 *   take: (read: Read) => Promise<{ refused: string[] } | { shown: Child[] } | null> }} form
 */
export function askImport({ title, lead, placeholder, agree, agreeBriefly, read, report, scripts, take }) {
  /** @type {Read | null} */
  let incoming = null;
  const area = h("textarea", {
    rows: "7",
    spellcheck: "false",
    placeholder,
    "aria-label": "The configuration as text",
    oninput: look,
  });
  const file = h("input", { type: "file", accept: ".json,application/json", onchange: () => load(file.files?.[0]) });
  const summary = h("div", { class: "import-report", "aria-live": "polite" });
  const problem = h("div", { class: "notice bad", role: "alert", hidden: true });
  const button = h("button", { class: "primary", disabled: true, onclick: carryOut }, agree);
  const dialog = h("dialog", { class: "transfer", "aria-label": title, onclose: () => dialog.remove() });
  dialog.addEventListener("dragover", (event) => event.preventDefault());
  dialog.addEventListener("drop", (event) => {
    event.preventDefault();
    load(event.dataTransfer?.files[0]);
  });
  replace(
    dialog,
    h("h2", {}, title),
    h("p", { class: "quiet" }, lead),
    h("label", { class: "file-row" }, h("span", {}, "From a file"), file),
    h("label", { class: "stacked" }, h("span", {}, "or as text"), area),
    summary,
    problem,
    h(
      "div",
      { class: "dialog-buttons" },
      h("button", { class: "bare", onclick: () => dialog.close() }, "Cancel"),
      button,
    ),
  );
  document.body.append(dialog);
  dialog.showModal();

  /** @param {File | undefined} given */
  async function load(given) {
    if (given === undefined) return;
    area.value = given.size > MOST_FILE_BYTES ? "" : await given.text();
    look();
    if (given.size > MOST_FILE_BYTES) refuse([`${given.name}: ${tooLarge(given.size)}`]);
  }

  function look() {
    incoming = null;
    problem.hidden = true;
    replace(summary);
    if (area.value.trim() !== "") {
      try {
        const given = JSON.parse(area.value);
        const size = new Blob([JSON.stringify(given)]).size;
        if (size > MOST_BODY_BYTES - BESIDE_BYTES) refuse([tooLarge(size)]);
        else replace(summary, ...report(incoming = read(given)));
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        refuse([`This is no configuration: ${error.message}`]);
      }
    }
    const count = incoming === null ? 0 : scripts(incoming);
    button.disabled = incoming === null;
    button.className = count > 0 ? "danger" : "primary";
    replace(button, count === 0 ? agree : `${agreeBriefly}, with ${counted(count, "script")}`);
  }

  async function carryOut() {
    if (incoming === null) return;
    button.disabled = true;
    const done = await take(incoming);
    button.disabled = false;
    if (done === null) return dialog.close();
    if ("refused" in done) return refuse(done.refused);
    replace(
      dialog,
      h("h2", {}, title),
      ...done.shown,
      h("div", { class: "dialog-buttons" }, h("button", { class: "primary", onclick: () => dialog.close() }, "Close")),
    );
    dialog.querySelector("button")?.focus();
  }

  /** @param {string[]} lines */
  function refuse(lines) {
    replace(problem, h("strong", {}, "Nothing was taken."), h("ul", {}, lines.map((line) => h("li", {}, line))));
    problem.hidden = false;
  }
}

/**
 * The engine's words for a refusal, each with its place; `within` is what the places begin with and need not say.
 *
 * @param {import("../../engine.js").EngineError} error
 * @param {string[]} [within]
 */
export function refusalOf(error, within = []) {
  const details = /** @type {any[]} */ (error.body?.details ?? []);
  return details.length === 0
    ? [error.message]
    : details.map(({ path, message }) =>
      `${
        path.slice(within.every((one, index) => path[index] === one) ? within.length : 0).join(".") || "the whole"
      }: ${message}`
    );
}

/** @param {number} bytes */
function tooLarge(bytes) {
  const [has, most] = [bytes, MOST_BODY_BYTES].map((each) => (each / 1024 / 1024).toFixed(1).replace(/\.0$/, ""));
  return `It has ${has} MiB, and the engine takes at most ${most} MiB at once.`;
}

/** @param {string} name @param {string} text */
function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
