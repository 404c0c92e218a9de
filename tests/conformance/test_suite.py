"""The official MCP conformance suite against the fixture server, and what it takes to run it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.conformance.older_client import offering
from tests.conformance.serving import fixture_server
from tests.conformance.suite import LEGS, Leg, SuiteMissingError, node, read_reports, run_leg


@pytest.fixture(scope="module")
def suite() -> None:
    """The suite from npm. Without it the test is skipped, or fails where live tests are required."""
    try:
        node()
    except SuiteMissingError as error:
        if os.environ.get("SPACE_REQUIRE_LIVE") == "1":
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the fixture server."""
    with fixture_server(tmp_path_factory.mktemp("server") / "server.log") as url:
        yield url


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.parametrize("leg", LEGS, ids=lambda leg: leg.name)
def test_every_check_of_the_suite_passes(leg: Leg, suite: None, server: str, tmp_path: Path) -> None:
    report = run_leg(leg, server, tmp_path)
    assert (report.failures, report.warnings) == ((), ())
    assert report.passed >= leg.passes


@pytest.mark.slow
@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18"])
def test_an_older_client_gets_the_revision_that_it_offers(revision: str, server: str) -> None:
    with offering(revision, server) as url:
        body = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            },
        }
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        with urlopen(Request(url, json.dumps(body).encode(), headers), timeout=10) as answer:
            assert json.load(answer)["result"]["protocolVersion"] == revision
            assert answer.headers["Mcp-Session-Id"]


def test_reports_are_counted_and_a_scenario_that_broke_off_is_a_failure(tmp_path: Path) -> None:
    def report(scenario: str, *checks: tuple[str, str]) -> None:
        folder = tmp_path / f"server-{scenario}-2026-01-02T03-04-05-678Z"
        folder.mkdir()
        written = [{"id": name, "status": status, "errorMessage": "so it is"} for name, status in checks]
        (folder / "checks.json").write_text(json.dumps(written))

    report("ping", ("ping", "SUCCESS"), ("schema", "SUCCESS"), ("note", "INFO"))
    report("server-initialize", ("begin", "FAILURE"), ("id", "WARNING"))
    begun = ("ping", "server-initialize", "prompts-list", "skills")
    log = (
        "\n".join(f"=== Running scenario: {name} ===" for name in begun) + "\nSKIPPED: scenario 'skills' does not apply"
    )
    found = read_reports(tmp_path, log)
    assert found.passed == 2
    assert found.failures == ("server-initialize: begin: so it is", "prompts-list: it did not come to an end")
    assert found.warnings == ("server-initialize: id: so it is",)


def test_a_suite_that_ran_nothing_has_not_passed(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no such revision"):
        read_reports(tmp_path, "no such revision")
