"""Runs over HTTP: the pipeline to its end, whatever the provider does; what is kept of it, and what never is."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.generation import MOST_RUNS
from actors.run_records import KEPT_RUNS
from actors.secret import HIDDEN
from tests.scripted_provider import KEY, MODEL, ProviderRequest, Reply, Wire, calls, refuses, says, scripted_provider
from tests.transport.conftest import LogEntries
from tests.transport.generation_rig import GENERATE, STORY, Following, Rig, generation_rig, kinds, text_of
from tests.transport.mcp_client import JSON_BODY
from tests.transport.raw_http import connected, request_bytes
from tests.transport.serving_process import serving_process
from tests.transport.test_rest import assert_problem

WRITER_PROMPT = "generation.writer"

LIBRARIAN = f"{STORY}/agent-blocks/librarian.chat/run"
ANALYZE = f"{STORY}/agent-blocks/librarian.analyze/run"
OPTIMIZE = f"{STORY}/agent-blocks/librarian.optimize-character/run"
CHARACTER = f"{STORY}/agent-blocks/character-chat.chat/run"

TALK = [{"role": "user", "content": "x"}]

BOUND_SECONDS = 10.0


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncGenerator[Rig]:
    async with generation_rig(tmp_path) as made:
        yield made


async def goes_on(wire: Wire, request: ProviderRequest) -> None:
    """Says a word and never ends."""
    await wire.head()
    await wire.delta(content="Once")
    await trio.sleep_forever()


def waits_for(go_on: trio.Event) -> Reply:
    """Says a word, and the rest once it is told to."""

    async def reply(wire: Wire, request: ProviderRequest) -> None:
        await wire.head()
        await wire.delta(content="Once")
        await go_on.wait()
        await wire.delta(content=".")
        await wire.finish()

    return reply


def prompt_of(request: ProviderRequest) -> str:
    return "\n".join(message["content"] for message in request.messages)


async def test_a_story_is_continued_line_by_line_and_the_prose_is_kept(rig: Rig) -> None:
    rig.provider.play(says("The lamp", " went out."))
    events = await rig.events()
    assert kinds(events) == ["start", "text", "text", "saved", "finish"]
    start, *_, saved, finish = events
    assert (start["agent"], start["providerId"], start["modelId"]) == ("generation.writer", "main", MODEL)
    assert "readFragments" in start["tools"]
    assert start["promptTokens"] > 100
    assert text_of(events) == "The lamp went out."
    assert (finish["finishReason"], finish["stepCount"]) == ("stop", 1)
    assert finish["usage"] == {"promptTokens": 10, "completionTokens": 5}
    assert (await rig.prose())[-1] == ("The lamp went out.", "The lamp went out.")
    made = await rig.get(f"{STORY}/fragments/{saved['fragmentId']}")
    assert (made["order"], made["description"], made["meta"]["runId"]) == (3, "Go on.", start["runId"])


async def test_the_model_gets_the_blocks_as_the_user_wants_them_with_scripts_and_tags(rig: Rig) -> None:
    path = f"{STORY}/agent-blocks/generation.writer"
    simple = {"id": "cb-aaaa", "name": "Mine", "role": "system", "type": "simple", "content": "Know <@ch-mara>."}
    await rig.send("POST", f"{path}/custom", simple)
    override = {"story-info": {"enabled": False}, "instructions": {"contentMode": "append", "customContent": "Rhyme."}}
    await rig.send("PATCH", f"{path}/config", {"overrides": override, "disabledTools": ["searchFragments"]})
    rig.provider.play(says("x"))
    events = await rig.events(body={"input": "Let it rain.", "saveResult": False})
    (request,) = rig.provider.requests
    system, user = (message["content"] for message in request.messages)
    assert "[@block=mine src=cb-aaaa]\nKnow ## Mara\nMara keeps the light.." in system
    assert "Rhyme." in system
    assert "Past tense." in user
    assert "A Tale" not in user
    assert user.index("It still rained.") < user.index("Let it rain.")
    assert request.tools == events[0]["tools"]
    assert "searchFragments" not in (*request.tools, system)
    assert all(f"`{name}`" in system for name in request.tools)
    assert "saved" not in kinds(events)
    assert len(await rig.prose()) == 2


@pytest.mark.slow
async def test_a_script_that_fails_is_in_the_start_and_its_words_do_not_reach_the_model(rig: Rig) -> None:
    script = {
        "id": "cb-aaaa",
        "name": "S",
        "role": "user",
        "type": "script",
        "content": "throw new Error('inner ' + ctx.authorInput)",
    }
    await rig.send("POST", f"{STORY}/agent-blocks/generation.writer/custom", script)
    rig.provider.play(says("x"))
    with trio.fail_after(30):
        events = await rig.events()
    assert events[0]["scriptErrors"] == ["S: inner Go on."]
    assert "inner" not in prompt_of(rig.provider.requests[0])
    assert '[Script error in custom block "S"]' in prompt_of(rig.provider.requests[0])


async def test_tools_are_run_and_what_was_read_is_remembered_with_the_prose(rig: Rig) -> None:
    rig.provider.play(
        calls(("readFragments", {"ids": ["ch-mara", "ch-nobody"]}), ("listFragmentTypes", {}), text="Let me look."),
        calls(("readFragments", {"ids": "ch-mara"}), ("dance", {}), ("searchFragments", "{nope")),
        says("Mara lit the lamp."),
    )
    events = await rig.events()
    results = {event["id"]: event for event in events if event["type"] == "tool-result"}
    assert [event["isError"] for event in events if event["type"] == "tool-result"] == [False, False, True, True, True]
    first = next(event for event in events if event["type"] == "tool-result")
    assert "Mara keeps the light." in first["result"]
    assert "no fragment 'ch-nobody'" in first["result"]
    assert "it was not run: ids" in results["id-0"]["result"]
    assert "there is no tool 'dance' in this run; there are: " in results["id-1"]["result"]
    assert "no JSON" in results["id-2"]["result"]
    assert next(event for event in events if event["type"] == "tool-call")["args"] == {"ids": ["ch-mara", "ch-nobody"]}
    assert (events[-1]["stepCount"], events[-1]["usage"]["promptTokens"]) == (3, 30)
    second = rig.provider.requests[1].messages
    assert [message["role"] for message in second] == ["system", "user", "assistant", "tool", "tool"]
    assert second[2]["tool_calls"][0]["id"] == second[3]["tool_call_id"] == "id-0"
    assert text_of(events) == (await rig.prose())[-1][1] == "Let me look.\n\nMara lit the lamp."
    saved = next(event for event in events if event["type"] == "saved")
    meta = (await rig.get(f"{STORY}/fragments/{saved['fragmentId']}"))["meta"]
    assert meta["writerContextIds"] == ["ch-mara"]
    # What was read stands in the next prompt in full.
    rig.provider.play(says("x"))
    await rig.events()
    assert "#### Mara" in prompt_of(rig.provider.requests[-1])


async def test_a_model_that_only_calls_tools_is_stopped_after_its_steps(rig: Rig) -> None:
    await rig.send("PATCH", f"{STORY}/settings", {"maxSteps": 3})
    rig.provider.play(*(calls(("listFragments", {}), text="Hm.") for _ in range(5)))
    events = await rig.events()
    assert (events[-1]["finishReason"], events[-1]["stepCount"], len(rig.provider.requests)) == ("steps", 3, 3)
    assert "saved" not in kinds(events)


async def test_the_librarian_changes_fragments_and_answers_in_a_conversation(rig: Rig) -> None:
    rig.provider.play(
        calls(
            ("editFragment", {"id": "ch-mara", "oldText": "light", "newText": "lamp"}),
            ("editFragment", {"id": "ch-mara", "oldText": "a", "newText": "b"}),
            ("createFragment", {"type": "character", "name": "Ole", "content": "Ole rows."}),
            ("updateFragment", {"id": "gl-tense", "content": "Present tense."}),
            ("deleteFragment", {"id": "pr-first"}),
            ("updateFragment", {"id": "ch-none", "content": "x"}),
        ),
        says("Done."),
    )
    talk = [
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "Do it."},
    ]
    events = await rig.events(LIBRARIAN, {"messages": talk})
    assert [event["isError"] for event in events if event["type"] == "tool-result"] == [
        False,
        True,
        False,
        False,
        False,
        True,
    ]
    assert (await rig.get(f"{STORY}/fragments/ch-mara"))["content"] == "Mara keeps the lamp."
    assert (await rig.get(f"{STORY}/fragments/gl-tense"))["content"] == "Present tense."
    assert [name for name, _ in await rig.prose()] == ["Second"]
    sent = rig.provider.requests[0].messages
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert [message["content"] for message in sent[2:]] == ["I have read this.", "Hi.", "Yes?", "Do it."]


async def test_an_analysis_is_kept_beside_the_prose_that_it_is_about(rig: Rig) -> None:
    rig.provider.play(
        calls(
            ("updateSummary", {"summary": "It rains."}),
            ("reportMentions", {"mentions": [{"id": "ch-mara", "names": ["Mara"]}]}),
            ("reportMentions", {"mentions": [{"id": "ch-ole", "names": ["Ole"]}]}),
        ),
        says("Done."),
    )
    events = await rig.events(ANALYZE, {"fragmentId": "pr-second"})
    assert kinds(events)[-2:] == ["saved", "finish"]
    found = (await rig.get(f"{STORY}/fragments/pr-second"))["meta"]["librarian"]
    assert found["summary"] == "It rains."
    assert [one["id"] for one in found["mentions"]] == ["ch-mara", "ch-ole"]
    assert "### pr-second\n\nIt still rained." in prompt_of(rig.provider.requests[0])


async def test_a_character_speaks_without_the_words_of_an_assistant(rig: Rig) -> None:
    rig.provider.play(says("Who's there?"))
    body = {
        "fragmentId": "ch-mara",
        "personaDescription": "A sailor.",
        "messages": [{"role": "user", "content": "Ahoy!"}],
    }
    assert text_of(await rig.events(f"{STORY}/agent-blocks/character-chat.chat/run", body)) == "Who's there?"
    (request,) = rig.provider.requests
    assert [message["role"] for message in request.messages] == ["system", "user"]
    assert "You Are Mara" in request.messages[0]["content"]
    assert "A sailor." in request.messages[0]["content"]


async def test_a_passage_is_transformed_in_its_piece(rig: Rig) -> None:
    rig.provider.play(says("It poured."))
    body = {
        "operation": "Stronger",
        "selectedText": "It still rained.",
        "fragmentId": "pr-second",
        "guidance": "One verb.",
    }
    events = await rig.events(f"{STORY}/agent-blocks/librarian.prose-transform/run", body)
    assert (text_of(events), events[0]["tools"]) == ("It poured.", [])
    assert "tools" not in rig.provider.requests[0].body
    for words in ("Stronger", "One verb.", "## The Whole Piece"):
        assert words in prompt_of(rig.provider.requests[0])


async def test_a_piece_is_written_anew_from_what_stands_before_it(rig: Rig) -> None:
    rig.provider.play(says("The rain stopped."))
    await rig.events(body={"input": "Dry.", "mode": "regenerate", "fragmentId": "pr-second"})
    assert "It rained." in prompt_of(rig.provider.requests[0])
    assert "It still rained." not in prompt_of(rig.provider.requests[0])
    assert await rig.prose() == [("First", "It rained."), ("Second", "The rain stopped.")]
    kept = await rig.get(f"{STORY}/fragments/pr-second")
    assert (kept["version"], kept["versions"][0]["content"]) == (2, "It still rained.")


async def test_a_planner_goes_before_the_writer_where_the_story_says_so(rig: Rig) -> None:
    settings = {"generationMode": "prewriter", "modelOverrides": {"generation.prewriter": {"modelId": "planner"}}}
    await rig.send("PATCH", f"{STORY}/settings", settings)
    rig.provider.play(says("Writing Brief: Mara", " waits."), says("Mara waited."))
    events = await rig.events(body={"input": "Slowly."})
    assert kinds(events) == ["start", "brief", "brief", "start", "text", "saved", "finish"]
    assert [event["agent"] for event in events if event["type"] == "start"] == [
        "generation.prewriter",
        "generation.writer",
    ]
    planner, writer = rig.provider.requests
    assert (planner.body["model"], writer.body["model"]) == ("planner", MODEL)
    assert "It still rained." in prompt_of(planner)
    assert "Slowly." in prompt_of(planner)
    assert "You write fiction" not in prompt_of(planner)
    assert "Mara waits." in prompt_of(writer)
    assert "Slowly." not in prompt_of(writer)
    record = await rig.record(events[0]["runId"])
    assert [exchange["modelId"] for exchange in record["exchanges"]] == ["planner", MODEL]
    assert (await rig.prose())[-1][1] == "Mara waited."


async def test_a_run_stays_on_the_branch_on_which_it_began(rig: Rig) -> None:
    go_on = trio.Event()

    async def waits(wire: Wire, request: ProviderRequest) -> None:
        await wire.head()
        await wire.delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "listFragments", "arguments": "{}"}}])
        await go_on.wait()
        await wire.finish("tool_calls")

    assert (await rig.send("POST", f"{STORY}/branches", {"id": "other", "name": "Other"})).status == 201
    rig.provider.play(waits, says("It cleared."))
    following = await rig.follow()
    await rig.provider.wait_for(1)
    await rig.send("PUT", f"{STORY}/branches/active", {"branchId": "other"})
    go_on.set()
    await following.until("saved")
    await following.until("finish")
    await following.connection.finish()
    assert len(await rig.prose()) == 2
    rows = (await rig.get(f"{STORY}/fragments?type=prose&branch=main"))["fragments"]
    assert [row["content"] for row in rows][2:] == ["It cleared."]
    assert (await rig.runs())[0]["branch"] == "main"


async def test_what_was_sent_and_what_came_back_is_kept_with_the_story(rig: Rig) -> None:
    rig.provider.play(calls(("listFragmentTypes", {})), says("The end."))
    events = await rig.events()
    run_id = events[0]["runId"]
    (row,) = await rig.runs()
    assert (row["id"], row["agent"], row["finishReason"], row["stepCount"]) == (run_id, WRITER_PROMPT, "stop", 2)
    assert (row["providerId"], row["modelId"], row["error"]) == ("main", MODEL, None)
    record = await rig.record(run_id)
    (exchange,) = record["exchanges"]
    assert record["asked"] == {"input": "Go on.", "mode": "generate", "saveResult": True}
    assert exchange["messages"][: exchange["promptMessages"]] == rig.provider.requests[0].messages
    assert exchange["messages"][:-1] == rig.provider.requests[1].messages
    assert exchange["messages"][-1] == {"role": "assistant", "content": "The end."}
    assert exchange["tools"] == rig.provider.requests[0].body["tools"]
    assert "instructions" in [block["id"] for block in exchange["prompt"]["blocks"]]
    assert (record["savedFragmentId"], record["shortened"]) == (events[-2]["fragmentId"], False)
    assert (rig.folder / "data" / "stories" / "tale" / "runs" / f"{run_id}.json").stat().st_mode & 0o777 == 0o600


async def test_the_last_runs_are_kept_and_a_broken_record_costs_only_itself(rig: Rig) -> None:
    folder = rig.folder / "data" / "stories" / "tale" / "runs"
    folder.mkdir()
    for number in range(KEPT_RUNS + 5):
        (folder / f"20200101t0000{number:05d}z-00000000.json").write_text("{nope")
    (folder / "mine.txt").write_text("stays")
    rig.provider.play(says("x"))
    run_id = (await rig.events())[0]["runId"]
    broken = f"20200101t0000{KEPT_RUNS + 4:05d}z-00000000"
    assert_problem(await rig.send("GET", f"{STORY}/runs/{broken}"), 409, "was broken and is kept as")
    (folder / f"{broken}.json").write_text('{"id": 5}')
    listed = await rig.get(f"{STORY}/runs")
    assert [row["id"] for row in listed["runs"]] == [run_id]
    assert len(listed["setAside"]) == KEPT_RUNS - 1
    assert "`id` must be" in listed["setAside"][0]["reason"]
    assert len(list(folder.glob("*.broken-*"))) == KEPT_RUNS
    assert "setAside" not in await rig.get(f"{STORY}/runs")
    for missing in ("20200101t000000000z-00000000", "..", "x", "..%2f..%2fmeta"):
        assert (await rig.send("GET", f"{STORY}/runs/{missing}")).status == 404
    assert (folder / "mine.txt").read_text() == "stays"


@pytest.mark.slow
async def test_a_long_run_is_kept_in_short(rig: Rig) -> None:
    rig.provider.play(*(calls(("listFragments", {"type": "x" * 250_000})) for _ in range(9)), says("x" * 900_000))
    await rig.send("PATCH", f"{STORY}/settings", {"maxSteps": 20})
    with trio.fail_after(BOUND_SECONDS):
        events = await rig.events(body={"input": "go", "saveResult": False})
    record = await rig.record(events[0]["runId"])
    assert record["shortened"] is True
    assert len(json.dumps(record)) < 3 * 1024 * 1024
    assert record["exchanges"][0]["messages"][-1]["content"].endswith("more characters)")


async def test_a_client_that_goes_away_ends_its_run_and_nothing_is_left(rig: Rig) -> None:
    rig.provider.play(goes_on)
    following = await rig.follow()
    await following.until("text")
    assert [row["agentName"] for row in await rig.get(f"{STORY}/active-agents")] == ["generation.writer"]
    run = rig.engine.space.generation._running[following.run_id]
    await following.connection.reset()
    with trio.fail_after(BOUND_SECONDS):
        await rig.provider.wait_closed()
        await run.done.wait()
    assert rig.engine.space.generation.running() == ()
    (row,) = await rig.runs()
    assert row["finishReason"] == "cancelled"
    assert (await rig.record(row["id"]))["exchanges"][0]["cutOff"] == "Once"
    assert len(await rig.prose()) == 2


async def test_a_client_that_goes_away_before_the_model_is_asked_ends_its_run_too(rig: Rig) -> None:
    async def silent(wire: Wire, request: ProviderRequest) -> None:
        await trio.sleep_forever()

    rig.provider.play(silent)
    following = await rig.follow()
    await following.until("start")
    await following.connection.finish()
    with trio.fail_after(BOUND_SECONDS):
        await rig.provider.wait_closed()


async def test_a_run_is_cancelled_by_its_id_and_says_so_to_whoever_follows(rig: Rig) -> None:
    rig.provider.play(goes_on)
    following = await rig.follow()
    await following.until("text")
    path = f"{STORY}/runs/{following.run_id}"
    assert_problem(await rig.send("DELETE", f"/api/stories/other/runs/{following.run_id}"), 404, "no run")
    assert (await rig.send("DELETE", path)).json == {"ok": True, "id": following.run_id}
    assert rig.provider.open == 0
    assert (await following.until("finish"))["finishReason"] == "cancelled"
    assert await following.next() is None
    assert_problem(await rig.send("DELETE", path), 404, "is in flight; there are: none")
    assert (await rig.record(following.run_id))["finishReason"] == "cancelled"
    await following.connection.finish()


async def test_a_provider_that_breaks_off_is_an_event_and_nothing_is_saved(rig: Rig) -> None:
    async def breaks_off(wire: Wire, request: ProviderRequest) -> None:
        await wire.head()
        await wire.delta(content="Once upo")

    rig.provider.play(breaks_off)
    events = await rig.events()
    assert kinds(events) == ["start", "text", "error", "finish"]
    assert "provider 'main' ended the stream in the middle" in events[2]["error"]
    assert events[3]["finishReason"] == "error"
    (row,) = await rig.runs()
    assert row["error"] == events[2]["error"]
    assert (await rig.record(row["id"]))["exchanges"][0]["cutOff"] == "Once upo"
    assert len(await rig.prose()) == 2


async def test_an_answer_that_was_cut_by_its_length_is_kept_and_says_so(rig: Rig) -> None:
    async def long(wire: Wire, request: ProviderRequest) -> None:
        await wire.head()
        await wire.delta(content="Once upon a")
        await wire.finish("length")

    rig.provider.play(long)
    events = await rig.events()
    assert events[-1]["finishReason"] == "length"
    assert "saved" in kinds(events)


async def test_no_model_is_said_before_anything_is_asked_with_what_was_tried(rig: Rig) -> None:
    await rig.send("PATCH", f"{STORY}/settings", {"modelOverrides": {"generation": {"providerId": "gone"}}})
    await rig.put_provider(enabled=False)
    response = await rig.send("POST", GENERATE, {"input": "x"})
    assert_problem(
        response,
        409,
        "no model for 'generation.writer'",
        "'generation.writer' → 'generation'",
        "there is no provider 'gone'",
        "provider 'main' is disabled",
    )
    assert rig.provider.requests == []
    assert await rig.runs() == []
    asked = await rig.get(f"{STORY}/agent-blocks/librarian.chat/model")
    assert asked["chain"] == ["librarian.chat", "librarian", "generation"]
    assert {"place": "the default provider", "lacked": "provider 'main' is disabled"} in asked["tried"]


async def test_a_provider_without_a_model_is_not_asked(rig: Rig) -> None:
    await rig.put_provider(defaultModel="")
    assert_problem(await rig.send("POST", GENERATE, {"input": "x"}), 409, "provider 'main' has no `defaultModel`")
    await rig.send("PATCH", f"{STORY}/settings", {"modelOverrides": {"generation": {"modelId": "m-7"}}})
    rig.provider.play(says("x"))
    assert (await rig.events())[0]["modelId"] == "m-7"


async def test_a_planner_that_is_run_by_itself_sees_the_story_and_leaves_nothing(rig: Rig) -> None:
    rig.provider.play(says("A brief."))
    events = await rig.events(f"{STORY}/agent-blocks/generation.prewriter/run", {"input": "Slowly."})
    assert kinds(events) == ["start", "text", "finish"]
    assert "It still rained." in prompt_of(rig.provider.requests[0])


async def test_a_choice_that_cannot_be_used_is_passed_over_and_named(rig: Rig) -> None:
    overrides = {"generation.writer": {"providerId": "gone", "modelId": "m"}, "generation": {"temperature": 0}}
    await rig.send("PATCH", f"{STORY}/settings", {"modelOverrides": overrides})
    rig.provider.play(says("x"))
    (start, *_) = await rig.events()
    assert start["passedOver"] == ["modelOverrides['generation.writer']: there is no provider 'gone'"]
    assert rig.provider.requests[0].body["temperature"] == 0
    asked = await rig.get(f"{STORY}/agent-blocks/generation.writer/model")
    assert (asked["providerId"], asked["modelId"], asked["foundIn"]) == ("main", MODEL, "default")
    # The preview is made for the model that a run would have.
    assert (await rig.send("GET", f"{STORY}/agent-blocks/generation.writer/preview")).status == 200


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/api/stories/none/generate", {"input": "x"}, 404, "story"),
        (f"{GENERATE}?branch=none", {"input": "x"}, 404, "branch"),
        (f"{GENERATE}?brunch=x", {"input": "x"}, 422, "brunch"),
        (f"{STORY}/agent-blocks/no.agent/run", {}, 404, "there is no agent 'no.agent'"),
        (GENERATE, {"input": 7}, 422, "input: must be a text"),
        (GENERATE, {"inputs": "x"}, 422, "inputs: there is no such field"),
        (GENERATE, {"mode": "again"}, 422, "mode: must be"),
        (GENERATE, {"mode": "regenerate"}, 422, "with a `fragmentId`"),
        (GENERATE, {"fragmentId": "pr-first"}, 422, "is for `mode` 'regenerate'"),
        (GENERATE, {"mode": "regenerate", "fragmentId": "pr-none"}, 404, "no fragment 'pr-none'"),
        (GENERATE, {"mode": "regenerate", "fragmentId": "ch-mara"}, 409, "works on a fragment of type 'prose'"),
        (GENERATE, {"saveResult": 1}, 422, "saveResult"),
        (LIBRARIAN, {}, 422, "messages: is missing"),
        (LIBRARIAN, {"messages": [{"role": "system", "content": "x"}]}, 422, "messages[0]"),
        (LIBRARIAN, {"messages": [{"role": "assistant", "content": "x"}]}, 422, "must end with"),
        (LIBRARIAN, {"messages": [{"role": "user", "content": "x"}], "saveResult": True}, 422, "keep their result"),
        (ANALYZE, {}, 422, "fragmentId: is missing"),
        (ANALYZE, {"fragmentId": "ch-mara"}, 409, "works on a fragment of type 'prose'"),
        (OPTIMIZE, {"fragmentId": "pr-first"}, 409, "works on a fragment of type 'character'"),
        (CHARACTER, {"fragmentId": "pr-first", "messages": TALK}, 409, "works on a fragment of type 'character'"),
        (f"{STORY}/agent-blocks/librarian.prose-transform/run", {"operation": "x"}, 422, "selectedText: is missing"),
    ],
)
async def test_an_order_that_cannot_be_carried_out_is_refused_in_words(
    rig: Rig, path: str, body: dict[str, Any], status: int, words: str
) -> None:
    assert_problem(await rig.send("POST", path, body), status, words)
    assert rig.provider.requests == []
    assert rig.engine.space.generation.running() == ()


async def test_a_prompt_that_asks_nothing_is_refused(rig: Rig) -> None:
    blocks = (await rig.get(f"{STORY}/agent-blocks/generation.writer"))["builtinBlocks"]
    off = {block["id"]: {"enabled": False} for block in blocks if block["role"] == "user"}
    await rig.send("PATCH", f"{STORY}/agent-blocks/generation.writer/config", {"overrides": off})
    assert_problem(await rig.send("POST", GENERATE, {"input": "x"}), 409, "asks nothing")


@pytest.mark.slow
async def test_there_are_only_so_many_runs_at_a_time_and_they_end_with_the_engine(rig: Rig) -> None:
    rig.provider.play(*(goes_on for _ in range(MOST_RUNS)))
    followings = [await rig.follow() for _ in range(MOST_RUNS)]
    for following in followings:
        await following.until("text")
    assert_problem(await rig.send("POST", GENERATE, {"input": "x"}), 409, f"{MOST_RUNS} runs already")
    started = trio.current_time()
    assert await rig.engine.end() is True
    assert trio.current_time() - started < rig.engine.grace
    assert [(await following.until("finish"))["finishReason"] for following in followings] == ["cancelled"] * MOST_RUNS
    with trio.fail_after(BOUND_SECONDS):
        await rig.provider.wait_closed()
    for following in followings:
        await following.connection.finish()
    assert len(list((rig.folder / "data" / "stories" / "tale" / "runs").iterdir())) == MOST_RUNS


async def test_a_plugin_has_its_hooks_at_each_stage_and_its_failure_is_named(rig: Rig) -> None:
    hooks = rig.engine.space.block_prompts.hooks
    hooks.register(
        "shout",
        before_context=lambda context: replace(context, author_input=context.author_input.upper()),
        before_blocks=lambda blocks: [block for block in blocks if block.id != "story-info"],
        before_generation=lambda messages: [replace(one, content=f"{one.content}!") for one in messages],
    )
    rig.provider.play(says("x"))
    await rig.events()
    system, user = (message["content"] for message in rig.provider.requests[0].messages)
    assert "GO ON." in user
    assert "[@block=story-info]" not in user
    assert (system[-1], user[-1]) == ("!", "!")
    hooks.register("broken", before_blocks=lambda blocks: 1 // 0)  # pyright: ignore[reportArgumentType]
    assert_problem(await rig.send("POST", GENERATE, {"input": "x"}), 422, "before_blocks of plugin 'broken' failed")


async def test_what_is_archived_is_worked_on_by_no_agent(rig: Rig) -> None:
    assert (await rig.send("POST", f"{STORY}/fragments/pr-second/archive")).status == 200
    for path, body in ((ANALYZE, {}), (GENERATE, {"mode": "regenerate"})):
        assert_problem(await rig.send("POST", path, {"fragmentId": "pr-second", **body}), 409, "is in the archive")
    assert rig.provider.requests == []


@pytest.mark.parametrize(
    ("method", "path", "body", "words"),
    [
        ("PATCH", "", {"content": "Mine."}, "was changed"),
        ("POST", "/archive", None, "was put into the archive"),
    ],
)
async def test_what_the_author_did_to_a_piece_while_it_was_written_anew_stays(
    rig: Rig, method: str, path: str, body: Any, words: str
) -> None:
    go_on = trio.Event()
    rig.provider.play(waits_for(go_on))
    following = await rig.follow(body={"input": "Dry.", "mode": "regenerate", "fragmentId": "pr-second"})
    await following.until("text")
    assert (await rig.send(method, f"{STORY}/fragments/pr-second{path}", body)).status == 200
    kept = await rig.get(f"{STORY}/fragments/pr-second")
    go_on.set()
    event = await following.until("not-saved")
    assert (event["fragmentId"], words in event["reason"]) == ("pr-second", True)
    assert (await following.until("finish"))["finishReason"] == "stop"
    await following.connection.finish()
    assert await rig.get(f"{STORY}/fragments/pr-second") == kept
    record = await rig.record(following.run_id)
    assert (record["savedFragmentId"], record["notSaved"]) == (None, event["reason"])
    assert record["exchanges"][0]["messages"][-1]["content"] == "Once."


async def test_what_an_analysis_said_of_a_piece_meanwhile_is_no_change_of_it(rig: Rig) -> None:
    go_on = trio.Event()
    rig.provider.play(waits_for(go_on))
    following = await rig.follow(body={"input": "Dry.", "mode": "regenerate", "fragmentId": "pr-second"})
    await following.until("text")
    await rig.send("PATCH", f"{STORY}/fragments/pr-second", {"meta": {"librarian": {"summary": "Rain."}}})
    go_on.set()
    await following.until("saved")
    await following.connection.finish()
    kept = await rig.get(f"{STORY}/fragments/pr-second")
    assert (kept["content"], kept["meta"]["librarian"]) == ("Once.", {"summary": "Rain."})


async def test_the_record_of_a_run_goes_into_the_archive_with_its_story(rig: Rig) -> None:
    rig.provider.play(goes_on)
    following = await rig.follow()
    await following.until("text")
    assert (await rig.send("POST", f"{STORY}/archive")).status == 200
    assert [row["id"] for row in (await rig.get(f"{STORY}/runs"))["running"]] == [following.run_id]
    assert (await rig.send("DELETE", f"{STORY}/runs/{following.run_id}")).status == 200
    assert (await following.until("finish"))["recorded"] is True
    await following.connection.finish()
    assert [row["id"] for row in await rig.runs()] == [following.run_id]
    data = rig.folder / "data"
    assert not (data / "stories" / "tale").exists()
    assert [path.stem for path in (data / "archived-stories" / "tale" / "runs").iterdir()] == [following.run_id]
    assert (await rig.send("POST", f"{STORY}/restore")).status == 200
    assert (await rig.record(following.run_id))["finishReason"] == "cancelled"


async def test_a_record_that_cannot_be_kept_is_told_in_the_last_event(rig: Rig, errors_logged: LogEntries) -> None:
    rig.provider.play(goes_on)
    following = await rig.follow()
    await following.until("text")
    shutil.rmtree(rig.folder / "data" / "stories" / "tale")
    assert (await rig.send("DELETE", f"{STORY}/runs/{following.run_id}")).status == 200
    assert (await following.until("finish"))["recorded"] is False
    await following.connection.finish()
    assert not (rig.folder / "data" / "stories" / "tale").exists()


@pytest.mark.slow
async def test_runs_that_end_together_are_all_kept_and_the_oldest_records_go(rig: Rig) -> None:
    folder = rig.folder / "data" / "stories" / "tale" / "runs"
    folder.mkdir()
    for number in range(KEPT_RUNS):
        (folder / f"20200101t0000{number:05d}z-00000000.json").write_text("{}")
    rig.provider.play(*(goes_on for _ in range(MOST_RUNS)))
    followings = [await rig.follow() for _ in range(MOST_RUNS)]
    for following in followings:
        await following.until("text")
    async with trio.open_nursery() as nursery:
        for following in followings:
            nursery.start_soon(rig.send, "DELETE", f"{STORY}/runs/{following.run_id}")
    assert [(await following.until("finish"))["recorded"] for following in followings] == [True] * MOST_RUNS
    for following in followings:
        await following.connection.finish()
    names = {path.stem for path in folder.iterdir()}
    assert len(names) == KEPT_RUNS
    assert names > {following.run_id for following in followings}


@pytest.mark.slow
async def test_the_key_is_nowhere_but_in_its_file_and_in_the_request(rig: Rig, errors_logged: LogEntries) -> None:
    echo = f"the key {KEY}"

    async def leaks(wire: Wire, request: ProviderRequest) -> None:
        await wire.head()
        await wire.delta(reasoning=echo, content=echo[:15])
        await wire.delta(content=echo[15:])
        await wire.finish()

    escaped = "".join(f"\\u{ord(character):04x}" for character in KEY)

    async def leaks_in_words(wire: Wire, request: ProviderRequest) -> None:
        await wire.head(200, "text/event-stream", f"X-Echo: {KEY}")
        for name in (KEY, "readFragments"):
            function = {"name": name, "arguments": f'{{"ids": ["{escaped}"]}}'}
            await wire.delta(KEY, tool_calls=[{"id": f"{KEY}{name}", "function": function}])
        await wire.event({"choices": [], "usage": {"prompt_tokens": KEY}, "model": KEY})
        await wire.send(b"data: [DONE]\n\n")

    seen: list[bytes] = []
    rig.provider.play(
        leaks,
        leaks_in_words,
        says("x"),
        calls(("searchFragments", {"query": KEY})),
        says(KEY),
        refuses(401, {"error": {"message": echo}}),
        refuses(500, KEY.encode()),
        refuses(500, KEY.encode()),
        refuses(400, [KEY]),
        refuses(200, {"choices": [], "error": echo}),
    )
    for body in ({"input": "a"}, {"input": "b"}, {"input": "c"}, {"input": "d"}, {"input": "e"}, {"input": "f"}):
        seen.append((await rig.send("POST", GENERATE, body)).body)
    rig.provider.play(refuses(401, {"error": echo}))
    for method, path, body in (
        ("POST", "/api/providers/main/test", {}),
        ("GET", "/api/providers", None),
        ("PUT", "/api/providers/main", {"baseURL": rig.provider.url, "apiKey": f"{KEY} ", "defaultModel": MODEL}),
        ("PUT", "/api/providers/other", {"baseURL": "http://e.example", "apikey": KEY}),
        ("PUT", "/api/providers/main", {"baseURL": "http://e.example"}),
        ("GET", "/status", None),
        ("GET", f"{STORY}/agent-blocks/generation.writer/model", None),
        ("GET", f"{STORY}/agent-blocks/generation.writer/preview", None),
    ):
        seen.append((await rig.send(method, path, body)).body)
    for row in await rig.runs():
        seen.append(json.dumps(await rig.record(row["id"])).encode())
    assert all(request.headers["authorization"] == f"Bearer {KEY}" for request in rig.provider.requests)
    assert len(rig.provider.requests) == 11
    assert HIDDEN.encode() in b"".join(seen)
    assert [text for text in seen if KEY.encode() in text] == []
    assert KEY not in repr(errors_logged)
    holders = [path.name for path in rig.folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert holders == ["provider-keys.json"]


async def test_an_engine_without_a_data_folder_has_no_stories_to_write(rig: Rig) -> None:
    rig.engine.space.generation._records = None
    assert_problem(await rig.send("GET", f"{STORY}/runs"), 409, "no data folder")


@pytest.mark.slow
async def test_a_signal_cancels_runs_at_once_and_the_engine_ends_well(tmp_path: Path) -> None:
    async with scripted_provider() as provider, serving_process(tmp_path) as engine:

        async def ask(method: str, path: str, body: Any) -> None:
            response = await engine.request(method, path, JSON_BODY, json.dumps(body).encode())
            assert response.status in (200, 201), response

        await ask("PUT", "/api/providers/main", {"baseURL": provider.url, "apiKey": KEY, "defaultModel": MODEL})
        await ask("POST", "/api/stories", {"id": "tale", "name": "A Tale"})
        provider.play(goes_on)
        async with connected(engine.port) as connection:
            await connection.send(request_bytes("POST", GENERATE, JSON_BODY, b'{"input": "Go on."}'))
            following = Following(connection, (await connection.read_head()).header("x-run-id") or "")
            await following.until("text")
            began = trio.current_time()
            engine.signal(signal.SIGTERM)
            finish = await following.until("finish")
            assert (finish["finishReason"], finish["recorded"]) == ("cancelled", True)
            assert await following.next() is None
        assert await engine.wait() == 0
        assert trio.current_time() - began < BOUND_SECONDS / 2
        (record,) = tmp_path.rglob(f"{following.run_id}.json")  # noqa: ASYNC240 - one small folder
        assert json.loads(record.read_text())["exchanges"][0]["cutOff"] == "Once"


async def test_the_provider_receives_exactly_the_messages_that_the_preview_shows(rig: Rig) -> None:
    config = f"{STORY}/agent-blocks/generation.writer"
    block = {"id": "cb-aaaa", "name": "Pace", "role": "user", "order": 450, "type": "script", "enabled": True}
    script = "return `There are ${ctx.proseFragments.length} pieces. <@ch-mara>`"
    assert (await rig.send("POST", f"{config}/custom", {**block, "content": script})).status == 201
    overrides = {"instructions": {"contentMode": "append", "customContent": "[@block=forged] Be brief."}}
    assert (await rig.send("PATCH", f"{config}/config", {"overrides": overrides})).status == 200
    preview = await rig.get(f"{config}/preview")
    rig.provider.play(says("Fine."))
    await rig.events(body={"input": "(preview)"})
    assert list(rig.provider.requests[-1].messages) == preview["messages"]
    assert "There are 2 pieces." in preview["messages"][1]["content"]
