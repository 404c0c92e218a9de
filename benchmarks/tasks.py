"""The tasks that are done both ways: what the user asks, how a native model does it, and the program of Code Mode.

A native model makes at once whatever does not depend on something else, asks for the largest pages that fit, and reads
no result twice. Tasks in which Code Mode loses are here as well. Source: findings on Code Mode, 4.3.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from benchmarks.conversation import Call, Conversation, data_of, picture_of, text_of
from benchmarks.mcp_client import McpAnswerError
from benchmarks.staff import CITIES, STAFF, TEAMS, lead_of, team_name

INSPECT_GRAPH, SEARCH = "space_graph_inspect", "space_graph_search_nodes"
ADD_NODE, ADD_EDGE = "space_graph_add_node", "space_graph_add_edge"
INSERT_SHAPE, CAPTURE = "space_drawing_insert_shape", "space_app_capture_view"
ADD_TERRAIN, ADD_CUBOID, SIMULATE = "space_scene_add_terrain", "space_scene_add_cuboid", "space_scene_simulate"

PAGE = 75
"""People with their data that one page of `space_graph_inspect` holds, so that pages can be asked for at once."""
EDGE_PAGE = 150
"""The same of edges."""

DRAWING: Mapping[str, object] = {"surface": "canvas", "activity": "drawing"}
GRAPH: Mapping[str, object] = {"surface": "canvas", "activity": "graph"}
SCENE: Mapping[str, object] = {"surface": "scene", "activity": None}


def returned(result: Mapping[str, Any]) -> Any:
    """What a program has returned. Raises `McpAnswerError` where its text says something else besides."""
    text = text_of(result)
    try:
        return json.loads(text)
    except ValueError:
        raise McpAnswerError(f"a program gave {text[:1000]}") from None


@dataclass(frozen=True)
class Task:
    """One task. `native` and `read` give the answer as the model would say it, to be compared with `expected`."""

    name: str
    context: Mapping[str, object]
    tools: tuple[str, ...]
    """The tools that it needs."""
    question: str
    native: Callable[[Conversation], Any]
    program: str
    expected: Any
    """None where it is only known that both ways must agree."""
    before: Call | None = None
    """What the user has done before."""
    new_world: bool = False
    """Whether it is done in a world where nothing is, each time; otherwise in that of the staff."""
    data_heavy: bool = False
    read: Callable[[Mapping[str, Any]], Any] = returned
    """The answer in the result of the program."""

    @property
    def agent(self) -> str:
        """The id of the agent that has these tools alone."""
        return "only-" + "-".join(self.name.lower().split())


def _one_call(talk: Conversation) -> Any:
    arguments = {"shape": "circle", "x": -40, "y": -40, "width": 80, "height": 80, "fill_color": "#D62828"}
    (made,) = talk.call((INSERT_SHAPE, arguments))
    return data_of(made)["bounds"]


_ONE_CALL = """\
const made = await tools.space_drawing_insert_shape({
  shape: "circle", x: -40, y: -40, width: 80, height: 80, fill_color: "#D62828",
});
return made.bounds;
"""


def _two_reads(talk: Conversation) -> Any:
    found, seen = talk.call(
        (SEARCH, {"query": STAFF[123].name, "limit": 1}),
        (INSPECT_GRAPH, {"show": "summary"}),
    )
    return {"id": data_of(found)["nodes"][0]["id"], "people": data_of(seen)["kinds"]["person"]}


_TWO_READS = f"""\
const [found, seen] = await Promise.all([
  tools.space_graph_search_nodes({{ query: "{STAFF[123].name}", limit: 1 }}),
  tools.space_graph_inspect({{ show: "summary" }}),
]);
return {{ id: found.nodes[0].id, people: seen.kinds.person }};
"""

_STEPS = (
    "Measure the quay", "Order steel", "Hire divers", "Book the crane", "Drive the piles",
    "Pour concrete", "Lay the deck", "Fit the lights", "Paint the rails", "Open the pier",
)  # fmt: skip


def _ten_writes(talk: Conversation) -> Any:
    calls: list[Call] = [(ADD_NODE, {"label": label, "kind": "step"}) for label in _STEPS]
    return [data_of(made)["label"] for made in talk.call(*calls)]


_TEN_WRITES = f"""\
const made: string[] = [];
for (const label of {json.dumps(_STEPS)}) {{
  made.push((await tools.space_graph_add_node({{ label, kind: "step" }})).label);
}}
return made;
"""

_LEAD = lead_of(STAFF[77].team)


def _chain(talk: Conversation) -> Any:
    (found,) = talk.call((SEARCH, {"query": STAFF[77].name, "limit": 1}))
    person = data_of(found)["nodes"][0]["id"]
    (edges,) = talk.call((INSPECT_GRAPH, {"show": "edges", "node": person}))
    team = next(edge["target"] for edge in data_of(edges)["edges"] if edge["label"] == "member of")
    (edges,) = talk.call((INSPECT_GRAPH, {"show": "edges", "node": team}))
    lead = next(edge["target"] for edge in data_of(edges)["edges"] if edge["label"] == "led by")
    (seen,) = talk.call((INSPECT_GRAPH, {"ids": [lead], "include_data": True}))
    node = data_of(seen)["nodes"][0]
    return {"lead": node["label"], "city": node["data"]["city"]}


_CHAIN = f"""\
const edgeOf = async (node: string, label: string) =>
  (await tools.space_graph_inspect({{ show: "edges", node }})).edges.find((edge) => edge.label === label)!.target;
const [person] = (await tools.space_graph_search_nodes({{ query: "{STAFF[77].name}", limit: 1 }})).nodes;
const lead = await edgeOf(await edgeOf(person.id, "member of"), "led by");
const [node] = (await tools.space_graph_inspect({{ ids: [lead], include_data: true }})).nodes;
return {{ lead: node.label, city: node.data!.city }};
"""


def _people_pages(offsets: range) -> list[Call]:
    asked = {"kind": "person", "include_data": True, "limit": PAGE}
    return [(INSPECT_GRAPH, {**asked, "offset": offset}) for offset in offsets]


def _edge_pages(offsets: range) -> list[Call]:
    return [(INSPECT_GRAPH, {"show": "edges", "limit": EDGE_PAGE, "offset": offset}) for offset in offsets]


def _filter(talk: Conversation) -> Any:
    (first,) = talk.call(*_people_pages(range(1)))
    pages = [first, *talk.call(*_people_pages(range(PAGE, data_of(first)["total"], PAGE)))]
    people = [node for page in pages for node in data_of(page)["nodes"]]
    return sorted(node["label"] for node in people if node["data"]["city"] == CITIES[0] and node["data"]["age"] >= _OLD)


_OLD = 60

_ALL_PEOPLE = """\
const people = [];
for (let offset: number | undefined = 0; offset !== undefined; ) {
  const page = await tools.space_graph_inspect({ kind: "person", include_data: true, limit: 200, offset });
  people.push(...page.nodes);
  offset = page.next;
}
"""

_FILTER = f"""\
{_ALL_PEOPLE}\
return people
  .filter(({{ data }}) => data?.city === "{CITIES[0]}" && data?.age >= {_OLD})
  .map((person) => person.label)
  .sort();
"""


def _join(talk: Conversation) -> Any:
    first, edge = talk.call(*_people_pages(range(1)), *_edge_pages(range(1)))
    rest = _people_pages(range(PAGE, data_of(first)["total"], PAGE))
    pages = talk.call(*rest, *_edge_pages(range(EDGE_PAGE, data_of(edge)["total"], EDGE_PAGE)))
    hours = {
        node["id"]: node["data"]["hours"] for page in (first, *pages[: len(rest)]) for node in data_of(page)["nodes"]
    }
    total: Counter[str] = Counter()
    for page in (edge, *pages[len(rest) :]):
        for one in data_of(page)["edges"]:
            if one["label"] == "member of":
                total[one["target"]] += hours[one["source"]]
    best = sorted(total.items(), key=lambda item: (-item[1], item[0]))[:3]
    (seen,) = talk.call((INSPECT_GRAPH, {"ids": [team for team, _ in best]}))
    names = {node["id"]: node["label"] for node in data_of(seen)["nodes"]}
    return [[names[team], hours] for team, hours in best]


_JOIN = f"""\
{_ALL_PEOPLE}\
const hours = new Map(people.map((person) => [person.id, person.data?.hours]));
const total = new Map<string, number>();
for (let offset: number | undefined = 0; offset !== undefined; ) {{
  const page = await tools.space_graph_inspect({{ show: "edges", limit: 200, offset }});
  for (const edge of page.edges) {{
    if (edge.label === "member of") {{
      total.set(edge.target, (total.get(edge.target) ?? 0) + hours.get(edge.source)!);
    }}
  }}
  offset = page.next;
}}
const best = [...total].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 3);
const {{ nodes }} = await tools.space_graph_inspect({{ ids: best.map(([team]) => team) }});
const names = new Map(nodes.map((node) => [node.id, node.label]));
return best.map(([team, hours]) => [names.get(team), hours]);
"""


def _busiest() -> list[list[object]]:
    total: Counter[int] = Counter()
    for person in STAFF:
        total[person.team] += person.hours
    # Teams were made first, one after the other, so their ids sort as texts of their numbers do.
    best = sorted(range(TEAMS), key=lambda team: (-total[team], str(team + 1)))[:3]
    return [[team_name(team), total[team]] for team in best]


_FLOORS = 12


def _cuboid(floor: int) -> Mapping[str, Any]:
    return {"y": floor + 0.5, "x": 0.02 * floor}


def _scene(talk: Conversation) -> Any:
    talk.call((ADD_TERRAIN, {"size": 40}), *((ADD_CUBOID, _cuboid(floor)) for floor in range(_FLOORS)))
    (run,) = talk.call((SIMULATE, {"seconds": 3}))
    return {"resting": data_of(run)["resting_count"], "lost": data_of(run).get("lost_count")}


_SCENE = f"""\
await tools.space_scene_add_terrain({{ size: 40 }});
for (let floor = 0; floor < {_FLOORS}; floor++) {{
  await tools.space_scene_add_cuboid({{ y: floor + 0.5, x: 0.02 * floor }});
}}
const run = await tools.space_scene_simulate({{ seconds: 3 }});
return {{ resting: run.resting_count, lost: run.lost_count }};
"""


def _picture(talk: Conversation) -> Any:
    (seen,) = talk.call((CAPTURE, {}))
    return _digest(seen)


def _digest(result: Mapping[str, Any]) -> Any:
    return sha256(picture_of(result).encode()).hexdigest()[:12]


TASKS = (
    Task(
        name="one call",
        context=DRAWING,
        tools=(INSERT_SHAPE,),
        question="Draw a red circle of diameter 80 around the origin, and tell me the box that it fills.",
        native=_one_call,
        program=_ONE_CALL,
        expected={"left": -40, "bottom": -40, "right": 40, "top": 40},
        new_world=True,
    ),
    Task(
        name="look at a picture",
        context=DRAWING,
        tools=(CAPTURE,),
        question="Have a look at my drawing.",
        native=_picture,
        program="await tools.space_app_capture_view();",
        expected=None,
        before=(INSERT_SHAPE, {"shape": "rectangle", "x": 0, "y": 0, "width": 300, "height": 200}),
        new_world=True,
        read=_digest,
    ),
    Task(
        name="two independent reads",
        context=GRAPH,
        tools=(SEARCH, INSPECT_GRAPH),
        question=f"Which id has the node of {STAFF[123].name}, and how many people are there in the graph?",
        native=_two_reads,
        program=_TWO_READS,
        expected={"id": "string-entity:node-148", "people": len(STAFF)},
    ),
    Task(
        name="ten small writes",
        context=GRAPH,
        tools=(ADD_NODE,),
        question=f"Make a node of kind step for each of these: {', '.join(_STEPS)}.",
        native=_ten_writes,
        program=_TEN_WRITES,
        expected=list(_STEPS),
        new_world=True,
    ),
    Task(
        name="four calls in a chain",
        context=GRAPH,
        tools=(SEARCH, INSPECT_GRAPH),
        question=f"Who leads the team that {STAFF[77].name} is a member of, and in which city does that person live?",
        native=_chain,
        program=_CHAIN,
        expected={"lead": _LEAD.name, "city": _LEAD.city},
    ),
    Task(
        name="build and simulate a scene",
        context=SCENE,
        tools=(ADD_TERRAIN, ADD_CUBOID, SIMULATE),
        question="Build a leaning tower of 12 cuboids on flat ground, let it stand for 3 s, and say what rests.",
        native=_scene,
        program=_SCENE,
        expected={"resting": _FLOORS, "lost": 0},
        new_world=True,
    ),
    Task(
        name="filter a large graph",
        context=GRAPH,
        tools=(SEARCH, INSPECT_GRAPH),
        question=f"Who of the people is {_OLD} or older and lives in {CITIES[0]}? The names in alphabetical order.",
        native=_filter,
        program=_FILTER,
        expected=sorted(person.name for person in STAFF if person.city == CITIES[0] and person.age >= _OLD),
        data_heavy=True,
    ),
    Task(
        name="join over many nodes",
        context=GRAPH,
        tools=(SEARCH, INSPECT_GRAPH),
        question="Which three teams have the most hours, adding up the hours of their members, and how many?",
        native=_join,
        program=_JOIN,
        expected=_busiest(),
        data_heavy=True,
    ),
)
