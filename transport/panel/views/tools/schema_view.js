/** What a tool takes, as a table for people, and the JSON schema as it is. Reads schemas; checks nothing. */

import { h } from "../../dom.js";

/** How deep the table goes into members of members; the JSON below has the rest. */
const MOST_DEPTH = 3;

/**
 * @param {any} schema
 * @returns {HTMLElement}
 */
export function schemaView(schema) {
  const rows = rowsOf(schema, "", 0);
  return h(
    "div",
    { class: "schema" },
    rows.length === 0 ? h("p", { class: "quiet" }, "It takes no arguments.") : h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ["Argument", "Type", "Meaning"].map((each) => h("th", { scope: "col" }, each)))),
      h("tbody", {}, rows),
    ),
    h("details", {}, h("summary", {}, "JSON schema"), h("pre", { tabindex: "0" }, JSON.stringify(schema, null, 2))),
  );
}

/**
 * @param {any} schema
 * @param {string} prefix
 * @param {number} depth
 * @returns {HTMLElement[]}
 */
function rowsOf(schema, prefix, depth) {
  if (depth >= MOST_DEPTH || typeof schema?.properties !== "object" || schema.properties === null) return [];
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const names = Object.keys(schema.properties);
  names.sort((one, other) => Number(required.has(other)) - Number(required.has(one)));
  return names.flatMap((name) => {
    const each = schema.properties[name] ?? {};
    const list = each.type === "array";
    return [
      h(
        "tr",
        {},
        h(
          "td",
          {},
          h("code", {}, `${prefix}${name}`),
          required.has(name) && h("span", { class: "required" }, " required"),
        ),
        h("td", { class: "quiet" }, typeOf(each)),
        h("td", {}, each.description ?? "", h("span", { class: "quiet small" }, limitsOf(each))),
      ),
      ...rowsOf(list ? each.items : each, `${prefix}${name}${list ? "[]" : ""}.`, depth + 1),
    ];
  });
}

/**
 * @param {any} schema
 * @returns {string}
 */
function typeOf(schema) {
  if (schema === null || typeof schema !== "object") return "anything";
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) {
    return schema.enum.map((/** @type {unknown} */ each) => JSON.stringify(each)).join(" | ");
  }
  const either = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(either)) return either.map(typeOf).join(" | ");
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? {})}`;
  if (Array.isArray(schema.type)) return schema.type.join(" | ");
  return typeof schema.type === "string" ? schema.type : "anything";
}

/** @param {any} schema */
function limitsOf(schema) {
  /** @type {[string, string][]} */
  const known = [
    ["minimum", "at least"],
    ["exclusiveMinimum", "more than"],
    ["maximum", "at most"],
    ["exclusiveMaximum", "less than"],
    ["minLength", "characters at least"],
    ["maxLength", "characters at most"],
    ["minItems", "items at least"],
    ["maxItems", "items at most"],
    ["pattern", "pattern"],
    ["default", "default"],
  ];
  const said = known
    .filter(([name]) => name in schema)
    .map(([name, words]) =>
      `${words} ${typeof schema[name] === "string" ? schema[name] : JSON.stringify(schema[name])}`
    );
  return said.length === 0 ? "" : ` (${said.join(", ")})`;
}
