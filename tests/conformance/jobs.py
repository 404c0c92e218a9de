"""The suite's tools that go on as tasks, where their client knows tasks, and the one that never does."""

from __future__ import annotations

import trio

from presets.adapters import ToolAdapter
from presets.app import App
from protocol.input_request import ElicitAnswer, ElicitForm
from protocol.interaction import Interaction
from protocol.tool import JsonObject, TaskSupport, ToolError, ToolOutcome
from tests.conformance.adapting import tool
from tests.conformance.questions import ASK_NAME

FAILS_AFTER_SECONDS = 1.0
"""When the job fails that always does: late enough to be seen at work."""

CRASHES_AFTER_SECONDS = 0.2
"""When the job crashes that always does."""

_CONFIRM = {"properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]}


def adapters() -> tuple[ToolAdapter, ...]:
    """The tools of this module."""
    return (
        tool(
            "greet",
            _greet,
            "Greets somebody, at once.",
            properties={"name": {"type": "string"}},
            required=("name",),
        ),
        tool(
            "slow_compute",
            _slow,
            "Computes for so many seconds.",
            properties={"seconds": {"type": "number", "minimum": 0}, "label": {"type": "string"}},
            task_support=TaskSupport.OPTIONAL,
        ),
        tool("failing_job", _failing, "Works for a while and fails.", task_support=TaskSupport.REQUIRED),
        tool("protocol_error_job", _crashing, "Has a fault of its own.", task_support=TaskSupport.OPTIONAL),
        tool(
            "confirm_delete",
            _confirming,
            "Asks before it would delete.",
            properties={"filename": {"type": "string"}},
            task_support=TaskSupport.OPTIONAL,
        ),
        tool("multi_input", _two_questions, "Asks two things at once.", task_support=TaskSupport.OPTIONAL),
        tool(
            "test_tool_with_task",
            _question_then_task,
            "Asks first, and then goes on as a task.",
            task_support=TaskSupport.REQUIRED,
        ),
    )


async def _greet(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    return ToolOutcome.text(f"Hello, {arguments['name']}!")


async def _slow(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    await call.become_task()
    seconds = arguments.get("seconds", 0)
    await trio.sleep(seconds)
    return ToolOutcome.text(f"{arguments.get('label', 'the computation')} took {seconds} s.")


async def _failing(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    await call.become_task()
    await trio.sleep(FAILS_AFTER_SECONDS)
    raise ToolError("This job always fails.")


async def _crashing(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    await call.become_task()
    await trio.sleep(CRASHES_AFTER_SECONDS)
    raise RuntimeError("this job is broken, as the suite wants it")


async def _confirming(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    await call.become_task()
    filename = arguments.get("filename", "the file")
    given = (await call.ask({"confirmation": ElicitForm(f"Delete {filename}?", _CONFIRM)}))["confirmation"]
    agreed = isinstance(given, ElicitAnswer) and given.content is not None and given.content["confirm"]
    return ToolOutcome.text(f"{filename} would be deleted." if agreed else f"{filename} stays.")


async def _two_questions(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    await call.become_task()
    return ToolOutcome.text(str(dict(await call.ask({"first": ASK_NAME, "second": ASK_NAME}))))


async def _question_then_task(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    given = (await call.ask({"user_name": ASK_NAME}, {"asked": "user_name"}))["user_name"]
    await call.become_task()
    if not isinstance(given, ElicitAnswer) or given.content is None:
        raise ToolError("this job needs a name")
    return ToolOutcome.text(f"Hello, {given.content['name']}!")
