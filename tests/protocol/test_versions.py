"""The table of revisions and negotiation. MCP specification, lifecycle; gates of content as in the change logs."""

from __future__ import annotations

import pytest

from protocol.versions import NEWEST_SESSION_VERSION, OLDEST_VERSION, REVISIONS, TOOL_FORMS, negotiate


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
        ("priming_event", "2025-11-25"),
    ],
)
def test_a_feature_is_there_from_its_revision_on(feature: str, since: str) -> None:
    assert {version: getattr(revision, feature) for version, revision in REVISIONS.items()} == {
        version: version >= since for version in REVISIONS
    }


def test_tools_have_three_forms_of_which_the_last_shows_everything() -> None:
    assert len(TOOL_FORMS) == 3
    assert (TOOL_FORMS[-1].annotations, TOOL_FORMS[-1].title, TOOL_FORMS[-1].output_schema) == (True, True, True)


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        REVISIONS["2026-07-28"] = REVISIONS["2025-11-25"]  # type: ignore[index]  # pyright: ignore[reportIndexIssue]
