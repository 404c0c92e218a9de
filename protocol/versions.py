"""The revisions of MCP that are served: their names, what each can carry, and which one is agreed on.

Owns one table; a further revision is a further row. Source: MCP specification, lifecycle ("Version Negotiation") and
the change logs of the revisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class Generation(StrEnum):
    """How a conversation is kept: the revisions of one generation share their methods and their rules on HTTP."""

    SESSIONS = "sessions"
    """`initialize` opens a session, and later messages name it (2024-11-05 to 2025-11-25)."""

    STATELESS = "stateless"
    """Every request says for itself who asks and what that client can do; nothing is remembered (2026-07-28)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolForm:
    """Which members of a tool a revision knows. Two revisions with equal forms list a tool in the same bytes."""

    annotations: bool
    title: bool
    output_schema: bool
    icons: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One revision of MCP and what messages of it may carry."""

    version: str
    generation: Generation
    tool_form: ToolForm
    batches: bool
    """A POST may hold an array of messages."""
    audio: bool
    """Results may hold audio content."""
    resource_links: bool
    """Results may hold links to resources."""
    structured_content: bool
    """Results may hold `structuredContent`."""
    progress_message: bool
    """Progress may come with a text."""
    title: bool
    """Implementations may have a title beside their name."""
    priming_event: bool
    """A stream may begin with an event that has an id and empty data; older clients fail on one."""
    completions: bool
    """A server may declare that it completes arguments."""
    url_elicitation: bool
    """Clients can be asked to send their user to a page."""
    url_elicitation_error: bool
    """A call may fail with the error that names the pages which its user has to visit first."""
    sampling_tools: bool
    """A request for a message of the client's model may offer tools."""
    icons: bool
    """Tools, resources, prompts and implementations may have icons."""
    result_type: bool
    """Every result says what it is (`resultType`) and who made it; those that may be kept say for how long."""
    missing_resource: int
    """The code of the error for a resource that does not exist."""


_PLAIN = ToolForm(annotations=False, title=False, output_schema=False, icons=False)
_ANNOTATED = ToolForm(annotations=True, title=False, output_schema=False, icons=False)
_STRUCTURED = ToolForm(annotations=True, title=True, output_schema=True, icons=False)
_ICONED = ToolForm(annotations=True, title=True, output_schema=True, icons=True)

_RESOURCE_NOT_FOUND = -32002
_INVALID_PARAMS = -32602

_ROWS = (
    Revision(
        version="2024-11-05",
        generation=Generation.SESSIONS,
        tool_form=_PLAIN,
        batches=False,
        audio=False,
        resource_links=False,
        structured_content=False,
        progress_message=False,
        title=False,
        priming_event=False,
        completions=False,
        url_elicitation=False,
        url_elicitation_error=False,
        sampling_tools=False,
        icons=False,
        result_type=False,
        missing_resource=_RESOURCE_NOT_FOUND,
    ),
    Revision(
        version="2025-03-26",
        generation=Generation.SESSIONS,
        tool_form=_ANNOTATED,
        batches=True,
        audio=True,
        resource_links=False,
        structured_content=False,
        progress_message=True,
        title=False,
        priming_event=False,
        completions=True,
        url_elicitation=False,
        url_elicitation_error=False,
        sampling_tools=False,
        icons=False,
        result_type=False,
        missing_resource=_RESOURCE_NOT_FOUND,
    ),
    Revision(
        version="2025-06-18",
        generation=Generation.SESSIONS,
        tool_form=_STRUCTURED,
        batches=False,
        audio=True,
        resource_links=True,
        structured_content=True,
        progress_message=True,
        title=True,
        priming_event=False,
        completions=True,
        url_elicitation=False,
        url_elicitation_error=False,
        sampling_tools=False,
        icons=False,
        result_type=False,
        missing_resource=_RESOURCE_NOT_FOUND,
    ),
    Revision(
        version="2025-11-25",
        generation=Generation.SESSIONS,
        tool_form=_ICONED,
        batches=False,
        audio=True,
        resource_links=True,
        structured_content=True,
        progress_message=True,
        title=True,
        priming_event=True,
        completions=True,
        url_elicitation=True,
        url_elicitation_error=True,
        sampling_tools=True,
        icons=True,
        result_type=False,
        missing_resource=_RESOURCE_NOT_FOUND,
    ),
    Revision(
        version="2026-07-28",
        generation=Generation.STATELESS,
        tool_form=_ICONED,
        batches=False,
        audio=True,
        resource_links=True,
        structured_content=True,
        progress_message=True,
        title=True,
        priming_event=False,
        completions=True,
        url_elicitation=True,
        url_elicitation_error=False,
        sampling_tools=True,
        icons=True,
        result_type=True,
        missing_resource=_INVALID_PARAMS,
    ),
)

REVISIONS: Mapping[str, Revision] = MappingProxyType({row.version: row for row in _ROWS})
"""Every revision that is known, oldest first. Whether a server serves the stateless ones is its own choice."""

SESSION_VERSIONS: tuple[str, ...] = tuple(row.version for row in _ROWS if row.generation is Generation.SESSIONS)
"""The revisions that `initialize` can agree on, oldest first."""

STATELESS_VERSIONS: tuple[str, ...] = tuple(row.version for row in _ROWS if row.generation is Generation.STATELESS)
"""The revisions whose requests stand for themselves, oldest first."""

TOOL_FORMS: tuple[ToolForm, ...] = tuple(dict.fromkeys(row.tool_form for row in _ROWS))
"""The distinct forms in which a tool is listed, oldest first."""

OLDEST_VERSION = _ROWS[0].version
"""What a client on the HTTP+SSE transport is taken to speak as long as it has not said."""

FIRST_STREAMABLE_VERSION = "2025-03-26"
"""The revision that brought Streamable HTTP. Who speaks that knows what its messages hold, whatever it asked for."""

NEWEST_SESSION_VERSION = SESSION_VERSIONS[-1]
"""What `initialize` answers to a client that asks for a version which it does not open."""


def negotiate(requested: str) -> str:
    """The version that `initialize` answers: the requested one if sessions of it are served, else the newest one."""
    revision = REVISIONS.get(requested)
    if revision is not None and revision.generation is Generation.SESSIONS:
        return requested
    return NEWEST_SESSION_VERSION
