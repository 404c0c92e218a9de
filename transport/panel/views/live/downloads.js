/** The current surface as a file: SVG, PNG, and the shape of a scene as GLB. */

import { h, icon } from "../../dom.js";
import { send, wholly } from "../../engine.js";
import { attempt } from "../../messages.js";
import { problemOf, SCENE } from "./picture_follower.js";

/** @typedef {import("./picture_follower.js").Shown} Shown */

/** The longer side of a PNG that is kept, pixels: the most that the engine makes. */
const PNG_SIDE = 2000;
const LEAST_SIDE = 16;

/** How long the browser may take to begin with a file before it is given up, milliseconds. */
const TAKEN_MS = 10_000;

export function downloads() {
  /** @type {Shown | null} */
  let shown = null;
  const buttons = {
    svg: h("button", { onclick: () => take("svg") }, icon("down"), "SVG"),
    png: h("button", { onclick: () => take("png") }, icon("down"), "PNG"),
    glb: h("button", { onclick: () => take("glb") }, icon("down"), "GLB"),
  };
  for (const [kind, button] of Object.entries(buttons)) {
    button.setAttribute("aria-label", `Download ${kind.toUpperCase()}`);
    button.hidden = true;
  }

  /** @param {keyof typeof buttons} kind */
  async function take(kind) {
    const now = shown;
    if (now === null) return;
    const parameters = new URLSearchParams({ surface: now.surface });
    if (kind === "png") {
      const scale = PNG_SIDE / Math.max(now.box.width, now.box.height);
      parameters.set("width", String(Math.max(Math.round(now.box.width * scale), LEAST_SIDE)));
      parameters.set("height", String(Math.max(Math.round(now.box.height * scale), LEAST_SIDE)));
    }
    buttons[kind].disabled = true;
    await attempt(async () => {
      const response = await send("GET", `/api/view.${kind}?${parameters}`);
      if (!response.ok) throw await problemOf(response);
      const revision = response.headers.get("X-Space-Revision");
      const url = URL.createObjectURL(await wholly(response.blob()));
      const link = h("a", { href: url, download: `${now.world}-${now.surface}-${revision}.${kind}` });
      document.body.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(url), TAKEN_MS);
    });
    buttons[kind].disabled = false;
  }

  return {
    element: h(
      "div",
      { class: "push live-files", role: "group", "aria-label": "Download" },
      buttons.svg,
      buttons.png,
      buttons.glb,
    ),
    /** @param {Shown} now */
    update(now) {
      shown = now;
      buttons.png.hidden = false;
      buttons.svg.hidden = now.surface === SCENE;
      buttons.glb.hidden = now.surface !== SCENE;
    },
  };
}
