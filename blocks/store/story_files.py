"""Stories and their branches on disk. Owns `stories/<id>/meta.json`, `branches.json` and the folders of branches.

A story is there when its folder is, and so is a branch; what the files beside them say is only how they are called. So
a crash between two writes, or a file that was broken, never loses one. Archiving moves the whole folder.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, cast

from blocks.json_value import JsonValue, Listed, Text
from blocks.store.checked import Checks, members
from blocks.store.documents import SUFFIX, Documents, Versioned, encoded, versioned
from blocks.store.files import Check, DataFiles, Parts, go_on
from blocks.store.identities import (
    MAIN_BRANCH,
    is_folder_id,
    new_folder_id,
    require_folder_id,
    wanted_folder_id,
)
from blocks.store.limits import MAX_BRANCHES, MAX_CONTENT_LENGTH, MAX_STORIES
from blocks.store.revision import BaseRevisions, check_revision
from blocks.story import StoryMeta
from blocks.story_settings import check_settings
from engine.errors import ConflictError, InvalidArgumentError, NotFoundError

STORIES, ARCHIVED_STORIES = "stories", "archived-stories"
BRANCHES, FRAGMENTS, AGENT_BLOCKS = "branches", "fragments", "agent-blocks"

_META, _INDEX = "meta.json", "branches.json"

_FIELDS = ("name", "description", "summary", "coverImage", "settings")


class Branch(JsonValue):
    """A branch as people see it. `parent` is the id of the one that it was copied from."""

    id: Text
    name: Text
    created_at: Text = ""
    parent: Text | None = None


class BranchIndex(JsonValue):
    """The branches of a story, and which of them is meant where none is named."""

    branches: Listed[Branch] = ()
    active_branch_id: Text = MAIN_BRANCH


@dataclass(frozen=True, slots=True)
class StoryPlace:
    """A branch of a story; the active one where `branch` is None."""

    story: str
    branch: str | None = None


@dataclass(slots=True)
class BranchCopy:
    """A branch that is being made: what it will be, and what the one that it is copied from held at that moment.

    Between `StoryFiles.begin_branch` and `commit_branch`, `copy` may run in any thread: others go on meanwhile. Whoever
    has it calls `discard` at the end, whatever came of it.
    """

    story: str
    branch: Branch
    files: DataFiles
    held: Parts
    made: Parts | None = None

    def copy(self, check: Check = go_on) -> None:
        """Copy what was held. Takes as long as the disk does for thousands of files. Raises `DataFileError`."""
        self.made = self.files.copy(self.held, check)

    def discard(self) -> None:
        """Remove what is left of the making. Idempotent."""
        for folder in (self.held, self.made):
            if folder is not None:
                self.files.discard(folder)


class StoryFiles:
    """The stories below the data folder. Blocks; raises as `Documents` does."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._files = documents.files

    def list(self, *, archived: bool = False) -> tuple[Versioned[StoryMeta], ...]:
        """Every story by its id: those in use, or those in the archive."""
        root = ARCHIVED_STORIES if archived else STORIES
        return tuple(self._meta((root, name)) for name in self._files.folders((root,)) if is_folder_id(name))

    def read(self, story: str) -> Versioned[StoryMeta]:
        """A story in use. Raises `NotFoundError`."""
        return self._meta(self._require(story))

    def create(self, raw: object) -> Versioned[StoryMeta]:
        """Make a story of its JSON: `name`, and what else is known; `id` where it is to have a certain one.

        Raises `InvalidArgumentError`, and `ConflictError` for an id that is taken and for too many stories.
        """
        given = dict(members(raw, ("id", *_FIELDS)))
        _check_given_settings(given)
        wanted = given.pop("id", None)
        if len(self._files.folders((STORIES,))) >= MAX_STORIES:
            raise ConflictError(f"there are {MAX_STORIES} stories already; archive one")
        story = new_folder_id("story", self._taken) if wanted is None else wanted_folder_id("story", wanted)
        now = self._documents.now.isoformat()
        meta = _checked({**given, "id": story, "createdAt": now, "updatedAt": now})
        main = Branch(id=MAIN_BRANCH, name="Main", created_at=now)
        files = {(_META,): encoded(meta), (_INDEX,): encoded(BranchIndex(branches=(main,)))}
        if self._taken(story) or not self._files.make_folder((STORIES, story), files):
            raise ConflictError(f"there is a story {story!r} already, in use or in the archive; choose another id")
        return self._meta((STORIES, story))

    def update(self, story: str, raw: object, base: BaseRevisions = None) -> Versioned[StoryMeta]:
        """Change members of a story; `settings` are replaced as a whole, and null takes the cover image away.

        Raises `NotFoundError`, `InvalidArgumentError` and `StaleRevisionError`.
        """
        changes = members(raw, _FIELDS)
        _check_given_settings(changes)
        return self._change(story, changes, base)

    def update_settings(self, story: str, raw: object, base: BaseRevisions = None) -> Versioned[StoryMeta]:
        """Change settings, each as a whole; null takes one away. Raises as `update`."""
        changes = members(raw)
        check_settings(changes)
        present = self.read(story).value.to_json()["settings"]
        kept = {name: value for name, value in {**present, **changes}.items() if value is not None}
        return self._change(story, {"settings": kept}, base)

    def archive(self, story: str, base: BaseRevisions = None) -> Versioned[StoryMeta]:
        """Put a story into the archive, whole. Raises `NotFoundError` and `StaleRevisionError`."""
        folder = self._require(story)
        check_revision(f"story {story!r}", self._meta(folder).revision, base)
        return self._move(folder, (ARCHIVED_STORIES, story))

    def restore(self, story: str) -> Versioned[StoryMeta]:
        """Take a story out of the archive. Raises `NotFoundError`."""
        require_folder_id("story", story)
        if not self._files.is_folder((ARCHIVED_STORIES, story)):
            raise NotFoundError(f"there is no story {story!r} in the archive")
        return self._move((ARCHIVED_STORIES, story), (STORIES, story))

    def branches(self, story: str) -> Versioned[BranchIndex]:
        """The branches that there are, the main one first, and which one is active. Raises `NotFoundError`."""
        folder = self._require(story)
        stored = self._documents.read((*folder, _INDEX), BranchIndex)
        index = BranchIndex() if stored is None else stored.value
        names = {branch.id: branch for branch in index.branches}
        found = {MAIN_BRANCH, *filter(is_folder_id, self._files.folders((*folder, BRANCHES)))}
        known = [branch_id for branch_id in names if branch_id in found]
        ordered = sorted(found, key=lambda one: (one != MAIN_BRANCH, known.index(one) if one in known else len(known)))
        branches = tuple(names.get(one) or Branch(id=one, name=one.capitalize()) for one in ordered)
        active = index.active_branch_id if index.active_branch_id in found else MAIN_BRANCH
        return versioned(BranchIndex(branches=branches, active_branch_id=active))

    def create_branch(self, story: str, raw: object) -> Branch:
        """Copy a branch, the active one unless `from` names another: `name`, and `id` where a certain one is wanted.

        Raises `NotFoundError`, `InvalidArgumentError`, and `ConflictError` for an id that is taken or too many.
        """
        begun = self.begin_branch(story, raw)
        try:
            begun.copy()
            return self.commit_branch(begun)
        finally:
            begun.discard()

    def begin_branch(self, story: str, raw: object) -> BranchCopy:
        """Check what is wanted and hold on to what is to be copied. Raises as `create_branch`."""
        given = members(raw, ("id", "name", "from"))
        index = self.branches(story).value
        taken = {branch.id for branch in index.branches}
        _check_room(story, taken)
        wanted = given.get("id")
        branch_id = (
            new_folder_id("branch", taken.__contains__) if wanted is None else wanted_folder_id("branch", wanted)
        )
        source = self.folder(StoryPlace(story, _text(given, "from") if given.get("from") is not None else None))
        now = self._documents.now.isoformat()
        made = _named(Branch(id=branch_id, name="", created_at=now, parent=source[-1]), given.get("name"))
        if branch_id in taken:
            raise _taken_branch(branch_id)
        return BranchCopy(story, made, self._files, self._files.hold(source, admits=_is_document_or_folder))

    def commit_branch(self, begun: BranchCopy) -> Branch:
        """Put the copy to its place. Raises as `create_branch`: the story may be another one by now."""
        made = begun.branch
        index = self.branches(begun.story).value
        _check_room(begun.story, index.branches)
        target = (STORIES, begun.story, BRANCHES, made.id)
        if begun.made is None or not self._files.move(begun.made, target):
            raise _taken_branch(made.id)
        branches = (*(one for one in index.branches if one.id != made.id), made)
        self._write_index(begun.story, BranchIndex(branches=branches, active_branch_id=index.active_branch_id))
        return made

    def rename_branch(self, story: str, branch: str, raw: object) -> Branch:
        """Give a branch another name. Raises `NotFoundError` and `InvalidArgumentError`."""
        given = members(raw, ("name",))
        index = self.branches(story).value
        renamed = _named(self._branch(index, branch), given.get("name"))
        branches = tuple(renamed if one.id == branch else one for one in index.branches)
        self._write_index(story, BranchIndex(branches=branches, active_branch_id=index.active_branch_id))
        return renamed

    def delete_branch(self, story: str, branch: str, raw: object) -> Branch:
        """Remove a branch with all that is in it, for good: `confirmName` must be exactly its name.

        Raises `NotFoundError`, `InvalidArgumentError`, and `ConflictError` for the main branch and for the active one.
        """
        confirmed = _text(members(raw, ("confirmName",)), "confirmName")
        index = self.branches(story).value
        found = self._branch(index, branch)
        if branch in (MAIN_BRANCH, index.active_branch_id):
            raise ConflictError(f"branch {branch!r} cannot be removed: it is the main one, or the active one")
        if confirmed != found.name:
            raise InvalidArgumentError(f"confirmName must be the name of the branch, {found.name!r}")
        self._files.remove_folder((STORIES, story, BRANCHES, branch))
        left = tuple(one for one in index.branches if one.id != branch)
        self._write_index(story, BranchIndex(branches=left, active_branch_id=index.active_branch_id))
        return found

    def switch_branch(self, story: str, raw: object) -> Versioned[BranchIndex]:
        """Make another branch the active one: `branchId`. Raises `NotFoundError` and `InvalidArgumentError`."""
        branch = _text(members(raw, ("branchId",)), "branchId")
        index = self.branches(story).value
        self._branch(index, branch)
        self._write_index(story, BranchIndex(branches=index.branches, active_branch_id=branch))
        return self.branches(story)

    def folder(self, place: StoryPlace) -> Parts:
        """The folder of a branch, which may not have been made yet. Raises `NotFoundError`."""
        index = self.branches(place.story).value
        branch = index.active_branch_id if place.branch is None else self._branch(index, place.branch).id
        return (STORIES, place.story, BRANCHES, branch)

    def _branch(self, index: BranchIndex, branch: str) -> Branch:
        found = next((one for one in index.branches if one.id == branch), None)
        if found is None:
            known = ", ".join(one.id for one in index.branches)
            raise NotFoundError(f"there is no branch {branch[:80]!r}; there are: {known}")
        return found

    def _write_index(self, story: str, index: BranchIndex) -> None:
        self._documents.write((STORIES, story, _INDEX), index)

    def _require(self, story: str) -> Parts:
        require_folder_id("story", story)
        if self._files.is_folder((STORIES, story)):
            return (STORIES, story)
        if self._files.exists((ARCHIVED_STORIES, story)):
            raise NotFoundError(f"story {story!r} is in the archive; restore it first")
        raise NotFoundError(f"there is no story {story!r}; `GET /api/stories` lists them")

    def _taken(self, story: str) -> bool:
        return self._files.exists((STORIES, story)) or self._files.exists((ARCHIVED_STORIES, story))

    def _meta(self, folder: Parts) -> Versioned[StoryMeta]:
        """What is known of a story. One whose file is missing or was broken goes by its id."""
        stored = self._documents.read((*folder, _META), StoryMeta)
        if stored is None:
            return versioned(StoryMeta(id=folder[-1], name=folder[-1]))
        # The folder is the story, also where somebody has copied one by hand.
        if stored.value.id != folder[-1]:
            return versioned(stored.value.model_copy(update={"id": folder[-1]}))
        return stored

    def _change(self, story: str, changes: Mapping[str, Any], base: BaseRevisions) -> Versioned[StoryMeta]:
        present = self.read(story)
        check_revision(f"story {story!r}", present.revision, base)
        now = self._documents.now.isoformat()
        changed = _checked({**present.value.to_json(), **changes, "updatedAt": now})
        return self._documents.write((STORIES, story, _META), changed)

    def _move(self, source: Parts, target: Parts) -> Versioned[StoryMeta]:
        if not self._files.move(source, target):
            raise ConflictError(f"there is something at {'/'.join(target)!r} in the data folder already; move it away")
        return self._meta(target)


def _check_given_settings(given: Mapping[str, Any]) -> None:
    settings: object = given.get("settings")
    if isinstance(settings, Mapping):
        check_settings(cast("Mapping[str, Any]", settings))


def _check_room(story: str, branches: Collection[object]) -> None:
    if len(branches) >= MAX_BRANCHES:
        raise ConflictError(f"story {story!r} has {MAX_BRANCHES} branches; that is the most")


def _taken_branch(branch: str) -> ConflictError:
    return ConflictError(f"there is a branch {branch!r} already; choose another id")


def _checked(raw: Mapping[str, Any]) -> StoryMeta:
    meta = StoryMeta.from_json(raw)
    checks = Checks()
    checks.name(meta.name)
    checks.description(meta.description)
    checks.text(("summary",), meta.summary, most=MAX_CONTENT_LENGTH)
    checks.done()
    return meta


def _named(branch: Branch, name: object) -> Branch:
    named = Branch.from_json({**branch.to_json(), "name": name})
    checks = Checks()
    checks.name(named.name)
    checks.done()
    return named


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise InvalidArgumentError(f"{name} must be a text, such as {MAIN_BRANCH!r}")
    return value


def _is_document_or_folder(name: str) -> bool:
    """What a copy of a branch takes along: no file that was set aside, and nothing hidden."""
    return not name.startswith(".") and (name.endswith(SUFFIX) or "." not in name)
