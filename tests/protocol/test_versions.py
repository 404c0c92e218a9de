"""The table of revisions and negotiation. MCP specification, lifecycle; gates of content as in the change logs."""

from __future__ import annotations

import pytest

from protocol.versions import (
    NEWEST_SESSION_VERSION,
    OLDEST_VERSION,
    REVISIONS,
    SESSION_VERSIONS,
    STATELESS_VERSIONS,
    TOOL_FORMS,
    negotiate,
)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_served_version_is_echoed(version: str) -> None:
    assert negotiate(version) == version


@pytest.mark.parametrize("version", ["2026-07-28", "2024-10-07", "1.0", "", "2025-11-25 "])
def test_any_other_version_is_answered_with_the_newest_one(version: str) -> None:
    assert negotiate(version) == "2025-11-25"


def test_the_table_is_ordered_from_old_to_new() -> None:
    assert list(REVISIONS) == sorted(REVISIONS)
    assert (OLDEST_VERSION, NEWEST_SESSION_VERSION) == ("2024-11-05", "2025-11-25")


def test_each_row_is_found_under_its_own_version() -> None:
    assert all(version == revision.version for version, revision in REVISIONS.items())


def test_batches_exist_in_one_revision_only() -> None:
    assert [version for version, revision in REVISIONS.items() if revision.batches] == ["2025-03-26"]


@pytest.mark.parametrize(
    ("feature", "since"),
    [
        ("audio", "2025-03-26"),
        ("progress_message", "2025-03-26"),
        ("structured_content", "2025-06-18"),
        ("resource_links", "2025-06-18"),
        ("title", "2025-06-18"),
        ("completions", "2025-03-26"),
        ("url_elicitation", "2025-11-25"),
        ("sampling_tools", "2025-11-25"),
        ("icons", "2025-11-25"),
        ("result_type", "2026-07-28"),
    ],
)
def test_a_feature_is_there_from_its_revision_on(feature: str, since: str) -> None:
    assert {version: getattr(revision, feature) for version, revision in REVISIONS.items()} == {
        version: version >= since for version in REVISIONS
    }


@pytest.mark.parametrize("feature", ["priming_event", "url_elicitation_error"])
def test_what_came_and_went_again_is_there_in_one_revision(feature: str) -> None:
    assert [version for version, revision in REVISIONS.items() if getattr(revision, feature)] == ["2025-11-25"]


def test_a_missing_resource_has_a_code_of_its_own_in_sessions_only() -> None:
    codes = {version: revision.missing_resource for version, revision in REVISIONS.items()}
    assert codes == {version: -32602 if version == "2026-07-28" else -32002 for version in REVISIONS}


def test_every_revision_belongs_to_one_generation() -> None:
    assert (*SESSION_VERSIONS, *STATELESS_VERSIONS) == tuple(REVISIONS)
    assert STATELESS_VERSIONS == ("2026-07-28",)


def test_tools_have_four_forms_of_which_the_last_shows_everything() -> None:
    assert len(TOOL_FORMS) == 4
    assert all(getattr(TOOL_FORMS[-1], member) for member in ("annotations", "title", "output_schema", "icons"))


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        REVISIONS["2026-07-28"] = REVISIONS["2025-11-25"]  # type: ignore[index]  # pyright: ignore[reportIndexIssue]
