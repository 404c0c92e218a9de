"""What whole tasks cost a model natively and in Code Mode: requests, tokens in, tokens out. Owns the comparison.

Every call and every program is really run, and all ways must come to the same answer. What this cannot show is whether
a given model writes such programs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.conversation import Agent, Conversation, Usage, text_of
from benchmarks.prompts import BuiltIns, Place
from benchmarks.table import Figure, Requirement, Row
from benchmarks.task_engine import TaskEngine
from benchmarks.tasks import TASKS, Task
from presets.presentation import RUN_CODE_NAME
from presets.sdk import SdkLevel

LEAST_SAVED = 90.0
"""Percent of the input that Code Mode saves at tasks with much data where there are few tools; the worst of them."""

STANDARD = "standard"
"""The agent with whatever is offered on the surface."""

NATIVE, CODE = "native", "code"

NAME_WIDTH = 32

_HEAD = f"{'requests':>9}{'input':>10}{'cached':>10}{'charged':>10}{'output':>8}"


class WrongAnswerError(Exception):
    """Raised when a task came to another answer than it should have."""


@dataclass(frozen=True)
class Effort:
    """How thoroughly to measure: with the tools of the task alone, or also with all that an agent has besides."""

    with_more_tools: bool


@dataclass(frozen=True)
class Compared:
    """One task, done each way with the same tools at hand."""

    task: Task
    native: Usage
    code: Usage
    catalogue: Usage | None = None
    """In Code Mode with names alone in the prompt: a first program prints the declarations that a second one needs."""

    @property
    def saved(self) -> float:
        """Percent of the input that Code Mode saves; below 0 where it costs more."""
        return 100 * (1 - self.code.input / self.native.input)


@dataclass(frozen=True)
class Comparison:
    """All tasks with the tools of the task alone, with those of the surface, and with every preset turned on."""

    few: tuple[Compared, ...]
    surface: tuple[Compared, ...] = ()
    everything: tuple[Compared, ...] = ()

    @property
    def worst_saved(self) -> float:
        """Percent of the input that is saved at the worst task with much data, where there are few tools."""
        return min(compared.saved for compared in self.few if compared.task.data_heavy)


def measure(folder: Path, effort: Effort) -> list[Row]:
    """The rows of the table. `folder` is for data. Raises `WrongAnswerError` and `McpAnswerError`."""
    done = compare(folder, effort)
    rows = _rows("whole tasks, the agent has the tools of the task alone", done.few)
    rows += _rows("the same, agent standard: the tools of the surface", done.surface)
    rows += _rows("the same, agent standard: every preset turned on", done.everything)
    name = "input saved with much data and few tools, worst"
    return [*rows, Requirement(name, done.worst_saved, LEAST_SAVED, " %", at_least=True)]


def compare(folder: Path, effort: Effort) -> Comparison:
    """Do every task each way. `folder` is for data. Raises `WrongAnswerError` and `McpAnswerError`."""
    with TaskEngine(folder, {task.agent: task.tools for task in TASKS}) as engine:
        few = tuple(_compared(engine, task, task.agent) for task in TASKS)
        if not effort.with_more_tools:
            return Comparison(few)
        surface = tuple(_compared(engine, task, STANDARD) for task in TASKS)
        engine.turn_everything_on()
        built_ins = BuiltIns()
        everything = tuple(_compared(engine, task, STANDARD, built_ins) for task in TASKS)
    return Comparison(few, surface, everything)


def _rows(title: str, done: tuple[Compared, ...]) -> list[Row]:
    rows: list[Row] = [Figure(title, value=_HEAD)] if done else []
    for compared in done:
        change = f"  {-compared.saved:+.0f} %"
        rows.append(Figure(f"  {compared.task.name:{NAME_WIDTH}} native", value=_written(compared.native)))
        rows.append(Figure(f"  {'':{NAME_WIDTH}} code", value=_written(compared.code) + change))
        if compared.catalogue is not None:
            rows.append(Figure(f"  {'':{NAME_WIDTH}} code, catalogue", value=_written(compared.catalogue)))
    return rows


def _written(usage: Usage) -> str:
    return f"{usage.requests:>9}{usage.input:>10,}{usage.cached:>10,}{usage.charged:>10,}{usage.output:>8,}"


def _compared(engine: TaskEngine, task: Task, agent: str, catalogue_of: BuiltIns | None = None) -> Compared:
    native, answer = _natively(engine, task, agent)
    ways = [_in_code(engine, task, agent)]
    if catalogue_of is not None:
        ways.append(_with_catalogue(engine, task, agent, catalogue_of))
    for _, other in ways:
        if answer != other:
            raise WrongAnswerError(f"{task.name}: natively the answer is {answer}, in Code Mode {other}")
    if task.expected is not None and answer != task.expected:
        raise WrongAnswerError(f"{task.name}: the answer is {answer}, not {task.expected}")
    return Compared(task, native, *(usage for usage, _ in ways))


def _natively(engine: TaskEngine, task: Task, agent: str) -> tuple[Usage, object]:
    """What it used, and the answer."""
    _prepare(engine, task)
    talk = Conversation(engine.agent(agent, NATIVE), task.question)
    answer = task.native(talk)
    return talk.answer(answer), answer


def _in_code(engine: TaskEngine, task: Task, agent: str) -> tuple[Usage, object]:
    _prepare(engine, task)
    talk = Conversation(engine.agent(agent, CODE), task.question)
    answer = _run_program(talk, task)
    return talk.answer(answer), answer


def _with_catalogue(engine: TaskEngine, task: Task, agent: str, built_ins: BuiltIns) -> tuple[Usage, object]:
    """With the prompt that the same tools would have if there were too many of them for anything but names."""
    _prepare(engine, task)
    seen = engine.agent(agent, CODE)
    talk = Conversation(seen, task.question, _catalogue_prompt(seen, task, built_ins))
    look = f"console.log(await sdk.describe({list(task.tools)!r}))"
    (declared,) = talk.call((RUN_CODE_NAME, {"code": look, "description": "look at the tools"}))
    if any(name not in text_of(declared) for name in task.tools):
        raise WrongAnswerError(f"{task.name}: sdk.describe told {text_of(declared)[:300]}")
    answer = _run_program(talk, task)
    return talk.answer(answer), answer


def _catalogue_prompt(agent: Agent, task: Task, built_ins: BuiltIns) -> str:
    everything = built_ins.seen(STANDARD, Place(task.name, everything=True))
    return "\n".join((agent.instructions, built_ins.forms(everything.tools.capabilities)[SdkLevel.CATALOGUE.value]))


def _run_program(talk: Conversation, task: Task) -> object:
    (result,) = talk.call((RUN_CODE_NAME, {"code": task.program, "description": task.name}))
    return task.read(result)


def _prepare(engine: TaskEngine, task: Task) -> None:
    engine.go_to(task.context)
    if not task.new_world:
        engine.enter_staff_world()
        return
    engine.enter_new_world()
    if task.before is not None:
        engine.call(*task.before)
