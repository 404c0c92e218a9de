"""The notifications that are sent. MCP specification, utilities ("Progress")."""

from __future__ import annotations

import json

import pytest

from protocol.notifications import TOOLS_LIST_CHANGED, progress_notification


def test_the_change_of_the_list_has_no_params() -> None:
    assert json.loads(TOOLS_LIST_CHANGED) == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


@pytest.mark.parametrize(("version", "told"), [("2024-11-05", False), ("2025-03-26", True), ("2025-11-25", True)])
def test_progress_has_a_message_where_the_revision_knows_one(version: str, told: bool) -> None:
    sent = json.loads(progress_notification("t", 50, 100, "half", version))
    assert sent["method"] == "notifications/progress"
    expected = {"progressToken": "t", "progress": 50, "total": 100}
    assert sent["params"] == ({**expected, "message": "half"} if told else expected)


def test_progress_without_a_known_end_has_no_total() -> None:
    assert json.loads(progress_notification(0, 3, None, None, "2025-11-25"))["params"] == {
        "progressToken": 0,
        "progress": 3,
    }
