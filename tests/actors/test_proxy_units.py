"""Units that stand for MCP servers: real processes over real pipes, which behave well, badly, or not at all."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.context import PatchContext, SetContext, SetOverride
from actors.resolution import CapabilityEdit
from presets.unit_shop import UnitState
from protocol.tool import ToolError, ToolOutcome
from tests.actors.fakes import text_of
from tests.actors.proxies_on_trial import PRESETS, lives, manifest, proxy_on_trial, raw, write_unit
from tests.actors.raw_mcp_server import RICH, TOOLS
from tests.actors.units_on_trial import Silent, Trial, units_on_trial
from tests.presets.samples import adapter, preset

pytestmark = pytest.mark.slow

NAMES = tuple(sorted(f"space_notes_{tool['name']}" for tool in TOOLS))
ONE: dict[str, Any] = {"name": "one", "description": "One.", "inputSchema": {"type": "object"}}
TWO: dict[str, Any] = {**ONE, "name": "two"}


class Listening(Silent):
    """A call that notes its progress."""

    def __init__(self) -> None:
        self.told: list[tuple[float, float | None, str | None]] = []

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        self.told.append((done, total, message))


async def call_with(trial: Trial, tool: str, by: Silent) -> ToolOutcome:
    entry = trial.space.catalog.tools.value.get(tool)
    assert entry is not None
    return await entry.definition.run({}, by)  # pyright: ignore[reportArgumentType]


# Offering and calling


async def test_the_tools_of_a_server_are_offered_as_it_describes_them(tmp_path: Path) -> None:
    async with proxy_on_trial(tmp_path) as trial:
        assert trial.tools == NAMES
        row = trial.row("notes")
        assert (row.kind, row.state, row.version, row.presets) == ("proxy", UnitState.LOADED, 1, ("notes",))
        entry = trial.space.catalog.tools.value.get("space_notes_add")
        assert entry is not None
        assert (entry.definition.title, entry.definition.description) == ("Add up", "Add two numbers.")
        assert entry.definition.input_schema["required"] == ["a", "b"]
        assert "$schema" not in entry.definition.input_schema
        assert entry.face.arguments.problems({"a": 1})
        assert (await trial.call("space_notes_add", {"a": 1, "b": 2})).structured == {"sum": 3}
        assert "its server is there: raw 1, MCP 2025-11-25" in await trial.log()


async def test_a_server_that_knows_no_sessions_is_served_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.proxy_connection.POLL_SECONDS", 0.1)
    async with proxy_on_trial(tmp_path, "newer") as trial:
        assert trial.tools == NAMES
        assert (await trial.call("space_notes_add", {"a": 1, "b": 2})).structured == {"sum": 3}
        assert "MCP 2026-07-28" in await trial.log()
        trial.list_now([ONE], say_so=False)
        await trial.until(lambda: trial.tools == ("space_notes_one",))


async def test_what_a_server_answers_is_passed_on_whole(tmp_path: Path) -> None:
    async with proxy_on_trial(tmp_path) as trial:
        rich = await trial.call("space_notes_rich")
        assert [block.model_dump(by_alias=True, exclude_none=True, mode="json") for block in rich.content] == RICH
        failed = await trial.call("space_notes_fail")
        assert (failed.is_error, text_of(failed)) == (True, "the disk is full")
        with pytest.raises(ToolError, match="server of unit 'notes': its answer is none that MCP knows"):
            await trial.call("space_notes_wrong")


async def test_progress_is_passed_on_as_far_as_it_rises(tmp_path: Path) -> None:
    async with proxy_on_trial(tmp_path) as trial:
        by = Listening()
        assert text_of(await call_with(trial, "space_notes_steps", by)) == "done"
        assert by.told == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


async def test_a_call_that_is_cancelled_is_cancelled_at_the_server_and_the_next_goes_through(tmp_path: Path) -> None:
    async with proxy_on_trial(tmp_path) as trial:
        with trio.move_on_after(0.2) as limit:
            await trial.call("space_notes_wait")
        assert limit.cancelled_caught
        await trial.until(lambda: any(line.startswith("cancelled") for line in trial.seen()))
        assert (await trial.call("space_notes_add", {"a": 1, "b": 1})).structured == {"sum": 2}


async def test_a_call_that_is_never_answered_ends_and_the_server_is_told(tmp_path: Path) -> None:
    async with proxy_on_trial(tmp_path, more="call_seconds = 0.2") as trial:
        with pytest.raises(ToolError, match=r"has not answered within 0\.2 s"):
            await trial.call("space_notes_wait")
        await trial.until(lambda: any(line.startswith("cancelled") for line in trial.seen()))


async def test_a_server_finds_little_of_the_engines_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPACE_TOKEN", "the-token-of-the-engine")
    monkeypatch.setenv("SOME_API_KEY", "s3cr3t-token-of-tests")
    more = 'env = { KEY = "env:SOME_API_KEY", HEADER = "Bearer env:SOME_API_KEY", PLAIN = "env:is-no-name" }'
    async with proxy_on_trial(tmp_path, more=more) as trial:
        found = json.loads(text_of(await trial.call("space_notes_env")))
        assert not {"SPACE_TOKEN", "SOME_API_KEY", "PYTEST_CURRENT_TEST"} & found.keys()
        assert (found["KEY"], found["HEADER"]) == ("s3cr3t-token-of-tests", "Bearer s3cr3t-token-of-tests")
        assert (found["PLAIN"], found["PATH"]) == ("env:is-no-name", os.environ["PATH"])
        with pytest.raises(ToolError):
            await trial.call("space_notes_die")
        await trial.until(lambda: trial.row("notes").state is UnitState.STALE)
        assert "s3cr3t" not in await trial.log() + (trial.row("notes").report or "")
        assert "out of memory, token (secret)" in (trial.row("notes").report or "")


# The gate


async def test_without_a_word_in_the_manifest_every_tool_is_as_risky_as_a_shell_and_off(tmp_path: Path) -> None:
    harmless = {**ONE, "annotations": {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False}}
    async with proxy_on_trial(tmp_path, presets="", tools=[harmless]) as trial:
        assert trial.tools == ()
        await trial.space.context.ask(SetOverride("notes", "on"))
        (entry,) = trial.space.catalog.tools.value.entries
        assert entry.definition.labels["risk"] == "shell"
        assert entry.definition.destroys
        assert entry.definition.reaches_out
        assert not entry.definition.reads_only


async def test_a_server_is_believed_that_a_tool_only_reads_where_the_manifest_says_as_much(tmp_path: Path) -> None:
    presets = (
        '[[proxy.preset]]\nname = "notes"\ntools = ["read_*"]\nrisk = "filesystem-read"\ndefault = "auto"\n'
        '[[proxy.preset]]\nname = "notes-rest"\ntools = ["*"]\nrisk = "destructive"\ndefault = "auto"\n'
    )
    hint = {"annotations": {"readOnlyHint": True}}
    tools = [{**ONE, **hint, "name": "read_it"}, {**ONE, "name": "read_that"}, {**ONE, **hint, "name": "wipe"}]
    async with proxy_on_trial(tmp_path, presets=presets, tools=tools) as trial:
        found = {entry.definition.name: entry.definition for entry in trial.space.catalog.tools.value.entries}
        assert {name: one.reads_only for name, one in found.items()} == {
            "space_notes_read_it": True,
            "space_notes_read_that": False,
            "space_notes_wipe": False,
        }
        assert [name for name, one in found.items() if one.destroys] == ["space_notes_wipe"]


async def test_presets_of_the_manifest_follow_the_context_and_the_user(tmp_path: Path) -> None:
    presets = (
        '[[proxy.preset]]\nname = "notes-read"\ntools = ["read_*"]\nrisk = "filesystem-read"\ndefault = "auto"\n'
        'contexts = [{ surface = "canvas", activity = "graph" }]\nprompt = "Notes are short."\n'
    )
    async with proxy_on_trial(tmp_path, presets=presets) as trial:
        assert trial.tools == ()
        assert trial.row("notes").presets == ("notes-read", "notes")
        graph = {"surface": "canvas", "canvas_visible": True, "activity": "graph"}
        await trial.space.context.ask(SetContext(graph))
        assert trial.tools == ("space_notes_read_note",)
        # What the canvas shows is the graph still, and nobody looks at it.
        await trial.space.context.ask(PatchContext({"surface": "scene"}))
        assert trial.space.context.view.value.context.activity == "graph"
        assert trial.tools == ()
        await trial.space.context.ask(SetContext(graph))
        await trial.space.context.ask(SetOverride("notes-read", "off"))
        assert trial.tools == ()


# Following


async def test_a_change_of_the_list_is_followed_with_one_change_here(tmp_path: Path) -> None:
    async with proxy_on_trial(tmp_path, "chatty", tools=[ONE]) as trial:
        revision = trial.space.catalog.tools.value.revision
        listed = trial.seen().count("list")
        trial.list_now([ONE, TWO])
        await trial.until(lambda: trial.tools == ("space_notes_one", "space_notes_two"))
        await trio.sleep(0.6)
        assert trial.space.catalog.tools.value.revision == revision + 1
        assert trial.seen().count("list") - listed <= 3
        assert trial.row("notes").version == 2
        assert len(trial.pids()) == 1


async def test_word_of_a_change_that_is_none_changes_nothing(tmp_path: Path) -> None:
    async with proxy_on_trial(tmp_path, tools=[ONE]) as trial:
        trial.list_now([ONE])
        await trial.until(lambda: trial.seen().count("list") == 2)
        await trio.sleep(0.2)
        assert trial.row("notes").version == 1


async def test_a_list_that_cannot_be_offered_leaves_the_one_before_and_says_so(tmp_path: Path) -> None:
    other = CapabilityEdit(
        add_adapters=(adapter("b.hidden", "space_notes_two"),),
        add_presets=(preset("hidden", "b.hidden", contexts=({"activity": "never"},)),),
    )
    async with proxy_on_trial(tmp_path, tools=[ONE], capabilities=(other,)) as trial:
        trial.list_now([ONE, TWO])
        await trial.until(lambda: trial.row("notes").state is UnitState.STALE)
        assert "somebody else has one of that name" in (trial.row("notes").problem or "")
        assert trial.tools == ("space_notes_one",)
        assert text_of(await trial.call("space_notes_one")).startswith("one")
        trial.list_now([ONE, {**ONE, "name": "three"}])
        await trial.until(lambda: trial.tools == ("space_notes_one", "space_notes_three"))
        await trial.until(lambda: trial.row("notes").state is UnitState.LOADED)


async def test_a_manifest_that_is_saved_is_followed_and_the_old_server_ends(tmp_path: Path) -> None:
    async with proxy_on_trial(tmp_path) as trial:
        (before,) = trial.pids()
        write_unit(tmp_path, manifest(raw(), 'leave_out = ["d*"]', PRESETS, str(trial.desk)))
        await trial.until(lambda: trial.row("notes").version == 2)
        assert "space_notes_die" not in trial.tools
        await trial.until(lambda: not lives(before))
        write_unit(tmp_path, manifest(raw("crash"), "", PRESETS, str(trial.desk)))
        await trial.until(lambda: trial.row("notes").state is UnitState.STALE)
        assert "exit code 7" in (trial.row("notes").problem or "")
        assert "no license found" in (trial.row("notes").problem or "")
        assert (await trial.call("space_notes_add", {"a": 1, "b": 2})).structured == {"sum": 3}
        assert [lives(pid) for pid in trial.pids()] == [False, True, False]


async def test_calls_in_flight_end_with_the_server_that_they_began_with(tmp_path: Path) -> None:
    async with proxy_on_trial(tmp_path, more="call_seconds = 1") as trial:
        (before,) = trial.pids()
        said: list[str] = []

        async def wait() -> None:
            try:
                await trial.call("space_notes_wait")
            except ToolError as error:
                said.append(str(error))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await trial.until(lambda: "call wait" in trial.seen())
            write_unit(tmp_path, manifest(raw(), 'prefix = "read_"', PRESETS, str(trial.desk)))
            await trial.until(lambda: "space_notes_note" in trial.tools)
            assert lives(before)
        assert "has not answered within 1 s" in said[0]
        await trial.until(lambda: not lives(before))


@pytest.mark.parametrize("away", [False, True], ids=["in its group", "in a session of its own"])
async def test_a_unit_that_goes_takes_its_server_along_with_what_that_has_started(tmp_path: Path, away: bool) -> None:
    async with proxy_on_trial(tmp_path, "stubborn") as trial:
        (server,) = trial.pids()
        child = int(text_of(await trial.call("space_notes_spawn", {"away": away})))
        assert lives(child)
        shutil.rmtree(trial.root / "notes")
        await trial.until(lambda: trial.tools == ())
        await trial.until(lambda: not lives(server) and not lives(child))


@pytest.mark.parametrize("away", [False, True], ids=["in its group", "in a session of its own"])
async def test_the_end_of_the_engine_ends_servers_and_what_they_have_started(tmp_path: Path, away: bool) -> None:
    async with proxy_on_trial(tmp_path) as trial:
        child = int(text_of(await trial.call("space_notes_spawn", {"away": away})))
    assert not lives(child)


# Outages


async def test_a_server_that_crashes_is_started_again_and_its_tools_stay_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.proxy_server.FIRST_WAIT_SECONDS", 0.5)
    async with proxy_on_trial(tmp_path) as trial:
        revision = trial.space.catalog.tools.value.revision
        with pytest.raises(ToolError, match="ended with exit code 3 during the call; whether it was done is not known"):
            await trial.call("space_notes_die")
        with pytest.raises(ToolError, match=r"is away: it ended with exit code 3\. Nothing was done"):
            await trial.call("space_notes_add", {"a": 1, "b": 2})
        await trial.until(lambda: trial.row("notes").state is UnitState.STALE)
        assert trial.tools == NAMES
        assert "its server is away: it ended with exit code 3" in (trial.row("notes").problem or "")
        await trial.until(lambda: trial.row("notes").state is UnitState.LOADED)
        assert trial.row("notes").problem is None
        assert (await trial.call("space_notes_add", {"a": 1, "b": 2})).structured == {"sum": 3}
        assert trial.space.catalog.tools.value.revision == revision
        assert len(trial.pids()) == 2


async def test_a_server_that_crashes_again_and_again_is_started_ever_more_seldom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.proxy_server.FIRST_WAIT_SECONDS", 0.1)
    async with proxy_on_trial(tmp_path) as trial:
        for count in range(1, 5):
            os.kill(trial.pids()[-1], signal.SIGKILL)
            await trial.until(lambda count=count: len(trial.pids()) > count)
            await trial.until(lambda: trial.row("notes").state is UnitState.LOADED)
        waits = re.findall(r"ended with signal 9; the next try is in (\S+) s", await trial.log())
        assert waits == ["0.1", "0.2", "0.4", "0.8"]


async def test_a_server_that_cannot_start_breaks_its_unit_and_nobody_elses(tmp_path: Path) -> None:
    write_unit(tmp_path, manifest(["no-such-command-anywhere"]))
    write_unit(tmp_path, manifest(raw("crash"), presets="", cwd=str(tmp_path)), "another")
    write_unit(tmp_path, manifest(raw(), presets="", cwd=str(tmp_path / "nowhere")), "third")
    async with units_on_trial(tmp_path) as trial:
        await trial.tried("notes", "another", "third")
        for unit, said in (
            ("notes", "the command 'no-such-command-anywhere' was not found"),
            ("another", "it ended with exit code 7; it printed last:\nno license found"),
            ("third", "is no folder"),
        ):
            assert trial.row(unit).state is UnitState.BROKEN
            assert said in (trial.row(unit).problem or "")
        assert trial.tools == ()


async def test_a_server_that_takes_its_time_is_waited_for_and_its_tools_come_when_it_answers(tmp_path: Path) -> None:
    async with proxy_on_trial(tmp_path, "later") as trial:
        assert trial.tools == NAMES
    (tmp_path / "desk" / "seen.txt").unlink()


async def test_a_server_that_never_answers_leaves_a_unit_without_tools_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.proxy_connection.START_SECONDS", 1.5)
    monkeypatch.setattr("actors.proxy_units.PATIENCE_SECONDS", 0.5)
    async with proxy_on_trial(tmp_path, "silent") as trial:
        await trial.until(lambda: trial.row("notes").state is UnitState.STALE)
        assert trial.tools == ()
        await trial.until(lambda: "did not answer the handshake within 1.5 s" in (trial.row("notes").problem or ""))
        (before, *_) = trial.pids()
        assert not lives(before)
        write_unit(tmp_path, manifest(raw(), cwd=str(trial.desk)))
        await trial.until(lambda: trial.tools == NAMES)


# Servers that behave badly


async def test_junk_among_the_messages_is_passed_over_and_shown(tmp_path: Path) -> None:
    async with proxy_on_trial(tmp_path, "junk") as trial:
        assert (await trial.call("space_notes_add", {"a": 1, "b": 2})).structured == {"sum": 3}
        assert "(among its messages) Server running!" in await trial.log()


async def test_a_server_that_prints_without_end_fills_no_log(tmp_path: Path) -> None:
    async with proxy_on_trial(tmp_path, "noisy") as trial:
        assert (await trial.call("space_notes_add", {"a": 1, "b": 2})).structured == {"sum": 3}
        assert "its server prints too much" in await trial.log()
        assert trial.space.units.logs.path("notes").stat().st_size < 100_000


async def test_a_message_without_end_ends_the_connection_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.proxy_process.MAX_MESSAGE_BYTES", 100_000)
    async with proxy_on_trial(tmp_path, "junk") as trial:
        assert trial.row("notes").state is UnitState.BROKEN
        assert "it sent a message of more than 100000 bytes" in (trial.row("notes").problem or "")


async def test_lists_in_pages_are_read_whole(tmp_path: Path) -> None:
    async with proxy_on_trial(tmp_path, "pages") as trial:
        assert trial.tools == NAMES


@pytest.mark.parametrize(
    ("mode", "offered", "said"),
    [("circle", 1, "its list of tools goes round in circles"), ("endless", 100, "its list of tools does not end")],
)
async def test_lists_that_do_not_end_are_cut_and_told(tmp_path: Path, mode: str, offered: int, said: str) -> None:
    async with proxy_on_trial(tmp_path, mode) as trial:
        assert len(trial.tools) == offered
        assert said in await trial.log()


async def test_of_a_huge_list_as_many_are_offered_as_a_unit_may_have(tmp_path: Path) -> None:
    tools = [{**ONE, "name": f"tool_{number:04}"} for number in range(5000)]
    async with proxy_on_trial(tmp_path, tools=tools) as trial:
        await trial.until(lambda: len(trial.tools) == 200)
        log = await trial.log()
        assert "it lists 5000 tools; those after the first 1000 are left out" in log
        assert "at most 200 tools of a unit are" in log


async def test_tools_that_cannot_be_shown_are_left_out_with_the_reason_and_the_others_serve(tmp_path: Path) -> None:
    def with_schema(name: str, schema: Any) -> dict[str, Any]:
        return {**ONE, "name": name, "inputSchema": schema}

    tools: list[dict[str, Any]] = [
        ONE,
        with_schema("list", {"type": "array"}),
        with_schema("odd", {"type": "object", "properties": {"a": {"type": "no such type"}}}),
        with_schema("far", {"type": "object", "properties": {"a": {"$ref": "https://example.com/a.json"}}}),
        with_schema("none", None),
        {"name": "bare"},
        {"description": "no name"},
        with_schema("choice", {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        {**ONE, "name": "out", "outputSchema": {"type": "object", "properties": 7}},
        {**ONE, "name": "one!"},
        {**ONE, "name": "日本"},
        {**ONE, "name": "a" * 200},
        {**ONE, "name": "mute", "description": None},
    ]
    async with proxy_on_trial(tmp_path, tools=tools) as trial:
        assert [name for name in trial.tools if "aaa" not in name] == [
            "space_notes_choice",
            "space_notes_mute",
            "space_notes_one",
            "space_notes_out",
        ]
        (long,) = [name for name in trial.tools if "aaa" in name]
        assert len(long) == 49
        log = await trial.log()
        for said in (
            "tool 'list' is not offered",
            "tool 'odd' is not offered",
            "tool 'far' is not offered",
            "a tool of its list is left out, 'none'",
            "a tool of its list is left out, 'bare'",
            "a tool of its list is left out, None",
            "tool 'choice' is shown without anyOf",
            "tool 'out' is shown without its outputSchema",
            "tool 'one!' is not offered: its name here would be 'space_notes_one', which 'one' has",
            "tool '日本' is not offered",
        ):
            assert said in log, said


async def test_a_tool_that_is_nested_too_deep_is_left_out_alone_and_such_an_answer_is_an_error(tmp_path: Path) -> None:
    async with proxy_on_trial(tmp_path, "deep", tools=[ONE]) as trial:
        assert trial.tools == ("space_notes_deep", "space_notes_one")
        assert "a tool of its list is left out, 'too_deep': it is nested more than 150 deep" in await trial.log()
        with pytest.raises(ToolError, match="its answer is nested more than 150 deep, and cannot be read"):
            await trial.call("space_notes_deep")
        assert text_of(await trial.call("space_notes_one")) == "one {}"


async def test_a_server_that_shakes_hands_and_lists_nothing_is_said_to_have_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.proxy_units.PATIENCE_SECONDS", 1.0)
    async with proxy_on_trial(tmp_path, "silent-list") as trial:
        await trial.until(lambda: "it has answered, and not listed its tools yet" in (trial.row("notes").problem or ""))


async def test_a_tool_that_the_server_has_renamed_is_refused_by_the_server(tmp_path: Path) -> None:
    async with proxy_on_trial(tmp_path, tools=[ONE]) as trial:
        trial.list_now([TWO], say_so=False)
        assert text_of(await trial.call("space_notes_one")).startswith("one")
        os.kill(trial.pids()[-1], signal.SIGUSR1)
        await trial.until(lambda: trial.tools == ("space_notes_two",))


async def test_nothing_piles_up_over_many_reloads(tmp_path: Path) -> None:
    async with proxy_on_trial(tmp_path, tools=[ONE]) as trial:
        files = len(os.listdir("/proc/self/fd"))
        for _ in range(20):
            await trial.space.units.reload("notes")
        await trial.until(lambda: [lives(pid) for pid in trial.pids()].count(True) == 1)
        assert trial.row("notes").version == 21
        await trial.until(lambda: len(os.listdir("/proc/self/fd")) <= files)
        assert not trial.space.app.process_groups._leaders - {trial.pids()[-1]}
