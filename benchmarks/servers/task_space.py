"""Space with the agents and the graph of the whole tasks.

python -m benchmarks.servers.task_space DATA_FOLDER AGENTS_FOLDER
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import trio

from actors.agents import AgentOptions
from benchmarks import leash
from benchmarks.servers.serving import serve
from benchmarks.staff import furnish
from transport.logs import LogFormat, LogLevel, configure_logs

if __name__ == "__main__":
    leash.hold()
    configure_logs(LogFormat.CONSOLE, LogLevel.WARNING)
    agents = AgentOptions(user_root=Path(sys.argv[2]))
    trio.run(partial(serve, Path(sys.argv[1]), agents=agents, furnish=furnish))
