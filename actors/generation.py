"""The runs of story agents: one task each, in a nursery of their own outside the web app.

Owns carrying out an order to its end, what is kept of it, and which runs there are. A run ends when its model has
nothing more to say, when it is cancelled, or when its client is gone; whatever the end, its record is kept with the
story and no connection is left open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import structlog
import trio

from actors.blocks import BlocksActor, UseBlocks
from actors.chat import Usage
from actors.errors import ActorError, ActorStoppedError
from actors.exchange import MOST_STEPS, Exchange
from actors.model_client import ModelClient
from actors.published import Published
from actors.run_events import CANCELLED, ERROR, STEPS, Failed, Finished, NotSaved, Planned, RunEvent, Saved
from actors.run_order import ANALYZE, PREWRITER, WRITER, RunOrder
from actors.run_prompt import OrderedStory, RunPrompt, RunPrompts
from actors.run_records import KeptRuns, RunRecord, RunRecords, new_run_id
from actors.story_tools import StoryTools
from blocks import story_settings
from blocks.fragment import Fragment
from blocks.sheet import one_line
from blocks.store.block_store import BlockStore
from blocks.store.documents import Versioned
from blocks.tiering import CONTEXT_IDS_KEY
from engine.errors import ConflictError, EngineError, NotFoundError

MOST_RUNS = 16
"""Runs at a time. Each holds a connection to a provider, which lets one user have about as many."""

EVENT_CAPACITY = 64
"""Events that may wait for whoever follows a run. Beyond it the model waits, so none is lost."""

RECORD_SECONDS = 5.0
"""How long the end of a run waits for its record to be on disk, also when it was cancelled."""

STEPS_KEY, MOST_STEPS_ASKED = "maxSteps", story_settings.MOST_STEPS
"""The setting of a story that says how many steps a run has, and the most that it can say."""

NAME_CHARACTERS = 60
"""Of a new piece of prose: its first words."""

KEPT_INPUT_CHARACTERS = 2000
"""Of what the author asked for, in the piece that came of it."""

_log = structlog.stdlib.get_logger("runs")


@dataclass(frozen=True, slots=True)
class RunningRun:
    """A run in flight, as a list shows it. `seconds` is its age."""

    id: str
    story: str
    agent: str
    started_at: datetime
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The row as the API shows it."""
        return {
            "id": self.id,
            "storyId": self.story,
            "agentName": self.agent,
            "startedAt": self.started_at.isoformat(),
            "seconds": round(self.seconds, 3),
        }


class Run:
    """One run. Whoever follows it waits for `begun` and reads `next_event`; anybody may `cancel` it, at any time."""

    def __init__(self, order: RunOrder) -> None:
        self.order = order
        self.started_at = datetime.now(UTC)
        self.id = new_run_id(self.started_at)
        self.scope = trio.CancelScope()
        """What the run happens in."""
        self.done = trio.Event()
        """Set when all is over: no connection stands, and the record is on disk."""
        self.exchanges: list[Exchange] = []
        self.saved: str | None = None
        self.not_saved: str | None = None
        """Why what came of it is not in the story, where it was to be."""
        self._started = trio.current_time()
        self._under_way = trio.Event()
        self._refusal: Exception | None = None
        self._send, self._receive = trio.open_memory_channel[RunEvent](EVENT_CAPACITY)
        self._last: list[RunEvent] = []

    @property
    def seconds(self) -> float:
        """Its age."""
        return trio.current_time() - self._started

    @property
    def usage(self) -> Usage | None:
        """What the providers counted so far."""
        total: Usage | None = None
        for exchange in self.exchanges:
            if exchange.usage is not None:
                total = exchange.usage if total is None else total + exchange.usage
        return total

    def cancel(self) -> None:
        """End the run early. Does nothing once it has ended."""
        self.scope.cancel()

    async def begun(self) -> None:
        """Wait until a model is asked, or all is over. Raises what kept it from that: an `EngineError`, an
        `ActorError`.
        """
        await self._under_way.wait()
        if self._refusal is not None:
            raise self._refusal

    async def next_event(self) -> RunEvent | None:
        """The next event, or None when no more will come. Nothing is lost by cancelling it."""
        try:
            return await self._receive.receive()
        except trio.EndOfChannel:
            return self._last.pop(0) if self._last else None

    async def emit(self, event: RunEvent) -> None:
        """Tell whoever follows. Waits for room when nobody reads. For the runner alone, as is the rest."""
        self._under_way.set()
        await self._send.send(event)

    def refuse(self, error: Exception) -> None:
        """No model was asked, for that reason."""
        self._refusal = error

    def finish(self, *last: RunEvent) -> None:
        """Let whoever waits go on, with these as the last events."""
        self._last.extend(last)
        self._send.close()
        self._under_way.set()
        self.done.set()


class Generation:
    """Runs orders. `run` holds the nursery and the connections; `start` puts a run into it; `drain` ends all."""

    def __init__(
        self,
        blocks: BlocksActor,
        prompts: RunPrompts,
        data: Path | None,
        client: ModelClient | None = None,
    ) -> None:
        """`data` is where stories lie; None for an engine without any."""
        self.client = client or ModelClient()
        self.prompts = prompts
        self._blocks = blocks
        self._data = data
        self._records: RunRecords | None = None
        self._nursery: trio.Nursery | None = None
        self._running: dict[str, Run] = {}
        self._ended = Published(0)
        self._closed = False

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Hold the nursery of the runs until it is cancelled. Raises `DataFileError` when the folder cannot be used."""
        if self._data is not None:
            self._records = await trio.to_thread.run_sync(RunRecords, self._data)
        async with trio.open_nursery() as services:
            await services.start(self.client.run)
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                task_status.started()
                await trio.sleep_forever()

    def start(self, order: RunOrder) -> Run:
        """Start a run in its own task. Whoever starts it cancels it when nobody follows it any more.

        Raises `ConflictError` when there are too many, and `ActorStoppedError` once `drain` was called.
        """
        if self._closed or self._nursery is None:
            raise ActorStoppedError("generation")
        if len(self._running) >= MOST_RUNS:
            raise ConflictError(f"there are {MOST_RUNS} runs already; wait until one has ended, or cancel one")
        run = Run(order)
        self._running[run.id] = run
        self._nursery.start_soon(self._run, run)
        return run

    def running(self, story: str | None = None) -> tuple[RunningRun, ...]:
        """The runs in flight, of all stories or of one, oldest first."""
        return tuple(
            RunningRun(run.id, run.order.place.story, run.order.agent, run.started_at, run.seconds)
            for run in self._running.values()
            if story in (None, run.order.place.story)
        )

    async def cancel(self, story: str, run_id: str) -> None:
        """Cancel a run and wait until it has ended. Raises `NotFoundError` for one that does not run."""
        run = self._running.get(run_id)
        if run is None or run.order.place.story != story:
            now = ", ".join(one.id for one in self.running(story)) or "none"
            raise NotFoundError(f"no run {run_id[:80]!r} of story {story!r} is in flight; there are: {now}")
        run.cancel()
        await run.done.wait()

    async def rows(self, story: str) -> KeptRuns:
        """What a list shows of the runs that are kept, the last one first. Raises `NotFoundError` for the story."""
        return await trio.to_thread.run_sync(self._kept().rows, story)

    async def record(self, story: str, run_id: str) -> Mapping[str, Any]:
        """The record of a run, whole. Raises `NotFoundError`, and `ConflictError` for one that cannot be read."""
        return await trio.to_thread.run_sync(self._kept().read, story, run_id)

    async def drain(self) -> None:
        """Take no more orders, cancel the runs in flight, and wait until they have ended. Bound it with a deadline.

        They are not waited for: a model may write for half an hour, and what it wrote so far is kept.
        """
        self._closed = True
        for run in tuple(self._running.values()):
            run.cancel()
        while self._running:
            await self._ended.wait_beyond(self._ended.version)

    def _kept(self) -> RunRecords:
        if self._records is None:
            raise ConflictError("this engine has no data folder, and so no stories and no runs")
        return self._records

    async def _run(self, run: Run) -> None:
        reason, error = CANCELLED, None
        try:
            with run.scope:
                reason = await self._carry_out(run)
        except (EngineError, ActorError) as failure:
            reason, error = ERROR, str(failure)
            if not run.exchanges:
                run.refuse(failure)
        except Exception as failure:  # noqa: BLE001 - the boundary of a run: a bug in it must not end the engine
            _log.exception("run_failed", run=run.id, agent=run.order.agent)
            reason, error = ERROR, "the run failed inside the engine; the log has the details"
            if not run.exchanges:
                run.refuse(failure)
        finally:
            if run.scope.cancelled_caught:
                reason, error = CANCELLED, None
            await self._end(run, reason, error)

    async def _end(self, run: Run, reason: str, error: str | None) -> None:
        steps = sum(exchange.steps for exchange in run.exchanges)
        recorded = False
        with trio.CancelScope(shield=True, deadline=trio.current_time() + RECORD_SECONDS) as scope:
            recorded = await self._keep(run, reason, error, steps)
        if scope.cancelled_caught:
            _log.warning("run_not_kept", run=run.id, reason=f"the disk took more than {RECORD_SECONDS:g} s")
        last = Finished(run_id=run.id, reason=reason, steps=steps, usage=run.usage, recorded=recorded)
        run.finish(*(() if error is None else (Failed(error),)), last)
        self._running.pop(run.id, None)
        self._ended.publish(0)
        _log.info("run_ended", run=run.id, agent=run.order.agent, reason=reason, seconds=round(run.seconds, 3))

    async def _keep(self, run: Run, reason: str, error: str | None, steps: int) -> bool:
        """Keep the record, and give whether it is kept."""
        records = self._records
        if records is None or not run.exchanges:
            return False
        record = RunRecord(
            id=run.id,
            story=run.order.place.story,
            branch=run.order.place.branch,
            agent=run.order.agent,
            asked=run.order.to_json(),
            started_at=run.started_at,
            seconds=run.seconds,
            finish_reason=reason,
            exchanges=tuple(exchange.to_json() for exchange in run.exchanges),
            steps=steps,
            usage=run.usage,
            saved_fragment_id=run.saved,
            not_saved=run.not_saved,
            error=error,
        )

        def work(store: BlockStore) -> None:
            records.save(record)

        try:
            try:
                # A step of the blocks actor: meanwhile nobody moves the story to the archive, or keeps another record.
                await self._blocks.ask(UseBlocks(work))
            except ActorError:
                await trio.to_thread.run_sync(records.save, record)
        except EngineError as failure:
            _log.warning("run_not_kept", run=run.id, reason=str(failure))
            return False
        return True

    async def _carry_out(self, run: Run) -> str:
        """Do what was ordered; gives the reason of the end."""
        story = await self.prompts.read(run.order)
        run.order = story.order
        tools = StoryTools(self._blocks, run.order.place)
        brief = None
        if story.planned:
            planner = self._exchange(run, story, await self.prompts.planner_prompt(story), tools, PREWRITER)
            await run.emit(planner.started(run.id))
            await planner.carry_out(self.client, run.emit, Planned)
            brief = planner.text
        prompt = await self.prompts.prompt(story, brief=brief)
        exchange = self._exchange(run, story, prompt, tools, run.order.agent)
        await run.emit(exchange.started(run.id))
        reason = await exchange.carry_out(self.client, run.emit)
        if run.order.save and reason != STEPS:
            await self._save(run, story, exchange, tools)
        return reason

    def _exchange(self, run: Run, story: OrderedStory, prompt: RunPrompt, tools: StoryTools, agent: str) -> Exchange:
        conversation = run.order.messages if agent == run.order.agent else ()
        steps = _most_steps(story.snapshot.story.settings)
        exchange = Exchange(agent, prompt.model, prompt.compiled, tools, conversation, steps)
        run.exchanges.append(exchange)
        return exchange

    async def _save(self, run: Run, story: OrderedStory, exchange: Exchange, tools: StoryTools) -> None:
        """Keep the result with the story. A run that was cancelled or has failed leaves nothing there."""
        work: Callable[[BlockStore], str] | None = None
        if run.order.agent == WRITER and exchange.text.strip():
            work = partial(_save_prose, run, story, exchange.text, exchange.model.model_id, tools.read_ids)
        elif run.order.agent == ANALYZE and tools.findings:
            work = partial(_save_findings, run, tools.findings)
        if work is None:
            return
        try:
            run.saved = (await self._blocks.ask(UseBlocks(work))).result
        except ReplacedError as error:
            run.not_saved = str(error)
            await run.emit(NotSaved(error.fragment_id, run.not_saved))
        else:
            await run.emit(Saved(run.saved))


class ReplacedError(ConflictError):
    """Raised when what a run was to write anew is no longer what it was when the run began. Nothing was changed."""

    def __init__(self, fragment_id: str, what: str) -> None:
        super().__init__(
            f"{fragment_id!r} {what} while its new text was written, and was left as it is; the new text is in the "
            "record of this run"
        )
        self.fragment_id = fragment_id


def _save_prose(
    run: Run, story: OrderedStory, text: str, model_id: str, read_ids: tuple[str, ...], store: BlockStore
) -> str:
    """Make a piece of prose of it, or a new version of the piece that was to be written anew."""
    asked = (run.order.text("input") or "")[:KEPT_INPUT_CHARACTERS]
    meta: dict[str, Any] = {"generatedFrom": asked, "runId": run.id, "modelId": model_id}
    if read_ids:
        meta[CONTEXT_IDS_KEY] = list(read_ids)
    if story.fragment is not None:
        present = _unchanged(run, story.fragment, store)
        merged = {**present.value.to_json()["meta"], **meta}
        changes = {"content": text, "meta": merged}
        return store.fragments.update(run.order.place, story.fragment.id, changes, (present.revision,)).value.id
    prose = [one.value.order for one in store.fragments.list(run.order.place) if one.value.type == "prose"]
    made = {
        "type": "prose",
        "name": _name_of(text),
        "description": one_line(asked),
        "content": text,
        "order": max(prose, default=-1) + 1,
        "meta": meta,
    }
    return store.fragments.create(run.order.place, made).value.id


def _unchanged(run: Run, before: Fragment, store: BlockStore) -> Versioned[Fragment]:
    """The fragment as it is now. What stands beside its text may be another. Raises `ReplacedError`."""
    try:
        present = store.fragments.read(run.order.place, before.id)
    except NotFoundError:
        raise ReplacedError(before.id, "was removed") from None
    if present.value.archived:
        raise ReplacedError(before.id, "was put into the archive")
    if (present.value.version, present.value.content) != (before.version, before.content):
        raise ReplacedError(before.id, "was changed")
    return present


def _save_findings(run: Run, findings: Mapping[str, Any], store: BlockStore) -> str:
    """Put what an analysis found beside the prose that it is about; the summary is what lists of prose show of it."""
    present = store.fragments.read(run.order.place, run.order.fragment_id or "")
    meta = {**present.value.to_json()["meta"], "librarian": {**findings, "runId": run.id}}
    return store.fragments.update(run.order.place, present.value.id, {"meta": meta}).value.id


def _name_of(text: str) -> str:
    name = "".join(character for character in one_line(text) if character.isprintable())
    if len(name) <= NAME_CHARACTERS:
        return name or "Prose"
    return f"{name[:NAME_CHARACTERS].rpartition(' ')[0] or name[:NAME_CHARACTERS]} …"


def _most_steps(settings: Mapping[str, Any]) -> int:
    asked = settings.get(STEPS_KEY)
    if isinstance(asked, int) and not isinstance(asked, bool) and 1 <= asked <= MOST_STEPS_ASKED:
        return asked
    return MOST_STEPS
