"""The sync plan, carried out on a small registry of MCP tools as the sync actor does it."""

from __future__ import annotations

import dataclasses

import pytest

from presets.sync_plan import ManagedTools, SyncOwnershipError, SyncPlan, plan_sync
from presets.tool_definitions import DuplicateToolNameError
from protocol.tool import ToolDefinition
from tests.presets.samples import tool


class Tools:
    """An MCP registry of names, with a sync on it: what is listed, and how often it was announced."""

    def __init__(self, *others: ToolDefinition) -> None:
        self.listed = {one.name: one for one in others}
        self.managed = ManagedTools()
        self.announced = 0

    def sync(self, *wanted: ToolDefinition) -> SyncPlan:
        plan = plan_sync(self.managed, wanted, {name: one.owner for name, one in self.listed.items()})
        for name in plan.unregister:
            del self.listed[name]
        self.listed.update({one.name: one for one in plan.register})
        self.managed = plan.managed
        self.announced += plan.visible
        return plan


def test_a_sync_registers_exactly_what_is_wanted():
    tools = Tools()
    tools.sync(tool("space_a"))
    assert list(tools.listed) == ["space_a"]
    assert tools.managed.sources == {"space_a": "a.tool"}


def test_a_sync_takes_away_what_is_no_longer_wanted():
    tools = Tools()
    tools.sync(tool("space_a", "old"))
    tools.sync()
    assert tools.listed == {}
    assert len(tools.managed) == 0


def test_a_name_may_come_back_from_another_source():
    tools = Tools()
    tools.sync(tool("space_a", "old"))
    tools.sync()
    tools.sync(tool("space_a", "new"))
    assert tools.listed["space_a"].source == "new"


def test_a_tool_is_registered_again_when_its_source_changes():
    tools = Tools()
    tools.sync(tool("space_a", "old"))
    plan = tools.sync(tool("space_a", "new"))
    assert [one.source for one in plan.register] == ["new"]
    assert plan.unregister == ()
    assert tools.managed.sources == {"space_a": "new"}


def test_what_has_not_changed_is_left_untouched():
    tools, same = Tools(), tool("space_a")
    tools.sync(same)
    plan = tools.sync(same, tool("space_b"))
    assert [one.name for one in plan.register] == ["space_b"]
    assert tools.sync(*tools.managed.by_name.values()).empty


def test_an_equal_definition_is_no_change_and_the_registered_one_stays():
    tools, first = Tools(), tool("space_a")
    tools.sync(first)
    plan = tools.sync(dataclasses.replace(first))
    assert plan.empty
    assert tools.managed.by_name["space_a"] is first


def test_a_changed_form_is_registered_again_and_announced():
    tools, first = Tools(), tool("space_a")
    tools.sync(first)
    assert tools.sync(dataclasses.replace(first, description="Does more.")).visible
    assert tools.listed["space_a"].description == "Does more."


def test_a_new_body_behind_the_same_form_is_registered_and_not_announced():
    tools = Tools()
    tools.sync(tool("space_a"))
    newer = tool("space_a")
    plan = tools.sync(newer)
    assert (plan.register, plan.visible) == ((newer,), False)


def test_tools_of_others_are_left_alone():
    ping = tool("space_ping", owner="manual")
    tools = Tools(ping)
    tools.sync(tool("space_a"), tool("space_b"))
    tools.sync()
    assert tools.listed == {"space_ping": ping}


def test_a_name_that_another_owner_has_is_refused_before_anything_changes():
    tools = Tools(tool("space_b", owner="manual"))
    with pytest.raises(SyncOwnershipError, match=r"'space_b'.*'manual'"):
        tools.sync(tool("space_a"), tool("space_b"))
    assert list(tools.listed) == ["space_b"]
    assert len(tools.managed) == 0
    assert tools.announced == 0


def test_a_tool_of_the_same_owner_that_this_sync_did_not_register_is_refused():
    tools = Tools(tool("space_a"))
    with pytest.raises(SyncOwnershipError, match="'space_a'"):
        tools.sync(tool("space_a", "other"))


def test_a_managed_name_that_another_owner_has_taken_over_is_neither_replaced_nor_taken_away():
    tools, ours, theirs = Tools(), tool("space_a"), tool("space_a", owner="manual")
    tools.sync(ours)
    tools.listed["space_a"] = theirs
    with pytest.raises(SyncOwnershipError):
        tools.sync(ours)
    assert tools.sync().empty
    assert tools.listed == {"space_a": theirs}


def test_every_batch_that_shows_is_one_announcement():
    tools = Tools()
    tools.sync(tool("space_a"), tool("space_b"))
    assert tools.announced == 1
    tools.sync()
    assert tools.announced == 2
    tools.sync()
    assert tools.announced == 2


def test_two_wanted_tools_of_one_name_are_refused():
    with pytest.raises(DuplicateToolNameError, match="'old' and 'new'"):
        Tools().sync(tool("space_a", "old"), tool("space_a", "new"))


def test_names_are_sorted_whatever_the_order_of_presets():
    tools = Tools()
    tools.sync(tool("space_b"), tool("space_a"))
    assert tools.managed.names == ("space_a", "space_b")
    assert tools.sync().unregister == ("space_a", "space_b")
