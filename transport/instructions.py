"""What a client is told at `initialize` and puts into the prompt of its model: the agent's blocks, compiled.

Owns what is sent where they cannot be compiled. Clients read it once, so it is the prompt of that moment.
"""

from __future__ import annotations

import structlog

from actors.space import Space
from actors.space_agent_blocks import ABOUT
from blocks.hooks import HookError
from engine.errors import EngineError
from protocol.session import Audience

_log = structlog.stdlib.get_logger("mcp")


async def instructions(space: Space, audience: Audience) -> str | None:
    """The system message of the agent's prompt; None where the user has taken every block away.

    Where it cannot be made the client gets the standing explanation, and the log says why: a faulty block must not keep
    anybody from the tools.
    """
    try:
        compiled = await space.block_prompts.compile_space_agent(audience.agent, audience.presentation)
    except (EngineError, HookError) as error:
        _log.error("prompt_not_compiled", agent=audience.agent, reason=str(error))
        return ABOUT
    return next((message.content for message in compiled.messages if message.role == "system"), None)
