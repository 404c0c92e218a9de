"""Programs inside the engine: what is kept of them, what is told where none can be run, and one run from end to end.

Numbers in square brackets are those of the cases about presentation. Source: tool-presentation.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest
import trio

from actors.catalog import ApplyBatch
from actors.program_log import CallRecord, ProgramLog, ProgramRecord, without_middle
from actors.programs import KEPT_SDKS
from actors.resolution import CapabilityEdit
from actors.sessions import Begin, CallClaim, OpenSession
from actors.space import Space
from actors.world import MergedInWorlds, MergeSteps
from presets.definition import Risk
from presets.presentation import RUN_CODE_NAME
from protocol.input_request import InputResponse
from protocol.interaction import InputNeededError
from protocol.session import Audience
from protocol.tool import JsonObject, ToolCall, ToolOutcome
from protocol.tool_list import ToolEntry, ToolList
from sandbox.deno import DENO_VARIABLE, find_deno
from sandbox.limits import RUN_CODE_LIMITS
from tests.actors.capabilities import PLAIN
from tests.actors.fakes import VERSION, call_of, running, space_of, text_of, tool
from tests.presets.item_samples import AnsweringCall
from tests.presets.samples import adapter, preset

CODE = Audience("code")


def record(number: int, code: str = "", **more: object) -> ProgramRecord:
    made = ProgramRecord(id=f"p{number}", audience=CODE, description="d", code=code, started_at=float(number))
    return replace(made, **more)


# The log


def test_the_oldest_programs_give_way_to_new_ones() -> None:
    log = ProgramLog(most=3)
    for number in range(5):
        log.put(record(number))
    assert [kept.id for kept in log.latest()] == ["p4", "p3", "p2"]
    assert log.get("p1") is None
    assert log.get("p4") is not None


def test_programs_give_way_by_how_much_they_hold_and_the_last_one_stays() -> None:
    log = ProgramLog(most_characters=100)
    log.put(record(1, "x" * 60))
    log.put(record(2, "x" * 60))
    assert [kept.id for kept in log.latest()] == ["p2"]
    log.put(record(3, "x" * 500))
    assert [kept.id for kept in log.latest()] == ["p3"]
    log.put(record(4))
    assert [kept.id for kept in log.latest()] == ["p4"]


def test_a_program_that_has_just_ended_is_the_latest_and_what_it_left_counts() -> None:
    log = ProgramLog(most_characters=100)
    log.put(record(1))
    log.put(record(2))
    log.put(record(1, seconds=1.0, logs=("y" * 200,)))
    assert [kept.id for kept in log.latest()] == ["p1"]
    log.put(record(3))
    assert [kept.id for kept in log.latest()] == ["p3"]


def test_a_program_that_was_dropped_while_it_ran_is_kept_once_it_has_ended() -> None:
    log = ProgramLog(most=1)
    log.put(record(1))
    log.put(record(2))
    assert log.get("p1") is None
    log.put(record(1, seconds=1.0))
    assert [kept.seconds for kept in log.latest()] == [1.0], "its report may have said that it is kept"


def test_a_record_is_plain_json_whole_or_as_a_row() -> None:
    made = record(1, "return 1", seconds=0.5, logs=("a",), result_text="1", calls=(CallRecord("space_x", "{}", 0.1),))
    whole, row = made.to_json(), made.to_json(whole=False)
    assert json.loads(json.dumps(whole)) == whole
    assert whole["code"] == "return 1"
    assert whole["calls"] == [{"tool": "space_x", "arguments": "{}", "started": 0.1, "seconds": None, "error": None}]
    assert set(whole) - set(row) == {"code", "logs", "result", "calls"}
    assert row["call_count"] == 1


def test_a_long_text_is_kept_without_its_end_and_says_how_long_that_was() -> None:
    assert without_middle("abc", 3) == "abc"
    assert without_middle("abcd", 3) == "abc… (1 more characters)"


# The tool that runs programs


def listed(*names: str) -> ToolList:
    return ToolList.of(1, {name: ToolEntry.of(tool(name)) for name in names})


def test_equal_capabilities_give_one_sdk_and_the_same_description(space: Space) -> None:
    programs = space.programs
    one, other = (programs.run_code_entry(Audience(agent), listed("space_a", "space_b")) for agent in ("code", "mine"))
    assert one.face is other.face  # [105, 114]
    assert one.definition.name == RUN_CODE_NAME
    assert "space_a" in one.definition.description
    assert programs.sdk_of(listed("space_a", "space_b")) is programs.sdk_of(listed("space_b", "space_a"))
    different = programs.run_code_entry(CODE, listed("space_a"))
    assert different.definition.description != one.definition.description


def test_sdks_are_kept_for_as_many_contexts_as_are_in_use(space: Space) -> None:
    programs = space.programs
    first = programs.sdk_of(listed("space_0"))
    for number in range(1, KEPT_SDKS):
        programs.sdk_of(listed(f"space_{number}"))
    assert programs.sdk_of(listed("space_0")) is first
    for number in range(KEPT_SDKS, 2 * KEPT_SDKS):
        programs.sdk_of(listed(f"space_{number}"))
    assert programs.sdk_of(listed("space_0")) is not first


def test_an_sdk_without_any_tool_says_so_and_is_valid(space: Space) -> None:
    entry = space.programs.run_code_entry(CODE, listed())  # [225]
    assert "interface Tools {\n}" in entry.definition.description


def test_the_annotations_speak_of_the_worst_that_a_program_can_do(space: Space) -> None:
    annotations = space.programs.run_code_entry(CODE, listed("space_a")).definition.annotations
    assert annotations is not None
    assert (annotations.read_only_hint, annotations.destructive_hint) == (False, False)


# Where none can be run


@pytest.fixture
async def without_deno(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Space]:
    monkeypatch.setenv(DENO_VARIABLE, str(tmp_path / "none"))
    async with running(space_of(tmp_path), PLAIN) as space:
        yield space


async def run(space: Space, code: str, audience: Audience = CODE) -> ToolOutcome:
    return await space.programs.run_program(audience, code, "try", Silent())


class Silent:
    """A call whose client asks for no progress."""

    step_group: str | None = None

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        await trio.lowlevel.checkpoint()


async def test_without_deno_a_program_is_an_error_that_says_why_and_nothing_is_started(without_deno: Space) -> None:
    reason = without_deno.programs.no_runtime_because()
    assert reason is not None
    assert "deno not found" in reason
    outcome = await run(without_deno, "return 1", Audience("standard", "native"))  # [162]
    assert outcome.is_error
    assert f"{RUN_CODE_NAME} needs the code runtime: deno not found" in text_of(outcome)
    assert without_deno.programs.runtime.status().runners == ()
    (kept,) = without_deno.programs.log.latest()
    assert kept.failure is not None
    assert kept.failure.startswith("unavailable: ")


async def test_warming_without_deno_ends_nothing(without_deno: Space) -> None:
    without_deno.programs.begin_warming()
    await without_deno.programs.look_again()
    assert "deno not found" in (without_deno.programs.no_runtime_because() or "")


@pytest.mark.slow
async def test_a_deno_that_does_not_start_is_known_after_the_first_program_and_until_it_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "deno"
    fake.write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo 'deno 2.9.9' && exit 0\nexit 3\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setenv(DENO_VARIABLE, str(fake))
    async with running(space_of(tmp_path), PLAIN) as space:
        assert space.programs.no_runtime_because() is None
        assert (await run(space, "return 1", Audience("standard", "native"))).is_error
        assert "does not start" in (space.programs.no_runtime_because() or "")
        assert not space.programs.runtime.status().available
        await space.programs.look_again()
        assert space.programs.no_runtime_because() is not None
        fake.unlink()
        monkeypatch.delenv(DENO_VARIABLE)
        fake.symlink_to(find_deno())
        await space.programs.look_again()
        assert space.programs.no_runtime_because() is None


# The end of the engine


async def test_the_end_of_the_engine_cancels_what_outlasts_it_while_the_actors_still_answer(
    space: Space, autojump_clock: object
) -> None:
    answered: list[MergedInWorlds] = []

    async def long(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        try:
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                # As a program does, whose steps become one at its end.
                answered.append(await space.world.ask(MergeSteps("none", "none")))
        raise AssertionError

    async with running(space):
        await space.catalog.ask(ApplyBatch("tests", (tool(run=long),)))
        session = await space.sessions.ask(OpenSession(VERSION, "tests", None))
        active = await space.sessions.ask(Begin(session.id, (CallClaim(1),)))
        assert active is not None
        call = space.calls.start(call_of(space.catalog.tools.value, session.id), active)
        await trio.sleep(0.1)
        assert await space.drain(1) is False
        assert answered == [MergedInWorlds()]
        assert call.done.is_set()
        assert space.calls.running() == ()


# With deno


@pytest.mark.slow
async def test_a_program_is_checked_run_reported_and_kept(tmp_path: Path) -> None:
    async with running(space_of(tmp_path), PLAIN) as space:
        program = "console.log('seen');\nreturn await tools.space_a_draw({})"
        outcome = await run(space, program)
        assert not outcome.is_error
        assert text_of(outcome) == "seen\na.draw"
        (kept,) = space.programs.log.latest()
        assert (kept.code, kept.logs, kept.result_text) == (program, ("seen",), "a.draw")
        assert [(call.tool, call.error) for call in kept.calls] == [("space_a_draw", None)]
        assert kept.seconds is not None


@pytest.mark.slow
async def test_limits_end_a_program_with_words_that_name_them(tmp_path: Path) -> None:
    space = space_of(tmp_path)
    space.programs._limits = replace(RUN_CODE_LIMITS, wall_seconds=0.3, cpu_seconds=0.2)
    async with running(space, PLAIN):
        waiting = await run(space, "await new Promise(() => {})")
        assert text_of(waiting).startswith("timeout: the program took longer than 0.3 seconds")  # [372]
        looping = await run(space, "while (true) {}")
        assert "processor time" in text_of(looping) or "longer than" in text_of(looping)  # [370]
        assert text_of(await run(space, "return 'next'")) == "next"


@pytest.mark.slow
async def test_a_program_of_an_agent_that_has_gone_is_refused_by_an_error(tmp_path: Path) -> None:
    async with running(space_of(tmp_path), PLAIN) as space:
        with pytest.raises(Exception, match="there is no agent 'nobody-like-this'"):
            await run(space, "return 1", Audience("nobody-like-this"))
        assert space.programs.log.latest() == ()


# Questions to the user


def erasing() -> CapabilityEdit:
    """A tool that may destroy something, and one that changes something and may be taken back."""
    return CapabilityEdit(
        add_adapters=(adapter("d.erase"), adapter("d.draw")),
        add_presets=(preset("erasing", "d.erase", risk=Risk.DESTRUCTIVE), preset("drawing", "d.draw")),
    )


@pytest.mark.slow
@pytest.mark.parametrize(("action", "result"), [("accept", '"d.erase"'), ("decline", "The user declined")])
async def test_a_program_that_may_destroy_something_asks_its_user_first(
    tmp_path: Path, action: str, result: str
) -> None:
    code = "try { return await tools.space_d_erase({}) } catch (error) { return error.message }"
    async with running(space_of(tmp_path), erasing()) as space:
        call = AnsweringCall(action)
        outcome = await space.programs.run_program(CODE, code, "erase", call)
        assert len(call.asked) == 1
        assert result.strip('"') in text_of(outcome)


@pytest.mark.slow
async def test_a_program_of_a_client_without_a_session_begins_anew_with_the_answer(tmp_path: Path) -> None:
    async with running(space_of(tmp_path), erasing()) as space:
        given: dict[str, InputResponse] = {}
        code = "return await tools.space_d_erase({})"
        with pytest.raises(InputNeededError):
            await space.programs.run_program(CODE, code, "erase", AnsweringCall(rounds=True, given=given))
        outcome = await space.programs.run_program(CODE, code, "erase", AnsweringCall(rounds=True, given=given))
        assert "d.erase" in text_of(outcome)
        again, first = space.programs.log.latest()
        assert (again.failure, len(again.calls)) == (None, 1)
        assert first.failure is not None
        assert "the user is asked first" in first.failure
        late = "await tools.space_d_draw({}); return await tools.space_d_erase({})"
        refused = await space.programs.run_program(CODE, late, "erase", AnsweringCall(rounds=True))
        assert "only before a program has changed anything" in text_of(refused)
