"""Programs that are wrong at first, with the checker and without it: how many requests the checker saves.

Owns the mistakes. Without the checker the same program begins with `// @ts-nocheck`. What a model does next is
scripted: what the answer leads to, and no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.conversation import Conversation, Usage
from benchmarks.mcp_client import McpAnswerError
from benchmarks.table import Figure, Row
from benchmarks.task_engine import TaskEngine
from benchmarks.tasks import ADD_EDGE, ADD_NODE, GRAPH, INSPECT_GRAPH, returned
from presets.presentation import RUN_CODE_NAME

NO_CHECK = "// @ts-nocheck\n"

_AGENT = "makes-mistakes"
_QUESTION = "Make nodes a, b and c, join them to a chain, and tell me the labels of all nodes."
_EXPECTED = ["a", "b", "c"]

_MAKE = """\
const made = [];
for (const label of ["a", "b", "c"]) made.push(await tools.space_graph_add_node({ label }));
"""
_JOIN = """\
for (let i = 1; i < made.length; i++) await tools.space_graph_add_edge({ from: made[i - 1].id, to: made[i].id });
"""
_TELL = "return made.map((node) => node.label);\n"
_READ = "return (await tools.space_graph_inspect({ show: 'nodes' })).nodes.map((node) => node.label);\n"
_TAKE_BACK = "await tools.space_app_undo();\n"
_LOOK = "return (await tools.space_graph_inspect({ show: 'nodes', limit: 1 })).nodes;\n"


@dataclass(frozen=True)
class _Mistake:
    """A wrong program and what it takes to the right answer, as programs, with the checker and without it."""

    name: str
    wrong: str
    checked: Sequence[str]
    unchecked: Sequence[str]


_RIGHT = f"{_MAKE}{_JOIN}{_TELL}"

_MISTAKES = (
    _Mistake(
        "an argument of the first call",
        f"{_MAKE.replace('{ label }', '{ lable: label }')}{_JOIN}{_TELL}",
        checked=(_RIGHT,),
        unchecked=(_RIGHT,),
    ),
    _Mistake(
        "an argument of a later call",
        f"{_MAKE}{_JOIN.replace('from:', 'form:')}{_TELL}",
        checked=(_RIGHT,),
        # Three nodes are there already, which the report says.
        unchecked=(_TAKE_BACK + _RIGHT,),
    ),
    _Mistake(
        "a member of a result",
        f"{_MAKE}{_JOIN}{_TELL.replace('node.label', 'node.title')}",
        checked=(_RIGHT,),
        # It has run to its end and gave nulls, so the model looks what there is.
        unchecked=(_LOOK, _READ),
    ),
    _Mistake(
        "a name of a tool",
        f"{_MAKE}{_JOIN.replace('add_edge', 'connect')}{_TELL}",
        checked=(_RIGHT,),
        unchecked=(_TAKE_BACK + _RIGHT,),
    ),
)


def measure(folder: Path) -> list[Row]:
    """The rows of the table. `folder` is for data. Raises `McpAnswerError` when a talk does not end as it should."""
    rows: list[Row] = [
        Figure("programs that are wrong at first: requests, input, changes made by the wrong program"),
    ]
    saved_requests = saved_input = 0
    with TaskEngine(folder, {_AGENT: (ADD_NODE, ADD_EDGE, INSPECT_GRAPH, "space_app_undo")}) as engine:
        engine.go_to(GRAPH)
        engine.turn_on("general-history-tools")
        for mistake in _MISTAKES:
            checked, made = _talk(engine, mistake.wrong, mistake.checked)
            unchecked, left = _talk(engine, NO_CHECK + mistake.wrong, mistake.unchecked)
            saved_requests += unchecked.requests - checked.requests
            saved_input += unchecked.input - checked.input
            rows += [
                Figure(f"  {mistake.name:32} checked", value=_written(checked, made)),
                Figure(f"  {'':32} unchecked", value=_written(unchecked, left)),
            ]
    return [*rows, Figure("  saved by the checker", value=f"{saved_requests:>9}{saved_input:>10,}")]


def _talk(engine: TaskEngine, wrong: str, programs: Sequence[str]) -> tuple[Usage, int]:
    """What the talk used, and how many nodes the wrong program left behind."""
    engine.enter_new_world()
    talk = Conversation(engine.agent(_AGENT, "code"), _QUESTION)
    talk.attempt((RUN_CODE_NAME, {"code": wrong, "description": "make a chain"}))
    left: int = engine.call(INSPECT_GRAPH, {"show": "summary"})["node_count"]
    answer: object = None
    for program in programs:
        (result,) = talk.call((RUN_CODE_NAME, {"code": program, "description": "make a chain"}))
        answer = returned(result)
    if answer != _EXPECTED or engine.call(INSPECT_GRAPH, {"show": "summary"})["edge_count"] != len(_EXPECTED) - 1:
        raise McpAnswerError(f"after a wrong program the answer is {answer}, not {_EXPECTED}")
    return talk.answer(answer), left


def _written(usage: Usage, left: int) -> str:
    return f"{usage.requests:>9}{usage.input:>10,}{left:>10}"
