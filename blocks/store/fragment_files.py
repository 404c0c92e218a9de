"""Fragments on disk: one file each, `fragments/<id>.json` in a branch. Owns what can be done with them, and versions.

A fragment is what its file is called, also where somebody has copied one by hand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from blocks.fragment import Fragment, is_fragment_id
from blocks.issue import InvalidBlockDataError, Issue
from blocks.store.checked import Checks, members
from blocks.store.documents import SUFFIX, Documents, Versioned, encoded, versioned
from blocks.store.files import Check, DataFiles, Parts, Signature, go_on
from blocks.store.identities import new_fragment_id, require_fragment_id
from blocks.store.limits import (
    MAX_CONTENT_LENGTH,
    MAX_FRAGMENTS,
    MAX_TAG_LENGTH,
    MAX_TAGS,
    MAX_VERSION_CHARACTERS,
    MAX_VERSIONS,
)
from blocks.store.revision import BaseRevisions, check_revision
from blocks.store.story_files import FRAGMENTS, StoryFiles, StoryPlace
from engine.errors import ConflictError, InvalidArgumentError, NotFoundError

CHANGEABLE = (
    "name",
    "description",
    "content",
    "tags",
    "refs",
    "sticky",
    "placement",
    "order",
    "meta",
)
"""The members of a fragment that can be changed."""

_VERSIONED = ("name", "description", "content")
"""A change of one of these makes a new version."""

_TYPE = re.compile(r"[a-z][a-z0-9-]{0,39}")


@dataclass(slots=True)
class Reordering:
    """An order that is being made, of these fragments as they were at that moment.

    Between `FragmentFiles.begin_order` and `commit_order`, `stage` may run in any thread: others go on meanwhile.
    Whoever has it calls `discard` at the end, whatever came of it.
    """

    folder: Parts
    place: StoryPlace
    present: Sequence[Versioned[Fragment]]
    """In their new order."""
    now: str
    files: DataFiles
    staged: Parts | None = None
    numbered: dict[str, tuple[int, Signature, Versioned[Fragment]]] = field(
        default_factory=dict[str, "tuple[int, Signature, Versioned[Fragment]]"]
    )
    """By id: which of the staged files it is, its signature, and what it holds."""

    def stage(self, check: Check = go_on) -> None:
        """Write the files of those whose number changes, but not in their place yet. Raises `DataFileError`."""
        changed: list[Versioned[Fragment]] = []
        contents: list[bytes] = []
        for index, one in enumerate(self.present):
            check()
            if one.value.order != index:
                changed.append(versioned(one.value.model_copy(update={"order": index, "updated_at": self.now})))
                contents.append(encoded(changed[-1].value))
        if changed:
            self.staged, signatures = self.files.stage(contents, check)
            self.numbered = {
                one.value.id: (at, signature, one)
                for at, (signature, one) in enumerate(zip(signatures, changed, strict=True))
            }

    def discard(self) -> None:
        """Remove what is left of the making. Idempotent."""
        if self.staged is not None:
            self.files.discard(self.staged)


class FragmentFiles:
    """The fragments of stories. Blocks; raises as `Documents` does, and `NotFoundError` for stories and branches."""

    def __init__(self, documents: Documents, stories: StoryFiles) -> None:
        self._documents = documents
        self._stories = stories

    def list(self, place: StoryPlace) -> tuple[Versioned[Fragment], ...]:
        """Every fragment, archived ones too, by `order`, then by the time of its making, then by id."""
        found = self._documents.read_all(self._folder(place), Fragment, is_fragment_id)
        fragments = [_own(fragment_id, stored) for fragment_id, stored in found.items()]
        return tuple(sorted(fragments, key=lambda one: (one.value.order, one.value.created_at, one.value.id)))

    def read(self, place: StoryPlace, fragment_id: str) -> Versioned[Fragment]:
        """One fragment. Raises `NotFoundError`."""
        require_fragment_id(fragment_id)
        file = _file(self._folder(place), fragment_id)
        stored = self._documents.read(file, Fragment)
        if stored is None:
            broken = self._documents.reported(file)
            more = "" if broken is None else f" any more: {broken}"
            raise NotFoundError(f"there is no fragment {fragment_id!r} in this branch of story {place.story!r}{more}")
        return _own(fragment_id, stored)

    def create(self, place: StoryPlace, raw: object) -> Versioned[Fragment]:
        """Make a fragment of its JSON: `type`, `name`, and what else is known; `id` where a certain one is wanted.

        Raises `InvalidArgumentError`, and `ConflictError` for an id that is taken and for too many fragments.
        """
        given = dict(members(raw, ("id", "type", *CHANGEABLE)))
        folder = self._folder(place)
        taken = {name.removesuffix(SUFFIX) for name in self._documents.files.names(folder)}
        if len(taken) >= MAX_FRAGMENTS:
            raise ConflictError(f"this branch has {MAX_FRAGMENTS} fragments; remove some that are archived")
        kind: object = given.get("type")
        if isinstance(kind, str) and _TYPE.fullmatch(kind) is None:
            message = "must have a-z, 0-9 and dashes and begin with a letter, such as 'character'"
            raise InvalidBlockDataError([Issue(("type",), "invalid_format", message)])
        given.setdefault("id", new_fragment_id(kind if isinstance(kind, str) else "", taken.__contains__))
        now = self._documents.now.isoformat()
        fragment = _checked({**given, "createdAt": now, "updatedAt": now})
        if fragment.id in taken:
            raise ConflictError(f"there is a fragment {fragment.id!r} already; choose another id")
        return self._documents.write(_file(folder, fragment.id), fragment)

    def update(
        self, place: StoryPlace, fragment_id: str, raw: object, base: BaseRevisions = None
    ) -> Versioned[Fragment]:
        """Change members; lists and `meta` are replaced as a whole. Another name, description or content makes a new
        version, and the one before is kept.

        Raises `NotFoundError`, `InvalidArgumentError` and `StaleRevisionError`.
        """
        return self._change(place, fragment_id, members(raw, CHANGEABLE), base)

    def set_archived(
        self, place: StoryPlace, fragment_id: str, archived: bool, base: BaseRevisions = None
    ) -> Versioned[Fragment]:
        """Put a fragment into the archive, or take it out. Raises as `update`."""
        return self._change(place, fragment_id, {"archived": archived}, base)

    def add_tag(self, place: StoryPlace, fragment_id: str, tag: str, base: BaseRevisions = None) -> Versioned[Fragment]:
        """Give a fragment a tag; one that it has already changes nothing. Raises as `update`."""
        tags = self.read(place, fragment_id).value.tags
        return self._change(place, fragment_id, {"tags": [*tags, tag] if tag not in tags else list(tags)}, base)

    def remove_tag(
        self, place: StoryPlace, fragment_id: str, tag: str, base: BaseRevisions = None
    ) -> Versioned[Fragment]:
        """Take a tag away; one that it does not have changes nothing. Raises as `update`."""
        tags = self.read(place, fragment_id).value.tags
        return self._change(place, fragment_id, {"tags": [one for one in tags if one != tag]}, base)

    def set_order(self, place: StoryPlace, fragment_ids: Sequence[str]) -> tuple[Versioned[Fragment], ...]:
        """Number these fragments from 0 in the order given; others keep their number.

        All must be there before any is changed: raises `NotFoundError`, and `InvalidArgumentError` for an id that
        stands there twice. Each file is whole at any time; a crash in between leaves some with their old number.
        """
        begun = self.begin_order(place, fragment_ids)
        try:
            begun.stage()
            return self.commit_order(begun)
        finally:
            begun.discard()

    def begin_order(self, place: StoryPlace, fragment_ids: Sequence[str]) -> Reordering:
        """Check what is wanted, and see what is there. Raises as `set_order`."""
        if len(set(fragment_ids)) < len(fragment_ids):
            raise InvalidArgumentError("an id stands in the order twice; each fragment has one place")
        branch = self._stories.folder(place)
        # What is active may be another branch by the time of the commit.
        fixed = StoryPlace(place.story, branch[-1])
        present = self._all_of(fixed, fragment_ids)
        now = self._documents.now.isoformat()
        return Reordering((*branch, FRAGMENTS), fixed, present, now, self._documents.files)

    def commit_order(self, begun: Reordering) -> tuple[Versioned[Fragment], ...]:
        """Put the staged files to their places. What has changed meanwhile keeps its change, and gets its number too.

        Raises as `set_order`.
        """
        ids = [one.value.id for one in begun.present]
        now = self._all_of(begun.place, ids)
        standing = {
            one.value.id: one
            for one, before in zip(now, begun.present, strict=True)
            if one.revision == before.revision and one.value.id in begun.numbered
        }
        if begun.staged is not None and standing:
            names = {begun.numbered[one][0]: f"{one}{SUFFIX}" for one in standing}
            self._documents.files.take_staged(begun.staged, names, begun.folder)
        result: list[Versioned[Fragment]] = []
        for index, one in enumerate(now):
            fragment_id = one.value.id
            if fragment_id in standing:
                _, signature, stored = begun.numbered[fragment_id]
                self._documents.took(_file(begun.folder, fragment_id), signature, stored)
                result.append(stored)
            elif one.value.order == index:
                result.append(one)
            else:
                result.append(self._change(begun.place, fragment_id, {"order": index}, None))
        return tuple(result)

    def _all_of(self, place: StoryPlace, fragment_ids: Sequence[str]) -> Sequence[Versioned[Fragment]]:
        """These fragments. Raises `NotFoundError` for the first that is not there."""
        found = {one.value.id: one for one in self.list(place)}
        return [found[one] if one in found else self.read(place, one) for one in fragment_ids]

    def delete(self, place: StoryPlace, fragment_id: str, base: BaseRevisions = None) -> Versioned[Fragment]:
        """Remove an archived fragment for good. Raises `NotFoundError`, `ConflictError` and `StaleRevisionError`."""
        present = self.read(place, fragment_id)
        check_revision(f"fragment {fragment_id!r}", present.revision, base)
        if not present.value.archived:
            raise ConflictError(f"fragment {fragment_id!r} is in use; only what is archived can be removed for good")
        self._documents.remove(_file(self._folder(place), fragment_id))
        return present

    def _change(
        self, place: StoryPlace, fragment_id: str, changes: Mapping[str, Any], base: BaseRevisions
    ) -> Versioned[Fragment]:
        present = self.read(place, fragment_id)
        check_revision(f"fragment {fragment_id!r}", present.revision, base)
        before = present.value
        after = _checked({**before.to_json(), **changes})
        if after == before:
            return present
        update: dict[str, Any] = {"updated_at": self._documents.now.isoformat()}
        if any(getattr(before, name) != getattr(after, name) for name in _VERSIONED):
            update |= {"version": before.version + 1, "versions": _with_version(before)}
        return self._documents.write(_file(self._folder(place), fragment_id), after.model_copy(update=update))

    def _folder(self, place: StoryPlace) -> Parts:
        return (*self._stories.folder(place), FRAGMENTS)


def _file(folder: Parts, fragment_id: str) -> Parts:
    return (*folder, f"{require_fragment_id(fragment_id)}{SUFFIX}")


def _own(fragment_id: str, stored: Versioned[Fragment]) -> Versioned[Fragment]:
    if stored.value.id == fragment_id:
        return stored
    return versioned(stored.value.model_copy(update={"id": fragment_id}))


def _with_version(before: Fragment) -> tuple[Mapping[str, Any], ...]:
    """The earlier versions, the present one among them; the oldest are let go where they are too many or too long."""
    made = {"version": before.version, "createdAt": before.updated_at}
    kept = [*before.versions, {**made, **{name: getattr(before, name) for name in _VERSIONED}}][-MAX_VERSIONS:]
    while len(kept) > 1 and sum(_characters(one) for one in kept) > MAX_VERSION_CHARACTERS:
        kept = kept[1:]
    return tuple(kept)


def _characters(version: Mapping[str, Any]) -> int:
    return sum(len(str(version.get(name, ""))) for name in _VERSIONED)


def _checked(raw: Mapping[str, Any]) -> Fragment:
    fragment = Fragment.from_json(raw)
    checks = Checks()
    checks.name(fragment.name)
    checks.description(fragment.description)
    checks.text(("content",), fragment.content, most=MAX_CONTENT_LENGTH)
    checks.texts("tags", fragment.tags, most=MAX_TAGS, longest=MAX_TAG_LENGTH)
    checks.texts("refs", fragment.refs, most=MAX_TAGS, longest=MAX_TAG_LENGTH)
    checks.done()
    return fragment
