"""Calls that go on as tasks: the table of tasks, and what clients see. MCP extension for tasks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from protocol.decision import CallTool, CancelTask, GetTask, UpdateTask
from protocol.input_request import ElicitAnswer, ElicitForm, MalformedAnswer
from protocol.notifications import task_changed
from protocol.task import Task, TaskError, TaskStatus
from protocol.task_table import TaskTable, TaskTableFullError, UpdatedTask
from tests.protocol.samples import NOW, body_of
from tests.protocol.stateless_samples import PREFIX, STATELESS, TASKS, VERSION, decide, modern

FORM = ElicitForm("Sure?", {"properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]})
YES = {"action": "accept", "content": {"confirm": True}}
RESULT = b'{"content":[{"type":"text","text":"42"}],"isError":false}'


def table(**changes: Any) -> TaskTable:
    numbers = iter(range(1, 1000))
    return TaskTable(new_id=lambda: f"t{next(numbers)}", **changes)


def begun(tasks: TaskTable, principal: str = "me") -> Task:
    return tasks.create(NOW, VERSION, principal)


def get(task_id: str = "t1", method: str = "tasks/get", **params: Any) -> Any:
    return decide(modern(method, {"taskId": task_id, **params}, client=TASKS))


def seen(task: Task) -> Any:
    return body_of(STATELESS.task_reply(get(), task))["result"]


def test_a_call_that_becomes_a_task_is_answered_with_it() -> None:
    found = decide(modern("tools/call", {"name": "space_slow"}, client=TASKS))
    assert isinstance(found, CallTool)
    assert found.may_become_task
    result = body_of(STATELESS.task_created_reply(found, begun(table())))["result"]
    assert {name: value for name, value in result.items() if name != "_meta"} == {
        "resultType": "task",
        "taskId": "t1",
        "status": "working",
        "createdAt": "2023-11-14T22:13:20.000Z",
        "lastUpdatedAt": "2023-11-14T22:13:20.000Z",
        "ttlMs": 600_000,
        "pollIntervalMs": 500,
    }


def test_the_old_way_to_ask_for_a_task_is_tolerated_and_changes_nothing() -> None:
    found = decide(modern("tools/call", {"name": "space_hello", "task": {"ttl": 60000}}, client=TASKS))
    assert isinstance(found, CallTool)
    assert not found.may_become_task


@pytest.mark.parametrize(
    ("method", "kind"), [("tasks/get", GetTask), ("tasks/cancel", CancelTask), ("tasks/update", UpdateTask)]
)
def test_a_task_is_asked_after_by_its_id(method: str, kind: type) -> None:
    found = get("t9", method, inputResponses={"a": YES})
    assert isinstance(found, kind)
    assert found.task_id == "t9"
    assert body_of(STATELESS.unknown_task_reply(found))["error"]["code"] == -32602
    empty = body_of(STATELESS.empty_reply(found))["result"]
    assert (set(empty), empty["resultType"]) == ({"resultType", "_meta"}, "complete")
    assert body_of(decide(modern(method, {}, client=TASKS)))["error"]["code"] == -32602


@pytest.mark.parametrize("answers", [[], "x", {"a": 7}])
def test_answers_for_a_task_that_are_none_are_invalid_params(answers: object) -> None:
    assert body_of(get("t1", "tasks/update", inputResponses=answers))["error"]["code"] == -32602


def test_a_task_that_is_done_has_its_result_inside() -> None:
    tasks = table()
    begun(tasks)
    done = tasks.complete("t1", RESULT, NOW + 2)
    assert done is not None
    shown = seen(done)
    assert (shown["resultType"], shown["status"], shown["lastUpdatedAt"]) == (
        "complete",
        "completed",
        "2023-11-14T22:13:22.000Z",
    )
    assert shown["result"] == {"resultType": "complete", **json.loads(RESULT)}
    assert not {"error", "inputRequests", "requestState", "ttl", "pollInterval"} & set(shown)


def test_a_task_that_came_to_nothing_has_an_error_and_no_result() -> None:
    tasks = table()
    begun(tasks)
    failed = tasks.fail("t1", TaskError(-32603, "crashed"), NOW)
    assert failed is not None
    shown = seen(failed)
    assert (shown["status"], shown["error"]) == ("failed", {"code": -32603, "message": "crashed"})
    assert "result" not in shown


def test_a_task_that_was_cancelled_stays_so() -> None:
    tasks = table()
    begun(tasks)
    cancelled = tasks.cancel("t1", "me", NOW)
    assert cancelled is not None
    assert cancelled.status is TaskStatus.CANCELLED
    assert tasks.complete("t1", RESULT, NOW) is tasks.fail("t1", TaskError(1, ""), NOW) is None
    assert tasks.require("t1", {"a": FORM}, NOW) is tasks.note("t1", "x", NOW) is None
    assert tasks.cancel("t1", "me", NOW) == cancelled


def test_cancelling_what_is_done_leaves_it_done() -> None:
    tasks = table()
    begun(tasks)
    done = tasks.complete("t1", RESULT, NOW)
    assert tasks.cancel("t1", "me", NOW) == done


def test_a_task_asks_its_client_until_everything_is_answered() -> None:
    tasks = table()
    begun(tasks)
    waiting = tasks.require("t1", {"a": FORM, "b": FORM}, NOW)
    assert waiting is not None
    shown = seen(waiting)
    assert (shown["status"], list(shown["inputRequests"])) == ("input_required", ["a", "b"])
    assert shown["inputRequests"]["a"]["method"] == "elicitation/create"
    first = tasks.answer("t1", "me", {"a": YES, "unknown": {}}, NOW)
    assert isinstance(first, UpdatedTask)
    assert (first.task.status, list(first.task.requests)) == (TaskStatus.INPUT_REQUIRED, ["b"])
    assert first.answers == {"a": ElicitAnswer("accept", {"confirm": True})}
    second = tasks.answer("t1", "me", {"b": {"action": "decline"}}, NOW)
    assert isinstance(second, UpdatedTask)
    assert (second.task.status, second.task.requests) == (TaskStatus.WORKING, {})


@pytest.mark.parametrize("answers", [{}, {"z": YES}, {"a": {"action": "accept", "content": {"confirm": "yes"}}}])
def test_answers_that_answer_nothing_leave_a_task_as_it_is(answers: Any) -> None:
    tasks = table()
    begun(tasks)
    waiting = tasks.require("t1", {"a": FORM}, NOW)
    assert tasks.answer("t1", "me", answers, NOW + 1) == UpdatedTask(waiting, {})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_a_malformed_answer_changes_nothing_and_answers_to_a_working_task_are_skipped() -> None:
    tasks = table()
    task = begun(tasks)
    assert tasks.answer("t1", "me", {"a": YES}, NOW) == UpdatedTask(task, {})
    waiting = tasks.require("t1", {"a": FORM}, NOW)
    assert isinstance(tasks.answer("t1", "me", {"a": {}}, NOW), MalformedAnswer)
    assert tasks.get("t1", "me") == waiting


def test_a_task_exists_for_its_own_principal_alone() -> None:
    tasks = table()
    begun(tasks)
    assert tasks.get("t1", "you") is tasks.cancel("t1", "you", NOW) is tasks.answer("t1", "you", {}, NOW) is None
    assert tasks.get("none", "me") is None


def test_a_task_is_kept_for_its_time_and_no_longer() -> None:
    tasks = table()
    task = begun(tasks)
    assert tasks.prune(NOW + 600) == ()
    assert tasks.prune(NOW + 600.1) == (task,)
    assert tasks.get("t1", "me") is None


def test_a_full_table_gives_up_what_has_ended_and_never_what_runs() -> None:
    tasks = table(limit=2)
    begun(tasks)
    begun(tasks)
    with pytest.raises(TaskTableFullError, match="2 tasks are running"):
        begun(tasks)
    tasks.complete("t2", RESULT, NOW)
    assert begun(tasks).id == "t3"
    assert (tasks.get("t1", "me") is not None, tasks.get("t2", "me"), len(tasks)) == (True, None, 2)


def test_whoever_keeps_the_most_makes_room_first() -> None:
    tasks = table(limit=4)
    quiet = tasks.create(NOW, VERSION, "quiet")
    tasks.complete(quiet.id, RESULT, NOW)
    for number in range(20):
        flood = tasks.create(NOW + number, VERSION, "flood")
        tasks.complete(flood.id, RESULT, NOW + number)
    assert tasks.get(quiet.id, "quiet") is not None
    assert len(tasks) == 4


def test_one_principal_runs_only_so_many_tasks_at_a_time_and_others_still_may() -> None:
    tasks = table(running=2)
    first = tasks.create(NOW, VERSION, "flood")
    tasks.create(NOW, VERSION, "flood")
    with pytest.raises(TaskTableFullError, match="2 tasks of this credential are running"):
        tasks.create(NOW, VERSION, "flood")
    tasks.create(NOW, VERSION, "other")
    tasks.complete(first.id, RESULT, NOW)
    tasks.create(NOW, VERSION, "flood")


def test_how_far_a_task_is_can_be_told_in_words_and_to_a_stream() -> None:
    tasks = table()
    begun(tasks)
    noted = tasks.note("t1", "half done", NOW)
    assert noted is not None
    message = json.loads(task_changed(noted, 7))
    assert (message["method"], message["params"]["statusMessage"]) == ("notifications/tasks", "half done")
    assert message["params"]["_meta"] == {f"{PREFIX}subscriptionId": 7}


def test_ids_of_tasks_cannot_be_guessed() -> None:
    tasks = TaskTable()
    ids = {tasks.create(NOW, VERSION, "me").id for _ in range(50)}
    assert len(ids) == 50
    assert min(map(len, ids)) >= 20
