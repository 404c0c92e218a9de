/** Placeholder until the view is built. */
import { h } from "../dom.js";

/** @returns {import("../main.js").View} */
export function create() {
  return { element: h("div", { class: "empty" }, "agents"), show() {}, hide() {} };
}
