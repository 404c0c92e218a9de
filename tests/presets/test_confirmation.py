"""The question before a call that may destroy something: when it is asked, what it says, what the answer does."""

from __future__ import annotations

import pytest

from presets.definition import PresetDefinition, Risk
from presets.interactions import interaction_of
from presets.overrides import NO_OVERRIDES
from presets.registry import PresetRegistry
from presets.resolution import resolve
from presets.tool_definitions import DefinitionCache, tool_definitions
from protocol.input_request import ElicitForm
from protocol.log_level import LogLevel
from protocol.tool import ToolCall, ToolDefinition, ToolError
from tests.presets.item_samples import AnsweringCall
from tests.presets.samples import DRAWING, adapter, adapters, app, preset

DESTROYING = (Risk.DESTRUCTIVE, Risk.FILESYSTEM_WRITE, Risk.SHELL)
HARMLESS = (Risk.NORMAL, Risk.FILESYSTEM_READ)


def definition(risk: Risk, *, asks: bool = True, read_only: bool = False) -> ToolDefinition:
    offered: PresetDefinition = preset("p", "a.wipe", risk=risk)
    (made,) = tool_definitions(
        resolve(PresetRegistry((offered,)), DRAWING, NO_OVERRIDES),
        adapters(adapter("a.wipe", read_only=read_only)),
        app(),
        DefinitionCache(ask_before_destroying=asks),
    )
    return made


@pytest.mark.parametrize("risk", DESTROYING)
async def test_the_user_is_asked_once_and_the_tool_runs_when_they_agree(risk: Risk) -> None:
    call = AnsweringCall()
    outcome = await definition(risk).run({"id": "world-2"}, call)
    assert not outcome.is_error
    ((key, asked),) = call.asked
    assert key == "space_confirm"
    assert isinstance(asked, ElicitForm)
    assert "space_a_wipe" in asked.message
    assert '"id": "world-2"' in asked.message
    assert asked.schema == {"type": "object", "properties": {}}


@pytest.mark.parametrize(("action", "said"), [("decline", "The user declined"), ("cancel", "without deciding")])
async def test_without_their_agreement_it_does_not_run_and_says_so(action: str, said: str) -> None:
    with pytest.raises(ToolError) as refused:
        await definition(Risk.SHELL).run({}, AnsweringCall(action))
    assert said in str(refused.value)
    assert "was not run" in str(refused.value)


@pytest.mark.parametrize("risk", [*HARMLESS, *DESTROYING])
async def test_what_cannot_destroy_or_only_reads_asks_nobody(risk: Risk) -> None:
    call = AnsweringCall()
    await definition(risk, read_only=risk in DESTROYING).run({}, call)
    assert not call.asked


async def test_a_client_that_cannot_be_asked_gets_what_it_got_before() -> None:
    call = AnsweringCall(forms=False)
    assert not (await definition(Risk.SHELL).run({}, call)).is_error
    assert not call.asked


async def test_a_call_without_a_client_is_never_asked_about() -> None:
    class Plain:
        step_group: str | None = None

        async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None: ...

    assert not (await definition(Risk.SHELL).run({}, Plain())).is_error


async def test_the_question_can_be_turned_off() -> None:
    call = AnsweringCall()
    await definition(Risk.SHELL, asks=False).run({}, call)
    assert not call.asked


async def test_a_long_text_is_shown_shortened_and_says_how_much_is_missing() -> None:
    call = AnsweringCall()
    await definition(Risk.SHELL).run({"command": "x" * 10_000}, call)
    ((_, asked),) = call.asked
    assert isinstance(asked, ElicitForm)
    assert len(asked.message) < 2_000
    assert "more characters" in asked.message


async def test_a_call_that_is_no_interaction_becomes_one_without_a_client() -> None:
    attended = AnsweringCall()
    assert interaction_of(attended) is attended

    class Plain:
        step_group: str | None = "program-1"

        async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None: ...

    plain: ToolCall = Plain()
    made = interaction_of(plain)
    assert (made.step_group, made.client.known, made.state) == ("program-1", frozenset(), None)
    await made.log(LogLevel.INFO, "nobody hears this")
    with pytest.raises(ToolError, match="no client that could be asked"):
        await made.ask({})
