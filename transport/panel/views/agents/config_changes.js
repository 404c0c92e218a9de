/**
 * What two configurations differ in, piece by piece, and how three become one. Pure: asks nobody, shows nothing.
 *
 * A piece is the smallest thing that can be changed alone: a field of an override, a field of a custom block, whether a
 * tool is switched off, the order of the blocks.
 *
 * @typedef {{ enabled?: boolean, order?: number, contentMode?: "override" | "prepend" | "append" | null,
 *   customContent?: string }} Override
 * @typedef {{ id: string, name: string, role: "system" | "user", order: number, enabled: boolean,
 *   type: "simple" | "script", content: string }} CustomBlock
 * @typedef {{ customBlocks: CustomBlock[], overrides: Record<string, Override>, blockOrder: string[],
 *   disabledTools: string[], disableAutoAnalysis: boolean }} Config
 * @typedef {{ key: string, subject: string, block: string | null, fields: Field[], clash: boolean }} Difference
 *   One choice of the person: all that differs about one block, or about the order. `key` names it.
 * @typedef {{ name: string, mine: unknown, theirs: unknown, clash: boolean }} Field
 *   `undefined` where there is nothing.
 */

/** The pieces of a configuration by their path, as `["override", id, field]`. */
/** @typedef {Map<string, unknown>} Pieces */

const GONE = undefined;

/**
 * What a configuration is after a patch; the engine does the same.
 *
 * @param {Config} config
 * @param {any} patch
 * @returns {Config}
 */
export function wantedAfter(config, patch) {
  const { overrides: changed = {}, ...rest } = patch;
  /** @type {Record<string, Override>} */
  const overrides = { ...config.overrides };
  for (const [id, fields] of Object.entries(changed)) {
    const now = fields === null ? {} : withoutNulls({ ...overrides[id], .../** @type {object} */ (fields) });
    if (Object.keys(now).length === 0) delete overrides[id];
    else overrides[id] = now;
  }
  return { ...config, ...rest, overrides };
}

/**
 * The patch that makes one configuration of the other; custom blocks are changed by other means.
 *
 * @param {Config} from
 * @param {Config} to
 * @returns {Record<string, unknown>}
 */
export function patchOf(from, to) {
  /** @type {Record<string, unknown>} */
  const patch = {};
  /** @type {Record<string, unknown>} */
  const overrides = {};
  for (const id of new Set([...Object.keys(from.overrides), ...Object.keys(to.overrides)])) {
    const old = /** @type {Record<string, unknown>} */ (from.overrides[id] ?? {});
    const now = /** @type {Record<string, unknown>} */ (to.overrides[id] ?? {});
    const fields = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((each) =>
      !same(old[each], now[each])
    );
    if (fields.length > 0) overrides[id] = Object.fromEntries(fields.map((each) => [each, now[each] ?? null]));
  }
  if (Object.keys(overrides).length > 0) patch.overrides = overrides;
  for (const name of /** @type {const} */ (["blockOrder", "disabledTools", "disableAutoAnalysis"])) {
    if (!same(from[name], to[name])) patch[name] = to[name];
  }
  return patch;
}

/**
 * What I have changed since `base`, where theirs is something else now. `clash` where they have changed it as well.
 *
 * @param {Config} base
 * @param {Config} mine
 * @param {Config} theirs
 * @returns {Difference[]}
 */
export function differencesOf(base, mine, theirs) {
  const [was, wanted, is] = [piecesOf(base), piecesOf(mine), piecesOf(theirs)];
  /** @type {Map<string, Difference>} */
  const found = new Map();
  for (const path of new Set([...was.keys(), ...wanted.keys()])) {
    const [before, now, there] = [was.get(path), wanted.get(path), is.get(path)];
    if (same(before, now) || same(now, there)) continue;
    const [kind, id, name] = /** @type {string[]} */ (JSON.parse(path));
    const key = groupOf(path);
    let difference = found.get(key);
    if (difference === undefined) {
      const custom = [...mine.customBlocks, ...theirs.customBlocks, ...base.customBlocks].find((one) => one.id === id);
      const block = kind === "override" || kind === "custom" ? id : null;
      difference = { key, subject: custom?.name ?? block ?? SUBJECTS[kind], block, fields: [], clash: false };
      found.set(key, difference);
    }
    const clash = !same(before, there);
    difference.fields.push({ name: name ?? kind, mine: now, theirs: there, clash });
    difference.clash ||= clash;
  }
  return [...found.values()];
}

/**
 * Theirs, with everything that I have changed since `base`; where both have changed the same, `mineWins` says of a
 * difference's key whether mine counts.
 *
 * @param {Config} base
 * @param {Config} mine
 * @param {Config} theirs
 * @param {(key: string) => boolean} mineWins
 * @returns {Config}
 */
export function merged(base, mine, theirs, mineWins) {
  const [was, wanted, result] = [piecesOf(base), piecesOf(mine), piecesOf(theirs)];
  const clashing = new Set(differencesOf(base, mine, theirs).filter((each) => each.clash).map((each) => each.key));
  for (const path of new Set([...was.keys(), ...wanted.keys()])) {
    if (same(was.get(path), wanted.get(path))) continue;
    const key = groupOf(path);
    if (clashing.has(key) && !mineWins(key)) continue;
    if (wanted.has(path)) result.set(path, wanted.get(path));
    else result.delete(path);
  }
  // A block that I go on changing and that they have deleted comes back whole.
  for (const block of mine.customBlocks) {
    const touched = Object.keys(block).some((name) => result.has(pathOf("custom", block.id, name)));
    if (!touched) continue;
    for (const [name, value] of Object.entries(block)) {
      const path = pathOf("custom", block.id, name);
      if (!result.has(path)) result.set(path, value);
    }
  }
  return configOf(result, [...theirs.customBlocks, ...mine.customBlocks].map((each) => each.id));
}

/** @type {Record<string, string>} */
const SUBJECTS = { order: "Order of the blocks", tool: "Tools", analysis: "Analysis after each generation" };

/** @param {Config} config @returns {Pieces} */
function piecesOf(config) {
  /** @type {Pieces} */
  const pieces = new Map();
  for (const [id, override] of Object.entries(config.overrides)) {
    for (const [name, value] of Object.entries(override)) pieces.set(pathOf("override", id, name), value);
  }
  for (const block of config.customBlocks) {
    for (const [name, value] of Object.entries(block)) pieces.set(pathOf("custom", block.id, name), value);
  }
  for (const name of config.disabledTools) pieces.set(pathOf("tool", name), true);
  pieces.set(pathOf("order"), config.blockOrder);
  pieces.set(pathOf("analysis"), config.disableAutoAnalysis);
  return pieces;
}

/**
 * @param {Pieces} pieces
 * @param {string[]} order of custom blocks
 * @returns {Config}
 */
function configOf(pieces, order) {
  /** @type {Record<string, any>} */
  const overrides = {};
  /** @type {Map<string, any>} */
  const custom = new Map();
  /** @type {string[]} */
  const disabledTools = [];
  for (const [path, value] of pieces) {
    const [kind, id, name] = JSON.parse(path);
    if (kind === "override") (overrides[id] ??= {})[name] = value;
    else if (kind === "custom") custom.set(id, { ...custom.get(id), [name]: value });
    else if (kind === "tool") disabledTools.push(id);
  }
  return {
    customBlocks: [...new Set(order)].flatMap((id) => custom.get(id) ?? []),
    overrides,
    blockOrder: /** @type {string[]} */ (pieces.get(pathOf("order")) ?? []),
    disabledTools,
    disableAutoAnalysis: pieces.get(pathOf("analysis")) === true,
  };
}

/** @param {...string} parts */
function pathOf(...parts) {
  return JSON.stringify(parts);
}

/** @param {string} path */
function groupOf(path) {
  const [kind, id] = JSON.parse(path);
  return JSON.stringify(kind === "override" || kind === "custom" ? ["block", id] : [kind, id ?? ""]);
}

/** @param {unknown} one @param {unknown} other */
function same(one, other) {
  return one === other || JSON.stringify(one ?? GONE) === JSON.stringify(other ?? GONE);
}

/** @param {Record<string, unknown>} record */
function withoutNulls(record) {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
}
