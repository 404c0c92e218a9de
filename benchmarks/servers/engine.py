"""`space serve` as a user starts it, on a leash. Takes its arguments.

python -m benchmarks.servers.engine --port 0 --data DATA_FOLDER --workspace FOLDER
"""

from __future__ import annotations

import sys

from benchmarks import leash

if __name__ == "__main__":
    leash.hold()

    from cli.main import run

    sys.exit(run(["serve", *sys.argv[1:]]))
