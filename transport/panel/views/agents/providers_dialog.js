/**
 * The providers of models: which there are, whether they answer, and every change of one. Owns that dialog. A key goes in
 * and never comes out; what is shown says only that there is one.
 *
 * @typedef {{ id: string, name: string, baseURL: string, defaultModel: string, enabled: boolean,
 *   temperature: number | null, preset: string | null, hasKey: boolean, headerNames: string[], isDefault: boolean,
 *   fault: string | null }} Provider
 */

import { duration, h, replace } from "../../dom.js";
import { api, EngineError, segment } from "../../engine.js";
import { attempt, confirm } from "../../messages.js";
import { formDialog } from "./form_dialog.js";
import { keyedList } from "../../keyed_list.js";

/** How many names of models a test shows; a provider may have hundreds. */
const MOST_NAMES = 12;

/**
 * Ask for a new provider and add it. Gives whether there is one more.
 *
 * @returns {Promise<boolean>}
 */
export async function addProvider() {
  const made = await formDialog({
    title: "Add a provider of models",
    agree: "Add",
    intro: [h("p", { class: "quiet" }, "The key is kept in the data folder and goes to this provider alone.")],
    fields: [
      { name: "id", label: "Id", value: "main", required: true },
      { name: "baseURL", label: "Address", hint: "such as https://example.com/v1", required: true },
      { name: "apiKey", label: "Key", type: "password", hint: "leave it empty for a server on this machine" },
      { name: "defaultModel", label: "Default model" },
    ],
    submit: ({ id, apiKey, ...rest }) =>
      api.put(pathOf(id), { name: id, ...rest, ...(apiKey === "" ? {} : { apiKey }) }),
  });
  return made !== null;
}

/** Show them all. @param {() => void} changed is called after each change of one */
export async function providersDialog(changed) {
  const list = h("ul", { class: "providers" });
  const problems = h("div", {});
  const empty = h("p", { class: "empty", hidden: true }, "There is no provider yet.");
  const dialog = h("dialog", {
    class: "transfer",
    "aria-label": "Providers of models",
    onclose: () => dialog.remove(),
  });
  const show = keyedList(list, (/** @type {Provider} */ each) => each.id, (first) => row(first.id, again));
  replace(
    dialog,
    h("h2", {}, "Providers of models"),
    h("p", { class: "quiet" }, "Where the agents of stories have their models from. Keys are kept and never shown."),
    problems,
    list,
    empty,
    h(
      "div",
      { class: "dialog-buttons" },
      h("button", { onclick: async () => await addProvider() && await again() }, "Add a provider…"),
      h("button", { class: "primary", onclick: () => dialog.close() }, "Close"),
    ),
  );

  async function load() {
    const book = await attempt(() => api.get("/api/providers"));
    if (book === undefined) return false;
    replace(problems, book.reports.map((/** @type {string} */ each) => h("p", { class: "notice warn small" }, each)));
    const focused = list.contains(document.activeElement);
    show(book.providers);
    empty.hidden = book.providers.length > 0;
    if (focused && !list.contains(document.activeElement)) dialog.querySelector("button")?.focus();
    return true;
  }

  async function again() {
    await load();
    changed();
  }

  if (!await load()) return;
  document.body.append(dialog);
  dialog.showModal();
}

/**
 * @param {string} id
 * @param {() => Promise<void>} again
 */
function row(id, again) {
  /** @type {Provider} */
  let provider;
  const name = h("strong", {});
  const badges = h("span", { class: "agent-badges" });
  const facts = h("div", { class: "small quiet provider-facts" });
  const fault = h("div", { class: "small agent-reason" });
  const result = h("div", { class: "small provider-result", role: "status" });
  const test = h("button", { onclick: tryOut }, "Test");
  const standard = h("button", { onclick: () => done(() => api.put("/api/providers", { defaultProviderId: id })) });
  const power = h("button", { onclick: () => done(() => put({ enabled: !provider.enabled })) });
  replace(standard, "Make default");

  /**
   * Do something with this provider; what the engine says against it stands in the row, since the dialog covers the page.
   *
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T | undefined>}
   */
  async function tried(work) {
    say("");
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      say(error.message, true);
      return undefined;
    }
  }

  /** @param {string} text */
  function say(text, bad = false) {
    replace(result, text);
    result.classList.toggle("agent-reason", bad);
  }

  /** @param {() => Promise<unknown>} work */
  async function done(work) {
    await tried(work);
    await again();
    // A button that is not there any more takes the focus with it.
    if (standard.hidden && document.activeElement === standard) test.focus();
  }

  /** @param {Record<string, unknown>} change */
  function put(change) {
    return api.put(pathOf(id), { ...settingsOf(provider), ...change });
  }

  async function tryOut() {
    test.disabled = true;
    const answer = await tried(() => {
      say("Asking it for its models…");
      return api.post(`${pathOf(id)}/test`);
    });
    test.disabled = false;
    if (answer === undefined) return;
    if (!answer.ok) return say(answer.error, true);
    const more = answer.models.length > MOST_NAMES ? ", …" : "";
    const names = answer.models.slice(0, MOST_NAMES).join(", ");
    say(`It answers in ${duration(answer.seconds)}. ${answer.models.length} models: ${names}${more}`);
  }

  async function change() {
    const { hasKey } = provider;
    const made = await formDialog({
      title: `Change ${provider.name}`,
      agree: "Save",
      fields: [
        { name: "name", label: "Name", value: provider.name, required: true },
        {
          name: "baseURL",
          label: "Address",
          value: provider.baseURL,
          required: true,
          hint: "shown without a query or a password that it may have; a key is only for the address it was given for",
        },
        {
          name: "apiKey",
          label: "Key",
          type: "password",
          hint: hasKey ? "one is stored; leave it empty to keep that one" : "none is stored",
        },
        ...(hasKey ? [{ name: "forget", label: "Forget the stored key", type: "checkbox" }] : []),
        { name: "defaultModel", label: "Default model", value: provider.defaultModel },
        {
          name: "temperature",
          label: "Temperature",
          value: String(provider.temperature ?? ""),
          hint: "0 to 2, or empty",
        },
      ],
      submit: ({ apiKey, forget, temperature, ...rest }) =>
        put({
          ...rest,
          ...(apiKey !== "" ? { apiKey } : forget === "on" ? { apiKey: null } : {}),
          temperature: temperature === ""
            ? undefined
            : Number.isNaN(Number(temperature))
            ? temperature
            : Number(temperature),
        }),
    });
    if (made !== null) await again();
  }

  async function remove() {
    const agreed = await confirm({
      title: `Delete ${provider.name}?`,
      body: [
        h(
          "p",
          {},
          provider.hasKey ? "Its key goes as well, and cannot be brought back." : "It cannot be brought back.",
        ),
        h("p", {}, "Agents that name it pass it over, and get the model of what is set farther off."),
      ],
      agree: "Delete the provider",
      danger: true,
    });
    if (!agreed) return;
    await done(() => api.delete(pathOf(id)));
  }

  return {
    element: h(
      "li",
      {},
      h("div", { class: "provider-head" }, name, badges),
      facts,
      fault,
      h(
        "div",
        { class: "toolbar", role: "group", "aria-label": id },
        ...[test, h("button", { onclick: change }, "Change…"), standard, power],
        h("button", { onclick: remove }, "Delete…"),
      ),
      result,
    ),
    /** @param {Provider} now */
    update(now) {
      provider = now;
      replace(name, now.name);
      replace(
        badges,
        now.isDefault && h("span", { class: "badge accent" }, "default"),
        !now.enabled && h("span", { class: "badge" }, "off"),
        now.fault !== null && h("span", { class: "badge bad" }, "not valid"),
      );
      replace(
        facts,
        [
          now.name === now.id ? null : now.id,
          now.baseURL || "no address",
          now.defaultModel || "no default model",
          now.hasKey ? "a key is stored" : "no key",
          now.headerNames.length > 0 ? `headers ${now.headerNames.join(", ")}` : null,
        ].filter((each) => each !== null).join(" · "),
      );
      replace(fault, now.fault ?? "");
      replace(power, now.enabled ? "Switch off" : "Switch on");
      standard.hidden = now.isDefault;
    },
  };
}

/** What can be said of a provider and is shown; what is not named, keys and headers, stays. @param {Provider} provider */
function settingsOf({ name, preset, baseURL, defaultModel, enabled, temperature }) {
  return {
    ...{ name, baseURL, defaultModel, enabled },
    ...(preset === null ? {} : { preset }),
    ...(temperature === null ? {} : { temperature }),
  };
}

/** @param {string} id */
function pathOf(id) {
  return `/api/providers/${segment(id)}`;
}
