"""The files of the panel: what is served at the root, to whom, and with which headers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transport.running_engine import RunningEngine, running_engine
from transport.panel_files import FILES_PATH, PANEL_PATH, read_panel_files

TOKEN = "s3cret-and-long"


async def test_the_page_and_all_that_it_names_are_served(engine: RunningEngine) -> None:
    page = await engine.request("GET", PANEL_PATH)
    assert page.status == 200
    assert page.header("content-type") == "text/html; charset=utf-8"
    named = [part.partition('"')[0] for part in page.body.decode().split(f'="{FILES_PATH}')[1:]]
    assert len(named) > 3
    for name in named:
        served = await engine.request("GET", f"{FILES_PATH}{name}")
        assert (served.status, served.header("x-content-type-options")) == (200, "nosniff"), name


async def test_the_page_runs_nothing_but_files_of_the_engine(engine: RunningEngine) -> None:
    policy = (await engine.request("GET", PANEL_PATH)).header("content-security-policy") or ""
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";") if " " in rule.strip())
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert rules["frame-ancestors"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert "unsafe" not in policy
    text = read_panel_files()[PANEL_PATH].body.decode()
    assert "<script>" not in text
    assert "style=" not in text
    assert "http:" not in text
    assert "https:" not in text


async def test_a_browser_that_has_a_file_is_told_that_it_is_the_same(engine: RunningEngine) -> None:
    etag = (await engine.request("GET", f"{FILES_PATH}main.js")).header("etag") or ""
    again = await engine.request("GET", f"{FILES_PATH}main.js", (("If-None-Match", f'"other", {etag}'),))
    assert (again.status, again.body) == (304, b"")
    assert again.header("content-security-policy")
    assert (await engine.request("GET", f"{FILES_PATH}main.js", (("If-None-Match", '"other"'),))).status == 200


@pytest.mark.parametrize(
    "target", ["/panel/", "/panel/index.html", "/panel/../guard.py", "/panel/deno.json", "/panel/%2e%2e/app.py"]
)
async def test_nothing_else_of_the_folder_or_beside_it_is_served(engine: RunningEngine, target: str) -> None:
    assert (await engine.request("GET", target)).status == 404


async def test_the_page_is_there_to_be_read_only(engine: RunningEngine) -> None:
    assert (await engine.request("HEAD", PANEL_PATH)).status == 200
    assert (await engine.request("POST", PANEL_PATH)).status == 405


async def test_the_files_need_no_token_and_what_they_ask_for_does(tmp_path: Path) -> None:
    async with running_engine(tmp_path, token=TOKEN) as engine:
        assert (await engine.request("GET", PANEL_PATH)).status == 200
        assert (await engine.request("GET", f"{FILES_PATH}engine.js")).status == 200
        for method, target in (("GET", "/status"), ("GET", "/api/events"), ("POST", PANEL_PATH), ("GET", "/panel/x")):
            assert (await engine.request(method, target)).status == 403, (method, target)
        assert (await engine.request("GET", PANEL_PATH, host="evil.example")).status == 421
        assert (await engine.request("GET", PANEL_PATH, (("Origin", "http://evil.example"),))).status == 403
