/**
 * One block in the list: what it is in a line, and its editor below. Owns the line; the editor is made when it is
 * opened first and stays, so that nothing typed in it goes when it is closed.
 *
 * @typedef {import("./block_order.js").Block} Block
 * @typedef {import("./block_list.js").Shared} Shared
 */

import { h, icon, replace, visible } from "../../dom.js";
import { customEditor } from "./block_custom.js";
import { blockEditor } from "./block_editor.js";
import { changesOf, contentOf, markerOf, tokensOf } from "./block_order.js";
import { carried } from "./block_outcome.js";

/** How much of a block's content its line shows, characters. */
const PREVIEW_CHARACTERS = 80;

/** What the words of a changed block mean. */
const CHANGE_MEANS = Object.freeze({
  prepend: "A text of yours stands before the default content",
  append: "A text of yours stands after the default content",
  override: "A text of yours stands in place of the default content",
  blanked: "The block has no content",
  placed: "An order of its own gives this block its place",
});

/**
 * @param {Shared} shared
 * @param {Block} first
 */
export function blockRow(shared, first) {
  const { store, opened, hintId } = shared;
  const { id } = first;
  let block = first;
  let gone = false;
  /** @type {{ tokens?: number, error?: string } | null} */
  let reported = null;
  /** @type {ReturnType<typeof customEditor> | ReturnType<typeof blockEditor> | null} */
  let editor = null;

  const grip = h("button", {
    ...{ class: "bare block-grip", "aria-describedby": hintId },
    title: "Drag to move. With the keyboard: Alt+Up and Alt+Down",
  }, icon("grip"));
  const name = h("span", { class: "block-name" });
  const badges = h("span", { class: "block-badges" });
  const preview = h("span", { class: "block-preview quiet" });
  const tokens = h("span", { class: "block-tokens quiet small" });
  const toggle = h("button", { class: "block-switch", role: "switch", onclick: switchOn });
  const chevron = h(
    "button",
    { class: "bare block-chevron", "aria-controls": `block-${id}`, onclick: () => open() },
    icon("chevron"),
  );
  const body = h("div", { id: `block-${id}`, class: "block-body", hidden: true });
  const notice = h("div", { class: "notice warn", hidden: true });
  const element = h(
    "li",
    { class: "block", data: { id } },
    h(
      "div",
      { class: "block-head" },
      grip,
      h("div", { class: "block-summary", onclick: () => open() }, name, badges, preview),
      tokens,
      toggle,
      chevron,
    ),
    body,
  );

  async function switchOn() {
    const wanted = !block.enabled;
    toggle.setAttribute("aria-checked", String(wanted));
    const done = block.custom === null
      ? store.change(block.name, () => ({ overrides: { [id]: { enabled: wanted ? null : false } } }))
      : store.updateCustom(id, { enabled: wanted });
    await carried(done);
    showLine();
  }

  /** @param {boolean} [wanted] */
  function open(wanted = body.hidden === true) {
    if (wanted === !body.hidden) return;
    body.hidden = !wanted;
    element.classList.toggle("is-open", wanted);
    chevron.setAttribute("aria-expanded", String(wanted));
    if (wanted) {
      opened.add(id);
      if (editor === null) {
        editor = block.custom === null ? blockEditor(shared, block) : customEditor(shared, block);
        replace(body, notice, editor.element);
      }
      editor.opened();
    } else {
      opened.delete(id);
      void editor?.flush();
      editor?.closed();
    }
  }

  function showLine() {
    element.classList.toggle("is-off", !block.enabled);
    element.classList.toggle("is-custom", block.custom !== null);
    const shown = visible(block.name);
    if (name.textContent !== shown) {
      replace(name, shown);
      grip.setAttribute("aria-label", `Move ${shown}`);
      toggle.setAttribute("aria-label", `Use ${shown}`);
      chevron.setAttribute("aria-label", `Edit ${shown}`);
    }
    toggle.setAttribute("aria-checked", String(block.enabled));
    toggle.title = block.enabled ? "Enabled: click to leave the block out" : "Left out: click to enable the block";
    const changes = changesOf(block);
    const key = JSON.stringify([block.role, block.custom?.type, changes, reported?.error]);
    if (badges.dataset.key !== key) {
      badges.dataset.key = key;
      replace(
        badges,
        h("span", { class: `badge ${block.role}` }, block.role),
        block.custom && h("span", { class: "badge", title: "A block of yours" }, block.custom.type),
        changes.map((each) =>
          h("span", { class: "badge accent", title: /** @type {Record<string, string>} */ (CHANGE_MEANS)[each] }, each)
        ),
        reported?.error !== undefined && h("span", { class: "badge bad", title: reported.error }, "error"),
      );
    }
    const content = contentOf(block);
    const line = visible(lineOf(content ?? block.custom?.content ?? ""));
    if (preview.textContent !== line) replace(preview, line);
    preview.classList.toggle("mono", content === null);
    const count = reported?.tokens ?? (content === null ? null : tokensOf(`${markerOf(block)}\n${content}`));
    const isKnown = count !== null && block.enabled;
    replace(tokens, isKnown && count.toLocaleString("en"), isKnown && h("span", { class: "unit" }, " tokens"));
    tokens.title = count === null ? "" : `about ${count} tokens, its marker included`;
  }

  /** @param {Block} now */
  function update(now) {
    block = now;
    gone = false;
    notice.hidden = true;
    showLine();
    editor?.update(now);
  }

  showLine();
  chevron.setAttribute("aria-expanded", "false");
  if (opened.has(id)) open(true);
  return {
    id,
    element,
    grip,
    update,
    open,
    get block() {
      return block;
    },
    get dirty() {
      return editor?.dirty ?? false;
    },
    flush: async () => await editor?.flush(),
    /**
     * What the last prompt made of it: `tokens`, and why its script or its tags failed.
     *
     * @param {{ tokens?: number, error?: string } | null} now
     */
    report(now) {
      reported = now;
      showLine();
    },
    /**
     * The block is there no longer, but holds what somebody types. `let` lets it go.
     *
     * @param {() => void} let_
     */
    leave(let_) {
      if (!gone) {
        gone = true;
        const what = block.custom === null
          ? "The agent does not make this block at the moment. Your text is kept for when it does."
          : "This block was deleted in another window, and what you typed here is not saved.";
        const discard = () => {
          editor?.discard();
          let_();
        };
        replace(
          notice,
          h("span", {}, what, " "),
          h("button", { class: "small", onclick: () => void editor?.flush() }, "Save"),
          " ",
          h("button", { class: "small", onclick: discard }, "Let it go"),
        );
        notice.hidden = false;
      }
    },
    stop() {
      void editor?.flush();
      editor?.stop();
    },
  };
}

/** A text in one line, as far as a line of the list shows it. @param {string} text */
function lineOf(text) {
  const characters = [...text.slice(0, PREVIEW_CHARACTERS * 4).replace(/\s+/g, " ").trim()];
  return characters.length > PREVIEW_CHARACTERS
    ? `${characters.slice(0, PREVIEW_CHARACTERS).join("")}…`
    : characters.join("");
}
