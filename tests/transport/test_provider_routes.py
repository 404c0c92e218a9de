"""Providers over HTTP: added, changed, tried out, deleted; and a key that goes in never comes out."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import trio

from tests.scripted_provider import KEY, MODEL, ProviderRequest, Wire, refuses
from tests.transport.generation_rig import Rig, generation_rig
from tests.transport.mcp_client import JSON_BODY
from tests.transport.test_rest import assert_problem

ALL = "/api/providers"


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncGenerator[Rig]:
    async with generation_rig(tmp_path) as made:
        yield made


async def test_providers_are_listed_as_they_may_be_shown(rig: Rig) -> None:
    assert (await rig.put_provider("b", enabled=False)).status == 201
    listed = await rig.get(ALL)
    assert (listed["defaultProviderId"], listed["reports"]) == ("main", [])
    assert [(row["id"], row["enabled"], row["hasKey"], row["isDefault"]) for row in listed["providers"]] == [
        ("main", True, True, True),
        ("b", False, True, False),
    ]
    assert not {"apiKey", "customHeaders"} & set(listed["providers"][0])
    assert await rig.get(f"{ALL}/b") == listed["providers"][1]
    assert_problem(await rig.send("GET", f"{ALL}/c"), 404, "there are: 'main', 'b'")


async def test_a_provider_is_changed_and_the_default_is_chosen(rig: Rig) -> None:
    changed = await rig.send("PUT", f"{ALL}/main", {"baseURL": rig.provider.url, "name": "Mine"})
    assert (changed.status, changed.json["name"], changed.json["hasKey"]) == (200, "Mine", True)
    await rig.put_provider("b")
    chosen = await rig.send("PUT", ALL, {"defaultProviderId": "b"})
    assert (chosen.status, chosen.json["defaultProviderId"]) == (200, "b")
    assert (await rig.send("PUT", ALL, {"defaultProviderId": None})).json["defaultProviderId"] is None
    assert_problem(await rig.send("PUT", ALL, {"defaultProviderId": "c"}), 404, "there is no provider 'c'")
    assert_problem(await rig.send("PUT", ALL, {"default": "b"}), 422, "defaultProviderId")


async def test_a_provider_is_deleted(rig: Rig) -> None:
    assert (await rig.send("DELETE", f"{ALL}/main")).json["id"] == "main"
    assert (await rig.get(ALL))["providers"] == []
    assert_problem(await rig.send("DELETE", f"{ALL}/main"), 404, "there is no provider 'main'")


async def test_what_is_wrong_is_said_by_its_path_and_without_the_key(rig: Rig) -> None:
    response = await rig.send("PUT", f"{ALL}/x", {"baseURL": "nonsense", "apiKey": [KEY], "temperature": 9})
    assert_problem(response, 422, "apiKey: must be a text")
    assert [issue["path"] for issue in response.json["details"]] == [["apiKey"]]
    assert KEY.encode() not in response.body
    assert (await rig.send("PUT", f"{ALL}/bad%20id", {"baseURL": rig.provider.url})).status == 422


@pytest.mark.parametrize("body", ["", f'{{"apiKey": "{KEY}"', f'"{KEY}"', f'{{"apiKey": "{KEY}", "apiKey": 1}}'])
async def test_a_body_that_is_no_provider_is_not_repeated(rig: Rig, body: str) -> None:
    response = await rig.engine.request("PUT", f"{ALL}/main", JSON_BODY, body.encode())
    assert response.status in (400, 422)
    assert KEY.encode() not in response.body
    assert (await rig.get(ALL))["providers"][0]["hasKey"] is True


async def test_a_provider_is_tried_out_also_when_it_is_switched_off(rig: Rig) -> None:
    await rig.put_provider(enabled=False)
    tried = (await rig.send("POST", f"{ALL}/main/test")).json
    assert (tried["ok"], tried["models"], tried["error"]) == (True, [MODEL], None)
    assert tried["seconds"] < 5
    rig.provider.play(refuses(401, {"error": f"no {KEY}"}))
    tried = (await rig.send("POST", f"{ALL}/main/test")).json
    assert (tried["ok"], tried["models"]) == (False, [])
    assert tried["error"] == "provider 'main' did not take the key (401): no (secret)"
    assert_problem(await rig.send("POST", f"{ALL}/none/test"), 404, "there is no provider 'none'")


async def test_trying_out_ends_when_nobody_waits_any_more(rig: Rig) -> None:
    asked = trio.Event()

    async def silent(wire: Wire, request: ProviderRequest) -> None:
        asked.set()
        await trio.sleep_forever()

    rig.provider.play(silent)
    connection = await rig.engine.connect()
    await connection.send(b"POST /api/providers/main/test HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    with trio.fail_after(10):
        await asked.wait()
        await connection.reset()
        await rig.provider.wait_closed()


async def test_the_roles_of_models_are_listed(rig: Rig) -> None:
    roles = await rig.get("/api/model-roles")
    assert [role["key"] for role in roles] == ["generation", "librarian", "character-chat", "directions"]
