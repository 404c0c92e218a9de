"""What the guards of an agent's scopes say about a call, for whoever is about to run one.

Owns what becomes of a guard that fails: the call is refused, and nothing else is touched.
"""

from __future__ import annotations

import structlog

from presets.scope_view import ScopeView, deny_reason
from protocol.tool import JsonObject

_log = structlog.stdlib.get_logger("guards")


def denial(view: ScopeView, name: str, arguments: JsonObject) -> str | None:
    """Why this call must not run, or None. A guard that raises refuses it too, without its error's words."""
    try:
        return deny_reason(view, name, arguments)
    except Exception:  # noqa: BLE001 - the boundary of a guard: one that fails costs the call that it was asked about
        _log.exception("guard_failed", tool=name)
        return f"a guard of {name} failed, so it was not run; this is a fault of the engine and not of the call"
