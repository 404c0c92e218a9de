"""A world: its records, its revision and its history. Owns "one command is one step" and undo and redo.

Never does I/O: what a store must write for a step stands in the `Executed` that the step returns.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from typing import ClassVar, Generic, TypeVar

from engine.errors import ConflictError
from engine.recent_changes import RecentChanges
from engine.records import Change, Record, RecordTable, Transaction, merged_changes

ResultT_co = TypeVar("ResultT_co", covariant=True)
ResultT = TypeVar("ResultT")


class Command(Generic[ResultT_co]):
    """Something that can be asked of a world. Subclasses are frozen dataclasses whose fields are the arguments.

    A command that only reads changes nothing and is not a step. `undoable` is False for commands such as selecting,
    whose changes are kept and stored but are no step of the history. Nor is a command whose changes are all such that
    undo leaves them alone.
    """

    label: ClassVar[str]
    """What the history calls this step, in words for a person: "insert shape"."""
    undoable: ClassVar[bool] = True

    @abstractmethod
    def run(self, world: Transaction) -> ResultT_co:
        """Do it and say what came of it, as a frozen value. Raises `EngineError` when it is not possible."""


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of the history: what one command changed. `sequence` counts from 1 along the history."""

    sequence: int
    label: str
    changes: tuple[Change, ...]
    group: str | None = None
    """Steps of one group become one by `World.merge_steps`. Not stored: no group outlives its process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldContent:
    """All that is in a world, at one moment. `position` counts the steps that are done; the rest can be done again."""

    revision: int = 0
    records: tuple[Record, ...] = field(default=(), repr=False)
    steps: tuple[Step, ...] = field(default=(), repr=False)
    position: int = 0


@dataclass(frozen=True, slots=True)
class MergedSteps:
    """What became of the steps of a group: how many there were, and how many they are now.

    They are one, or more where steps of others stay between them or some of them were undone; and none where they
    cancelled each other out.
    """

    steps: int
    pieces: int


@dataclass(frozen=True, slots=True)
class Executed(Generic[ResultT_co]):
    """What one command did: its result for the asker, and the rest for the store.

    `steps` are the end of the history that is new, and `discarded` what stood in its place before: after a command the
    step that it made, if any, and the undone steps. `position` is the number of steps that are done (not undone) after
    it. The previous values are for `World.revert`.
    """

    result: ResultT_co
    changes: tuple[Change, ...]
    revision: int
    position: int
    previous_revision: int
    previous_position: int
    steps: tuple[Step, ...] = ()
    discarded: tuple[Step, ...] = ()

    @property
    def history_from(self) -> int:
        """How many steps of the history stand as they did; `steps` follow them. 0 where the history did not change."""
        first = next(iter((*self.steps, *self.discarded)), None)
        return 0 if first is None else first.sequence - 1

    @property
    def changed(self) -> bool:
        """Whether anything in the world or its history is different from before."""
        return bool(self.changes or self.steps or self.discarded)


@dataclass(frozen=True, slots=True)
class HistoryMove:
    """The result of undo and redo: which step was taken back or done again, and how many of each are left."""

    label: str
    undo_count: int
    redo_count: int


@dataclass(frozen=True, slots=True)
class HistoryLabels:
    """What the steps around the present place of a history are called: those to undo next, and those to redo next.

    Both begin with the step that would come first.
    """

    undo: tuple[str, ...]
    redo: tuple[str, ...]


class World:
    """One world. Whoever owns it calls `execute`, `undo` and `redo`, one at a time; readers get results, never this."""

    def __init__(
        self,
        world_id: str,
        name: str,
        *,
        revision: int = 0,
        records: Iterable[Record] = (),
        steps: Sequence[Step] = (),
        position: int = 0,
    ) -> None:
        self.id = world_id
        self.name = name
        self._revision = revision
        self._table = RecordTable(records)
        self._steps = list(steps)
        self._position = position
        self._recent = RecentChanges(revision)

    @property
    def revision(self) -> int:
        """Counts the changes of this world, from 0. The same revision means the same content."""
        return self._revision

    @property
    def undo_count(self) -> int:
        """How many steps can be undone."""
        return self._position

    @property
    def redo_count(self) -> int:
        """How many steps can be done again."""
        return len(self._steps) - self._position

    def history(self, limit: int) -> HistoryLabels:
        """The labels of up to `limit` steps in each direction."""
        done = islice(reversed(self._steps), self.redo_count, self.redo_count + limit)
        undone = islice(self._steps, self._position, self._position + limit)
        return HistoryLabels(tuple(step.label for step in done), tuple(step.label for step in undone))

    def changes_since(self, revision: int) -> Iterator[Change] | None:
        """What is different from how it was at that revision, selections and counters aside; the newest change first.

        One entry per record. None where that revision is longer ago than what is kept (see `RecentChanges`; nothing is
        from before the process began), or not yet reached. Read it within the owner's own step.
        """
        return self._recent.since(revision, self._revision)

    def content(self) -> WorldContent:
        """All that is in it, as a frozen value to work on elsewhere."""
        return WorldContent(
            revision=self._revision, records=tuple(self._table), steps=tuple(self._steps), position=self._position
        )

    def read(self) -> RecordTable:
        """The table, for reading only, within the owner's own step."""
        return self._table

    def execute(self, command: Command[ResultT], *, group: str | None = None) -> Executed[ResultT]:
        """Run the command whole or not at all. Its step belongs to the group that is named, if one is.

        Whatever the command raises goes to the caller, and the world is as it was.
        """
        with Transaction(self._table, self._revision, self.id) as transaction:
            result = command.run(transaction)
            changes = transaction.changes()
        before = (self._revision, self._position)
        if not changes:
            return Executed(result, (), *before, *before)
        self._revision += 1
        steps: tuple[Step, ...] = ()
        discarded: tuple[Step, ...] = ()
        undoable = tuple(change for change in changes if change.undoable) if command.undoable else ()
        # Of what is no step only the revision: a selection may be large, and nothing else would keep the earlier ones.
        self._recent.note(self._revision, undoable)
        if undoable:
            steps = (Step(self._position + 1, command.label, undoable, group),)
            discarded = tuple(self._steps[self._position :])
            self._steps[self._position :] = steps
            self._position += 1
        return Executed(result, changes, self._revision, self._position, *before, steps, discarded)

    def merge_steps(self, group: str, label: str) -> Executed[MergedSteps]:
        """Make one step of those of a group, under that label; the result is what became of them.

        Steps of others between them stay where they are, so each run of the group becomes a step of its own, and one
        that was undone does not come together with one that was not. Steps that cancel each other out leave none. The
        content stays as it is, and so does the revision.
        """
        before = (self._revision, self._position)
        first = next((index for index, step in enumerate(self._steps) if step.group == group), len(self._steps))
        discarded = tuple(self._steps[first:])
        count = sum(step.group == group for step in discarded)
        if count == 0:
            return Executed(MergedSteps(0, 0), (), *before, *before)
        position = max(self._position, first)
        done, undone = (_merged(part, group, label) for part in (self._steps[first:position], self._steps[position:]))
        made = len(done) + len(undone) - (len(discarded) - count)
        steps = tuple(replace(step, sequence=first + number) for number, step in enumerate((*done, *undone), start=1))
        self._steps[first:] = steps
        self._position = min(self._position, first + len(done))
        merged = MergedSteps(count, made)
        return Executed(merged, (), self._revision, self._position, *before, steps, discarded)

    def undo(self) -> Executed[HistoryMove]:
        """Take the last step back. Raises `ConflictError` when there is none."""
        if self._position == 0:
            raise ConflictError("There is nothing to undo: this world's history is at its beginning.")
        step = self._steps[self._position - 1]
        changes = self._replay([change.inverse() for change in reversed(step.changes)])
        return self._moved(step, changes, self._position - 1)

    def redo(self) -> Executed[HistoryMove]:
        """Do the step again that was undone last. Raises `ConflictError` when there is none."""
        if self._position == len(self._steps):
            raise ConflictError("There is nothing to redo: no step has been undone since the last change.")
        step = self._steps[self._position]
        changes = self._replay(step.changes)
        return self._moved(step, changes, self._position + 1)

    def revert(self, executed: Executed[ResultT]) -> None:
        """Be exactly as before `executed`, the last thing that was executed, undone or redone here.

        The steps that it discarded are back as well. Raises `ValueError` when something else came after it.
        """
        if (executed.revision, executed.position) != (self._revision, self._position):
            raise ValueError(
                f"world {self.id} is at revision {self._revision}; only the last change can be reverted, "
                f"not that of revision {executed.revision}"
            )
        for change in reversed(executed.changes):
            self._table.apply(change.inverse())
        if executed.steps or executed.discarded:
            self._steps[executed.history_from :] = executed.discarded
        self._revision = executed.previous_revision
        self._position = executed.previous_position
        self._recent.take_back(self._revision)

    def _replay(self, changes: Iterable[Change]) -> tuple[Change, ...]:
        done: list[Change] = []
        for change in changes:
            # What is not undoable (a selection) may have changed since; the index must hear what really stood there.
            now = self._table.find(change.collection, change.id)
            actual = Change(change.collection, change.id, now, change.after)
            if actual.before != actual.after:
                self._table.apply(actual)
                done.append(actual)
        return tuple(done)

    def _moved(self, step: Step, changes: tuple[Change, ...], position: int) -> Executed[HistoryMove]:
        before = (self._revision, self._position)
        self._revision += 1
        self._position = position
        self._recent.note(self._revision, changes)
        move = HistoryMove(step.label, self.undo_count, self.redo_count)
        return Executed(move, changes, self._revision, self._position, *before)


def _merged(steps: Iterable[Step], group: str, label: str) -> list[Step]:
    """The steps, each run of the group as one; their sequence is to be set."""
    merged: list[Step] = []
    for own, run in groupby(steps, lambda step: step.group == group):
        if not own:
            merged.extend(run)
        elif changes := merged_changes(change for step in run for change in step.changes):
            merged.append(Step(0, label, changes))
    return merged
