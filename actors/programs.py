"""The programs of Code Mode: checked, run in the sandbox, reported and kept.

Owns the code runtime and the compiler, both started with the first need, and the log of programs. A program's calls go
through `actors.program_run`, its changes become one step of the history. Source: tool-presentation.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import structlog
import trio
from mcp_types import TextContent, ToolAnnotations

from actors.agent_tools import AgentToolLists
from actors.call_gate import WhyNot
from actors.errors import ActorError
from actors.logged_call import logged_of
from actors.missing_tools import MissingTools
from actors.program_log import ProgramLog, ProgramRecord
from actors.program_run import ProgramCalls
from actors.world import MergedInWorlds, MergeSteps, WorldActor
from engine.errors import EngineError
from presets.json_preview import json_text
from presets.presentation import RUN_CODE_NAME
from presets.program_report import Failure, ProgramRun, Report, history_note, report_of
from presets.sdk import Sdk, SdkTool, describe, search, search_names
from protocol.interaction import InputNeededError
from protocol.session import Audience
from protocol.tool import JsonObject, TaskSupport, ToolCall, ToolDefinition, ToolOutcome
from protocol.tool_list import ToolEntry, ToolFace, ToolList
from sandbox.compiler import Compiled, Compiler, CompilerClosedError, render_problems
from sandbox.compiler_problems import Problem
from sandbox.deno import DenoMissingError
from sandbox.limits import RUN_CODE_LIMITS, RunLimits
from sandbox.namespace import CallFailed, HostFunction, JsonValue, Namespace
from sandbox.result import RunResult
from sandbox.runtime import CodeRuntime, CodeRuntimeBusyError, CodeRuntimeUnavailableError

KEPT_SDKS = 16
"""SDKs that are kept rendered: as many contexts as a user goes back and forth between."""

MERGE_SECONDS = 10.0
"""How long the end of a program waits for its steps to become one, also when it was cancelled."""

DESCRIPTION_CHARACTERS = 200
"""Longest description of a program, characters: it is shown to people, and names the step in the history."""

MISSING_HITS = 3
"""Tools that are not here, in the answer to a search."""

MOST_REASONS = 20
"""Names in one `sdk.describe` that are told why they are not here."""

RUN_CODE_OWNER = "code-mode"
"""The owner of `space_run_code`, which is in no registry."""

_log = structlog.stdlib.get_logger("programs")

_INPUT_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "code": {
            "type": "string",
            "minLength": 1,
            "description": "The program: the body of an async function in TypeScript.",
        },
        "description": {
            "type": "string",
            "minLength": 1,
            "maxLength": DESCRIPTION_CHARACTERS,
            "pattern": "\\S",
            "description": "What the program does, in a few words for the user.",
        },
    },
    "required": ["code", "description"],
    "additionalProperties": False,
}

_OUTPUT_SCHEMA: JsonObject = {
    "type": "object",
    "description": "About the run. Output and result are in the text.",
    "properties": {
        "program_id": {"type": "string", "description": "Under which the whole is kept."},
        "calls": {"type": "integer", "description": "Calls of tools."},
        "steps": {"type": "integer", "description": "Steps of the history that its changes are."},
        "shortened": {"type": "boolean", "description": "Whether the text is not everything."},
        "seconds": {"type": "number"},
    },
    "required": ["program_id", "calls", "steps", "shortened", "seconds"],
    "additionalProperties": False,
}


KnownNames = Callable[[], Awaitable[Collection[str]]]
"""Gives the MCP names of all tools that exist, offered or not. Never raises."""


async def _nothing_known() -> Collection[str]:
    return ()


@dataclass(frozen=True, slots=True)
class _Shelf:
    """An SDK, and the face of the tool whose description it is."""

    sdk: Sdk
    definition: Callable[[Audience], ToolDefinition]
    face: ToolFace


class Programs:
    """Runs programs. `run` holds the services; `connect` must be called once before."""

    def __init__(
        self,
        world: WorldActor,
        *,
        limits: RunLimits = RUN_CODE_LIMITS,
        on_ended: Callable[[str], None] = lambda program_id: None,
    ) -> None:
        """`on_ended` is told the id of each program once all of it can be looked at."""
        self._world = world
        self._on_ended = on_ended
        self._limits = limits
        self.runtime = CodeRuntime()
        self.compiler = Compiler()
        self.log = ProgramLog()
        self._reached: tuple[AgentToolLists, WhyNot] | None = None
        self._known: KnownNames = _nothing_known
        self._nursery: trio.Nursery | None = None
        self._warmed = False
        self._shelves: OrderedDict[tuple[bytes, ...], _Shelf] = OrderedDict()

    def connect(self, lists: AgentToolLists, why_not: WhyNot, known: KnownNames = _nothing_known) -> None:
        """Say where the tools of an audience are found, which in turn are made with `run_code_entry`, who explains why
        a tool is not among them, and who knows the names of all that exist.
        """
        self._reached = lists, why_not
        self._known = known

    def no_runtime_because(self) -> str | None:
        """Why no program can be run, or None. Starts nothing."""
        return self.runtime.unavailable or self.compiler.status().missing

    async def look_again(self) -> None:
        """Try once more whether programs can be run, where that has failed before. What it finds is in the above."""
        with suppress(CodeRuntimeUnavailableError):
            await self.runtime.warm()
        if self.compiler.status().missing is not None:
            with suppress(DenoMissingError, CompilerClosedError, OSError):
                await self.compiler.warm()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Hold runtime and compiler until cancelled."""
        async with trio.open_nursery() as nursery:
            await nursery.start(self.runtime.run)
            await nursery.start(self.compiler.run)
            self._nursery = nursery
            task_status.started()
            await trio.sleep_forever()

    def begin_warming(self) -> None:
        """Let start what the first program would have to wait for. Returns at once; does nothing the second time."""
        if self._nursery is not None and not self._warmed:
            self._warmed = True
            self._nursery.start_soon(self._warm)

    async def _warm(self) -> None:
        try:
            await self.runtime.warm()
            await self.compiler.warm()
        except (CodeRuntimeUnavailableError, DenoMissingError, CompilerClosedError, OSError) as error:
            _log.warning("code_runtime_unavailable", reason=str(error))

    def sdk_of(self, capabilities: ToolList) -> Sdk:
        """The SDK over these tools: equal bytes for tools that look the same."""
        return self._shelf(capabilities).sdk

    def run_code_entry(self, audience: Audience, capabilities: ToolList) -> ToolEntry:
        """The tool `space_run_code` for an audience with these capabilities. Its description is their SDK."""
        shelf = self._shelf(capabilities)
        return ToolEntry(shelf.definition(audience), shelf.face)

    async def run_program(self, audience: Audience, code: str, description: str, call: ToolCall) -> ToolOutcome:
        """Check and run one program. What it does wrong is in the outcome; cancelling ends it at once.

        Raises `UnusableAgentError` and `UnknownAgentError`, and `InputNeededError` for a question of one of its calls
        that only a client without a session is asked this way: the program has changed nothing, and begins anew.
        """
        lists, why_not = self._reach()
        tools = lists.of(audience)
        program_id = f"program-{uuid4().hex[:12]}"
        record = ProgramRecord(
            id=program_id, audience=audience, description=description, code=code, started_at=time.time()
        )
        started = trio.current_time()
        logged = logged_of(call)
        if logged is not None:
            logged.runs_program(program_id)
        calls = ProgramCalls(lists, why_not, audience, call, program_id)
        self.log.put(record)
        run, result_text = ProgramRun(failure=Failure("abort", "the program was cancelled")), None
        try:
            missing = MissingTools(lists, why_not, audience, await self._missing(tools.capabilities))
            ended = await self._checked_run(tools.capabilities, missing, calls, record)
            report, result_text = await _told(ended, program_id)
            run = ended
        finally:
            merged = await self._merge(record) if calls.notes else MergedInWorlds()
            self._keep(record, run, calls, merged.pieces, result_text, trio.current_time() - started)
        if calls.asked is not None:
            raise InputNeededError(calls.asked)
        seconds = trio.current_time() - started
        _log.info("program_ended", program=program_id, agent=audience.agent, calls=len(calls.notes), seconds=seconds)
        text = report.text + history_note(merged.pieces, merged.worlds)
        content = (TextContent(type="text", text=text), *calls.images())
        if run.failure is not None:
            return ToolOutcome(content, None, is_error=True, not_run=run.failure.kind == "refused")
        about = {
            "program_id": program_id,
            "calls": len(calls.notes),
            "steps": merged.pieces,
            "shortened": report.shortened,
            "seconds": round(seconds, 3),
        }
        return ToolOutcome(content, about)

    async def _missing(self, capabilities: ToolList) -> frozenset[str]:
        """The tools that exist and are none of these."""
        return frozenset(await self._known()) - {entry.definition.name for entry in capabilities}

    async def _checked_run(
        self, capabilities: ToolList, missing: MissingTools, calls: ProgramCalls, record: ProgramRecord
    ) -> ProgramRun:
        sdk = self.sdk_of(capabilities)
        try:
            compiled = await self.compiler.compile(record.code, sdk.declarations)
        except (DenoMissingError, CompilerClosedError, OSError) as error:
            with suppress(CodeRuntimeUnavailableError):
                await self.runtime.warm()  # so that it is known whether anything can be run with this deno
            return ProgramRun(failure=_no_runtime(str(error)))
        if compiled.javascript is None:
            problems = await missing.explained(compiled.problems)
            return ProgramRun(failure=_refused(problems), notes=compiled.notes)
        functions = {**calls.refusals(missing), **calls.functions(capabilities.entries)}
        namespaces = (
            Namespace("tools", functions, error=("ToolCallError", "toolName"), unlisted=missing.names),
            Namespace("sdk", _sdk_functions(sdk, missing)),
        )
        try:
            async with self.runtime.lease(self._limits) as lease:
                result: RunResult | None = None
                with trio.CancelScope() as scope:
                    calls.follow(lease, scope.cancel)
                    result = await lease.run(compiled.javascript, namespaces)
        except (CodeRuntimeUnavailableError, CodeRuntimeBusyError) as error:
            return ProgramRun(failure=_no_runtime(str(error)))
        if result is None:
            return ProgramRun(failure=Failure("abort", "the user is asked first; then the program begins anew"))
        return _run_of(result, compiled, calls, record.code)

    async def _merge(self, record: ProgramRecord) -> MergedInWorlds:
        """Make one step of what the program has changed, however it ended."""
        label = f"program: {record.description.strip()}"
        with trio.move_on_after(MERGE_SECONDS, shield=True):
            try:
                return await self._world.ask(MergeSteps(record.id, label))
            except (ActorError, EngineError) as error:
                _log.warning("steps_not_merged", program=record.id, reason=str(error))
        return MergedInWorlds()

    def _keep(
        self,
        record: ProgramRecord,
        run: ProgramRun,
        calls: ProgramCalls,
        steps: int,
        result_text: str | None,
        seconds: float,
    ) -> None:
        failure = None if run.failure is None else f"{run.failure.kind}: {run.failure.message}"
        ended = replace(
            record,
            seconds=round(seconds, 4),
            failure=failure,
            logs=run.logs,
            result_text=result_text,
            calls=tuple(calls.records),
            steps=steps,
        )
        self.log.put(ended)
        self._on_ended(record.id)

    def _shelf(self, capabilities: ToolList) -> _Shelf:
        key = tuple(entry.face.key for entry in capabilities)
        shelf = self._shelves.pop(key, None) or self._made_shelf(capabilities)
        self._shelves[key] = shelf
        if len(self._shelves) > KEPT_SDKS:
            self._shelves.popitem(last=False)
        return shelf

    def _made_shelf(self, capabilities: ToolList) -> _Shelf:
        sdk = Sdk.of([_sdk_tool(entry) for entry in capabilities])

        def definition(audience: Audience) -> ToolDefinition:
            async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
                return await self.run_program(audience, arguments["code"], arguments["description"], call)

            return ToolDefinition(
                name=RUN_CODE_NAME,
                title="Run a program",
                description=sdk.prompt,
                input_schema=_INPUT_SCHEMA,
                output_schema=_OUTPUT_SCHEMA,
                run=run,
                owner=RUN_CODE_OWNER,
                # Only for the sake of questions in the middle of a program; see `actors.nested_call`.
                task_support=TaskSupport.OPTIONAL,
                source="code-mode.run-code",
                annotations=ToolAnnotations(
                    title="Run a program",
                    read_only_hint=False,
                    destructive_hint=any(entry.definition.destroys for entry in capabilities),
                    idempotent_hint=False,
                    open_world_hint=any(entry.definition.reaches_out for entry in capabilities),
                ),
            )

        return _Shelf(sdk, definition, ToolFace.of(definition(Audience())))

    def _reach(self) -> tuple[AgentToolLists, WhyNot]:
        if self._reached is None:
            raise RuntimeError("a program is run before the engine has started")
        return self._reached


def _sdk_tool(entry: ToolEntry) -> SdkTool:
    definition = entry.definition
    return SdkTool(
        name=definition.name,
        description=definition.description,
        input_schema=definition.input_schema,
        output_schema=definition.output_schema,
        read_only=definition.reads_only,
        destructive=definition.destroys,
    )


def _sdk_functions(sdk: Sdk, missing: MissingTools) -> dict[str, HostFunction]:
    async def find(argument: JsonValue) -> JsonValue:
        if not isinstance(argument, str):
            raise CallFailed('sdk.search takes a text, such as sdk.search("add a rectangle")')
        hits = search(sdk.tools, argument)
        # Those that are missing are told of where they are named, and where nothing else is found.
        said = set(argument.split())
        others = () if hits else (name for name in missing.names if not missing.kept_away(name))
        names = search_names({*(missing.names & said), *others}, argument, limit=MISSING_HITS)
        told = await missing.reasons(names)
        return [*({"name": name, "summary": f"not here: {why}", "signature": ""} for name, why in told.items()), *hits]

    async def tell(argument: JsonValue) -> JsonValue:
        names = [argument] if isinstance(argument, str) else argument
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise CallFailed('sdk.describe takes names of tools, such as sdk.describe(["space_graph_add_node"])')
        wanted = [str(name) for name in names]
        return describe(sdk.tools, wanted, await missing.reasons(wanted[:MOST_REASONS]))

    return {"search": find, "describe": tell}


async def _told(run: ProgramRun, program_id: str) -> tuple[Report, str | None]:
    """What the model is told, and the whole result as text; made beside the event loop where that may take a while."""

    def made() -> tuple[Report, str | None]:
        report = report_of(run, program_id)
        if not run.has_result:
            return report, None
        return report, run.result if isinstance(run.result, str) else json_text(run.result)

    if not isinstance(run.result, list | dict):
        return made()
    return await trio.to_thread.run_sync(made, abandon_on_cancel=True)


def _no_runtime(reason: str) -> Failure:
    return Failure("unavailable", f"{RUN_CODE_NAME} needs the code runtime: {reason}")


def _refused(problems: tuple[Problem, ...]) -> Failure:
    return Failure("refused", f"the program was checked and not run.\n{render_problems(problems)}")


def _run_of(result: RunResult, compiled: Compiled, calls: ProgramCalls, code: str) -> ProgramRun:
    failure, error = None, result.error
    if error is not None:
        message = f"{error.name}: {error.message}" if error.name else error.message
        lines = code.split("\n")
        known = error.line is not None and 1 <= error.line <= len(lines)
        # What ran had its types taken out; the line is shown as it was sent.
        line_text = lines[error.line - 1] if known and error.line is not None else error.line_text
        failure = Failure(error.kind, message, error.line, error.column, line_text or None)
    logs = tuple(line.text for line in result.logs)
    if result.logs_cut:
        logs = (*logs, "[more was printed than is kept]")
    value: Any = result.value
    return ProgramRun(
        logs=logs,
        has_result=result.has_value,
        result=value,
        failure=failure,
        calls=calls.notes,
        unawaited=result.calls_unawaited,
        notes=compiled.notes,
    )
