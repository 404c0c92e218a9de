/** A dialog with a few fields, which stays open with the engine's words until the engine has taken them. */

import { h, replace } from "../../dom.js";
import { EngineError } from "../../engine.js";

/**
 * Ask for these, and do something with them. A box that is ticked has the value "on", others none. Gives what `submit` gave, or null when the person has cancelled.
 *
 * @template T
 * @param {{ title: string, intro?: import("../../dom.js").Child[], agree: string, fields: { name: string, label: string,
 *   value?: string, hint?: string, required?: boolean, type?: string }[], submit: (values: Record<string, string>) => Promise<T> }} form
 * @returns {Promise<T | null>}
 */
export function formDialog({ title, intro = [], agree, fields, submit }) {
  return new Promise((resolve) => {
    const inputs = fields.map((field) => ({
      field,
      input: h("input", {
        type: field.type ?? "text",
        name: field.name,
        value: field.value ?? "",
        required: field.required,
        autocomplete: "off",
        "aria-describedby": field.hint && `hint-${field.name}`,
      }),
    }));
    const problem = h("p", { class: "notice bad", role: "alert", hidden: true });
    const button = h("button", { class: "primary" }, agree);
    const dialog = h("dialog", { "aria-label": title });

    /** @param {T | null} value */
    function end(value) {
      dialog.close();
      dialog.remove();
      resolve(value);
    }

    /** @param {SubmitEvent} event */
    async function send(event) {
      event.preventDefault();
      button.disabled = true;
      problem.hidden = true;
      try {
        end(await submit(Object.fromEntries(inputs.map(({ field, input }) => [field.name, valueOf(input)]))));
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        replace(problem, error.message);
        problem.hidden = false;
      } finally {
        button.disabled = false;
      }
    }

    dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
      end(null);
    });
    replace(
      dialog,
      h("h2", {}, title),
      h(
        "form",
        { class: "form-dialog", onsubmit: send },
        ...intro,
        inputs.map(({ field, input }) =>
          h(
            "div",
            { class: "form-row" },
            h("label", { class: field.type === "checkbox" && "is-box" }, h("span", {}, field.label), input),
            field.hint && h("div", { class: "quiet small", id: `hint-${field.name}` }, field.hint),
          )
        ),
        problem,
        h(
          "div",
          { class: "dialog-buttons" },
          h("button", { type: "button", onclick: () => end(null) }, "Cancel"),
          button,
        ),
      ),
    );
    document.body.append(dialog);
    dialog.showModal();
    inputs[0]?.input.focus();
  });
}

/** @param {HTMLInputElement} input */
function valueOf(input) {
  return input.type === "checkbox" ? input.checked ? "on" : "" : input.value.trim();
}
