"""Pictures painted in processes of their own: the same bytes as without, nobody held up, and nothing left behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
import resvg_py

from engine.drawing.font import FONT_FAMILY, FONT_FILE
from engine.errors import ConflictError, EngineError
from engine.rasteriser import MAX_PROCESSES, Rasteriser, SvgFonts

FONTS = SvgFonts(files=(str(FONT_FILE),), family=FONT_FAMILY, system=False)
SMALL = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><rect width="30" height="20" fill="#FF0000"/>'
    '<text x="5" y="35">hé</text></svg>'
)
PATIENCE_SECONDS = 10.0


def scribble(points: int, strokes: int = 1) -> str:
    """A drawing that takes long: lines all over the picture."""
    draw = random.Random(1)
    lines = [
        " ".join(f"{draw.uniform(0, 2000):.1f},{draw.uniform(0, 2000):.1f}" for _ in range(points))
        for _ in range(strokes)
    ]
    drawn = "".join(f'<polyline points="{line}" fill="none" stroke="#0000FF" stroke-width="2"/>' for line in lines)
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="2000" height="2000">{drawn}</svg>'


HEAVY = scribble(10_000, 100)
"""Minutes."""


@pytest.fixture
def rasteriser() -> Iterator[Rasteriser]:
    made = Rasteriser()
    yield made
    made.close()


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor() as pool:
        yield pool


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.005)


def works_on(process_id: int) -> bool:
    """Whether the process has used a tenth of a second of processor time by now, so that it does paint."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12]) >= os.sysconf("SC_CLK_TCK") // 10


def is_there(process_id: int) -> bool:
    try:
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def painting(rasteriser: Rasteriser, threads: ThreadPoolExecutor) -> tuple[Future[bytes], int]:
    """A heavy picture that is being painted, and the process that does it."""
    picture = threads.submit(rasteriser.render, HEAVY, FONTS)
    until(lambda: len(rasteriser.process_ids()) == 1)
    (process_id,) = rasteriser.process_ids()
    until(lambda: works_on(process_id))
    return picture, process_id


def test_a_picture_has_the_same_bytes_as_one_painted_in_this_process(rasteriser: Rasteriser) -> None:
    expected = resvg_py.svg_to_bytes(
        svg_string=SMALL,
        skip_system_fonts=True,
        font_files=[str(FONT_FILE)],
        font_family=FONT_FAMILY,
        sans_serif_family=FONT_FAMILY,
    )
    assert rasteriser.render(SMALL, FONTS) == expected


def test_one_process_paints_one_picture_after_another(rasteriser: Rasteriser) -> None:
    rasteriser.render(SMALL, FONTS)
    first = rasteriser.process_ids()
    rasteriser.render(SMALL, FONTS)
    assert len(first) == 1
    assert rasteriser.process_ids() == first


def test_what_is_no_svg_is_refused_and_the_process_stays(rasteriser: Rasteriser) -> None:
    rasteriser.render(SMALL, FONTS)
    first = rasteriser.process_ids()
    with pytest.raises(ValueError, match="unknown token"):
        rasteriser.render("no drawing", FONTS)
    assert rasteriser.process_ids() == first


@pytest.mark.slow
def test_other_threads_go_on_while_a_heavy_picture_is_painted(
    rasteriser: Rasteriser, threads: ThreadPoolExecutor
) -> None:
    picture = threads.submit(rasteriser.render, scribble(1000), FONTS)
    longest, last, ticks = 0.0, time.monotonic(), 0
    while not picture.done():
        threading.Event().wait(0.005)
        now = time.monotonic()
        longest, last, ticks = max(longest, now - last), now, ticks + 1
    assert picture.result().startswith(b"\x89PNG")
    assert ticks >= 10
    assert longest < 0.5


@pytest.mark.slow
def test_a_picture_over_the_limit_is_ended_and_the_next_one_is_painted() -> None:
    rasteriser = Rasteriser(limit_seconds=0.5)
    try:
        with pytest.raises(ConflictError, match=r"longer than 0\.5 seconds.*smaller width and height"):
            rasteriser.render(HEAVY, FONTS)
        assert rasteriser.process_ids() == ()
        assert rasteriser.render(SMALL, FONTS)
    finally:
        rasteriser.close()


@pytest.mark.slow
def test_a_process_killed_while_it_paints_is_told_and_replaced(
    rasteriser: Rasteriser, threads: ThreadPoolExecutor
) -> None:
    picture, process_id = painting(rasteriser, threads)
    os.kill(process_id, signal.SIGKILL)
    with pytest.raises(EngineError, match=r"signal 9.*Ask again"):
        picture.result(PATIENCE_SECONDS)
    assert rasteriser.render(SMALL, FONTS)
    assert process_id not in rasteriser.process_ids()


def test_a_process_killed_while_idle_is_replaced_unnoticed(rasteriser: Rasteriser) -> None:
    rasteriser.render(SMALL, FONTS)
    (process_id,) = rasteriser.process_ids()
    os.kill(process_id, signal.SIGKILL)
    until(lambda: not is_there(process_id))
    assert rasteriser.render(SMALL, FONTS)
    assert process_id not in rasteriser.process_ids()


@pytest.mark.slow
def test_a_small_picture_does_not_wait_for_a_heavy_one(rasteriser: Rasteriser, threads: ThreadPoolExecutor) -> None:
    heavy, process_id = painting(rasteriser, threads)
    assert rasteriser.render(SMALL, FONTS)
    assert not heavy.done()
    os.kill(process_id, signal.SIGKILL)
    with suppress(EngineError):
        heavy.result(PATIENCE_SECONDS)


def test_many_threads_get_their_own_pictures_from_few_processes(
    rasteriser: Rasteriser, threads: ThreadPoolExecutor
) -> None:
    drawings = [SMALL.replace("#FF0000", f"#{shade:02X}0000") for shade in range(0, 160, 10)]
    together = list(threads.map(lambda svg: rasteriser.render(svg, FONTS), drawings))
    assert together == [rasteriser.render(svg, FONTS) for svg in drawings]
    assert len(set(together)) == len(drawings)
    assert len(rasteriser.process_ids()) <= MAX_PROCESSES


def test_nothing_is_left_after_close_and_nothing_starts_again(rasteriser: Rasteriser) -> None:
    rasteriser.render(SMALL, FONTS)
    (process_id,) = rasteriser.process_ids()
    rasteriser.close()
    assert not is_there(process_id)
    with pytest.raises(EngineError, match="ending"):
        rasteriser.render(SMALL, FONTS)
    assert rasteriser.process_ids() == ()


@pytest.mark.slow
def test_close_ends_a_picture_that_is_being_painted(rasteriser: Rasteriser, threads: ThreadPoolExecutor) -> None:
    picture, process_id = painting(rasteriser, threads)
    rasteriser.close()
    with pytest.raises(EngineError, match="ending"):
        picture.result(PATIENCE_SECONDS)
    assert not is_there(process_id)


_CHILD = """
import sys
from engine.rasteriser import SvgFonts, shared_rasteriser
from tests.engine.test_rasteriser import FONTS, SMALL
made = shared_rasteriser()
made.render(SMALL, FONTS)
print(*made.process_ids(), flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["ends", "is killed"])
def test_an_interpreter_leaves_no_process_wherever_it_runs(tmp_path: Path, how: str) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("raise SystemExit('the wrong engine')")
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong json')")
    child = subprocess.Popen(
        [sys.executable, "-W", "error", "-P", "-c", _CHILD],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdout is not None
    process_id = int(child.stdout.readline())
    assert is_there(process_id)
    if how == "is killed":
        child.kill()
    _, complaints = child.communicate(timeout=PATIENCE_SECONDS)
    assert complaints == b""
    until(lambda: not is_there(process_id))
