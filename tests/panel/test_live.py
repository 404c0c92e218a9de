"""The view "Live": the surface as it is now, what was just done to it, and the way back."""

from __future__ import annotations

import json
import math
import re
import statistics
from collections.abc import Callable
from typing import Any
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Locator, Page, Response, Route, expect

from tests.live.engine import LiveEngine

pytestmark = [pytest.mark.live, pytest.mark.slow]

SHAPE = "space_drawing_insert_shape"

BOUND_MS = 1_000
"""From the answer of a call to the picture of it, on a machine that is busy. On a quiet one it is below 100."""

SCENE_MS = 60_000
"""The first picture of a scene may have to wait for its renderer."""

LARGE_POLYGONS = 40
"""Polygons of a thousand corners, of which the SVG of a drawing becomes a large one."""

CALL_AND_WATCH = """async ([tool, calls]) => {
    const stage = document.querySelector(".stage");
    const times = [];
    for (const body of calls) {
        const response = await fetch(`/api/tools/${tool}/call`, {
            method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body),
        });
        const { revision } = (await response.json()).structured_content;
        const answered = performance.now();
        while (Number(stage.dataset.revision) < revision) await new Promise(requestAnimationFrame);
        times.push(performance.now() - answered);
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return times;
}"""
"""Calls a tool in the page, one after another, and measures when the picture of each is there."""


def _stage(page: Page) -> Locator:
    return page.locator(".stage")


def _picture(page: Page, revision: int) -> Locator:
    return page.get_by_role("img", name=re.compile(rf"at revision {revision}$"))


def _marks(page: Page) -> Locator:
    return page.get_by_role("list", name="What was just changed").get_by_role("listitem")


def _draw(engine: LiveEngine, x: float = 0, **members: Any) -> Any:
    shape = {"shape": "ellipse", "x": x, "y": 0, "width": 60, "height": 40, **members}
    return json.loads(engine.space("call", SHAPE, json.dumps(shape)))


def _post(engine: LiveEngine, path: str, body: dict[str, Any]) -> Any:
    request = Request(f"{engine.url}/{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urlopen(request, timeout=60) as answer:
        return json.load(answer)


def _size(stage: Locator) -> float:
    return float(stage.locator(".stage-sheet").evaluate("(sheet) => sheet.getBoundingClientRect().width"))


def test_an_empty_world_says_how_an_agent_comes_to_it(page: Page, engine: LiveEngine) -> None:
    guide = page.locator(".stage-guide")
    expect(guide).to_contain_text("Nothing has been drawn here yet")
    expect(guide).to_contain_text(f"{engine.url}/mcp")
    expect(guide).to_contain_text("space opencode")
    guide.get_by_role("button", name="Copy the address").click()
    assert page.evaluate("navigator.clipboard.readText()") == f"{engine.url}/mcp"
    expect(page.get_by_role("region", name="Just now")).to_contain_text("No agent has changed anything")
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()

    _draw(engine)
    expect(guide).to_be_hidden()


def test_a_call_is_seen_in_the_picture_and_marked_and_named_in_two_windows_and_undone_in_both(
    page: Page, window: Callable[..., Page], engine: LiveEngine
) -> None:
    other = window(f"{engine.url}/#/live", width=380, height=800, dark=True)
    both = (page, other)
    for each in both:
        expect(_picture(each, 0)).to_be_visible()
    _draw(engine)
    _draw(engine, 200)
    for each in both:
        expect(_picture(each, 2)).to_be_visible()
        expect(_marks(each)).to_have_count(2)
        expect(_marks(each).first).to_have_attribute("aria-label", "Added: ellipse")
        item = each.get_by_role("region", name="Just now").get_by_role("listitem")
        expect(item).to_have_count(2)
        expect(item.first).to_contain_text(SHAPE)
        expect(item.first).to_contain_text("done")
        assert each.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".mark-label:visible").count() == 0
    _marks(page).last.hover()
    expect(_marks(page).last.get_by_text("Added: ellipse")).to_be_visible()

    # A mark lies where the shape is seen: the one that was drawn to the right stands on the right.
    boxes = [_marks(page).nth(index).bounding_box() for index in range(2)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert abs(boxes[0]["x"] - boxes[1]["x"]) > boxes[0]["width"]

    page.get_by_role("button", name="Undo insert shape", exact=True).click()
    for each in both:
        expect(_picture(each, 3)).to_be_visible()
        expect(_marks(each)).to_have_count(1)
    other.get_by_role("button", name="Redo insert shape", exact=True).click()
    expect(_picture(page, 4)).to_be_visible()

    page.get_by_role("region", name="Just now").get_by_role("link").first.click()
    expect(page).to_have_url(f"{engine.url}/#/calls/2")


def test_undo_and_redo_follow_the_keys_and_the_list_goes_back_several_steps(page: Page, engine: LiveEngine) -> None:
    for x in (0, 100, 200):
        _draw(engine, x)
    expect(_picture(page, 3)).to_be_visible()
    steps = page.get_by_role("list", name="Steps, newest first").get_by_role("listitem")
    expect(steps).to_have_count(3)
    page.keyboard.press("Control+z")
    expect(steps).to_have_count(2)
    page.keyboard.press("Control+Shift+z")
    expect(steps).to_have_count(3)

    # In a field the keys are those of the field.
    page.evaluate("document.querySelector('main').append(document.createElement('textarea'))")
    page.locator("main > textarea").press("Control+z")
    page.locator("main > textarea").evaluate("(field) => field.remove()")

    kept = steps.nth(2).element_handle()
    assert kept is not None
    steps.nth(1).hover()
    steps.nth(1).get_by_role("button", name=re.compile("^Undo this and later: insert shape, 2 steps")).click()
    expect(steps).to_have_count(1)
    assert kept.evaluate("(row) => row.isConnected")
    undone = page.get_by_role("list", name="Undone steps").get_by_role("listitem")
    expect(undone).to_have_count(2)
    expect(page.get_by_role("log")).to_contain_text("Undone: 2 steps.")
    engine.space("undo")
    expect(steps).to_have_count(0)
    undone.first.hover()
    undone.first.get_by_role("button", name=re.compile("^Redo this and earlier: insert shape, 3 steps")).click()
    expect(steps).to_have_count(3)


def test_steps_that_came_meanwhile_are_asked_about_before_they_are_undone_too(page: Page, engine: LiveEngine) -> None:
    for x in (0, 100, 200):
        _draw(engine, x)
    steps = page.get_by_role("list", name="Steps, newest first").get_by_role("listitem")
    expect(steps).to_have_count(3)
    meanwhile = [300.0, 400.0]

    def draw_first(route: Route) -> None:
        if meanwhile:
            _draw(engine, meanwhile.pop())
        route.continue_()

    page.route("**/api/world/undo", draw_first)
    last = re.compile("^Undo this and later: insert shape, [2-9] steps")

    def undo_two() -> None:
        row = steps.nth(1)
        row.hover()
        row.get_by_role("button", name=last).click()

    undo_two()
    question = page.get_by_role("dialog", name="The agent has drawn since")
    expect(question).to_contain_text("1 step came after what you saw. Undo that too?")
    question.get_by_role("button", name="Cancel").click()
    expect(steps).to_have_count(4)

    # It draws once more; who says yes is not asked again, and what was there before the two stays.
    undo_two()
    question.get_by_role("button", name="Undo all 3 steps").click()
    expect(page.get_by_role("log")).to_contain_text("Undone: 3 steps.")
    expect(steps).to_have_count(2)


def test_what_could_not_be_loaded_is_said_to_be_old_and_is_loaded_again_without_a_change(
    page: Page, engine: LiveEngine
) -> None:
    expect(_picture(page, 0)).to_be_visible()
    broken = True

    def maybe(route: Route) -> None:
        if not broken:
            route.continue_()
        elif "/view" in route.request.url:
            route.abort()
        else:
            route.fulfill(status=500, json={"title": "Fault", "detail": "The engine is\u202e broken."})

    for path in ("view.svg*", "view/marks*", "world/history*", "calls?*"):
        page.route(f"**/api/{path}", maybe)
    _draw(engine)
    history, now = page.get_by_role("region", name="History"), page.get_by_role("region", name="Just now")
    expect(_stage(page)).to_contain_text("This picture is old. The engine does not answer.")
    expect(_stage(page)).to_have_attribute("aria-busy", "false")
    expect(_picture(page, 0)).to_be_visible()
    for each in (history, now):
        expect(each).to_contain_text("This list is old. The engine is\u2039U+202E\u203a broken.")
    expect(page.get_by_role("status").first).to_have_text("Connected")
    expect(page.get_by_role("log")).to_be_empty()

    broken = False
    expect(_picture(page, 1)).to_be_visible()
    expect(_marks(page)).to_have_count(1)
    for each in (history, now):
        expect(each.get_by_role("listitem")).to_have_count(1)
    expect(page.get_by_text("is old").locator("visible=true")).to_have_count(0)


def test_a_picture_is_asked_for_at_once_when_the_network_is_back(page: Page, engine: LiveEngine) -> None:
    expect(_picture(page, 0)).to_be_visible()
    page.clock.install()
    page.route("**/api/view.svg*", lambda route: route.abort())
    _draw(engine)
    expect(_stage(page)).to_contain_text("This picture is old.")
    page.clock.pause_at(page.evaluate("Date.now()") + 100)
    page.unroute("**/api/view.svg*")
    page.evaluate("dispatchEvent(new Event('online'))")
    expect(_stage(page)).to_have_attribute("data-revision", "1")


@pytest.mark.nightly
def test_a_large_drawing_is_shown_as_pixels_until_it_is_small_again(page: Page, engine: LiveEngine) -> None:
    _draw(engine)
    note = page.get_by_text(re.compile("shown as pixels"))
    width = "(image) => image.naturalWidth"
    expect(_picture(page, 1)).to_be_visible()
    turns = [math.tau * n / 1_000 for n in range(1_000)]
    many = {"shape": "polygon", "points": [{"x": 40 * math.cos(turn), "y": 40 * math.sin(turn)} for turn in turns]}
    for _ in range(LARGE_POLYGONS):
        _post(engine, f"api/tools/{SHAPE}/call", many)
    last = 1 + LARGE_POLYGONS
    expect(_picture(page, last)).to_be_visible()
    expect(note).to_be_visible()
    inside: int = _stage(page).evaluate("(stage) => stage.clientWidth")
    assert _picture(page, last).evaluate(width) == inside
    expect(page.get_by_role("button", name="Download SVG")).to_be_visible()

    # Marks and zoom are as with any other picture; from close by it has more pixels.
    _draw(engine, 30)
    expect(_picture(page, last + 1)).to_be_visible()
    expect(_marks(page)).to_have_count(1)
    fitted = _size(_stage(page))
    for _ in range(3):
        page.get_by_role("button", name="Zoom in").click()
    assert _size(_stage(page)) > fitted * 1.5
    page.wait_for_function("([from]) => document.querySelector('.stage-picture img').naturalWidth > from", arg=[inside])

    _post(engine, "api/world/undo", {"steps": LARGE_POLYGONS + 1})
    expect(note).to_have_count(0)
    expect(_picture(page, 2 * (last + 1) - 1)).to_be_visible()


def test_a_program_and_what_changes_nothing_leave_no_refused_request_and_only_changes_in_the_list(
    page: Page, engine: LiveEngine
) -> None:
    refused: list[str] = []

    def note(response: Response) -> None:
        if response.status >= 400:
            refused.append(f"{response.status} {response.url}")

    page.on("response", note)
    engine.space("call", "space_drawing_inspect", "{}")
    code = f"return await tools.{SHAPE}({{shape: 'ellipse', x: 0, y: 0, width: 9, height: 9}})"
    engine.space("call", "--agent", "code", "space_run_code", json.dumps({"code": code, "description": "Draw"}))
    now = page.get_by_role("region", name="Just now")
    expect(now.get_by_role("listitem")).to_have_count(1)
    expect(now.get_by_role("listitem")).to_contain_text(SHAPE)

    # What was not run says why, in the part of the row that is seen.
    _post(engine, f"api/tools/{SHAPE}/call", {"shape": "blob"})
    expect(now.get_by_role("listitem")).to_have_count(2)
    expect(now.get_by_role("listitem").first).to_contain_text("refused")
    reason = now.locator(".now-error").first
    expect(reason).to_have_text(re.compile("^shape: expected one of"))
    assert not refused


def test_marks_fade_unless_they_are_kept_and_are_reached_with_the_keyboard(page: Page, engine: LiveEngine) -> None:
    expect(_picture(page, 0)).to_be_visible()
    keep = page.get_by_role("button", name="Keep marks")
    page.emulate_media(reduced_motion="reduce")
    page.clock.install()
    _draw(engine)
    _draw(engine, 100)
    expect(_marks(page)).to_have_count(2)
    page.clock.run_for(8_000)
    expect(_marks(page)).to_have_count(0)

    keep.click()
    expect(keep).to_have_attribute("aria-pressed", "true")
    _draw(engine, 200)
    _draw(engine, 300)
    expect(_marks(page)).to_have_count(2)
    page.clock.run_for(60_000)
    expect(_marks(page)).to_have_count(2)
    _marks(page).first.focus()
    expect(_marks(page).first.get_by_text("Added: ellipse")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(_marks(page).nth(1)).to_be_focused()
    keep.click()
    page.clock.run_for(8_000)
    expect(_marks(page)).to_have_count(0)


def test_the_picture_is_zoomed_and_moved_by_wheel_hand_and_keys_and_stays_so_when_it_changes(
    page: Page, engine: LiveEngine
) -> None:
    _draw(engine)
    expect(_picture(page, 1)).to_be_visible()
    stage = _stage(page)
    fitted = _size(stage)
    stage.focus()
    page.keyboard.press("+")
    assert _size(stage) == pytest.approx(fitted * 1.25, rel=0.01)
    page.keyboard.press("-")
    page.keyboard.press("-")
    assert _size(stage) < fitted
    page.keyboard.press("0")
    assert _size(stage) == pytest.approx(fitted)

    box = stage.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.mouse.wheel(0, -300)
    expect(page.get_by_role("button", name=re.compile(r"Fit \(now \d+ %\)"))).to_be_visible()
    assert _size(stage) > fitted * 1.5
    before = stage.locator(".stage-sheet").bounding_box()
    page.mouse.down()
    page.mouse.move(box["x"] + 160, box["y"] + 130, steps=4)
    page.mouse.up()
    after = stage.locator(".stage-sheet").bounding_box()
    assert before is not None
    assert after is not None
    assert after["x"] - before["x"] == pytest.approx(60, abs=1)
    assert after["y"] - before["y"] == pytest.approx(30, abs=1)
    page.keyboard.press("ArrowLeft")

    # The picture grows by what is drawn beside it; what somebody looks at keeps its size on the page.
    scale = "(sheet) => sheet.getBoundingClientRect().width / sheet.querySelector('img').naturalWidth"
    page.keyboard.press("Control+z")
    expect(_picture(page, 2)).to_be_visible()
    _draw(engine)
    expect(_picture(page, 3)).to_be_visible()
    zoomed = _size(stage)
    _draw(engine, 400)
    expect(_picture(page, 4)).to_be_visible()
    assert _size(stage) > zoomed
    assert float(stage.locator(".stage-sheet").evaluate(scale)) > 0
    page.get_by_role("button", name=re.compile("Fit")).click()
    assert _size(stage) <= box["width"] + 1


def test_the_map_and_the_scene_are_drawn_and_can_be_taken_away_as_files(page: Page, engine: LiveEngine) -> None:
    engine.space("context", "set", "surface=canvas", "activity=graph")
    expect(_stage(page)).to_have_attribute("data-picture", re.compile("graph"))
    engine.space("call", "space_graph_add_node", '{"label": "<b>An entity</b>"}')
    expect(_picture(page, 1)).to_be_visible()
    expect(_marks(page)).to_have_attribute("aria-label", "Added: <b>An entity</b>")
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download SVG").click()
    assert taken.value.suggested_filename == "world-1-canvas-1.svg"
    assert taken.value.path().read_bytes().startswith(b"<svg")

    engine.space("context", "set", "surface=scene", "activity=drawing")
    engine.space("call", "space_scene_add_cuboid", '{"x": 0, "y": 5, "z": 0, "color": "#E4572E"}')
    expect(page.get_by_role("img", name="The scene at revision 2")).to_be_visible(timeout=SCENE_MS)
    natural = page.get_by_role("img", name="The scene").evaluate("(image) => image.naturalWidth")
    assert natural == _stage(page).evaluate("(stage) => stage.clientWidth")
    engine.space("call", "space_scene_add_cuboid", '{"x": 1, "y": 5, "z": 0}')
    expect(page.get_by_role("img", name="The scene at revision 3")).to_be_visible(timeout=SCENE_MS)
    expect(_marks(page)).to_have_count(1)
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download GLB").click()
    assert taken.value.path().read_bytes().startswith(b"glTF")

    # Another size of the window asks for a picture of that size.
    page.set_viewport_size({"width": 1000, "height": 700})
    width = _stage(page).evaluate("(stage) => stage.clientWidth")
    page.wait_for_function(
        "(width) => document.querySelector('.stage-picture img').naturalWidth === width", arg=width, timeout=SCENE_MS
    )

    page.get_by_role("button", name="Drawing", exact=True).click()
    expect(page.get_by_role("img", name="The canvas at revision 3")).to_be_visible()
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download PNG").click()
    assert taken.value.path().read_bytes().startswith(b"\x89PNG")


def test_the_picture_follows_each_call_at_once(
    page: Page, engine: LiveEngine, record_property: Callable[[str, object], None]
) -> None:
    expect(_picture(page, 0)).to_be_visible()
    calls = [
        {"shape": "ellipse", "x": 30 * (n % 10), "y": 30 * (n // 10), "width": 20, "height": 20} for n in range(40)
    ]
    times: list[float] = page.evaluate(CALL_AND_WATCH, [SHAPE, calls])
    record_property("median_ms", statistics.median(times))
    print(f"picture after call: median {statistics.median(times):.0f} ms, longest {max(times):.0f} ms")
    assert statistics.median(times) < BOUND_MS

    # None of the pictures before is kept.
    expect(page.locator(".stage-picture img")).to_have_count(1)
    engine.stop()
    engine.start()
    expect(page.get_by_role("status").first).to_have_text("Connected")
    revision = _draw(engine, -100)["revision"]
    expect(_picture(page, revision)).to_be_visible()
