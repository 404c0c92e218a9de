"""How serious a log message is: the eight levels of MCP, which are those of syslog. Source: MCP, server/utilities."""

from __future__ import annotations

from enum import StrEnum


class LogLevel(StrEnum):
    """A level, from the least serious to the most."""

    DEBUG = "debug"
    INFO = "info"
    NOTICE = "notice"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"
    ALERT = "alert"
    EMERGENCY = "emergency"

    def reaches(self, threshold: LogLevel | None) -> bool:
        """Whether a message of this level goes to a client that wants those from `threshold` on; None wants none."""
        return threshold is not None and _ORDER[self] >= _ORDER[threshold]

    @classmethod
    def read(cls, value: object) -> LogLevel | None:
        """The level of that wire name, or None for anything else."""
        return _BY_NAME.get(value) if isinstance(value, str) else None


_BY_NAME = {level.value: level for level in LogLevel}
_ORDER = {level: rank for rank, level in enumerate(LogLevel)}

LEVEL_NAMES = ", ".join(_BY_NAME)
"""The names of the levels, for texts."""
