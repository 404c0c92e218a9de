"""What clients do with tasks: ask after them, answer them, cancel them. Owns the way from such a request to a reply."""

from __future__ import annotations

from actors.tasks import AnswerTask, ReadTask, TasksActor
from actors.tasks import CancelTask as CancelTaskOf
from protocol.decision import CancelTask, GetTask, Reply, UpdateTask
from protocol.handler import Handler
from protocol.input_request import MalformedAnswer


async def carry_out_task(tasks: TasksActor, handler: Handler, decision: GetTask | UpdateTask | CancelTask) -> Reply:
    """Do it and give the reply. A task of somebody else is one that does not exist."""
    principal = decision.stateless.principal
    match decision:
        case GetTask():
            task = await tasks.ask(ReadTask(decision.task_id, principal))
            return handler.unknown_task_reply(decision) if task is None else handler.task_reply(decision, task)
        case UpdateTask():
            updated = await tasks.ask(AnswerTask(decision.task_id, principal, decision.answers))
            if isinstance(updated, MalformedAnswer):
                return handler.malformed_answer_reply(decision, updated.reason)
            return handler.unknown_task_reply(decision) if updated is None else handler.empty_reply(decision)
        case CancelTask():
            task = await tasks.ask(CancelTaskOf(decision.task_id, principal))
            return handler.unknown_task_reply(decision) if task is None else handler.empty_reply(decision)
