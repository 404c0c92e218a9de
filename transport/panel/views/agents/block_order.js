/**
 * Which blocks an agent has, as one list, and in which order. Owns the reading of a configuration: the same rules by
 * which the engine makes the prompt, so that the list shows what the model gets. Nothing here asks the engine.
 *
 * @typedef {"system" | "user"} Role
 * @typedef {"override" | "prepend" | "append"} ContentMode
 * @typedef {{ enabled?: boolean, order?: number, contentMode?: ContentMode | null, customContent?: string }} Override
 * @typedef {{ id: string, name: string, role: Role, order: number, enabled: boolean, type: "simple" | "script",
 *   content: string }} CustomBlock
 * @typedef {{ id: string, role: Role, order: number, source: string, content: string }} BuiltinBlock
 * @typedef {{ customBlocks: CustomBlock[], overrides: Record<string, Override>, blockOrder: string[] }} BlockConfig
 * @typedef {{ config: BlockConfig, builtinBlocks: BuiltinBlock[] }} BlockState
 * @typedef {{ id: string, name: string, role: Role, order: number, builtin: BuiltinBlock | null,
 *   custom: CustomBlock | null, override: Override, enabled: boolean }} Block
 * @typedef {{ id: string, role: Role, after: string | null, before: string | null, down: boolean }} Move
 *   A block went between these two of its role, null at an end. `down`: it came from above, past `after`; else from
 *   below, past `before`.
 */

/** @type {readonly Role[]} */
export const ROLES = ["system", "user"];

/** How much more the order of a new block is than that of the last one of its role. */
const ORDER_STEP = 100;

/** Bytes of UTF-8 for one token, about: the engine's own estimate. */
const BYTES_PER_TOKEN = 4;

const encoder = new TextEncoder();

/**
 * All blocks, system before user, each role in the order of the prompt. Disabled ones are among them.
 *
 * @param {BlockState} state
 * @returns {Block[]}
 */
export function blocksOf({ config, builtinBlocks }) {
  /** @type {Map<string, Block>} */
  const blocks = new Map();
  for (const builtin of builtinBlocks) {
    const override = overrideOf(config, builtin.id);
    blocks.set(builtin.id, {
      ...{
        id: builtin.id,
        name: builtin.id,
        role: builtin.role,
        order: builtin.order,
        builtin,
        custom: null,
        override,
      },
      enabled: override.enabled !== false,
    });
  }
  for (const custom of config.customBlocks) {
    if (blocks.has(custom.id)) continue;
    const override = overrideOf(config, custom.id);
    blocks.set(custom.id, {
      ...{ id: custom.id, name: custom.name, role: custom.role, order: custom.order, builtin: null, custom, override },
      enabled: custom.enabled && override.enabled !== false,
    });
  }
  const all = [...blocks.values()];
  const places = placed(all, config.blockOrder);
  const orders = new Map(all.map((block, index) => [block.id, block.override.order ?? places[index]]));
  return ROLES.flatMap((role) =>
    all.filter((block) => block.role === role).sort((one, other) => at(orders, one.id) - at(orders, other.id))
  );
}

/**
 * These blocks after a move, whatever has become of them since somebody made it: the block stands beside the neighbour
 * that it was moved past, else beside the other one. Where it has neither any more, or another role, it stays.
 *
 * @param {readonly Block[]} blocks
 * @param {Move} move
 * @returns {readonly Block[]}
 */
export function moved(blocks, { id, role, after, before, down }) {
  const block = blocks.find((each) => each.id === id);
  if (block?.role !== role) return blocks;
  const rest = blocks.filter((each) => each !== block);
  /** @type {[string | null, number][]} */
  const places = [[after, 1], [before, 0]];
  for (const [neighbour, step] of down ? places : places.reverse()) {
    const index = rest.findIndex((each) => each.id === neighbour && each.role === role);
    if (index >= 0) return rest.toSpliced(index + step, 0, block);
  }
  return blocks;
}

/**
 * The change that puts the blocks into the order of these ids. A block that is not there at this moment keeps the
 * neighbour that it had in the saved order; one that nobody has placed yet goes beside its neighbours by the engine's
 * rule. Single orders of a role that is moved are stronger than the list, so they go.
 *
 * @param {BlockState} state
 * @param {string[]} ids
 */
export function orderPatch(state, ids) {
  const present = new Set(ids);
  /** @type {Map<string | null, string[]>} */
  const behind = new Map();
  /** @type {string | null} */
  let anchor = null;
  for (const id of state.config.blockOrder) {
    if (present.has(id)) anchor = id;
    else behind.set(anchor, [...behind.get(anchor) ?? [], id]);
  }
  const blockOrder = [
    ...behind.get(null) ?? [],
    ...ids.flatMap((id) => [id, ...behind.get(id) ?? []]),
  ];
  const single = ids.filter((id) => overrideOf(state.config, id).order !== undefined);
  if (single.length === 0) return { blockOrder };
  return { blockOrder, overrides: Object.fromEntries(single.map((id) => [id, { order: null }])) };
}

/**
 * What a block says before tags and hooks; null for a script, whose text the engine makes.
 *
 * @param {Block} block
 */
export function contentOf({ builtin, custom, override }) {
  if (custom?.type === "script" && override.contentMode !== "override") return null;
  const content = builtin?.content ?? custom?.content ?? "";
  const text = override.customContent;
  if (override.contentMode === "override" && text !== undefined) return text;
  if (override.contentMode === "prepend" && text) return `${text}\n${content}`;
  if (override.contentMode === "append" && text) return `${content}\n${text}`;
  return content;
}

/**
 * What of a block differs from how it comes, in a word each.
 *
 * @param {Block} block
 */
export function changesOf({ override }) {
  const changes = [];
  if (override.contentMode === "override" && override.customContent === "") changes.push("blanked");
  else if (override.contentMode && override.customContent !== undefined) changes.push(override.contentMode);
  if (override.order !== undefined) changes.push("placed");
  return changes;
}

/**
 * The order of a new block that comes last in its role.
 *
 * @param {BlockState} state
 * @param {Role} role
 */
export function lastOrder(state, role) {
  const orders = [...state.builtinBlocks, ...state.config.customBlocks]
    .filter((block) => block.role === role)
    .map((block) => block.order);
  return Math.max(0, ...orders) + ORDER_STEP;
}

/**
 * The line by which the model knows the block.
 *
 * @param {{ id: string, name: string }} block
 */
export const markerOf = ({ id, name }) => name === id ? `[@block=${id}]` : `[@block=${slugOf(name)} src=${id}]`;

/**
 * About how many tokens a text has.
 *
 * @param {string} text
 */
export const tokensOf = (text) => Math.ceil(encoder.encode(text).length / BYTES_PER_TOKEN);

/**
 * How the name stands in the marker of its block; empty where it has none of these letters and digits.
 *
 * @param {string} name
 */
export const slugOf = (name) => name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

/**
 * @param {BlockConfig} config
 * @param {string} id
 * @returns {Override}
 */
const overrideOf = (config, id) => Object.hasOwn(config.overrides, id) ? config.overrides[id] : {};

/**
 * The order of each block by the saved list. One that is not in it keeps its neighbours: what is first by default goes
 * first, what is last goes last, and all between stays behind the block that it stands behind by default.
 *
 * @param {Block[]} blocks
 * @param {string[]} blockOrder
 */
function placed(blocks, blockOrder) {
  const positions = new Map(blockOrder.map((id, index) => [id, index]));
  const orders = blocks.map((block) => positions.get(block.id) ?? block.order);
  for (const role of ROLES) {
    const indexes = blocks.flatMap((block, index) => block.role === role ? [index] : []);
    indexes.sort((one, other) => blocks[one].order - blocks[other].order);
    placeUnlisted(blocks, indexes, positions, orders);
  }
  return orders;
}

/**
 * @param {Block[]} blocks
 * @param {number[]} byDefault
 * @param {Map<string, number>} positions
 * @param {number[]} orders
 */
function placeUnlisted(blocks, byDefault, positions, orders) {
  /** @type {number[]} */
  const head = [];
  /** @type {Map<number, number[]>} */
  const behind = new Map();
  let run = head;
  for (const index of byDefault) {
    const position = positions.get(blocks[index].id);
    if (position === undefined) run.push(index);
    else behind.set(position, run = behind.get(position) ?? []);
  }
  if (behind.size === 0) return;
  const first = Math.min(...behind.keys()), last = Math.max(...behind.keys());
  let tail = behind.get(last) ?? [];
  behind.delete(last);
  if (run !== tail) tail = [...tail, ...run.splice(0)];
  const headEnd = head.at(-1), tailStart = tail.at(0);
  if (headEnd !== undefined && blocks[headEnd].order >= first) {
    head.forEach((index, step) => orders[index] = first - head.length + step);
  }
  if (tailStart !== undefined && blocks[tailStart].order <= last) {
    tail.forEach((index, step) => orders[index] = last + 1 + step);
  }
  for (const [position, members] of behind) {
    members.forEach((index, step) => orders[index] = position + (step + 1) / (members.length + 1));
  }
}

/**
 * @param {Map<string, number>} orders
 * @param {string} id
 */
const at = (orders, id) => orders.get(id) ?? 0;
