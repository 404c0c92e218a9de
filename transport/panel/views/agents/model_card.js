/**
 * Which model a story's agent has: provider, model and temperature for the agent or for all of its kind, and what the
 * engine makes of it, with the reason. Owns these fields.
 */

import { h, replace } from "../../dom.js";
import { api, segment } from "../../engine.js";
import { attempt, toast } from "../../messages.js";
import { watch } from "../../watch.js";
import { addProvider, providersDialog } from "./providers_dialog.js";
import { valueAt } from "./settings_store.js";

/** The last key of every chain: what is set for it holds for all agents. */
const EVERYTHING = "generation";

/**
 * @param {import("./settings_store.js").SettingsStore} settings
 * @param {{ story: string, agent: string }} scope
 */
export function modelCard(settings, { story, agent }) {
  const chain = chainOf(agent);
  let key = agent;
  /** @type {{ providers: any[], defaultProviderId: string | null }} */
  let book = { providers: [], defaultProviderId: null };
  /** @type {any} */
  let resolved = null;
  /** What was there when a field got the focus: what is typed is based on it. */
  /** @type {import("./settings_store.js").Story | null} */
  let seen = null;
  let saving = 0;
  /** What each field has shown last; one that says something else is being typed in, and is left alone. */
  /** @type {Map<HTMLInputElement, string>} */
  const known = new Map();

  const summary = h("span", { class: "quiet model-summary" });
  const forWhom = h("select", {
    onchange: () => {
      key = forWhom.value;
      known.clear();
      update();
    },
  }, chain.map((each) => h("option", { value: each }, labelOf(each, agent))));
  const provider = h("select", { onchange: chooseProvider });
  const names = h("datalist", { id: `models-of-${agent}` });
  const model = h("input", { type: "text", list: names.id, autocomplete: "off", spellcheck: "false" });
  const temperature = h("input", { type: "number", min: "0", max: "2", step: "0.1", inputmode: "decimal" });
  const reason = h("div", { class: "model-reason", role: "status" });
  const listing = h("button", { onclick: listModels }, "List its models");
  const manage = h("button", { hidden: true, onclick: () => providersDialog(loader.again) }, "Providers…");
  const element = h(
    "details",
    { class: "card section" },
    h("summary", {}, h("h2", {}, "Model"), summary),
    h(
      "div",
      { class: "section-body" },
      h(
        "div",
        { class: "fields" },
        h("label", {}, h("span", {}, "Set for"), forWhom),
        h("label", {}, h("span", {}, "Provider"), provider),
        h("label", {}, h("span", {}, "Model"), model),
        h("label", {}, h("span", {}, "Temperature"), temperature),
      ),
      h("div", { class: "toolbar" }, listing, h("button", { onclick: added }, "Add a provider…"), manage),
      reason,
      names,
    ),
  );

  for (const field of [provider, model, temperature]) {
    field.addEventListener("focus", () => {
      seen = settings.state;
    });
  }
  model.addEventListener("change", () => save([{ path: at("modelId"), value: model.value.trim() || null }], model));
  temperature.addEventListener("change", () => {
    const given = temperature.value === "" ? null : Number(temperature.value);
    if (temperature.validity.badInput || given !== null && (given < 0 || given > 2)) {
      toast("The temperature is a number from 0 to 2, or empty to inherit it.", { kind: "error" });
      return;
    }
    save([{ path: at("temperature"), value: given }], temperature);
  });

  const loader = watch(
    ["blocks", "agents"],
    async (signal) => {
      const [providers, said] = await Promise.all([
        api.get("/api/providers", { signal }),
        api.get(`/api/stories/${segment(story)}/agent-blocks/${segment(agent)}/model`, { signal }),
      ]);
      return { providers, said };
    },
    ({ providers, said }) => {
      book = providers;
      resolved = said;
      manage.hidden = book.providers.length === 0;
      update();
    },
  );

  /** @param {string} field */
  function at(field) {
    return ["modelOverrides", key, field];
  }

  /**
   * @param {import("./settings_store.js").Setting[]} changes
   * @param {HTMLInputElement | null} [field] in which they were typed
   */
  async function save(changes, field = null) {
    const sent = field?.value ?? "";
    saving += 1;
    const { outcome, error } = await settings.change(`Model of ${key}`, changes, seen).finally(() => {
      saving -= 1;
    });
    seen = settings.state;
    if (outcome === "refused" && error !== null) toast(error.message, { kind: "error" });
    if (outcome !== "refused" && field !== null && field.value === sent) known.set(field, sent);
    update();
    loader.again();
  }

  function chooseProvider() {
    // The names of models are the provider's own, so the one that was chosen goes with it; the temperature stays.
    const before = valueAt(settings.state?.settings ?? {}, at("modelId"));
    const old = valueAt(settings.state?.settings ?? {}, at("providerId"));
    const mine = key;
    const changes = [{ path: at("providerId"), value: provider.value || null }, { path: at("modelId"), value: null }];
    save(before === undefined ? changes.slice(0, 1) : changes);
    if (before === undefined) return;
    toast(`The model ${before} was the other provider's; the new one's default is taken.`, {
      action: {
        label: "Undo",
        run: () =>
          save([{ path: ["modelOverrides", mine, "providerId"], value: old ?? null }, {
            path: ["modelOverrides", mine, "modelId"],
            value: before,
          }]),
      },
    });
  }

  async function listModels() {
    const id = provider.value || resolved?.providerId;
    if (!id) return toast("Choose a provider first.");
    listing.disabled = true;
    const answer = await attempt(() => api.post(`/api/providers/${segment(id)}/test`));
    listing.disabled = false;
    if (answer === undefined) return;
    if (!answer.ok) return toast(answer.error, { kind: "error" });
    replace(names, answer.models.map((/** @type {string} */ each) => h("option", { value: each })));
    toast(`${answer.models.length} models; the field “Model” offers them.`);
    model.focus();
  }

  async function added() {
    if (await addProvider()) loader.again();
  }

  function update() {
    const { state } = settings;
    // While something is asked for and not answered, the fields stand as the person has left them.
    if (state === null || resolved === null || saving > 0) return;
    const own = valueAt(state.settings, ["modelOverrides", key]) ?? {};
    const inherited = farther(state.settings, chain, key);
    const key_ = JSON.stringify([book, own.providerId, inherited.providerId]);
    if (provider.dataset.shown !== key_) {
      provider.dataset.shown = key_;
      const listed = book.providers.map((each) => each.id);
      const fallback = inherited.providerId ?? book.defaultProviderId;
      replace(
        provider,
        h("option", { value: "" }, fallback ? `Inherit (${fallback})` : "Inherit"),
        book.providers.map((each) =>
          h(
            "option",
            { value: each.id },
            `${each.name || each.id}${each.fault ? " (not valid)" : each.enabled ? "" : " (off)"}`,
          )
        ),
        own.providerId && !listed.includes(own.providerId) &&
          h("option", { value: own.providerId }, `${own.providerId} (not there)`),
      );
    }
    const set = (/** @type {HTMLInputElement} */ field, /** @type {unknown} */ value) => {
      const text = value === undefined ? "" : String(value);
      if (known.has(field) && known.get(field) !== field.value) return;
      field.value = text;
      known.set(field, text);
    };
    provider.value = own.providerId ?? "";
    set(model, own.modelId);
    set(temperature, own.temperature);
    model.placeholder = `Inherit${resolved.modelId ? ` (${resolved.modelId})` : ""}`;
    temperature.placeholder = `Inherit${typeof resolved.temperature === "number" ? ` (${resolved.temperature})` : ""}`;
    replace(
      summary,
      resolved.error
        ? "none can be used"
        : `${resolved.modelId || "no model named"} · ${resolved.providerName || resolved.providerId}`,
    );
    replace(reason, reasonOf(resolved, book));
  }

  const off = settings.subscribe(update);
  return {
    element,
    start: loader.start,
    stop() {
      off();
      loader.stop();
    },
  };
}

/**
 * @param {any} said what the engine resolves
 * @param {{ providers: any[] }} book
 */
function reasonOf(said, book) {
  if (said.error) {
    return [
      h(
        "p",
        { class: "notice warn" },
        book.providers.length === 0
          ? "There is no provider of models yet, so this agent cannot be run. Add one; the rest of this page works without."
          : said.error,
      ),
      h(
        "ul",
        { class: "small quiet" },
        said.tried.map((/** @type {any} */ each) => h("li", {}, h("code", {}, each.place), ` ${each.lacked}`)),
      ),
    ];
  }
  const why = said.source === "default"
    ? "since it is the default provider and nothing nearer names one"
    : said.source === "old-field"
    ? `by a field of old of the story, for ${said.foundIn}`
    : `by what is set for ${said.foundIn}`;
  const temperature = said.temperature === null ? "" : `, temperature ${said.temperature}`;
  return [
    h(
      "p",
      { class: "quiet" },
      "A run asks ",
      h("strong", {}, said.modelId || "the provider's own model"),
      ` of ${said.providerName || said.providerId}${temperature}, ${why}.`,
    ),
    ...said.passedOver.map((/** @type {string} */ each) => h("p", { class: "notice warn" }, `Passed over: ${each}`)),
  ];
}

/** The keys that are asked for an agent, the nearest first. @param {string} agent */
function chainOf(agent) {
  const chain = [agent];
  for (let at = agent.lastIndexOf("."); at > 0; at = agent.lastIndexOf(".", at - 1)) chain.push(agent.slice(0, at));
  return chain.includes(EVERYTHING) ? chain : [...chain, EVERYTHING];
}

/** @param {string} key @param {string} agent */
function labelOf(key, agent) {
  if (key === agent) return "this agent";
  return key === EVERYTHING ? "every agent of the story" : `all of ${key}`;
}

/**
 * What is set for the keys after this one.
 *
 * @param {Record<string, any>} settings
 * @param {string[]} chain
 * @param {string} key
 */
function farther(settings, chain, key) {
  const rest = chain.slice(chain.indexOf(key) + 1).map((each) => valueAt(settings, ["modelOverrides", each]) ?? {});
  return { providerId: rest.find((each) => each.providerId)?.providerId };
}
