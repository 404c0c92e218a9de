/** What a call gave back, as parts of the page. Text stays text, and only pictures of known kinds are pictures. */

import { h, visible } from "../../dom.js";

/** Kinds of pictures that hold nothing but pixels. */
const RASTERS = Object.freeze(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** What base64 is made of; the data comes from a tool. */
const BASE64 = /^[A-Za-z0-9+/=\s]*$/;

/**
 * One block of the content of a result.
 *
 * @param {any} block
 * @returns {HTMLElement}
 */
export function contentOf(block) {
  const mime = block.mimeType ?? block.mime_type;
  if (block.type === "text") {
    return h("pre", { tabindex: "0", "aria-label": "Text" }, visible(prettyText(String(block.text))));
  }
  if (block.type === "image" && RASTERS.includes(mime) && typeof block.data === "string" && BASE64.test(block.data)) {
    return h("img", {
      class: "call-picture",
      alt: "A picture of the result",
      src: `data:${mime};base64,${block.data}`,
    });
  }
  return h("pre", { tabindex: "0", "aria-label": "Content" }, visible(pretty(block)));
}

/** JSON for a person. @param {unknown} value */
export const pretty = (value) => JSON.stringify(value, null, 2);

/** What is copied of a value: text as it is, else JSON. @param {unknown} value */
export const textOf = (value) => typeof value === "string" ? value : pretty(value ?? {});

/** @param {string} text */
function prettyText(text) {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return pretty(JSON.parse(text));
  } catch {
    return text;
  }
}
