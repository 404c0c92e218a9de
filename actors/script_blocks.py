"""Script blocks run in the code runtime. Owns the way from a block's body to its outcome, and the lease of a rendering.

The scripts of one prompt have one author, so they share a lease and run one after the other. One that has to be killed
takes the process with it: that block fails, and the next script gets a new lease. Globals are put back after each
script, so that none depends on what one before it left. Knows no blocks and no configs.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

import trio

from blocks.fragment import Fragment, FragmentLookup, is_fragment_id
from blocks.json_value import Json, plain
from blocks.script import ScriptEvaluator, ScriptFailure, ScriptOther, ScriptOutcome, ScriptText
from blocks.script_context import LOOKUPS
from sandbox.lease import Lease, LeaseOverError
from sandbox.limits import SCRIPT_BLOCK_LIMITS, RunLimits
from sandbox.namespace import JsonValue, Namespace
from sandbox.result import RunError, RunResult
from sandbox.runtime import CodeRuntime, CodeRuntimeBusyError, CodeRuntimeUnavailableError

MAX_MESSAGE_LENGTH = 2_000
"""Characters of an error's message that are kept: it is shown in a preview, and a script can throw anything."""

PROMPT_SCRIPT_SECONDS = 8.0
"""For all scripts of one prompt together, their process started: who looks at a preview waits for it."""

CONNECTING_SCRIPT_SECONDS = 3.0
"""The same where a client connects and gets its instructions: some give up after 5 s."""

# The body is compiled apart from what surrounds it, so that it cannot close a brace of ours, and as the recorded
# behaviour has it: an async function of `ctx`, in sloppy mode. `ctx` is a copy that is this script's alone, so it may
# be sorted in place. What is thrown is turned into text here, where that can fail without ending the run.
_PROGRAM: Final = """
const {ownKeys, getOwnPropertyDescriptor, defineProperty, deleteProperty} = Reflect;
const {isArray} = Array, text = String, Failure = Error;
globalThis.console = console;
const globals = ownKeys(globalThis).map(key => [key, getOwnPropertyDescriptor(globalThis, key)]);
const known = new Set(ownKeys(globalThis));
const ctx = {...JSON.parse(host.data)};
for (const name of host.lookups) ctx[name] = async argument => host[name](argument);
const lineOf = error => {
  try {
    return Number(/\\n +at (?:.*, )?body line (\\d+),/.exec(error.stack)?.[1]);
  } catch {
    return 0;  // `stack` and `exec` are the script's as much as ours
  }
};
const outcome = async () => {
  try {
    const value = await host.body("ctx")(ctx);
    if (typeof value === "string") return {text: value};
    const kind = value === null ? "null" : isArray(value) ? "an array" : typeof value;
    return {other: kind};
  } catch (error) {
    try {
      const failed = error instanceof Failure;
      return {error: text(failed ? error.message : error), line: failed ? lineOf(error) || 0 : 0};
    } catch {
      return {error: "what was thrown cannot be turned into text"};
    }
  }
};
const made = await outcome();
made.clean = true;
for (const key of ownKeys(globalThis)) {
  if (!known.has(key)) made.clean = deleteProperty(globalThis, key) && made.clean;
}
for (const [key, descriptor] of globals) made.clean = defineProperty(globalThis, key, descriptor) && made.clean;
return made;
"""

_KINDS: Mapping[str, str] = {
    "undefined": "nothing",
    "object": "an object",
    "number": "a number",
    "boolean": "a boolean",
    "function": "a function",
    "bigint": "a bigint",
    "symbol": "a symbol",
}


@asynccontextmanager
async def script_evaluator(
    runtime: CodeRuntime,
    fragments: FragmentLookup,
    limits: RunLimits = SCRIPT_BLOCK_LIMITS,
    *,
    seconds: float = PROMPT_SCRIPT_SECONDS,
) -> AsyncGenerator[ScriptEvaluator]:
    """An evaluator for the scripts of one rendering, open until the block is left; then its process is killed.

    All of them together have `seconds`: the one that goes beyond and those after it fail with that reason. No process
    is started before the first script. Where none can be started, or all places stay taken, each script fails with the
    reason. Evaluations must not overlap. Cancelling one kills the process.
    """
    async with AsyncExitStack() as leases:
        yield _Evaluator(runtime, fragments, limits, leases, seconds)


class _Evaluator:
    def __init__(
        self,
        runtime: CodeRuntime,
        fragments: FragmentLookup,
        limits: RunLimits,
        leases: AsyncExitStack,
        seconds: float,
    ) -> None:
        self._runtime = runtime
        self._fragments = fragments
        self._limits = limits
        self._leases = leases
        self._seconds = self._left = seconds
        self._lease: Lease | None = None

    async def evaluate(self, body: str, context: Mapping[str, Json]) -> ScriptOutcome:
        size = len(body.encode("utf-8", "replace"))
        if size > self._limits.program_bytes:
            return ScriptFailure(
                f"the script has {size:,} bytes, and at most {self._limits.program_bytes:,} are run (program_bytes)"
            )
        result: RunResult | None = None
        if self._left > 0:
            started = trio.current_time()
            try:
                with trio.move_on_after(self._left):
                    result = await self._run(self._namespace(body, context))
            except (CodeRuntimeUnavailableError, CodeRuntimeBusyError, LeaseOverError) as error:
                return ScriptFailure(f"scripts cannot be run: {error}")
            finally:
                self._left -= trio.current_time() - started
        if result is None:
            return ScriptFailure(
                f"the scripts of this prompt together took the {self._seconds:g} seconds that they have, this one or "
                "those before it; switch a slow one off"
            )
        if not _is_clean(result):
            await self._give_back()
        return _outcome(result, body)

    async def _run(self, namespace: Namespace) -> RunResult:
        return await (await self._open_lease()).run(_PROGRAM, [namespace])

    async def _open_lease(self) -> Lease:
        if self._lease is None or not self._lease.usable:
            await self._give_back()  # the place of the killed one has to be free for the new one
            self._lease = await self._leases.enter_async_context(self._runtime.lease(self._limits))
        return self._lease

    async def _give_back(self) -> None:
        self._lease = None
        await self._leases.aclose()

    def _namespace(self, body: str, context: Mapping[str, Json]) -> Namespace:
        functions = (self._get_fragment, self._get_fragments, self._get_fragment_by_tag, self._get_fragments_by_tag)
        data: dict[str, JsonValue] = {"data": _json(context), "lookups": LOOKUPS}
        return Namespace("host", dict(zip(LOOKUPS, functions, strict=True)), data, bodies={"body": body})

    async def _get_fragment(self, fragment_id: JsonValue) -> JsonValue:
        if not isinstance(fragment_id, str) or not is_fragment_id(fragment_id):
            return None
        found = await self._fragments.fragment(fragment_id)
        return None if found is None else found.to_json()

    async def _get_fragments(self, kind: JsonValue) -> JsonValue:
        return _listed([one for one in await self._fragments.fragments() if not kind or one.type == kind])

    async def _get_fragment_by_tag(self, tag: JsonValue) -> JsonValue:
        return next((one.to_json() for one in await self._fragments.fragments() if tag in one.tags), None)

    async def _get_fragments_by_tag(self, tag: JsonValue) -> JsonValue:
        return _listed([one for one in await self._fragments.fragments() if tag in one.tags])


def _listed(fragments: Sequence[Fragment]) -> JsonValue:
    return [one.to_json() for one in fragments]


def _json(context: Mapping[str, Json]) -> str:
    return json.dumps(plain(context), allow_nan=False, separators=(",", ":"))


def _is_clean(result: RunResult) -> bool:
    """Whether the script left the globals as they were, so that another one may run in the same process."""
    return result.error is not None or (isinstance(result.value, Mapping) and result.value.get("clean") is True)


def _outcome(result: RunResult, body: str) -> ScriptOutcome:
    if result.error is not None:
        return ScriptFailure(_said(result.error)[:MAX_MESSAGE_LENGTH])
    match result.value:
        case {"text": str(text)}:
            return ScriptText(text)
        case {"other": str(kind)}:
            return ScriptOther(_KINDS.get(kind, kind))
        case {"error": str(message), "line": float() | int() as line}:
            return ScriptFailure(message[:MAX_MESSAGE_LENGTH], int(line) if 1 <= line <= body.count("\n") + 1 else None)
        case {"error": str(message)}:
            return ScriptFailure(message[:MAX_MESSAGE_LENGTH])
        case _:  # our own program gives nothing else, but its process is not ours
            return ScriptFailure("what the script returned cannot be read")


def _said(error: RunError) -> str:
    if error.kind == "output-limit":
        return "the script returned or sent too much text (value_bytes)"
    return error.message.replace("the program", "the script")
