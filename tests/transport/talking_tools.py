"""Capabilities for the tests of the talk between server and client: tools that ask, log, go on as tasks and hang up;
resources that change when they are touched, and prompts. All are ordinary adapters.
"""

from __future__ import annotations

from collections.abc import Mapping

import trio
from mcp_types import SamplingMessage, TextContent, TextResourceContents

from actors.resolution import CapabilityEdit
from presets.adapters import ToolAdapter
from presets.definition import DefaultState, PresetDefinition, Risk
from presets.interactions import InteractiveRun
from presets.prompt_adapters import PromptAdapter
from presets.prompt_adapters import text_message as said
from presets.resource_adapters import ResourceAdapter
from protocol.completion import CompletionOutcome
from protocol.input_request import ElicitAnswer, ElicitForm, InputRefused, ListRoots, RootsAnswer, Sample, SampleAnswer
from protocol.interaction import Interaction
from protocol.log_level import LogLevel
from protocol.prompt import PromptArgument, PromptOutcome
from protocol.resource import ResourceNotFoundError, ResourceOutcome
from protocol.tool import JsonObject, TaskSupport, ToolError, ToolOutcome

ASK, SAMPLE, ROOTS, TWICE, LOG, HANG_UP, JOB, ASKING_JOB, FAILING_JOB, ONLY_JOB = (
    "space_talk_ask",
    "space_talk_sample",
    "space_talk_roots",
    "space_talk_twice",
    "space_talk_log",
    "space_talk_hang_up",
    "space_talk_job",
    "space_talk_asking_job",
    "space_talk_failing_job",
    "space_talk_only_job",
)
HIDDEN = "space_talk_hidden"
"""A tool of another context, which comes with a resource and a prompt of its own."""

NOTE, PAGE, GONE, LATE = "test://note", "test://page/{number}", "test://gone", "test://late"
GREETING, ASKING_PROMPT, LATE_PROMPT = "greeting", "asking", "late"

FORM = ElicitForm("Which name?", {"properties": {"name": {"type": "string"}}, "required": ["name"]})


class TalkHooks:
    """How a test lets the tools go on, and what it sees of them."""

    def __init__(self) -> None:
        self.go = trio.Event()
        self.started = trio.Semaphore(0)
        self.cancelled = trio.Semaphore(0)

    async def wait(self) -> None:
        """Wait until the test says so; being cancelled is counted."""
        self.started.release()
        try:
            await self.go.wait()
        except trio.Cancelled:
            self.cancelled.release()
            raise

    async def hang_up(self, arguments: JsonObject, call: Interaction) -> ToolOutcome:
        await call.hang_up()
        await self.wait()
        return ToolOutcome.text("back again")

    async def job(self, arguments: JsonObject, call: Interaction) -> ToolOutcome:
        await call.become_task()
        await call.progress(1, 2, "half way")
        await self.wait()
        return ToolOutcome.text("the job is done")

    async def failing_job(self, arguments: JsonObject, call: Interaction) -> ToolOutcome:
        await call.become_task()
        raise RuntimeError("a bug of the job")

    def capabilities(self) -> CapabilityEdit:
        """Adapters and presets."""
        tools = (
            _tool(ASK, _ask),
            _tool(SAMPLE, _sample),
            _tool(ROOTS, _roots),
            _tool(TWICE, _twice),
            _tool(LOG, _log),
            _tool(HANG_UP, self.hang_up),
            _tool(JOB, self.job, TaskSupport.OPTIONAL),
            _tool(ASKING_JOB, _asking_job, TaskSupport.OPTIONAL),
            _tool(FAILING_JOB, self.failing_job, TaskSupport.OPTIONAL),
            _tool(ONLY_JOB, self.job, TaskSupport.REQUIRED),
            _tool(HIDDEN, _ask),
        )
        resources = (
            ResourceAdapter(id="talk.note", uri=NOTE, name="note", make_read=lambda app, who: _read),
            ResourceAdapter(id="talk.page", uri=PAGE, name="page", make_read=lambda app, who: _read),
            ResourceAdapter(id="talk.gone", uri=GONE, name="gone", make_read=lambda app, who: _not_there),
            ResourceAdapter(id="talk.late", uri=LATE, name="late", make_read=lambda app, who: _read),
        )
        argument = PromptArgument(name="who", required=True, completer=_complete)
        prompts = (
            PromptAdapter(id="talk.greeting", name=GREETING, make_run=lambda app, who: _greet, arguments=(argument,)),
            PromptAdapter(id="talk.asking", name=ASKING_PROMPT, make_run=lambda app, who: _ask_in_prompt),
            PromptAdapter(id="talk.late-prompt", name=LATE_PROMPT, make_run=lambda app, who: _greet),
        )
        usual = tuple(tool.id for tool in tools if tool.mcp_name != HIDDEN)
        return CapabilityEdit(
            add_adapters=tools,
            add_resource_adapters=resources,
            add_prompt_adapters=prompts,
            add_presets=(
                _preset(
                    "talk",
                    "any",
                    tool_ids=usual,
                    resource_ids=("talk.note", "talk.page", "talk.gone"),
                    prompt_ids=("talk.greeting", "talk.asking"),
                ),
                _preset(
                    "talk-late",
                    "scene",
                    tool_ids=(_id(HIDDEN),),
                    resource_ids=("talk.late",),
                    prompt_ids=("talk.late-prompt",),
                ),
            ),
        )


async def _ask(arguments: JsonObject, call: Interaction) -> ToolOutcome:
    answer = (await call.ask({"who": FORM}))["who"]
    match answer:
        case ElicitAnswer(content=content):
            return ToolOutcome.text(f"{answer.action}: {(content or {}).get('name')}")
        case InputRefused(message=message):
            return ToolOutcome.text(f"refused: {message}")
        case _:
            raise ToolError("another answer than was asked for")


async def _sample(arguments: JsonObject, call: Interaction) -> ToolOutcome:
    message = SamplingMessage(role="user", content=TextContent(type="text", text="Say something"))
    answer = (await call.ask({"said": Sample(messages=(message,), max_tokens=10)}))["said"]
    assert isinstance(answer, SampleAnswer)
    return ToolOutcome.text(answer.text)


async def _roots(arguments: JsonObject, call: Interaction) -> ToolOutcome:
    answer = (await call.ask({"roots": ListRoots()}))["roots"]
    assert isinstance(answer, RootsAnswer)
    return ToolOutcome.text(", ".join(root.uri for root in answer.roots))


async def _twice(arguments: JsonObject, call: Interaction) -> ToolOutcome:
    first = (await call.ask({"first": FORM}, {"round": 1}))["first"]
    second = (await call.ask({"second": FORM}, {"round": 2}))["second"]
    assert isinstance(first, ElicitAnswer)
    assert isinstance(second, ElicitAnswer)
    assert first.content is not None
    assert second.content is not None
    return ToolOutcome.text(f"{first.content['name']} and {second.content['name']}; state {call.state}")


async def _log(arguments: JsonObject, call: Interaction) -> ToolOutcome:
    await call.log(LogLevel.DEBUG, "a detail")
    await call.log(LogLevel.WARNING, {"what": "a warning"}, "talk")
    return ToolOutcome.text("logged")


async def _asking_job(arguments: JsonObject, call: Interaction) -> ToolOutcome:
    await call.become_task()
    return await _ask(arguments, call)


async def _read(uri: str, values: Mapping[str, str], call: Interaction) -> ResourceOutcome:
    text = f"{uri} {dict(values)}" if values else f"what stands at {uri}"
    return ResourceOutcome((TextResourceContents(uri=uri, text=text),))


async def _not_there(uri: str, values: Mapping[str, str], call: Interaction) -> ResourceOutcome:
    raise ResourceNotFoundError(uri)


async def _greet(arguments: Mapping[str, str], call: Interaction) -> PromptOutcome:
    return PromptOutcome((said(f"Greet {arguments.get('who', 'nobody')}."),))


async def _ask_in_prompt(arguments: Mapping[str, str], call: Interaction) -> PromptOutcome:
    answer = (await call.ask({"who": FORM}))["who"]
    assert isinstance(answer, ElicitAnswer)
    return PromptOutcome((said(f"Greet {(answer.content or {}).get('name')}."),))


async def _complete(typed: str, filled: Mapping[str, str]) -> CompletionOutcome:
    return CompletionOutcome(tuple(name for name in ("Ada", "Alan", "Grace") if name.startswith(typed)))


def _tool(name: str, run: InteractiveRun, support: TaskSupport = TaskSupport.FORBIDDEN) -> ToolAdapter:
    return ToolAdapter(
        id=_id(name),
        mcp_name=name,
        description=f"The tool {name} of the tests.",
        input_schema={"type": "object", "properties": {}},
        make_run=lambda app: run,
        task_support=support,
    )


def _preset(
    name: str, surface: str, *, tool_ids: tuple[str, ...], resource_ids: tuple[str, ...], prompt_ids: tuple[str, ...]
) -> PresetDefinition:
    return PresetDefinition(
        name=name,
        default_state=DefaultState.AUTO,
        risk=Risk.NORMAL,
        contexts=({"surface": surface},),
        tool_ids=tool_ids,
        resource_ids=resource_ids,
        prompt_ids=prompt_ids,
    )


def _id(name: str) -> str:
    return name.removeprefix("space_").replace("_", ".", 1).replace("_", "-")
