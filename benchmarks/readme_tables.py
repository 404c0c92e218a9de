"""Writes the tables of tokens into the README, between their marks: what is said there was measured.

python -m benchmarks.readme_tables
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from benchmarks import prompt_sizes, whole_tasks
from benchmarks.prompts import AGENTS
from benchmarks.whole_tasks import Compared, Comparison

README = Path(__file__).parents[1] / "README.md"

_COLUMN_NAMES = {
    "native": "native",
    "full": "SDK, all",
    "no_result_docs": "SDK, no result docs",
    "no_field_docs": "SDK, no field docs",
    "catalogue": "catalogue",
}


def prompts_table() -> str:
    """What the models of the agents read, and the same tools in each form."""
    places = prompt_sizes.of_agents()
    agents = _table(
        ("prompt with instructions", *(f"`{agent}`" for agent in AGENTS)),
        ((place, *(f"{size:,}" for size in sizes)) for place, sizes in places.items()),
    )
    forms = _table(
        ("tools alone", *(_COLUMN_NAMES[form] for form in prompt_sizes.FORMS), "taken"),
        (
            (f"{one.name}: {one.count}", *(f"{size:,}" for size in one.tokens.values()), _COLUMN_NAMES[one.taken.value])
            for one in prompt_sizes.in_each_form()
        ),
    )
    return f"{agents}\n\n{forms}"


def tasks_table(done: Comparison) -> str:
    """Every task each way, natively / in Code Mode, with few tools and with many."""
    head = ("task", "requests", "output", "few tools", "", "the surface's", "", "all tools", "", "all, catalogue")
    return _table(head, map(_task, done.few, done.surface, done.everything))


def _task(few: Compared, surface: Compared, everything: Compared) -> tuple[str, ...]:
    return (
        few.task.name,
        f"{few.native.requests} / {few.code.requests}",
        f"{few.native.output:,} / {few.code.output:,}",
        *(cell for one in (few, surface, everything) for cell in _both(one)),
        "" if everything.catalogue is None else f"{everything.catalogue.input:,}",
    )


def _both(compared: Compared) -> tuple[str, str]:
    return f"{compared.native.input:,} / {compared.code.input:,}", f"{-compared.saved:+.0f} %"


def with_table(text: str, name: str, table: str) -> str:
    """The text with the table between the marks of that name. Raises `ValueError` where it has no such marks."""
    begin, end = f"<!-- measured: {name} -->", "<!-- end -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if pattern.search(text) is None:
        raise ValueError(f"there is no {begin} … {end} in the README")
    return pattern.sub(lambda _: f"{begin}\n{table}\n{end}", text)


def _table(head: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    columns = tuple(head)
    lines = [columns, ("---", *("--:" for _ in columns[1:])), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Measure, and write."""
    with tempfile.TemporaryDirectory(prefix="space-bench-") as folder:
        done = whole_tasks.compare(Path(folder), whole_tasks.Effort(with_more_tools=True))
    text = README.read_text(encoding="utf-8")
    text = with_table(text, "prompts", prompts_table())
    README.write_text(with_table(text, "tasks", tasks_table(done)), encoding="utf-8")


if __name__ == "__main__":
    main()
