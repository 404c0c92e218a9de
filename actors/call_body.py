"""What runs when a request is carried out: the body of a tool, a prompt, a resource or a completer.

Owns the boundary around them: what their authors got wrong ends here. Cancelling goes through.
"""

from __future__ import annotations

import structlog

from actors.call import Call, CrashedTool, Ending, Failure, NotThere, Runnable
from actors.errors import ActorError
from engine.errors import EngineError, InvalidArgumentError, NotFoundError
from protocol.decision import CallTool, Complete, GetPrompt, ReadResource
from protocol.input_request import InputRequired
from protocol.interaction import InputNeededError, MalformedAnswerError
from protocol.prepared_call import PreparedCall
from protocol.prompt import PromptOutcome
from protocol.resource import ResourceNotFoundError, ResourceOutcome
from protocol.result import outcome_of_error
from protocol.tool import ToolCall, ToolError, ToolOutcome
from space_unit.border import is_cancelling_alone, pass_cancelling

_log = structlog.stdlib.get_logger("mcp")


async def run_tool(call: PreparedCall, interaction: ToolCall) -> ToolOutcome:
    """Run the body of a tool. What it raises becomes an outcome that says so; cancelling goes through.

    Raises `InputNeededError` and `MalformedAnswerError` where the interaction does.
    """
    ended = await attempt_tool(call, interaction)
    return ended.outcome if isinstance(ended, CrashedTool) else ended


async def attempt_tool(call: PreparedCall, interaction: ToolCall) -> ToolOutcome | CrashedTool:
    """As `run_tool`; what is a bug of the tool is told apart."""
    definition = call.entry.definition
    try:
        return await definition.run(call.arguments, interaction)
    except (InputNeededError, MalformedAnswerError):
        raise
    except ToolError as error:
        return outcome_of_error(definition.name, error)
    except (EngineError, ActorError) as error:
        return ToolOutcome.error(str(error))
    except BaseException as error:  # noqa: BLE001 - the boundary of a tool: whatever its author got wrong ends here
        if not is_cancelling_alone(error):
            _log.exception("tool_failed", tool=definition.name)
        await pass_cancelling(error)
        return CrashedTool(outcome_of_error(definition.name, error))


async def run_request(decision: Runnable, call: Call) -> Ending:
    """Carry out a request. Everything but a cancellation is an ending."""
    try:
        if isinstance(decision, CallTool):
            return await attempt_tool(decision.call, call)
        return await _run_other(decision, call)
    except InputNeededError as error:
        return _asking(decision, error.required)
    except MalformedAnswerError as error:
        return Failure(str(error), malformed=True)


async def _run_other(decision: ReadResource | GetPrompt | Complete, call: Call) -> Ending:
    try:
        match decision:
            case ReadResource(read=read):
                return await read.read(read.uri, read.values, call)
            case GetPrompt(prompt=prompt):
                return await prompt.definition.run(prompt.arguments, call)
            case Complete(completion=completion):
                return await completion.completer(completion.value, completion.filled_in)
    except (InputNeededError, MalformedAnswerError):
        raise
    except ResourceNotFoundError:
        return NotThere()
    except (InvalidArgumentError, NotFoundError) as error:
        return Failure(str(error), malformed=True)
    except (ToolError, EngineError, ActorError) as error:
        return Failure(str(error) or f"{call.name} could not do what was asked")
    except BaseException as error:  # noqa: BLE001 - the boundary of a body: whatever its author got wrong ends here
        if not is_cancelling_alone(error):
            _log.exception("request_failed", name=call.name)
        await pass_cancelling(error)
        kind = type(error).__name__
        return Failure(f"{call.name} failed inside the engine ({kind}); its details are in the engine's log")


def _asking(decision: Runnable, required: InputRequired) -> Ending:
    match decision:
        case CallTool():
            return ToolOutcome.ask(required)
        case ReadResource():
            return ResourceOutcome((), input_required=required)
        case GetPrompt():
            return PromptOutcome((), input_required=required)
        case Complete():
            return Failure("a completion cannot ask its client")
