"""What somebody asks of a run: which agent, on which branch of a story, to do what. Owns the form and its checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from actors.chat import ChatMessage
from blocks.issue import InvalidBlockDataError, Issue
from blocks.store.story_files import StoryPlace

WRITER, PREWRITER, ANALYZE = "generation.writer", "generation.prewriter", "librarian.analyze"

KEEPING = (WRITER, ANALYZE)
"""Agents whose result is kept in a fragment: the writer's prose, and what an analysis found about a piece of it."""

MOST_TEXT_CHARACTERS = 500_000
"""Of one text: as much as a fragment may hold."""

MOST_MESSAGES = 500
"""Messages of a conversation that is to be continued."""

Mode = Literal["generate", "regenerate"]
"""`regenerate` writes a piece of prose anew, from what stands before it."""

_TEXTS = (
    "input",
    "instructions",
    "operation",
    "guidance",
    "selectedText",
    "sourceContent",
    "contextBefore",
    "contextAfter",
    "personaDescription",
)

_FIELDS = (*_TEXTS, "messages", "fragmentId", "mode", "saveResult")

_NEEDED: Mapping[str, Sequence[str]] = {
    ANALYZE: ("fragmentId",),
    "librarian.refine": ("fragmentId",),
    "librarian.optimize-character": ("fragmentId",),
    "librarian.prose-transform": ("selectedText", "operation"),
    "librarian.chat": ("messages",),
    "character-chat.chat": ("fragmentId", "messages"),
}
"""What an agent cannot do without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrder:
    """One order. `texts` are by their name in the API; `fragment_id` is what the agent works on, if on one."""

    place: StoryPlace
    agent: str
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    messages: tuple[ChatMessage, ...] = ()
    fragment_id: str | None = None
    mode: Mode = "generate"
    save: bool = False

    @staticmethod
    def from_json(place: StoryPlace, agent: str, raw: Mapping[str, Any]) -> RunOrder:
        """The order in that body. Raises `InvalidBlockDataError` with everything that is wrong."""
        issues = [
            Issue((name[:60],), "invalid_value", f"there is no such field; there are {', '.join(_FIELDS)}")
            for name in raw
            if name not in _FIELDS
        ]
        texts: dict[str, str] = {}
        for name in _TEXTS:
            value = raw.get(name)
            if isinstance(value, str) and len(value) <= MOST_TEXT_CHARACTERS:
                texts[name] = value
            elif value is not None:
                message = f"must be a text of at most {MOST_TEXT_CHARACTERS:,} characters"
                issues.append(Issue((name,), "invalid_type", message))
        fragment_id, mode, save = raw.get("fragmentId"), raw.get("mode", "generate"), raw.get("saveResult")
        if fragment_id is not None and not isinstance(fragment_id, str):
            issues.append(Issue(("fragmentId",), "invalid_type", "must be the id of a fragment"))
        if mode not in ("generate", "regenerate"):
            issues.append(Issue(("mode",), "invalid_value", "must be 'generate' or 'regenerate'"))
        elif mode == "regenerate" and (agent != WRITER or not fragment_id):
            issues.append(Issue(("mode",), "invalid_value", f"'regenerate' is for {WRITER}, with a `fragmentId`"))
        elif mode == "generate" and agent == WRITER and fragment_id:
            issues.append(Issue(("fragmentId",), "invalid_value", "is for `mode` 'regenerate'"))
        if save is not None and not isinstance(save, bool):
            issues.append(Issue(("saveResult",), "invalid_type", "must be true or false"))
        elif save and agent not in KEEPING:
            issues.append(Issue(("saveResult",), "invalid_value", f"only {' and '.join(KEEPING)} keep their result"))
        messages = _messages(raw.get("messages"), issues)
        for name in _NEEDED.get(agent, ()):
            if not raw.get(name):
                issues.append(Issue((name,), "invalid_type", f"is missing; {agent} cannot do without"))
        if issues:
            raise InvalidBlockDataError(issues)
        return RunOrder(
            place=place,
            agent=agent,
            texts=texts,
            messages=messages,
            fragment_id=fragment_id or None,
            mode=cast("Mode", mode),
            save=agent in KEEPING if save is None else save,
        )

    def text(self, name: str) -> str | None:
        """A text of the order, or None where it is not given."""
        return self.texts.get(name)

    def to_json(self) -> dict[str, Any]:
        """What was asked, for the record."""
        asked: dict[str, Any] = {**self.texts, "mode": self.mode, "saveResult": self.save}
        if self.fragment_id is not None:
            asked["fragmentId"] = self.fragment_id
        if self.messages:
            asked["messages"] = [message.to_json() for message in self.messages]
        return asked


def _messages(raw: object, issues: list[Issue]) -> tuple[ChatMessage, ...]:
    if raw is None:
        return ()
    if not isinstance(raw, list) or len(cast("list[object]", raw)) > MOST_MESSAGES:
        issues.append(Issue(("messages",), "invalid_type", f"must be a list of at most {MOST_MESSAGES} messages"))
        return ()
    messages: list[ChatMessage] = []
    for index, one in enumerate(cast("list[object]", raw)):
        members: Mapping[str, object] = cast("Mapping[str, object]", one) if isinstance(one, dict) else {}
        role, content = members.get("role"), members.get("content")
        if role not in ("user", "assistant") or not isinstance(content, str) or set(members) != {"role", "content"}:
            issues.append(Issue(("messages", index), "invalid_type", "must be {role: 'user' or 'assistant', content}"))
        elif len(content) > MOST_TEXT_CHARACTERS:
            message = f"must have at most {MOST_TEXT_CHARACTERS:,} characters"
            issues.append(Issue(("messages", index, "content"), "too_big", message))
        else:
            messages.append(ChatMessage(role, content))
    if messages and messages[-1].role != "user":
        issues.append(Issue(("messages",), "invalid_value", "must end with one of role 'user'"))
    return tuple(messages)
