"""Programs through the endpoint: what a model sends, what it is told, and what is left in the engine afterwards.

Numbers in square brackets are those of the cases about presentation. Source: tool-presentation; findings on Code Mode.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.agents import FollowCapabilities
from presets.program_report import REPORT_CHARACTERS
from protocol.tool import JsonObject
from tests.transport.code_trial import (
    NOT_A_NUMBER,
    PATIENCE_SECONDS,
    PICTURE,
    READ,
    RECTANGLE,
    RUN_CODE,
    WAIT,
    WRITE,
    WRONG,
    Coder,
    Trial,
    engine_on_trial,
    shapes,
    texts,
    undo_count,
)
from tests.transport.conftest import LogEntries
from tests.transport.mcp_client import JSON_BODY, LIST_CHANGED, call, initialize, rpc
from tests.transport.running_engine import RunningEngine, running_engine
from tests.transport.tools_on_trial import CANVAS_ONLY, ECHO, FAIL, IMAGE, MOVE, PROGRESS, SCENE_ONLY

pytestmark = pytest.mark.slow


@pytest.fixture
def trial() -> Trial:
    return Trial()


@pytest.fixture
async def engine(tmp_path: Path, trial: Trial) -> AsyncGenerator[RunningEngine]:
    async with engine_on_trial(tmp_path, trial) as running:
        yield running


@pytest.fixture
async def coder(engine: RunningEngine) -> Coder:
    return Coder(engine, await engine.client(endpoint="/mcp/code"))


# What comes back


async def test_a_program_that_returns_text_gives_the_text_and_other_values_as_json(coder: Coder) -> None:
    assert await coder.text("return 'plain'") == "plain"  # [166]
    assert await coder.text("return {}") == "{}"  # [181]
    assert await coder.text("return []") == "[]"
    assert await coder.text("return null") == "null"
    assert await coder.text("return [1, 'a', true, null]") == '[1, "a", true, null]'
    large = await coder.text("return {rows: Array.from({length: 50}, (_, i) => ({i}))}")
    assert large.startswith('{\n  "rows": [\n    {\n      "i": 0')  # [181]
    assert json.loads(large)["rows"][49] == {"i": 49}


async def test_what_is_printed_comes_first_in_its_order_and_then_what_is_returned(coder: Coder) -> None:
    program = "console.log('a', 1, {b: 2});\nconsole.error('b');\nconsole.warn('c');\nconsole.info('d');\nreturn 'e'"
    assert (await coder.text(program)).split("\n") == ["a 1 { b: 2 }", "b", "c", "d", "e"]  # [139, 167, 360]


async def test_a_program_that_says_nothing_is_told_how_to_see_something(coder: Coder) -> None:
    said = "The program returned nothing and printed nothing; use `return` to see a value."
    assert await coder.text("1 + 1") == said  # [168, 368]
    assert await coder.text("return undefined") == said


async def test_the_structured_part_is_about_the_run(coder: Coder) -> None:
    result = await coder.run(f"await {RECTANGLE}; await {RECTANGLE}; return 1")
    about = result["structuredContent"]
    assert {**about, "program_id": "", "seconds": 0} == {
        "program_id": "",
        "calls": 2,
        "steps": 1,
        "shortened": False,
        "seconds": 0,
    }
    record = coder.engine.space.programs.log.get(about["program_id"])
    assert record is not None
    assert (record.audience.agent, record.description, record.result_text) == ("code", "try", "1")


async def test_a_tool_gives_its_structured_value_or_else_its_text(coder: Coder) -> None:
    program = f"const a = await tools.{ECHO}({{text: 'x'}}); return [a.text, await tools.{CANVAS_ONLY}({{}})]"
    assert json.loads(await coder.text(program)) == ["x", "done"]


async def test_a_program_gets_a_long_result_of_a_tool_whole(coder: Coder) -> None:
    program = "const text: any = await tools.space_trial_big({bytes: 300000}); return text.length"
    assert await coder.text(program) == "300000"  # [331, 348, 460]


async def test_two_runs_share_nothing(coder: Coder) -> None:
    await coder.run("// @ts-nocheck\nglobalThis.left = 1; Array.prototype.left = 2; return 1")
    assert await coder.text("// @ts-nocheck\nreturn [typeof left, typeof [].left]") == '["undefined", "undefined"]'
    # [414]


# What goes wrong


async def test_an_error_is_told_with_its_place_and_the_line_as_it_was_sent(coder: Coder) -> None:
    said = await coder.failure("const a: any = {};\nconst b: number = a.foo.bar;\nreturn b")
    assert said.split("\n")[:-1] == [
        "exception in line 2, column 25: TypeError: Cannot read properties of undefined (reading 'bar')",
        "  2 | const b: number = a.foo.bar;",
        "No tool had been called.",
    ]  # [434]


async def test_what_was_thrown_and_is_no_error_is_told_too(coder: Coder) -> None:
    assert (await coder.failure("throw 'a word'")).startswith("exception: a word was thrown")  # [434]
    assert "exception" in await coder.failure("throw {toString() { throw 1 }}")  # [426]


async def test_what_is_no_json_is_refused_with_what_would_be(coder: Coder) -> None:
    for value, hint in (("() => 1", "function"), ("NaN", "NaN"), ("10n", "String(x)"), ("new Map()", "fromEntries")):
        said = await coder.failure(f"return {value}")  # [367, 421]
        assert said.startswith("invalid-output")
        assert hint in said


async def test_a_type_error_stops_a_program_before_it_runs(coder: Coder) -> None:
    said = await coder.failure(f"await {RECTANGLE};\nreturn tools.{ECHO}({{txt: 'x'}})")
    assert said.startswith("refused: the program was checked and not run.\nline 2, column")
    assert "Did you mean to write 'text'?" in said
    kept = coder.engine.space.programs.log.latest()[0].id
    assert said.endswith(f"No tool had been called.\n[Kept as program {kept}.]")
    assert await undo_count(coder.engine) == 0


async def test_a_tool_that_does_not_exist_is_an_error_of_the_check(coder: Coder) -> None:
    said = await coder.failure("return tools.space_trial_ecko({text: 'x'})")
    assert f"Did you mean '{ECHO}'?" in said


async def test_a_syntax_error_is_told_with_its_place(coder: Coder) -> None:
    said = await coder.failure("const x = 1;\nlet y = ;")
    assert "line 2, column 9: Expression expected." in said
    assert "  2 | let y = ;" in said


async def test_a_long_line_is_shown_around_the_place_and_not_whole(coder: Coder) -> None:
    said = await coder.failure(f"const x = '{'y' * 30_000}'; throw new Error('here')")
    assert "throw new Error('here')" in said
    assert len(said) < 1_000


async def test_many_type_errors_do_not_flood_the_context(coder: Coder) -> None:
    said = await coder.failure("\n".join(f"const x{i}: number = 'text';" for i in range(1_000)))
    assert len(said) < REPORT_CHARACTERS


async def test_the_runner_of_programs_is_not_among_the_tools_of_a_program(coder: Coder) -> None:
    assert "does not exist" in await coder.failure("return tools.space_run_code({code: '', description: ''})")
    names = json.loads(await coder.text("// @ts-nocheck\nreturn Object.keys(tools)"))  # [095, 112]
    assert RUN_CODE not in names
    assert ECHO in names
    program = "// @ts-nocheck\nreturn [typeof tools.space_run_code, 'toString' in tools]"
    assert await coder.text(program) == '["undefined", false]'  # [112, 406]


async def test_a_failure_of_a_tool_can_be_caught_with_the_name_of_the_tool(coder: Coder) -> None:
    program = f"""
        try {{ await tools.{FAIL}({{}}); }} catch (e) {{
          if (e instanceof ToolCallError) return [e.name, e.toolName, e.message, e instanceof Error];
        }}"""
    assert json.loads(await coder.text(program)) == [  # [113, 146, 361]
        "ToolCallError",
        FAIL,
        "there is no such thing; try another",
        True,
    ]


async def test_a_failure_of_a_tool_that_is_not_caught_says_what_had_happened_by_then(coder: Coder) -> None:
    said = await coder.failure(f"await tools.{ECHO}({{text: 'x'}});\nconsole.log('so far');\nawait tools.{FAIL}({{}})")
    assert said.split("\n")[:-1] == [  # [157]
        "exception in line 3, column 13: ToolCallError: there is no such thing; try another",
        f"  3 | await tools.{FAIL}({{}})",
        f"Calls that already happened, and are not taken back: {ECHO} (ok), {FAIL} (failed).",
        "Output before the failure:",
        "so far",
    ]


async def test_a_bug_of_a_tool_is_an_error_that_a_program_can_catch(coder: Coder, errors_logged: LogEntries) -> None:
    program = "try { await tools.space_trial_crash({}) } catch (e: any) { return [e.toolName, e.message] }"
    name, message = json.loads(await coder.text(program))
    assert name == "space_trial_crash"
    assert "RuntimeError" in message or "internal" in message.lower() or "bug" in message
    errors_logged[:] = [entry for entry in errors_logged if entry["event"] != "tool_failed"]


async def test_a_result_that_breaks_its_schema_is_refused_to_the_program(coder: Coder) -> None:
    program = f"try {{ return await tools.{WRONG}({{}}) }} catch (e: any) {{ return e.message }}"
    said = await coder.text(program)
    assert f"{WRONG} ran, but its result is malformed; this is a bug of the tool." in said


async def test_a_result_that_is_no_json_is_refused_to_the_program(coder: Coder) -> None:
    program = f"try {{ return await tools.{NOT_A_NUMBER}({{}}) }} catch (e: any) {{ return [e.name, e.message] }}"
    name, message = json.loads(await coder.text(program))  # [398, 427]
    assert name == "ToolCallError"
    assert f"{NOT_A_NUMBER} ran, but its result" in message


async def test_wrong_arguments_are_refused_with_their_place_and_the_tool_does_not_run(
    coder: Coder, trial: Trial
) -> None:
    program = f"// @ts-nocheck\ntry {{ await tools.{READ}({{name: 3}}) }} catch (e) {{ return e.message }}"
    assert "name" in await coder.text(program)
    assert "takes one object of arguments" in await coder.failure(f"// @ts-nocheck\nawait tools.{READ}('x')")
    assert "takes one object of arguments" in await coder.failure(f"// @ts-nocheck\nawait tools.{READ}([])")
    assert trial.moments == []  # [400]


async def test_a_call_without_arguments_is_a_call_with_none(coder: Coder) -> None:
    assert await coder.text(f"// @ts-nocheck\nreturn tools.{CANVAS_ONLY}()") == "done"


async def test_wrong_arguments_of_the_runner_itself_are_refused_and_nothing_runs(coder: Coder) -> None:
    for arguments in (
        {"code": "return 1"},
        {"code": "return 1", "description": " "},  # [164]
        {"code": "", "description": "x"},
        {"code": "return 1", "description": "x", "language": "python"},
        {"code": ["return 1"], "description": "x"},
        {"code": "return 1", "description": "x" * 201},
    ):
        result = await coder.client.call(RUN_CODE, arguments)
        assert result["isError"] is True
        assert f"Invalid arguments for {RUN_CODE}; it was not run" in texts(result)[0]
    assert coder.engine.space.programs.log.latest() == ()


async def test_an_old_base_revision_is_refused_inside_a_program_too(coder: Coder) -> None:
    program = f"""
        const first = await {RECTANGLE};
        const stale = {{shape: 'rectangle', x: 0, y: 0, width: 1, height: 1, base_revision: 0}} as const;
        let said = '';
        try {{ await tools.space_drawing_insert_shape(stale) }} catch (e: any) {{ said = e.message }}
        await tools.space_drawing_insert_shape({{...stale, base_revision: first.revision}});
        return said"""
    assert "this change is based on revision 0" in await coder.text(program)
    assert await shapes(await coder.engine.client()) == 2


# Many calls


async def test_calls_that_only_read_overlap_and_calls_that_write_take_turns_in_their_order(
    coder: Coder, trial: Trial
) -> None:
    program = f"""
        await Promise.all([
          tools.{READ}({{name: 'r1', seconds: 0.1}}), tools.{READ}({{name: 'r2', seconds: 0.05}}),
          tools.{WRITE}({{name: 'w1'}}), tools.{WRITE}({{name: 'w2'}}),
          tools.{READ}({{name: 'r3'}}), tools.{READ}({{name: 'r4'}}),
        ])"""
    await coder.run(program)
    assert (set(trial.moments[:2]), trial.moments[2:4]) == ({"+r1", "+r2"}, ["-r2", "-r1"])  # [125]
    assert trial.moments[4:8] == ["+w1", "-w1", "+w2", "-w2"]  # [127, 145]
    assert set(trial.moments[8:10]) == {"+r3", "+r4"}  # [128]
    assert trial.peak == 2


async def test_at_most_ten_calls_run_at_a_time(coder: Coder, trial: Trial) -> None:
    program = f"await Promise.all(Array.from({{length: 25}}, (_, i) => tools.{READ}({{name: String(i)}})))"
    await coder.run(program)
    assert trial.peak == 10  # [129]
    assert sorted(trial.moments) == sorted(f"{sign}{i}" for i in range(25) for sign in "+-")


async def test_writes_that_start_together_are_made_in_the_order_of_the_program(coder: Coder) -> None:
    program = """
        await Promise.all([11, 12, 13, 14].map(width =>
          tools.space_drawing_insert_shape({shape: 'rectangle', x: 0, y: 0, width, height: 10})));
        const {objects} = await tools.space_drawing_inspect({});
        return objects!.map(each => each.size!.x)"""
    assert json.loads(await coder.text(program)) == [11, 12, 13, 14]


async def test_a_failed_write_does_not_hold_up_those_behind_it(coder: Coder, trial: Trial) -> None:
    program = f"""
        const ends = await Promise.allSettled([
          tools.{FAIL}({{}}), tools.{WRITE}({{name: 'a'}}), tools.{FAIL}({{}}), tools.{READ}({{name: 'b'}})]);
        return ends.map(each => each.status)"""
    assert json.loads(await coder.text(program)) == ["rejected", "fulfilled", "rejected", "fulfilled"]
    assert trial.moments == ["+a", "-a", "+b", "-b"]


async def test_calls_that_are_not_awaited_are_counted_and_what_waits_is_not_begun(coder: Coder, trial: Trial) -> None:
    program = f"""
        tools.{WRITE}({{name: 'first', seconds: 5}});
        tools.{WRITE}({{name: 'second'}});
        await sdk.search('x');
        return 'early'"""
    result = await coder.run(program)
    said = texts(result)[0]
    assert said.startswith("early\n")
    assert "Calls not awaited: 2. Their effects may be missing: await every call." in said
    assert trial.moments == ["+first"]  # [137]
    assert not coder.engine.space.calls.running()
    record = coder.engine.space.programs.log.get(result["structuredContent"]["program_id"])
    assert record is not None
    assert [each.error for each in record.calls] == ["cut off", "cut off"]


async def test_a_program_that_makes_too_many_calls_is_ended(coder: Coder) -> None:
    program = f"for (let i = 0; i < 1100; i++) await tools.{ECHO}({{text: 'x'}})"
    said = await coder.failure(program)
    assert said.startswith("call-limit: the program made more than 1,000 calls")
    assert "980 more, 0 of them failed" in said


async def test_two_programs_at_once_do_not_see_each_other(coder: Coder, trial: Trial) -> None:
    other = Coder(coder.engine, await coder.engine.client(endpoint="/mcp/code"))
    connection = await coder.begin(
        f"// @ts-nocheck\nglobalThis.mine = 1; await {RECTANGLE}; await tools.{WAIT}({{}}); return typeof yours"
    )
    with trio.fail_after(PATIENCE_SECONDS):
        await trial.waiting.acquire()
    said = await other.text(f"// @ts-nocheck\nglobalThis.yours = 1; await {RECTANGLE}; return typeof mine")
    assert said == "undefined"
    trial.go.set()
    first = (await connection.read_response("POST")).json["result"]
    await connection.finish()
    assert texts(first) == ["undefined"]
    assert first["structuredContent"]["steps"] == 1
    assert await undo_count(coder.engine) == 2


# One step of the history


async def test_a_program_is_one_step_of_the_history_under_its_description(coder: Coder) -> None:
    native = await coder.engine.client()
    await coder.run(f"for (let i = 0; i < 5; i++) await {RECTANGLE}", "  five boxes  ")
    assert await undo_count(coder.engine) == 1
    undone = await native.call("space_drawing_undo")
    assert "program: five boxes" in json.dumps(undone["structuredContent"])
    assert await shapes(native) == 0
    await native.call("space_drawing_redo")
    assert await shapes(native) == 5


async def test_the_steps_of_somebody_else_in_between_stay_their_own(coder: Coder, trial: Trial) -> None:
    native = await coder.engine.client()
    connection = await coder.begin(f"await {RECTANGLE}; await {RECTANGLE}; await tools.{WAIT}({{}}); await {RECTANGLE}")
    with trio.fail_after(PATIENCE_SECONDS):
        await trial.waiting.acquire()
    await native.call("space_drawing_insert_shape", {"shape": "circle", "x": 0, "y": 0, "width": 5, "height": 5})
    trial.go.set()
    result = (await connection.read_response("POST")).json["result"]
    await connection.finish()
    assert result["structuredContent"]["steps"] == 2
    assert "is 2 steps of the history, since something else changed the same world meanwhile" in texts(result)[0]
    assert await undo_count(coder.engine) == 3
    counts: list[int] = []
    for _ in range(3):
        await native.call("space_drawing_undo")
        counts.append(await shapes(native))
    assert counts == [3, 2, 0]


async def test_a_program_that_fails_half_way_is_one_step_too(coder: Coder) -> None:
    await coder.failure(f"await {RECTANGLE}; await {RECTANGLE}; throw new Error('enough')")
    assert await undo_count(coder.engine) == 1
    record = coder.engine.space.programs.log.latest()[0]
    assert record.steps == 1
    assert record.failure is not None
    assert "enough" in record.failure


async def test_a_program_that_worked_in_two_worlds_leaves_one_step_in_each(coder: Coder, trial: Trial) -> None:
    engine = coder.engine
    connection = await coder.begin(f"await {RECTANGLE}; await {RECTANGLE}; await tools.{WAIT}({{}}); await {RECTANGLE}")
    with trio.fail_after(PATIENCE_SECONDS):
        await trial.waiting.acquire()
    made = await engine.request("POST", "/api/worlds", JSON_BODY, b'{"name": "yard", "activate": true}')
    assert made.json["active"] is True
    trial.go.set()
    result = (await connection.read_response("POST")).json["result"]
    await connection.finish()
    assert result["structuredContent"]["steps"] == 2
    assert "is 2 steps of the history, one in each of 2 worlds" in texts(result)[0]
    assert await undo_count(engine) == 1
    await engine.request("POST", "/api/worlds/world-1/activate", JSON_BODY, b"{}")
    assert await undo_count(engine) == 1


# The tools move while a program runs


async def test_a_tool_that_is_hidden_meanwhile_refuses_with_the_reason(coder: Coder) -> None:
    said = await coder.failure(f"await tools.{MOVE}({{surface: 'scene'}}); await tools.{CANVAS_ONLY}({{}})")
    assert "ToolCallError: what is offered has changed while the program ran. " in said
    assert f"Tool '{CANVAS_ONLY}' is hidden in this context" in said  # [130]
    assert f"{MOVE} (ok), {CANVAS_ONLY} (failed)" in said
    # What came instead is there for the next program.
    assert await coder.text(f"return tools.{SCENE_ONLY}({{}})") == "done"


async def test_a_tool_that_comes_meanwhile_is_not_there_for_a_program_that_has_begun(coder: Coder) -> None:
    program = f"// @ts-nocheck\nawait tools.{MOVE}({{surface: 'scene'}}); await tools.{SCENE_ONLY}({{}})"
    said = await coder.failure(program)
    assert (
        f"Tool '{SCENE_ONLY}' was not offered when this program began; it is now, so the next program has it." in said
    )


# Tools that exist and are not here


HERE = f"Tool '{SCENE_ONLY}' is hidden in this context (surface=canvas); it is offered with surface=scene."


@pytest.mark.parametrize(
    "program",
    [
        f"await tools.{SCENE_ONLY}({{}})",
        f"await tools['{SCENE_ONLY}']({{}})",
        f"const {{{SCENE_ONLY}: it}} = tools; await it({{}})",
    ],
)
async def test_the_check_says_why_a_tool_that_exists_is_missing(coder: Coder, program: str) -> None:
    said = await coder.failure(program)
    assert said.startswith("refused: ")
    assert f"Property '{SCENE_ONLY}' does not exist on type 'Tools'. {HERE}" in said


async def test_a_call_of_a_tool_that_is_missing_is_rejected_with_the_reason(coder: Coder) -> None:
    program = f"""// @ts-nocheck
        try {{ await tools.{SCENE_ONLY}({{}}) }}
        catch (error) {{ return [error instanceof ToolCallError, error.toolName, error.message] }}"""
    is_ours, name, message = json.loads(await coder.text(program))
    assert (is_ours, name) == (True, SCENE_ONLY)
    assert message.startswith(HERE)
    # Whoever looks at what there is does not find it.
    assert await coder.text(f"// @ts-nocheck\nreturn Object.keys(tools).includes('{SCENE_ONLY}')") == "false"


async def test_the_sdk_says_why_a_tool_is_missing(coder: Coder) -> None:
    told = await coder.text(f"return sdk.describe(['{SCENE_ONLY}', 'space_never_was'])")
    assert told.startswith(f"// no tool '{SCENE_ONLY}' here. {HERE}")
    assert "// no tool 'space_never_was'. Try sdk.search(words)." in told
    (first, *_) = json.loads(await coder.text(f"return sdk.search('{SCENE_ONLY}')"))
    assert (first["name"], first["summary"].startswith(f"not here: {HERE}")) == (SCENE_ONLY, True)


async def test_a_tool_that_the_agent_keeps_away_is_missing_with_that_reason(tmp_path: Path) -> None:
    async with running_engine(tmp_path, built_in=True) as engine:
        coder = Coder(engine, await engine.client(endpoint="/mcp/minimal?presentation=code"))
        said = await coder.failure(f"await tools.{ECHO}({{text: 'x'}})")
        assert f"Tool '{ECHO}' is hidden by agent 'minimal' (composition.yml" in said


async def test_a_client_whose_program_moves_the_context_is_told_of_its_new_list(coder: Coder) -> None:
    await coder.client.tool_names()
    stream = await coder.client.following_stream()
    await coder.run(f"await tools.{MOVE}({{surface: 'scene'}})")
    assert await stream.next_message() == LIST_CHANGED
    await stream.finish()


# Guards


async def test_a_guard_of_the_deployment_is_asked_of_native_and_of_nested_calls(coder: Coder) -> None:
    asked: list[tuple[str, Any]] = []

    def check(name: str, arguments: JsonObject) -> str | None:
        asked.append((name, arguments.get("text")))
        return "not this text" if arguments.get("text") == "bad" else None

    space = coder.engine.space
    native = await coder.engine.client()
    with space.agents.state.deployment.guard(check):
        await space.agents.ask(FollowCapabilities())
        refused = await native.call(ECHO, {"text": "bad"})
        assert refused["isError"] is True
        assert texts(refused) == ["not this text"]
        program = f"try {{ await tools.{ECHO}({{text: 'bad'}}) }} catch (e: any) {{ return [e.toolName, e.message] }}"
        assert json.loads(await coder.text(program)) == [ECHO, "not this text"]  # [058, 149]
        assert await coder.text(f"return (await tools.{ECHO}({{text: 'good'}})).text") == "good"
    # Of the program itself as well: whoever guards may refuse programs altogether.
    assert [name for name, _ in asked].count(RUN_CODE) == 2
    assert [text for name, text in asked if name == ECHO] == ["bad", "bad", "good"]


async def test_a_guard_of_one_agent_is_asked_for_that_agent_alone(coder: Coder) -> None:
    agents = coder.engine.space.agents
    with agents.state.scopes["code"].guard(lambda name, _: "no echo here" if name == ECHO else None):
        before = agents.agents.value
        agents.agents.publish(replace(before, views={**before.views, "code": agents.state.scopes["code"].view()}))
        native = await coder.engine.client()
        assert not (await native.call(ECHO, {"text": "x"})).get("isError")
        assert "ToolCallError: no echo here" in await coder.failure(f"await tools.{ECHO}({{text: 'x'}})")


async def test_a_guard_that_fails_keeps_the_call_from_running_and_nothing_else(
    coder: Coder, trial: Trial, errors_logged: LogEntries
) -> None:
    def check(name: str, arguments: JsonObject) -> str | None:
        if name == WRITE:
            raise LookupError("the guard's own fault")
        return None

    space = coder.engine.space
    with space.agents.state.deployment.guard(check):
        await space.agents.ask(FollowCapabilities())
        program = f"""
            try {{ await tools.{WRITE}({{name: 'x'}}) }} catch (e: any) {{
              return [e.toolName, (await tools.{ECHO}({{text: 'went on'}})).text] }}"""
        assert json.loads(await coder.text(program)) == [WRITE, "went on"]  # [148]
        native = await (await coder.engine.client()).call(WRITE, {"name": "x"})
        assert native["isError"] is True
        assert f"a guard of {WRITE} failed, so it was not run" in texts(native)[0]
    assert trial.moments == []
    assert any("guard" in str(entry) for entry in errors_logged)
    errors_logged.clear()


# Progress, cancelling, leaving


async def test_each_call_of_a_program_is_reported_as_progress_that_rises(coder: Coder, trial: Trial) -> None:
    program = f"""
        await tools.{ECHO}({{text: 'x'}});
        try {{ await tools.{FAIL}({{}}) }} catch {{}}
        await tools.{PROGRESS}({{steps: 2}});"""
    hooks = coder.engine.hooks
    hooks.go.set()
    await hooks.fed.send(None)
    await hooks.fed.send(None)
    message = call(RUN_CODE, {"code": program, "description": "try"}, 7, progress="token")
    connection = await coder.client.begin(message)
    head = await connection.read_head()
    assert head.header("content-type") == "text/event-stream"
    told: list[Any] = []
    while "result" not in (received := await connection.next_message()):
        assert received["method"] == "notifications/progress"
        told.append(received["params"])
    await connection.finish()
    assert [each["message"] for each in told] == [
        f"{ECHO} (ok)",
        f"{FAIL} (failed)",
        f"{PROGRESS}: step 1",
        f"{PROGRESS}: step 2",
        f"{PROGRESS} (ok)",
    ]
    assert {each["progressToken"] for each in told} == {"token"}
    values = [each["progress"] for each in told]
    assert values == sorted(set(values)), "each must be more than the one before"


# Images


async def test_images_come_after_the_text_in_the_order_of_the_calls(coder: Coder) -> None:
    program = f"""
        const texts = await Promise.all([0, 1, 2].map(n => tools.{PICTURE}({{n}})));
        return texts.join()"""
    result = await coder.run(program)
    assert texts(result) == ["picture 0,picture 1,picture 2"]
    shown = [(block["type"], block.get("mimeType")) for block in result["content"]]
    assert shown == [("text", None), *(("image", f"image/x-{n}") for n in range(3))]  # [153, 347]


async def test_images_are_shown_although_the_program_failed_afterwards(coder: Coder) -> None:
    result = await coder.run(f"await tools.{IMAGE}({{}}); throw new Error('later')")  # [156]
    assert result["isError"] is True
    assert [block["type"] for block in result["content"]] == ["text", "image"]


async def test_more_images_than_a_model_would_look_at_are_counted(coder: Coder) -> None:
    result = await coder.run(f"for (let n = 0; n < 23; n++) await tools.{PICTURE}({{n}}); return 'seen'")
    kinds = [block["type"] for block in result["content"]]
    assert kinds == ["text", *["image"] * 20, "text"]
    assert "3 more images are not shown; at most 20 are." in texts(result)[1]


# The cap


async def test_a_long_result_is_cut_by_its_structure_and_kept_whole(coder: Coder) -> None:
    result = await coder.run("return Array.from({length: 5000}, (_, i) => ({i, text: 'row ' + i}))")
    about = result["structuredContent"]
    said = texts(result)[0]
    assert about["shortened"] is True
    assert len(said) < REPORT_CHARACTERS + 500
    shown, _, note = said.rpartition("\n[Shortened:")
    assert json.loads(shown)[0] == {"i": 0, "text": "row 0"}
    assert "more items" in json.loads(shown)[-1]
    assert f"kept as program {about['program_id']}" in note
    record = coder.engine.space.programs.log.get(about["program_id"])
    assert record is not None
    assert record.result_text is not None
    assert len(json.loads(record.result_text)) == 5000


async def test_long_output_and_a_long_result_share_the_cap(coder: Coder) -> None:
    result = await coder.run("for (let i = 0; i < 5000; i++) console.log('line ' + i); return 'r'.repeat(50000)")
    said = texts(result)[0]
    assert len(said) < REPORT_CHARACTERS + 500
    assert said.startswith("line 0\n")
    assert "line 4999\n" in said
    assert "characters left out" in said
    assert "rrr" in said


async def test_the_output_of_a_program_that_fails_is_cut_too(coder: Coder) -> None:
    said = await coder.failure("console.log('x'.repeat(60000)); throw new Error('y'.repeat(60000))")
    assert len(said) < REPORT_CHARACTERS + 6_000
    assert coder.engine.space.programs.log.latest()[0].id in said


# Carried otherwise


async def test_programs_run_over_the_single_stream(tmp_path: Path, trial: Trial) -> None:
    async with running_engine(tmp_path, built_in=True, force_sse=True) as engine:
        client = await engine.sse_client("/mcp/code")
        assert await client.stream.next_message() == LIST_CHANGED
        await client.ask(initialize())
        (tool,) = (await client.ask(rpc("tools/list")))["result"]["tools"]
        assert tool["name"] == RUN_CODE
        program = {"code": f"await {RECTANGLE}; return 'over the stream'", "description": "try"}
        message = call(RUN_CODE, program, 9, progress=1)
        told = await client.ask(message)
        assert told["params"]["message"] == "space_drawing_insert_shape (ok)"
        answer = await client.stream.next_message()
        assert (answer["id"], texts(answer["result"])) == (9, ["over the stream"])
        refused = await client.ask(call(ECHO, {"text": "x"}, 10))
        assert "callable directly" in texts(refused["result"])[0]
        await client.stream.finish()


async def test_a_batch_may_hold_programs(coder: Coder) -> None:
    client = await coder.engine.client("2025-03-26", endpoint="/mcp/code")
    program = {"code": "return 'one'", "description": "try"}
    other = {"code": f"await {RECTANGLE}; return 'two'", "description": "try"}
    batch = [call(RUN_CODE, program, 1), call(RUN_CODE, other, 2), rpc("ping", None, 3), call(ECHO, {"text": "x"}, 4)]
    replies = {reply["id"]: reply["result"] for reply in (await client.post(batch)).json}
    assert texts(replies[1]) == ["one"]
    assert texts(replies[2]) == ["two"]
    assert replies[3] == {}
    assert replies[4]["isError"] is True


async def test_in_both_a_client_calls_tools_itself_and_from_programs(engine: RunningEngine) -> None:
    both = Coder(engine, await engine.client(endpoint="/mcp?presentation=both"))
    assert not (await both.client.call(ECHO, {"text": "x"})).get("isError")
    assert await both.text(f"return (await tools.{ECHO}({{text: 'y'}})).text") == "y"
    # Of two sessions of one agent, each has the form that it asked for.
    native = await engine.client()
    response = await native.post(call(RUN_CODE, {"code": "return 1", "description": "x"}))
    assert "Unknown tool" in response.json["error"]["message"]


async def test_an_agent_with_few_tools_has_no_more_in_its_programs(tmp_path: Path) -> None:
    async with running_engine(tmp_path, built_in=True) as engine:
        coder = Coder(engine, await engine.client(endpoint="/mcp/minimal?presentation=code"))
        names = json.loads(await coder.text("// @ts-nocheck\nreturn Object.keys(tools)"))  # [094, 100]
        assert "space_drawing_inspect" in names
        assert len(names) <= 9
        assert "is hidden by agent" in await coder.failure(f"// @ts-nocheck\nawait tools.{ECHO}({{text: 'x'}})")
        found = json.loads(await coder.text("return (await sdk.search('theme')).map(each => each.name)"))
        assert "space_app_set_theme" not in found
