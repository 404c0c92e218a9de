/**
 * The view "Live": the current surface as it is now, what was just done, and the way back.
 * Owns what follows which change of the engine; the picture, the marks and the lists are below `live/`.
 */

import { h } from "../dom.js";
import { api } from "../engine.js";
import { watch } from "../watch.js";
import { downloads } from "./live/downloads.js";
import { historyPanel } from "./live/history_panel.js";
import { justNow } from "./live/just_now.js";
import { markFollower } from "./live/mark_follower.js";
import { pictureFollower } from "./live/picture_follower.js";
import { stage } from "./live/stage.js";
import { welcome } from "./live/welcome.js";
import { setText } from "../keyed_list.js";

export const title = "Live";

/** @returns {import("../main.js").View} */
export function create() {
  const sheet = stage();
  const marks = markFollower(sheet);
  const picture = pictureFollower(sheet, (now) => {
    marks.follow(now);
    files.update(now);
    setText(revision, `Revision ${now.revision}${now.isLarge ? " · shown as pixels" : ""}`);
    revision.title = `${now.world}, ${now.surface}${
      now.isLarge
        ? ". The drawing is large; drawn as pixels it follows faster. The SVG can be downloaded all the same."
        : ""
    }`;
  });
  const files = downloads();
  const history = historyPanel();
  const calls = justNow();
  const guide = welcome();
  const revision = h("span", { class: "quiet small live-revision" });
  const keep = h("button", {
    "aria-pressed": "false",
    title:
      "What was just changed is framed in the picture for some seconds: green where it is new, orange where it was " +
      "there. While this is on, the frames stay.",
    onclick: () => {
      const now = keep.getAttribute("aria-pressed") !== "true";
      keep.setAttribute("aria-pressed", String(now));
      marks.keep(now);
    },
  }, "Keep marks");
  sheet.element.append(guide.element);
  const element = h(
    "div",
    { class: "live-view" },
    h("h1", { class: "offscreen" }, "Live"),
    h(
      "div",
      { class: "live-main" },
      h("div", { class: "toolbar live-tools" }, history.buttons, sheet.controls, keep, revision, files.element),
      sheet.element,
      marks.note,
    ),
    h("aside", { class: "live-side", "aria-label": "What happens" }, calls.element, history.element),
  );

  const steps = watch(
    ["world"],
    (signal) => api.get("/api/world/history?limit=50", { signal }),
    (now) => {
      history.update(now);
      guide.update(now.undo.length + now.redo.length === 0);
    },
    history.failed,
  );

  return {
    element,
    show() {
      picture.start();
      marks.start();
      steps.start();
      calls.start();
      guide.start();
      addEventListener("keydown", history.onKey);
    },
    hide() {
      picture.stop();
      marks.stop();
      steps.stop();
      calls.stop();
      guide.stop();
      removeEventListener("keydown", history.onKey);
    },
  };
}
