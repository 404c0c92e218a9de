"""The question before a call that may destroy something: when it is asked, what it says, what the answer does."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from presets.confirmation import SHOWN_CHARACTERS
from presets.definition import PresetDefinition, Risk
from presets.interactions import interaction_of
from presets.overrides import NO_OVERRIDES
from presets.registry import PresetRegistry
from presets.resolution import resolve
from presets.tool_definitions import DefinitionCache, tool_definitions
from protocol.input_request import ElicitForm, InputRequest, InputResponse
from protocol.interaction import MalformedAnswerError
from protocol.log_level import LogLevel
from protocol.tool import JsonObject, NotRunError, ToolCall, ToolDefinition, ToolError
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
    with pytest.raises(NotRunError) as refused:
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


async def message_about(arguments: JsonObject) -> str:
    call = AnsweringCall()
    await definition(Risk.SHELL).run(arguments, call)
    ((_, asked),) = call.asked
    assert isinstance(asked, ElicitForm)
    return asked.message


async def test_a_long_text_is_shown_with_its_end_and_says_how_much_is_missing_between() -> None:
    message = await message_about({"command": "echo " + "#" * 10_000 + "\nrm -rf ~/important"})
    assert len(message) < SHOWN_CHARACTERS + 300
    assert "Not everything fits here" in message
    assert '"echo ####' in message
    assert "characters are left out here" in message
    assert "rm -rf ~/important" in message


async def test_no_member_hides_among_many_or_behind_another_of_a_like_name() -> None:
    message = await message_about({f"{'k' * 5_000}{n}": "x" * 5_000 for n in range(3)} | {"last": "rm -rf"})
    assert message.count('": "xxx') == 3
    assert "rm -rf" in message
    many = await message_about({"edits": [{"n": n} for n in range(5_000)]})
    assert "items are left out here" in many
    assert '"n": 4999' in many
    free = await message_about({"props": {f"p{n}": n for n in range(5_000)}})
    assert "members are left out here" in free
    assert '"p4999": 4999' in free


@pytest.mark.parametrize("hidden", ["\u202e", "\u200b", "\u2066", "\x9b", "\u00a0", "\u3164", "\ufe0f", "\U000e0041"])
async def test_what_cannot_be_seen_is_written_out(hidden: str) -> None:
    message = await message_about({"command": f"echo {hidden}safe", f"a{hidden}": 1})
    assert hidden not in message
    assert json.loads(message[message.index("{") :]) == {"command": f"echo {hidden}safe", f"a{hidden}": 1}


async def test_what_cannot_be_shown_is_not_asked_about_and_not_done() -> None:
    call = AnsweringCall()
    with pytest.raises(NotRunError, match=r"cannot be shown .* was not run and changed nothing"):
        await definition(Risk.SHELL).run({"number": 10**3_000}, call)
    assert not call.asked


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (ToolError("nobody answers"), NotRunError),
        (MalformedAnswerError("the answer is a list"), MalformedAnswerError),
    ],
)
async def test_a_question_that_comes_to_nothing_says_that_nothing_was_done(
    error: Exception, raised: type[Exception]
) -> None:
    class Deaf(AnsweringCall):
        async def ask(self, requests: Mapping[str, InputRequest], state: object = None) -> Mapping[str, InputResponse]:
            raise error

    with pytest.raises(raised, match=rf"{error}.* space_a_wipe was not run and changed nothing"):
        await definition(Risk.SHELL).run({}, Deaf())


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
