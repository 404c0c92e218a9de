/** TypeScript and JSON in colours: text in, lines of spans out. A look at the words alone; nothing is parsed or run. */

import { h } from "../../dom.js";

const KEYWORDS = new Set(
  ("abstract as async await break case catch class const continue default delete do else export extends false finally " +
    "for from function if implements import in infer instanceof interface is keyof let new null of readonly return " +
    "satisfies static super switch this throw true try type typeof undefined var void while yield").split(" "),
);

const TYPES = new Set("any bigint boolean never number object string symbol unknown".split(" "));

/** Comments, texts, numbers, words, and everything else; in this order, each in a group of its own. */
const PIECES =
  /(\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|("(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|`(?:\\[\s\S]|[^`\\])*`?)|(\d[\w.]*)|([A-Za-z_$][\w$]*)|([^\w$"'`/]+|[\s\S])/g;

/**
 * The code as one element a line, with the newline in it, so that what is selected is copied as it was written.
 *
 * @param {string} code
 * @returns {HTMLElement[]}
 */
export function codeLines(code) {
  const lines = new Lines();
  for (const match of code.matchAll(PIECES)) {
    const [text, comment, quoted, number, word] = match;
    if (comment !== undefined) lines.add(text, "comment");
    else if (quoted !== undefined) lines.add(text, "text");
    else if (number !== undefined) lines.add(text, "number");
    else if (word !== undefined) lines.add(text, wordKind(word, code[match.index + text.length]));
    else lines.add(text, "");
  }
  return lines.end();
}

/**
 * Text that holds code between fences, such as the SDK that a model reads: the code in colours, the rest as it is.
 *
 * @param {string} text
 * @returns {HTMLElement[]}
 */
export function fencedLines(text) {
  return text.split(/^(```[^\n]*(?:\n|$))/m).flatMap((part, index, parts) => {
    if (index % 2 === 1) return plainLines(part, "fence");
    const opened = parts.slice(0, index).filter((_, at) => at % 2 === 1).length % 2 === 1;
    return opened ? codeLines(part) : plainLines(part, "prose");
  });
}

/**
 * @param {string} text
 * @param {string} kind
 */
function plainLines(text, kind) {
  const lines = new Lines();
  lines.add(text, "");
  return lines.end().map((line) => (line.classList.add(kind), line));
}

/**
 * @param {string} word
 * @param {string | undefined} next
 */
function wordKind(word, next) {
  if (KEYWORDS.has(word)) return "keyword";
  if (TYPES.has(word)) return "type";
  if (next === "(") return "call";
  return /^[A-Z]/.test(word) ? "type" : "";
}

/** Lines that are filled piece by piece. */
class Lines {
  /** @type {HTMLElement[]} */
  #lines = [];
  /** @type {(Node | string)[]} */
  #pieces = [];

  /**
   * @param {string} text
   * @param {string} kind
   */
  add(text, kind) {
    const parts = text.split("\n");
    parts.forEach((part, index) => {
      const isLast = index === parts.length - 1;
      const whole = isLast ? part : `${part}\n`;
      if (whole !== "") this.#pieces.push(kind === "" ? whole : h("span", { class: `code-${kind}` }, whole));
      if (!isLast) this.#close();
    });
  }

  end() {
    if (this.#pieces.length > 0) this.#close();
    return this.#lines;
  }

  #close() {
    const line = h("span", { class: "code-line" });
    line.append(...this.#pieces);
    line.normalize();
    this.#lines.push(line);
    this.#pieces = [];
  }
}
