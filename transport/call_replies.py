"""From the end of a call to its reply. Owns which of the handler's answers fits which end."""

from __future__ import annotations

import structlog

from actors.call import Call, CrashedTool, Ending, Failure, NotThere, Runnable
from protocol.completion import CompletionOutcome
from protocol.decision import CallTool, Complete, GetPrompt, ReadResource, Reply
from protocol.handler import Handler, error_reply
from protocol.jsonrpc import ErrorCode
from protocol.prompt import PromptOutcome
from protocol.resource import ResourceOutcome
from protocol.tool import ToolOutcome

_log = structlog.stdlib.get_logger("mcp")


def reply_of(handler: Handler, call: Call) -> Reply:
    """The reply to a call that is done, or that goes on as a task."""
    decision = call.decision
    if call.task is not None and isinstance(decision, CallTool):
        return handler.task_created_reply(decision, call.task)
    if call.ending is None:
        why = "" if call.cut_off_because is None else f": {call.cut_off_because}"
        return error_reply(decision.request_id, ErrorCode.REQUEST_CANCELLED, f"the call was cancelled{why}")
    try:
        return _reply(handler, call, call.ending)
    except ValueError as error:
        _log.error("result_malformed", name=call.name, problem=str(error))
        reason = f"{call.name} gave what cannot be written as JSON; this is a fault of the engine"
        return handler.failure_reply(decision, reason)


def _reply(handler: Handler, call: Call, ending: Ending) -> Reply:
    decision: Runnable = call.decision
    match decision, ending:
        case CallTool(), ToolOutcome():
            return _tool_reply(handler, call, decision, ending)
        case CallTool(), CrashedTool(outcome=outcome):
            return _tool_reply(handler, call, decision, outcome)
        case ReadResource(), ResourceOutcome():
            return handler.read_reply(decision, ending)
        case ReadResource(), NotThere():
            return handler.missing_resource_reply(decision)
        case GetPrompt(), PromptOutcome():
            return handler.prompt_reply(decision, ending)
        case Complete(), CompletionOutcome():
            return handler.completion_reply(decision, ending)
        case _, Failure(reason=reason, malformed=True):
            return handler.malformed_answer_reply(decision, reason)
        case _, Failure(reason=reason):
            return handler.failure_reply(decision, reason)
        case _:
            return handler.failure_reply(decision, f"the request ended in {type(ending).__name__}, which is no answer")


def _tool_reply(handler: Handler, call: Call, decision: CallTool, outcome: ToolOutcome) -> Reply:
    made = handler.call_reply(decision, outcome)
    if made.problem is not None:
        _log.error("tool_result_malformed", problem=made.problem)
        if call.logged is not None:
            call.logged.mar(made.problem)
    return made.reply
