"""The tools that story agents have in a run: to read fragments, to change them, and to report what they found.

Owns their schemas, bodies and words. They work through the blocks actor alone, on one branch of one story. What a model
asks for wrongly is an answer to it, never an error of the run.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from actors.blocks import BlocksActor, UseBlocks
from actors.chat import ChatTool
from actors.errors import ActorError
from blocks.context import ToolOffer
from blocks.fragment import Fragment
from blocks.sheet import catalog_row, full_sheet, one_line
from blocks.store.block_store import BlockStore
from blocks.store.documents import Versioned
from blocks.store.story_files import StoryPlace
from engine.errors import EngineError
from protocol.schema import CompiledSchema, compile_schema

MOST_ANSWER_CHARACTERS = 60_000
"""Characters of one tool's answer: four long fragments. More would fill the context of most models."""

MOST_ROWS = 200
"""Rows of one list. Who looks for something searches."""

MOST_READ = 10
"""Fragments that are read in one call."""

FOUND_CHARACTERS = 160
"""Characters around a place that a search shows."""

MOST_FINDINGS = 200
"""Calls of reporting tools in one run: what they say is kept with the prose."""

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool says to the model."""

    text: str
    is_error: bool = False


class StoryTools:
    """The tools of one run. Remembers which fragments were read, and what was reported."""

    def __init__(self, blocks: BlocksActor, place: StoryPlace) -> None:
        self._blocks = blocks
        self._place = place
        self._read_ids: dict[str, None] = {}
        self._findings: list[tuple[str, Mapping[str, Any]]] = []

    @property
    def read_ids(self) -> tuple[str, ...]:
        """The fragments that were read, in order."""
        return tuple(self._read_ids)

    @property
    def findings(self) -> Mapping[str, Any]:
        """What the reporting tools were told, by what it is about; see `_REPORTS`."""
        found: dict[str, Any] = {}
        for name, arguments in self._findings:
            report = _REPORTS[name]
            said = arguments[report.argument]
            if isinstance(said, list):
                found[report.kept_as] = [*found.get(report.kept_as, []), *cast("list[Any]", said)]
            else:
                found[report.kept_as] = said
        return found

    @staticmethod
    def that_there_are(offers: Collection[ToolOffer]) -> tuple[ToolOffer, ...]:
        """Those of these tools that a run can really do something with."""
        return tuple(offer for offer in offers if offer.name in _TOOLS)

    @staticmethod
    def for_chat(offers: Collection[ToolOffer]) -> tuple[ChatTool, ...]:
        """The tools as the model is told of them."""
        return tuple(ChatTool(offer.name, offer.description, _TOOLS[offer.name].schema) for offer in offers)

    async def call(self, name: str, arguments: str, offered: Collection[str]) -> ToolAnswer:
        """Do what the model asks for. Never raises what the model, the disk or the actor got wrong: it is answered."""
        if name not in offered:
            there_are = ", ".join(sorted(offered)) or "none"
            return ToolAnswer(f"there is no tool {name[:80]!r} in this run; there are: {there_are}", is_error=True)
        tool = _TOOLS[name]
        try:
            given: object = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            return ToolAnswer(f"the arguments of {name} are no JSON; it was not run", is_error=True)
        if not isinstance(given, dict):
            return ToolAnswer(f"the arguments of {name} must be a JSON object; it was not run", is_error=True)
        members = cast("dict[str, Any]", given)
        problems = tool.compiled.problems(members)
        if problems:
            said = "; ".join(map(str, problems))
            return ToolAnswer(f"the arguments of {name} are wrong, and it was not run: {said}", is_error=True)
        try:
            text = await tool.run(self, name, members)
        except (EngineError, ActorError) as error:
            return ToolAnswer(str(error), is_error=True)
        if len(text) > MOST_ANSWER_CHARACTERS:
            text = f"{text[:MOST_ANSWER_CHARACTERS]}\n… (cut; {len(text) - MOST_ANSWER_CHARACTERS} characters more)"
        return ToolAnswer(text)

    async def _use(self, work: Callable[[BlockStore], ResultT]) -> ResultT:
        return (await self._blocks.ask(UseBlocks(work))).result

    async def _fragments(self) -> Sequence[Fragment]:
        listed: tuple[Versioned[Fragment], ...] = await self._use(lambda store: store.fragments.list(self._place))
        return [one.value for one in listed if not one.value.archived]

    async def read(self, name: str, arguments: Mapping[str, Any]) -> str:
        """`readFragments`: each in full; those that there are not are named."""
        by_id = {one.id: one for one in await self._fragments()}
        parts: list[str] = []
        for fragment_id in dict.fromkeys(cast("list[str]", arguments["ids"])):
            fragment = by_id.get(fragment_id)
            if fragment is None:
                parts.append(f"There is no fragment {fragment_id[:80]!r}.")
            else:
                self._read_ids[fragment_id] = None
                parts.append(full_sheet(fragment, editing=True))
        return "\n\n".join(parts)

    async def list(self, name: str, arguments: Mapping[str, Any]) -> str:
        """`listFragments`: a row for each."""
        kind = arguments.get("type")
        return _rows([one for one in await self._fragments() if kind in (None, one.type)])

    async def search(self, name: str, arguments: Mapping[str, Any]) -> str:
        """`searchFragments`: a row for each that has the words, and the place where."""
        words = str(arguments["query"]).casefold()
        found: list[str] = []
        for one in await self._fragments():
            texts = (one.name, one.description, one.content)
            text = next((text for text in texts if words in text.casefold()), None)
            if text is not None:
                found.append(f"{catalog_row(one)}\n  … {_around(text, words)} …")
        return _limited(found) if found else "Nothing has these words."

    async def types(self, name: str, arguments: Mapping[str, Any]) -> str:
        """`listFragmentTypes`: each type and how many there are."""
        counts: dict[str, int] = {}
        for one in await self._fragments():
            counts[one.type] = counts.get(one.type, 0) + 1
        return "\n".join(f"- {kind}: {count}" for kind, count in sorted(counts.items())) or "There are no fragments."

    async def create(self, name: str, arguments: Mapping[str, Any]) -> str:
        """`createFragment`."""
        made = await self._use(lambda store: store.fragments.create(self._place, arguments))
        return f"Made {catalog_row(made.value)}"

    async def update(self, name: str, arguments: Mapping[str, Any]) -> str:
        """`updateFragment`: the members that are given are replaced."""
        changes = {key: value for key, value in arguments.items() if key != "id"}
        done = await self._use(lambda store: store.fragments.update(self._place, arguments["id"], changes))
        return f"Changed {catalog_row(done.value)}"

    async def edit(self, name: str, arguments: Mapping[str, Any]) -> str:
        """`editFragment`: a passage that stands there exactly once is replaced."""
        fragment_id, old, new = arguments["id"], arguments["oldText"], arguments["newText"]

        def work(store: BlockStore) -> Fragment | int:
            present = store.fragments.read(self._place, fragment_id)
            count = present.value.content.count(old)
            if count != 1:
                return count
            changes = {"content": present.value.content.replace(old, new)}
            return store.fragments.update(self._place, fragment_id, changes, (present.revision,)).value

        done = await self._use(work)
        if isinstance(done, Fragment):
            return f"Changed {catalog_row(done)}"
        raise PassageError(
            f"oldText stands {done} times in {fragment_id!r}, and must stand there exactly once: "
            + ("read the fragment and take the text as it is" if done == 0 else "give more of the text around it")
        )

    async def archive(self, name: str, arguments: Mapping[str, Any]) -> str:
        """`deleteFragment`: into the archive, from which the author can take it back."""
        done = await self._use(lambda store: store.fragments.set_archived(self._place, arguments["id"], True))
        return f"Archived {catalog_row(done.value)}"

    async def report(self, name: str, arguments: Mapping[str, Any]) -> str:
        """A reporting tool: what it says is kept with what was analysed once the run has ended well."""
        if len(self._findings) >= MOST_FINDINGS:
            raise PassageError(f"this run has reported {MOST_FINDINGS} times, which is the most; come to an end")
        self._findings.append((name, arguments))
        return "Noted."


class PassageError(EngineError):
    """Raised when a tool of a story cannot do what the model asks. The text is for the model."""


def _rows(fragments: Sequence[Fragment]) -> str:
    return _limited([f"{catalog_row(one)} ({one.type})" for one in fragments]) if fragments else "There are none."


def _limited(rows: Sequence[str]) -> str:
    more = len(rows) - MOST_ROWS
    return "\n".join((*rows[:MOST_ROWS], *((f"… and {more} more; search for what you need",) if more > 0 else ())))


def _around(text: str, words: str) -> str:
    at = text.casefold().find(words)
    start = max(0, at - FOUND_CHARACTERS // 2)
    return one_line(text[start : start + len(words) + FOUND_CHARACTERS])


_Run = Callable[[StoryTools, str, Mapping[str, Any]], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class _Tool:
    schema: Mapping[str, Any]
    compiled: CompiledSchema
    run: _Run


@dataclass(frozen=True, slots=True)
class _Report:
    """A reporting tool: which argument it has, of which form, and under which name that is kept."""

    argument: str
    schema: Mapping[str, Any]
    kept_as: str


def _object(required: Sequence[str] = (), /, **properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _text(description: str, **more: Any) -> Mapping[str, Any]:
    return {"type": "string", "description": description, **more}


def _list(items: Mapping[str, Any], **more: Any) -> Mapping[str, Any]:
    return {"type": "array", "items": items, **more}


_ID = _text("The fragment's id, such as 'ch-marazi'.")

_REPORTS: Mapping[str, _Report] = {
    "updateSummary": _Report("summary", _text("What happens, in a few sentences.", minLength=1), "summary"),
    "reportMentions": _Report(
        "mentions",
        _list(_object(("id", "names"), id=_ID, names=_list(_text("A name in the prose.")))),
        "mentions",
    ),
    "reportContradictions": _Report(
        "contradictions",
        _list(_object(("description",), description=_text("What cannot both be true."), ids=_list(_ID))),
        "contradictions",
    ),
    "suggestFragment": _Report(
        "suggestions",
        _list(
            _object(
                ("type", "name", "content"),
                type=_text("Its type, such as 'character'."),
                name=_text("Its name."),
                description=_text("One line."),
                content=_text("Its whole text."),
                id=_text("The id of the fragment that is to be changed; left out for a new one."),
            )
        ),
        "suggestions",
    ),
    "reportTimeline": _Report(
        "events",
        _list(_object(("event", "position"), event=_text("What happens."), position=_text("When, in the story."))),
        "timeline",
    ),
    "suggestDirections": _Report(
        "directions",
        _list(_object(("title", "description"), title=_text("A few words."), description=_text("Two sentences."))),
        "directions",
    ),
}

_BODIES: Mapping[str, tuple[Mapping[str, Any], _Run]] = {
    "readFragments": (_object(("ids",), ids=_list(_ID, minItems=1, maxItems=MOST_READ)), StoryTools.read),
    "listFragments": (_object(type=_text("Only those of this type.")), StoryTools.list),
    "searchFragments": (_object(("query",), query=_text("A word or a phrase.", minLength=1)), StoryTools.search),
    "listFragmentTypes": (_object(), StoryTools.types),
    "createFragment": (
        _object(
            ("type", "name", "content"),
            type=_text("Such as 'character', 'guideline' or 'knowledge'."),
            name=_text("Its name."),
            description=_text("One line by which it is found."),
            content=_text("Its whole text."),
        ),
        StoryTools.create,
    ),
    "updateFragment": (
        _object(
            ("id",),
            id=_ID,
            name=_text("A new name."),
            description=_text("A new description."),
            content=_text("A new text, as a whole."),
        ),
        StoryTools.update,
    ),
    "editFragment": (
        _object(
            ("id", "oldText", "newText"),
            id=_ID,
            oldText=_text("A passage as it stands there, exactly once.", minLength=1),
            newText=_text("What is to stand there instead."),
        ),
        StoryTools.edit,
    ),
    "deleteFragment": (_object(("id",), id=_ID), StoryTools.archive),
    **{
        name: (_object((report.argument,), **{report.argument: report.schema}), StoryTools.report)
        for name, report in _REPORTS.items()
    },
}

_TOOLS: Mapping[str, _Tool] = {
    name: _Tool(schema, compile_schema(schema), run) for name, (schema, run) in _BODIES.items()
}
