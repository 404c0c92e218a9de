"""The user's providers: kept whole, keys apart and for their owner alone, and nothing shown that opens anything."""

from __future__ import annotations

import json
import stat
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import structlog.testing
import trio

from actors.provider_book import MOST_PROVIDERS, NO_KEY
from actors.provider_files import CONFIG_FILE, KEYS_FILE, ProviderFiles
from actors.providers import (
    ChooseDefaultProvider,
    DeleteProvider,
    ProvidersActor,
    ProvidersView,
    PutProvider,
    ReadProviders,
)
from blocks.issue import InvalidBlockDataError
from engine.errors import ConflictError, EngineError, InvalidArgumentError, NotFoundError

KEY = "sk-the-key-that-nobody-must-see-0123456789"
TOKEN = "Basic c2VjcmV0LXVzZXI6cHc="
URL = "https://models.example/v1"

MAIN: dict[str, Any] = {"name": "Main", "baseURL": URL, "apiKey": KEY, "defaultModel": "m-1"}


@asynccontextmanager
async def providers_in(folder: Path | None) -> AsyncGenerator[ProvidersActor]:
    """The actor over the files in that folder."""
    actor = ProvidersActor.in_folder(folder)
    with trio.fail_after(10):
        async with trio.open_nursery() as nursery:
            await nursery.start(actor.run)
            yield actor
            nursery.cancel_scope.cancel()


@pytest.fixture
async def actor(tmp_path: Path) -> AsyncGenerator[ProvidersActor]:
    async with providers_in(tmp_path) as running:
        yield running


def config(folder: Path) -> Any:
    return json.loads((folder / CONFIG_FILE).read_text())


def broken_in(folder: Path, name: str = CONFIG_FILE) -> list[Path]:
    return list(folder.glob(f"{name}.broken-*"))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def fault_of(actor: ProvidersActor, raw: dict[str, Any], provider_id: str = "main") -> str:
    """Why this is refused. Nothing has changed, and the words hold no secret."""
    before = await actor.ask(ReadProviders())
    with pytest.raises(EngineError) as caught:
        await actor.ask(PutProvider(provider_id, raw))
    assert KEY not in str(caught.value)
    assert await actor.ask(ReadProviders()) == before
    return str(caught.value)


async def test_a_provider_is_kept_and_its_key_is_not_shown(actor: ProvidersActor, tmp_path: Path) -> None:
    row = await actor.ask(PutProvider("main", {**MAIN, "customHeaders": {"x-token": TOKEN}, "temperature": 0.5}))
    view = await actor.ask(ReadProviders())
    assert view == ProvidersView((row,), "main", ())
    assert row.to_json() == {
        "id": "main",
        "name": "Main",
        "baseURL": URL,
        "defaultModel": "m-1",
        "enabled": True,
        "temperature": 0.5,
        "preset": None,
        "createdAt": row.created_at,
        "hasKey": True,
        "headerNames": ["x-token"],
        "isDefault": True,
        "fault": None,
    }
    assert datetime.fromisoformat(row.created_at).tzinfo == UTC
    for secret in (KEY, TOKEN):
        assert secret not in repr((view, actor.state, PutProvider("main", MAIN), actor.providers.value))
        assert secret not in (tmp_path / CONFIG_FILE).read_text()
    assert [mode(tmp_path / name) for name in (KEYS_FILE, CONFIG_FILE)] == [0o600, 0o600]
    (usable,) = actor.providers.value.providers
    assert (usable.api_key, dict(usable.custom_headers)) == (KEY, {"x-token": TOKEN})


async def test_providers_are_there_again_after_a_restart(tmp_path: Path) -> None:
    async with providers_in(tmp_path) as actor:
        await actor.ask(PutProvider("main", MAIN))
        await actor.ask(PutProvider("b", {**MAIN, "enabled": False}))
        before = await actor.ask(ReadProviders())
    async with providers_in(tmp_path) as actor:
        assert await actor.ask(ReadProviders()) == before
        assert actor.providers.value.usable("main") is not None
        assert actor.providers.value.why_not("b") == "provider 'b' is disabled"


async def test_a_key_stays_when_it_is_not_named_and_goes_when_it_is_null(actor: ProvidersActor) -> None:
    await actor.ask(PutProvider("main", {**MAIN, "customHeaders": {"x-token": TOKEN}}))
    row = await actor.ask(PutProvider("main", {"baseURL": f"{URL}/other", "name": "Again"}))
    assert (row.has_key, row.header_names, row.name, row.default_model) == (True, ("x-token",), "Again", "")
    row = await actor.ask(PutProvider("main", {"baseURL": URL, "customHeaders": None}))
    assert (row.has_key, row.header_names) == (True, ())
    assert "apiKey" in await fault_of(actor, {"baseURL": URL, "apiKey": None})


async def test_a_key_does_not_follow_to_another_address(actor: ProvidersActor) -> None:
    await actor.ask(PutProvider("main", {**MAIN, "customHeaders": {"x-token": TOKEN}}))
    for url in ("https://evil.example/v1", "http://models.example/v1", "https://models.example:444/v1"):
        said = await fault_of(actor, {"baseURL": url})
        assert "apiKey: must be given anew" in said
        assert "customHeaders: must be given anew" in said
    row = await actor.ask(
        PutProvider("main", {"baseURL": "https://b.example", "apiKey": "k2-k2", "customHeaders": None})
    )
    assert row.has_key


async def test_a_provider_on_this_machine_needs_no_key(actor: ProvidersActor) -> None:
    for host in ("localhost:11434", "127.0.0.1:8080", "[::1]"):
        row = await actor.ask(PutProvider("local", {"baseURL": f"http://{host}/v1"}))
        assert (row.has_key, row.fault) == (False, None)
        assert [one.api_key for one in actor.providers.value.providers] == [NO_KEY]
    assert "apiKey" in await fault_of(actor, {"baseURL": URL})


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({}, "baseURL: is missing"),
        ({**MAIN, "baseURL": "ftp://x"}, "baseURL: must be a URL"),
        ({**MAIN, "baseURL": "https://me:pw@x.example"}, "without a user"),
        ({**MAIN, "baseURL": "https://x.example/v1?key=1"}, "a query"),
        ({**MAIN, "baseURL": "https://x.example:99999"}, "baseURL"),
        ({**MAIN, "baseURL": "https://é.example"}, "plain ASCII"),
        ({**MAIN, "apiKey": 7}, "apiKey: must be a text"),
        ({**MAIN, "apiKey": f"{KEY}\nEvil: 1"}, "apiKey: must be a text without blanks"),
        ({**MAIN, "apiKey": "x" * 9000}, "apiKey"),
        ({**MAIN, "temperature": 3}, "temperature"),
        ({**MAIN, "enabled": "yes"}, "enabled"),
        ({**MAIN, "customHeaders": [1]}, "customHeaders: must be an object"),
        ({**MAIN, "customHeaders": {"host": "x"}}, "customHeaders.host: is no name"),
        ({**MAIN, "customHeaders": {"x y": "x"}}, "is no name"),
        ({**MAIN, "customHeaders": {"x": "a\r\nb: c"}}, "customHeaders.x: must be a text of printable ASCII"),
        ({**MAIN, "apikey": KEY}, "apikey: there is no such field"),
        ({**MAIN, "name": "x" * 3000}, "name: must have at most"),
    ],
)
async def test_what_is_wrong_with_a_provider_is_said_and_nothing_is_kept(
    actor: ProvidersActor, raw: dict[str, Any], said: str
) -> None:
    assert said in await fault_of(actor, raw)


@pytest.mark.parametrize("provider_id", ["", "a/b", "..", "a b", "é", "x" * 65, "-a"])
async def test_an_id_has_plain_letters(actor: ProvidersActor, provider_id: str) -> None:
    with pytest.raises(InvalidArgumentError, match="cannot have the id"):
        await actor.ask(PutProvider(provider_id, MAIN))


async def test_a_deleted_provider_is_gone_with_its_key(actor: ProvidersActor, tmp_path: Path) -> None:
    await actor.ask(PutProvider("main", MAIN))
    await actor.ask(PutProvider("b", {**MAIN, "apiKey": "another-key"}))
    assert (await actor.ask(DeleteProvider("main"))).id == "main"
    view = await actor.ask(ReadProviders())
    assert ([row.id for row in view.rows], view.default_id) == (["b"], None)
    assert KEY not in (tmp_path / KEYS_FILE).read_text()
    with pytest.raises(NotFoundError, match="there is no provider 'main'; there are: 'b'"):
        await actor.ask(DeleteProvider("main"))


async def test_the_default_provider_is_chosen(actor: ProvidersActor, tmp_path: Path) -> None:
    for name in ("a", "b"):
        await actor.ask(PutProvider(name, MAIN))
    assert (await actor.ask(ReadProviders())).default_id == "a"
    assert (await actor.ask(ChooseDefaultProvider("b"))).default_id == "b"
    assert actor.providers.value.default_id == config(tmp_path)["defaultProviderId"] == "b"
    assert (await actor.ask(ChooseDefaultProvider(None))).default_id is None
    with pytest.raises(NotFoundError):
        await actor.ask(ChooseDefaultProvider("c"))


async def test_there_are_only_so_many_providers(actor: ProvidersActor) -> None:
    for number in range(MOST_PROVIDERS):
        await actor.ask(PutProvider(f"p{number}", MAIN))
    with pytest.raises(ConflictError, match="100 providers"):
        await actor.ask(PutProvider("more", MAIN))
    await actor.ask(PutProvider("p0", MAIN))


async def test_one_that_is_not_valid_costs_only_itself_and_is_named(tmp_path: Path) -> None:
    entries = [
        {"id": "good", "name": "G", "baseURL": URL, "apiKey": KEY},
        {"id": "bad", "name": "B", "baseURL": "nonsense", "apiKey": KEY},
        {"id": "sly", "name": "S", "baseURL": f"https://me:{KEY}@x.example/v1", "apiKey": "k"},
        {"id": "bare", "name": "N", "baseURL": URL},
        7,
    ]
    (tmp_path / CONFIG_FILE).write_text(json.dumps({"providers": entries, "defaultProviderId": "good"}))
    with structlog.testing.capture_logs() as logged:
        async with providers_in(tmp_path) as actor:
            rows = (await actor.ask(ReadProviders())).rows
            usable = actor.providers.value
    assert [(row.id, row.fault is None) for row in rows] == [
        ("good", True),
        ("bad", False),
        ("sly", False),
        ("bare", False),
        ("(number 5)", False),
    ]
    assert [one.id for one in usable.providers] == ["good"]
    assert {name for name in ("bad", "sly", "bare") if f"provider {name!r} is not valid" in str(usable.faults)} == {
        "bad",
        "sly",
        "bare",
    }
    assert sum(entry["event"] == "provider_left_out" for entry in logged) == 4
    assert KEY not in repr((rows, usable.faults, logged))


async def test_keys_that_somebody_wrote_into_the_configuration_are_moved_out(tmp_path: Path) -> None:
    entry = {"id": "main", "name": "M", "baseURL": URL, "apiKey": KEY, "customHeaders": {"x-token": TOKEN}, "own": 1}
    path = tmp_path / CONFIG_FILE
    path.write_text(json.dumps({"theme": "dark", "providers": [entry], "defaultProviderId": "main"}))
    path.chmod(0o644)
    async with providers_in(tmp_path) as actor:
        assert actor.providers.value.usable("main") is not None
    assert config(tmp_path) == {
        "theme": "dark",
        "providers": [{"id": "main", "name": "M", "baseURL": URL, "own": 1}],
        "defaultProviderId": "main",
    }
    assert [mode(path), mode(tmp_path / KEYS_FILE)] == [0o600, 0o600]


async def test_a_file_of_keys_that_others_can_read_is_closed(tmp_path: Path) -> None:
    async with providers_in(tmp_path) as actor:
        await actor.ask(PutProvider("main", MAIN))
    (tmp_path / KEYS_FILE).chmod(0o644)
    async with providers_in(tmp_path) as actor:
        assert actor.providers.value.usable("main") is not None
    assert mode(tmp_path / KEYS_FILE) == 0o600


@pytest.mark.parametrize("content", [b"{nope", b"[]", b"\xff", b"[" * 100_000])
async def test_a_broken_file_is_set_aside_reported_and_never_written_over(tmp_path: Path, content: bytes) -> None:
    (tmp_path / CONFIG_FILE).write_bytes(content)
    async with providers_in(tmp_path) as actor:
        (report,) = (await actor.ask(ReadProviders())).reports
        assert "'config.json' was broken and is kept as 'config.json.broken-" in report
        await actor.ask(PutProvider("main", MAIN))
    assert [path.read_bytes() for path in broken_in(tmp_path)] == [content]


async def test_a_disk_that_refuses_leaves_everything_as_it_was(actor: ProvidersActor, tmp_path: Path) -> None:
    await actor.ask(PutProvider("main", MAIN))
    (tmp_path / CONFIG_FILE).unlink()
    (tmp_path / CONFIG_FILE).mkdir()
    with pytest.raises(EngineError, match=r"config\.json"):
        await actor.ask(DeleteProvider("main"))
    assert [row.id for row in (await actor.ask(ReadProviders())).rows] == ["main"]
    assert actor.providers.value.usable("main") is not None
    assert KEY in (tmp_path / KEYS_FILE).read_text()


async def test_an_engine_without_a_folder_keeps_providers_while_it_runs() -> None:
    async with providers_in(None) as actor:
        await actor.ask(PutProvider("main", MAIN))
        assert actor.providers.value.usable("main") is not None
        with pytest.raises(InvalidBlockDataError):
            await actor.ask(PutProvider("b", {}))


async def test_what_is_edited_by_hand_is_shown_and_stays_when_something_is_changed(
    actor: ProvidersActor, tmp_path: Path
) -> None:
    await actor.ask(PutProvider("main", MAIN))
    edited = config(tmp_path)
    edited["mine"] = "keep"
    edited["providers"][0]["name"] = "By hand"
    (tmp_path / CONFIG_FILE).write_text(json.dumps(edited))
    assert [row.name for row in (await actor.ask(ReadProviders())).rows] == ["By hand"]
    edited["providers"][0]["defaultModel"] = "m-2"
    (tmp_path / CONFIG_FILE).write_text(json.dumps(edited))
    await actor.ask(PutProvider("b", MAIN))
    assert config(tmp_path)["mine"] == "keep"
    assert [(row.name, row.default_model) for row in (await actor.ask(ReadProviders())).rows] == [
        ("By hand", "m-2"),
        ("Main", "m-1"),
    ]
    usable = actor.providers.value.usable("main")
    assert usable is not None
    assert usable.default_model == "m-2"


async def test_a_key_that_is_changed_by_hand_is_the_key(actor: ProvidersActor, tmp_path: Path) -> None:
    await actor.ask(PutProvider("main", MAIN))
    path = tmp_path / KEYS_FILE
    path.write_text(path.read_text().replace(KEY, "another-key"))
    await actor.ask(PutProvider("b", MAIN))
    assert [one.api_key for one in actor.providers.value.providers] == ["another-key", KEY]
    assert "another-key" in path.read_text()
    edited = config(tmp_path)
    edited["providers"][0]["apiKey"] = "a-third-key"
    (tmp_path / CONFIG_FILE).write_text(json.dumps(edited))
    await actor.ask(ReadProviders())
    assert "a-third-key" not in (tmp_path / CONFIG_FILE).read_text()


@pytest.mark.parametrize("name", [CONFIG_FILE, KEYS_FILE])
async def test_what_is_broken_by_hand_is_told_and_set_aside_by_the_next_change(
    actor: ProvidersActor, tmp_path: Path, name: str
) -> None:
    await actor.ask(PutProvider("main", MAIN))
    (tmp_path / name).write_text("{broken")
    for _ in range(2):
        view = await actor.ask(ReadProviders())
        assert [row.id for row in view.rows] == ["main"]
        assert [f"{name!r} is broken as it stands" in report for report in view.reports] == [True]
        assert (tmp_path / name).read_text() == "{broken"
    await actor.ask(PutProvider("b", MAIN))
    view = await actor.ask(ReadProviders())
    assert [row.id for row in view.rows] == ["main", "b"]
    assert [f"{name!r} was broken and is kept as" in report for report in view.reports] == [True]
    assert [path.read_text() for path in broken_in(tmp_path, name)] == ["{broken"]
    assert [one.api_key for one in actor.providers.value.providers] == [KEY, KEY]
    async with providers_in(tmp_path) as again:
        assert [row.id for row in (await again.ask(ReadProviders())).rows] == ["main", "b"]


async def test_a_broken_file_that_is_mended_by_hand_is_read(actor: ProvidersActor, tmp_path: Path) -> None:
    await actor.ask(PutProvider("main", MAIN))
    whole = (tmp_path / CONFIG_FILE).read_text()
    (tmp_path / CONFIG_FILE).write_text(whole[:-10])
    assert len((await actor.ask(ReadProviders())).reports) == 1
    (tmp_path / CONFIG_FILE).write_text(whole)
    view = await actor.ask(ReadProviders())
    assert ([row.id for row in view.rows], view.reports) == (["main"], ())


def test_what_is_written_at_the_same_moment_is_not_written_over(tmp_path: Path) -> None:
    files = ProviderFiles(tmp_path, lambda: datetime.now(UTC))
    before = files.load().book
    after = before.with_provider("main", MAIN, "2025-01-01T00:00:00Z")
    (tmp_path / CONFIG_FILE).write_text('{"mine": 1}')
    with pytest.raises(ConflictError, match=r"'config\.json' in the data folder was changed by somebody else"):
        files.save(before, after)
    assert config(tmp_path) == {"mine": 1}
