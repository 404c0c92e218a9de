"""The routes of block configurations: the recorded conversations, revisions, both families, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import pytest
import trio

from blocks.compile import split_compiled
from tests.blocks.recorded import cases
from tests.transport.mcp_client import JSON_BODY
from tests.transport.raw_http import Response
from tests.transport.running_engine import RunningEngine, running_engine

LEFT_OUT = {
    "create: malformed JSON body": "decision 21 with the house's errors: the 400 has a reason, and is JSON",
}

RENAMED_TOOLS = {"getFragment": "readFragments"}
"""The document calls it so; the recording is of an earlier release."""

WRITER = "/api/stories/tale/agent-blocks/generation.writer"


@pytest.fixture
async def story(engine: RunningEngine) -> RunningEngine:
    """An engine with the story `tale`."""
    made = await send(engine, "POST", "/api/stories", {"name": "A Tale", "id": "tale"})
    assert made.status == 201
    return engine


@pytest.fixture
async def full_story(tmp_path: Path) -> AsyncGenerator[RunningEngine]:
    """An engine with all its tools and the story `tale`."""
    async with running_engine(tmp_path, built_in=True) as running:
        await send(running, "POST", "/api/stories", {"name": "A Tale", "id": "tale"})
        yield running


async def send(
    engine: RunningEngine, method: str, target: str, body: Any = None, *, if_match: str | None = None
) -> Response:
    """A request with a JSON body, or without one."""
    headers = () if if_match is None else (("If-Match", if_match),)
    if body is None:
        return await engine.request(method, target, headers)
    return await engine.request(method, target, (*JSON_BODY, *headers), json.dumps(body).encode())


def block(block_id: str = "cb-aaaa", **members: Any) -> dict[str, Any]:
    return {"id": block_id, "name": "N", "role": "system", "type": "simple", "content": "C", **members}


def everything_in(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def reduced(case: str, request: Mapping[str, Any], body: Any) -> Any:
    """A body as the recorded ones are written down."""
    match body:
        case {"error": _, "title": _}:
            details = [{"code": one["code"], "path": one["path"]} for one in body.get("details", [])]
            return {"error": "<text>", **({"details": details} if details and case.startswith("import") else {})}
        case {"builtinBlocks": _}:
            rows = [{key: row[key] for key in ("id", "role", "order", "source")} for row in body["builtinBlocks"]]
            return {**{key: body[key] for key in ("config", "availableTools")}, "builtinBlocks": rows}
        case {"messages": _}:
            messages = [
                {"role": one["role"], "markers": [str(part.marker) for part in split_compiled(one["content"])]}
                for one in body["messages"]
            ]
            rows = [{key: row[key] for key in ("id", "name", "role")} for row in body["blocks"]]
            return {"messages": messages, "blocks": rows, "blockCount": body["blockCount"]}
        case {"displayName": _}:
            return {**body, "displayName": "<text>"}
        case {"line": int(), **recorded}:  # where in a script its error is
            return recorded
        case _:
            return body


def expected_of(request: Mapping[str, Any], expected: Mapping[str, Any], added: set[str]) -> Any:
    """The recorded answer, as the decisions change it: 201 for creation (21), no order of their own for blocks (1)."""
    status, body = expected["status"], json.loads(json.dumps(expected.get("body")))
    if request["method"] == "POST" and request["path"].endswith("/custom") and status == 200:
        status = 201
        added.add(request["body"]["id"])
    config = body.get("config", body) if isinstance(body, dict) else {}
    if "blockOrder" in config and set(config["blockOrder"]) <= added:
        config["blockOrder"] = []
    if isinstance(body, dict) and "availableTools" in body:
        body["availableTools"] = [RENAMED_TOOLS.get(name, name) for name in body["availableTools"]]
    if isinstance(body, dict) and body.get("details"):
        body["details"].sort(key=lambda detail: [str(part) for part in detail["path"]])
    return status, body


@cases("agent_blocks_api", LEFT_OUT)
@pytest.mark.slow
async def test_a_recorded_conversation_goes_as_it_was_recorded(story: RunningEngine, case: Any) -> None:
    added: set[str] = set()
    for request, expected in zip(case["input"]["requests"], case["expected"]["responses"], strict=True):
        target = f"/api{request['path'].replace('{story}', 'tale')}"
        response = await send(story, request["method"], target, request.get("body"))
        body = reduced(case["name"], request, response.json)
        assert (response.status, body) == expected_of(request, expected, added), target


async def test_a_body_that_is_no_json_is_400_with_a_reason(story: RunningEngine) -> None:
    response = await story.request("POST", f"{WRITER}/custom", JSON_BODY, b"{bad")
    assert (response.status, response.header("content-type")) == (400, "application/problem+json")
    assert response.json["error"] == response.json["detail"] != ""


async def test_a_stale_revision_is_409_and_the_present_one_is_told(story: RunningEngine) -> None:
    first = await send(story, "GET", WRITER)
    etag = first.header("etag")
    changed = await send(story, "PATCH", f"{WRITER}/config", {"blockOrder": ["a"]}, if_match=etag)
    assert changed.status == 200
    assert changed.header("etag") != etag
    for method, path, body in (
        ("PATCH", "/config", {"blockOrder": ["b"]}),
        ("POST", "/custom", block()),
        ("PUT", "/custom/cb-aaaa", {"name": "x"}),
        ("DELETE", "/custom/cb-aaaa", None),
        ("POST", "/import-config", {"config": {}}),
        ("POST", "/reset", None),
    ):
        stale = await send(story, method, f"{WRITER}{path}", body, if_match=etag)
        assert (stale.status, stale.header("etag")) == (409, changed.header("etag")), path
        assert stale.json["revision"] in stale.json["detail"]
    assert (await send(story, "GET", WRITER)).json["config"]["blockOrder"] == ["a"]
    for fine in (f'"x", {changed.header("etag")}', "*"):
        assert (await send(story, "PATCH", f"{WRITER}/config", {}, if_match=fine)).status == 200
    assert (await send(story, "PATCH", f"{WRITER}/config", {}, if_match=f"W/{changed.header('etag')}")).status == 409
    assert (await send(story, "PATCH", f"{WRITER}/config", {}, if_match="unquoted")).status == 400


async def test_editors_at_the_same_time_lose_nothing(story: RunningEngine) -> None:
    """Half of them patch without a revision; the others read, change and try again until theirs holds."""

    async def patch(number: int) -> None:
        body = {"overrides": {f"block-{number}": {"order": number}}}
        assert (await send(story, "PATCH", f"{WRITER}/config", body)).status == 200

    async def import_until_it_holds(number: int) -> None:
        while True:
            read = await send(story, "GET", f"{WRITER}/export-config")
            config = read.json["config"]
            config["disabledTools"].append(f"tool-{number}")
            sent = await send(
                story, "POST", f"{WRITER}/import-config", {"config": config}, if_match=read.header("etag")
            )
            if sent.status == 200:
                return
            assert sent.status == 409

    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            for number in range(8):
                nursery.start_soon(patch, number)
                nursery.start_soon(import_until_it_holds, number)
    config = (await send(story, "GET", WRITER)).json["config"]
    assert sorted(config["overrides"]) == [f"block-{number}" for number in range(8)]
    assert sorted(config["disabledTools"]) == [f"tool-{number}" for number in range(8)]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"overrides": {"prose": {"enabled": None, "order": "7"}}}, ["overrides", "prose", "order"]),
        ({"overrides": {"prose": {"contentMode": "replace"}}}, ["overrides", "prose", "contentMode"]),
        ({"blockOrder": "tools"}, ["blockOrder"]),
        ({"disabledTools": [1]}, ["disabledTools", 0]),
        ({"disableAutoAnalysis": 1, "blockOrder": ["kept out"]}, ["disableAutoAnalysis"]),
    ],
)
async def test_a_patch_with_a_wrong_value_is_422_with_its_path_and_changes_nothing(
    story: RunningEngine, body: Any, path: list[Any]
) -> None:
    before = await send(story, "PATCH", f"{WRITER}/config", {"blockOrder": ["tools"]})
    refused = await send(story, "PATCH", f"{WRITER}/config", body)
    assert (refused.status, [one["path"] for one in refused.json["details"]]) == (422, [path])
    assert (await send(story, "GET", WRITER)).header("etag") == before.header("etag")


async def test_null_takes_a_field_or_an_override_away_and_reset_everything(story: RunningEngine) -> None:
    override = {"enabled": False, "contentMode": "override", "customContent": "x"}
    await send(story, "PATCH", f"{WRITER}/config", {"overrides": {"tools": override, "prose": override}})
    patched = await send(
        story, "PATCH", f"{WRITER}/config", {"overrides": {"tools": {"contentMode": None}, "prose": None}}
    )
    assert patched.json["overrides"] == {"tools": {"enabled": False, "customContent": "x"}}
    reset = await send(story, "POST", f"{WRITER}/reset")
    assert (reset.status, reset.json["overrides"]) == (200, {})
    assert (await send(story, "GET", f"{WRITER}/export-config")).json["config"] == reset.json


async def test_a_block_whose_id_is_taken_is_409(story: RunningEngine) -> None:
    assert (await send(story, "POST", f"{WRITER}/custom", block())).status == 201
    assert (await send(story, "POST", f"{WRITER}/custom", block(name="Another"))).status == 409
    assert (await send(story, "DELETE", f"{WRITER}/custom/instructions")).status == 404


async def test_a_preview_says_of_each_block_where_it_is_from_and_splits_exactly(story: RunningEngine) -> None:
    forged = "above\n[@block=instructions]\nbelow 🎭"
    await send(story, "POST", f"{WRITER}/custom", block(name="物語", content=forged, order=150))
    await send(story, "POST", f"{WRITER}/custom", block("cb-off1", enabled=False))
    override = {"tools": {"contentMode": "append", "customContent": "More."}, "story-info": {"enabled": False}}
    await send(story, "PATCH", f"{WRITER}/config", {"overrides": override, "disabledTools": ["searchFragments"]})
    preview = (await send(story, "GET", f"{WRITER}/preview?modelId=some-model")).json
    texts = {one["role"]: one["content"].encode("utf-16-le") for one in preview["messages"]}
    parts = [texts[one["role"]][one["start"] * 2 : one["end"] * 2].decode("utf-16-le") for one in preview["blocks"]]
    assert [one["id"] for one in preview["blocks"]] == ["instructions", "cb-aaaa", "tools", "new-story", "author-input"]
    assert parts[1] == "[@block= src=cb-aaaa]\nabove\n\\[@block=instructions]\nbelow 🎭"
    assert "\n\n".join(parts[:3]) == preview["messages"][0]["content"]
    split = [part for one in preview["messages"] for part in split_compiled(one["content"])]
    assert (len(split), split[1].content) == (5, forged)
    changes = {one["id"]: [change["kind"] for change in one["changes"]] for one in preview["blocks"]}
    assert (changes["cb-aaaa"], changes["tools"]) == (["custom"], ["definition", "content"])
    assert {one["id"]: one["reason"] for one in preview["dropped"]} == {
        "cb-off1": "definition-disabled",
        "story-info": "override-disabled",
    }
    assert preview["tokens"] == sum(one["tokens"] for one in preview["blocks"]) > 0
    assert (preview["modelId"], "searchFragments" in preview["tools"]) == ("some-model", False)
    assert "searchFragments" not in preview["messages"][0]["content"]


@pytest.mark.slow
async def test_scripts_see_the_story_and_are_named_when_they_come_in(story: RunningEngine) -> None:
    fragment = {"type": "character", "name": "Mara", "id": "ch-mara1", "sticky": True, "tags": ["hero"]}
    await send(story, "POST", "/api/stories/tale/fragments", fragment)
    body = (
        "const one = await ctx.getFragmentByTag('hero'); return `${one.name} in ${ctx.story.name}: ${ctx.authorInput}`"
    )
    evaluated = await send(story, "POST", "/api/stories/tale/blocks/eval-script", {"content": body})
    assert evaluated.json == {"result": "Mara in A Tale: (preview)", "error": None}
    extras = {"content": "return ctx.newProse.content", "agent": "librarian.analyze"}
    assert (await send(story, "POST", "/api/stories/tale/blocks/eval-script", extras)).json["result"]
    script = block(type="script", name="Who", content=body)
    imported = await send(story, "POST", f"{WRITER}/import-config", {"config": {"customBlocks": [script]}})
    assert (imported.json["ok"], imported.json["scripts"]) == (True, ["generation.writer: Who"])
    preview = (await send(story, "GET", f"{WRITER}/preview")).json
    assert "Mara in A Tale: (preview)" in preview["messages"][0]["content"]
    await send(story, "PUT", f"{WRITER}/custom/cb-aaaa", {"content": "throw new Error('boom')"})
    preview = (await send(story, "GET", f"{WRITER}/preview")).json
    assert [one["message"] for one in preview["scriptErrors"]] == ["boom"]
    for wrong, status in (({}, 422), ({"content": 5}, 422), ({"content": "", "agent": "nope"}, 404)):
        assert (await send(story, "POST", "/api/stories/tale/blocks/eval-script", wrong)).status == status


async def test_a_bundle_takes_every_config_to_another_story_or_none_of_it(story: RunningEngine) -> None:
    await send(story, "PATCH", f"{WRITER}/config", {"blockOrder": ["tools"]})
    analyze = "/api/stories/tale/agent-blocks/librarian.analyze"
    await send(story, "PATCH", f"{analyze}/config", {"disableAutoAnalysis": True})
    bundle = (await send(story, "GET", "/api/stories/tale/export-configs")).json
    assert sorted(bundle["agentBlockConfigs"]) == ["generation.writer", "librarian.analyze"]
    await send(story, "POST", "/api/stories", {"name": "Other", "id": "other"})
    target = "/api/stories/other/import-configs"
    wrong = {"agentBlockConfigs": {**bundle["agentBlockConfigs"], "../../../escape": {}, "librarian.chat": {"x": 1}}}
    wrong["agentBlockConfigs"]["librarian.refine"] = {"blockOrder": 5}
    refused = await send(story, "POST", target, wrong)
    assert refused.status == 422
    assert [one["path"] for one in refused.json["details"]] == [
        ["agentBlockConfigs", "../../../escape"],
        ["agentBlockConfigs", "librarian.refine", "blockOrder"],
    ]
    assert (await send(story, "GET", "/api/stories/other/export-configs")).json == {}
    assert (await send(story, "POST", target, bundle)).json == {"ok": True}
    assert (await send(story, "GET", "/api/stories/other/export-configs")).json == bundle
    assert (await send(story, "POST", target, {})).json == {"ok": True}


async def test_what_is_unknown_is_404_and_of_story_and_agent_the_story_is_named(story: RunningEngine) -> None:
    for target in (WRITER.replace("tale", "nope"), "/api/stories/nope/agent-blocks/nope"):
        for path in ("", "/preview", "/export-config"):
            assert "story" in (await send(story, "GET", f"{target}{path}")).json["error"]
        assert (await send(story, "PATCH", f"{target}/config", {})).status == 404
        assert (await send(story, "POST", f"{target}/reset")).status == 404
    assert (await send(story, "GET", "/api/stories/nope/agent-blocks")).status == 404
    assert (await send(story, "GET", "/api/stories/nope/export-configs")).status == 404
    assert (await send(story, "GET", "/api/agent-blocks/nope")).status == 404
    assert (await send(story, "GET", "/api/agent-blocks/generation.writer")).status == 404
    assert (await send(story, "GET", "/api/stories/tale/agent-blocks/standard")).status == 404


@pytest.mark.parametrize("name", ["..%2F..%2Fescape", "%2e%2e", "a%00b", "A", "%ff", "x" * 300, "stories/../../etc"])
async def test_no_name_in_a_path_leaves_the_data_folder(story: RunningEngine, tmp_path: Path, name: str) -> None:
    before = everything_in(tmp_path)
    for root in ("/api/agent-blocks", "/api/stories/tale/agent-blocks"):
        for method, path, body in (("GET", "", None), ("PATCH", "/config", {}), ("POST", "/custom", block())):
            assert (await send(story, method, f"{root}/{name}{path}", body)).status == 404
    assert (await send(story, "GET", f"/api/stories/{name}/agent-blocks/generation.writer")).status == 404
    assert (await send(story, "GET", f"{WRITER}?branch={name}")).status == 404
    assert everything_in(tmp_path) == before


async def test_both_families_are_listed_and_only_usable_agents(story: RunningEngine) -> None:
    rows = (await send(story, "GET", "/api/agent-blocks")).json
    families = {row["agentName"]: row["family"] for row in rows}
    assert (families["generation.writer"], families["standard"]) == ("story", "space")
    assert len(families) == len(rows) >= 10
    listed = (await send(story, "GET", "/api/stories/tale/agent-blocks")).json
    assert [row["agentName"] for row in listed] == [row["agentName"] for row in rows if row["family"] == "story"]


async def test_an_agent_of_space_has_its_blocks_from_the_living_engine(full_story: RunningEngine) -> None:
    standard = "/api/agent-blocks/standard"
    found = (await send(full_story, "GET", standard)).json
    assert [row["id"] for row in found["builtinBlocks"]] == [
        "instructions",
        "tools",
        "preset-prompts",
        "context",
        "world",
    ]
    assert "space_drawing_inspect" in found["availableTools"]
    patched = await send(
        full_story,
        "PATCH",
        f"{standard}/config",
        {"overrides": {"world": {"enabled": False}}, "disabledTools": ["space_drawing_inspect"]},
        if_match=(await send(full_story, "GET", standard)).header("etag"),
    )
    assert patched.status == 200
    await send(full_story, "POST", f"{standard}/custom", block(content="Be brief.", order=50))
    preview = (await send(full_story, "GET", f"{standard}/preview")).json
    assert [one["id"] for one in preview["blocks"]] == [
        "cb-aaaa",
        "instructions",
        "tools",
        "preset-prompts",
        "context",
    ]
    assert "`space_drawing_inspect`" not in preview["messages"][0]["content"]
    assert "Now: activity=drawing" in preview["messages"][0]["content"]
    await send(full_story, "PATCH", "/api/context", {"activity": "graph"})
    preview = (await send(full_story, "GET", f"{standard}/preview")).json
    assert "by preset:" in preview["messages"][0]["content"]
    compiled = await full_story.space.block_prompts.compile_space_agent("standard")
    assert [one.content for one in compiled.messages] == [one["content"] for one in preview["messages"]]
    minimal = (await send(full_story, "GET", "/api/agent-blocks/minimal")).json
    assert minimal["config"]["customBlocks"] == []
    bundle = (await send(full_story, "GET", "/api/export-configs")).json
    assert list(bundle["agentBlockConfigs"]) == ["standard"]
    assert (await send(full_story, "POST", "/api/import-configs", bundle)).json == {"ok": True}


@pytest.mark.slow
async def test_the_script_of_an_agent_of_space_sees_the_world(full_story: RunningEngine) -> None:
    body = {"content": "return `${ctx.story.name}, ${ctx.story.settings.context.surface}`", "agent": "code"}
    assert (await send(full_story, "POST", "/api/blocks/eval-script", body)).json == {
        "result": "home, canvas",
        "error": None,
    }


async def test_a_broken_config_is_reported_in_the_answer_and_in_the_status(
    story: RunningEngine, tmp_path: Path
) -> None:
    file = tmp_path / "data/stories/tale/branches/main/agent-blocks/generation.writer.json"
    file.parent.mkdir(parents=True)
    file.write_text("{broken")
    found = await send(story, "GET", WRITER)
    (report,) = found.json["setAside"]
    assert (found.status, found.json["config"]["blockOrder"]) == (200, [])
    assert (tmp_path / "data" / report["keptAs"]).read_text() == "{broken"
    assert "setAside" not in (await send(story, "GET", WRITER)).json
    file.write_text("[]")
    added = await send(story, "POST", f"{WRITER}/custom", block())
    assert (added.status, added.json["setAside"][0]["path"]) == (201, report["path"])
    file.write_text("")
    patched = await send(story, "PATCH", f"{WRITER}/config", {"blockOrder": ["a"]})
    assert (patched.json["customBlocks"], len(patched.json["setAside"])) == ([], 1)
    status = (await story.status())["blocks"]
    assert (status["set_aside_count"], status["set_aside"][0]["kept_as"]) == (3, report["keptAs"])


async def test_each_branch_has_prompts_of_its_own(story: RunningEngine) -> None:
    await send(story, "PATCH", f"{WRITER}/config", {"blockOrder": ["a"]})
    await send(story, "POST", "/api/stories/tale/branches", {"name": "What if", "id": "what-if"})
    await send(story, "PATCH", f"{WRITER}/config?branch=what-if", {"blockOrder": ["b"]})
    assert (await send(story, "GET", WRITER)).json["config"]["blockOrder"] == ["a"]
    await send(story, "PUT", "/api/stories/tale/branches/active", {"branchId": "what-if"})
    assert (await send(story, "GET", WRITER)).json["config"]["blockOrder"] == ["b"]


async def test_what_nobody_knows_is_refused_with_its_path_and_nothing_is_written(story: RunningEngine) -> None:
    before = (await send(story, "GET", WRITER)).header("etag")
    patched = await send(story, "PATCH", f"{WRITER}/config", {"bogus": 1, "overrides": {"a": {"bogus": 1}}})
    assert (patched.status, [one["path"] for one in patched.json["details"]]) == (
        422,
        [["bogus"], ["overrides", "a", "bogus"]],
    )
    made = await send(story, "POST", f"{WRITER}/custom", block(bogus=1))
    assert (made.status, made.json["details"][0]["path"]) == (422, ["bogus"])
    bundle = await send(story, "POST", "/api/stories/tale/import-configs", {"configs": {}})
    assert (bundle.status, bundle.json["details"][0]["path"]) == (422, ["configs"])
    wrong = await send(story, "POST", f"{WRITER}/import-config", {"config": []})
    assert "instance of" not in wrong.body.decode()
    assert (await send(story, "GET", WRITER)).header("etag") == before


async def test_a_custom_block_without_an_id_gets_one(story: RunningEngine) -> None:
    body = {name: value for name, value in block().items() if name != "id"}
    made = await send(story, "POST", f"{WRITER}/custom", body)
    assert made.status == 201
    assert re.fullmatch("cb-[a-z0-9]{8}", made.json["customBlocks"][0]["id"])


async def test_a_bundle_has_no_revision_so_a_tag_with_it_is_refused(story: RunningEngine) -> None:
    await send(story, "PATCH", f"{WRITER}/config", {"blockOrder": ["tools"]})
    bundle = (await send(story, "GET", "/api/stories/tale/export-configs")).json
    refused = await send(story, "POST", "/api/stories/tale/import-configs", bundle, if_match='"0123"')
    assert (refused.status, "no revision of its own" in refused.json["error"]) == (400, True)
    assert (await send(story, "POST", "/api/stories/tale/import-configs", bundle, if_match="*")).status == 200


async def test_tools_that_an_agent_does_not_have_are_kept_with_a_warning(full_story: RunningEngine) -> None:
    config = "/api/agent-blocks/standard/config"
    patched = await send(full_story, "PATCH", config, {"disabledTools": ["space_drawing_inspect", "nope"]})
    assert (patched.status, patched.json["unknownTools"]) == (200, ["nope"])
    assert patched.json["disabledTools"] == ["space_drawing_inspect", "nope"]
    assert "warning" not in (await send(full_story, "PATCH", config, {"disableAutoAnalysis": True})).json
    await send(full_story, "PATCH", f"{WRITER}/config", {"disabledTools": ["nope"]})
    assert (await send(full_story, "GET", WRITER)).json["unknownTools"] == ["nope"]


async def test_the_form_in_which_an_agent_has_its_tools_cannot_be_switched_off(full_story: RunningEngine) -> None:
    wrong = {"disabledTools": ["space_drawing_inspect", "space_run_code"]}
    code = "/api/agent-blocks/code"
    for method, path, body, where in (
        ("PATCH", f"{code}/config", wrong, []),
        ("POST", f"{code}/import-config", {"config": wrong}, []),
        ("POST", "/api/import-configs", {"agentBlockConfigs": {"code": wrong}}, ["agentBlockConfigs", "code"]),
    ):
        refused = await send(full_story, method, path, body)
        assert refused.status == 422
        assert [one["path"] for one in refused.json["details"]] == [[*where, "disabledTools", 1]]
        assert "presentation" in refused.json["error"]
    assert (await send(full_story, "GET", code)).json["config"]["disabledTools"] == []


async def test_a_prompt_that_names_a_tool_says_when_it_is_switched_off(full_story: RunningEngine) -> None:
    standard = "/api/agent-blocks/standard"
    said = "switched off for you, so do without them: space_drawing_inspect."
    before = (await send(full_story, "GET", f"{standard}/preview")).json["messages"][0]["content"]
    assert "Look at the drawing with space_drawing_inspect" in before
    assert said not in before
    disabled = {"disabledTools": ["space_app_undo", "space_drawing_inspect"]}
    await send(full_story, "PATCH", f"{standard}/config", disabled)
    after = (await send(full_story, "GET", f"{standard}/preview")).json["messages"][0]["content"]
    assert said in after


async def test_a_preview_says_that_clients_do_not_get_the_user_message(full_story: RunningEngine) -> None:
    standard = "/api/agent-blocks/standard"
    assert "note" not in (await send(full_story, "GET", f"{standard}/preview")).json
    await send(full_story, "POST", f"{standard}/custom", block(role="user"))
    assert "`space_context` has both" in (await send(full_story, "GET", f"{standard}/preview")).json["note"]
    await send(full_story, "POST", f"{WRITER}/custom", block(role="user"))
    assert "note" not in (await send(full_story, "GET", f"{WRITER}/preview")).json
