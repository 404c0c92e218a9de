"""The graph in which whole tasks are done: the staff of a firm, the same in every run. Owns what is in it.

Every person belongs to a team by an edge, every team has a lead. Whoever asks about many of them has to read them all.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.engine import Engine
from engine.graph.edges import AddEdge
from engine.graph.nodes import AddNode
from engine.store import Store

PEOPLE = 600
"""People in the graph. Their nodes with data are about 50,000 tokens, which a model with a long context can read."""

TEAMS = 24

CITIES = ("Lisbon", "Oslo", "Kyoto", "Quito", "Dakar", "Hobart", "Riga")
_FIRST = ("Ada", "Bo", "Cleo", "Dev", "Edda", "Finn", "Gita", "Hugo", "Ines", "Jun", "Kaya", "Leon", "Mira", "Nils")
_LAST = ("Abel", "Brandt", "Castro", "Dubois", "Eriksen", "Fontana", "Grau", "Haas", "Ito", "Jansen", "Kovac", "Lund")
_WORK = ("the harbour model", "the weather feed", "the night shift", "the map of cables", "the archive", "spare parts")


@dataclass(frozen=True)
class Person:
    """One member of the staff."""

    number: int
    name: str
    team: int
    age: int
    city: str
    hours: int

    @staticmethod
    def of(number: int) -> Person:
        """The person with that number. The multipliers have no factor in common with what they are reduced by."""
        first, last = _FIRST[number % len(_FIRST)], _LAST[number * 5 % len(_LAST)]
        return Person(
            number=number,
            name=f"{first} {last} {number}",
            team=number * 7 % TEAMS,
            age=20 + number * 37 % 47,
            city=CITIES[number * 3 % len(CITIES)],
            hours=number * 53 % 41,
        )


STAFF = tuple(map(Person.of, range(PEOPLE)))


def team_name(number: int) -> str:
    """What is written on the node of that team."""
    return f"Team {number}"


def lead_of(team: int) -> Person:
    """The person who leads that team, who is in another."""
    return STAFF[(team * 11 + 3) % PEOPLE]


def furnish(engine: Engine, store: Store) -> None:
    """Put the staff into the world that is open."""
    teams: list[str] = []
    people: list[str] = []

    def run(command: AddNode) -> str:
        executed = engine.execute(command)
        store.write(executed.commit)
        return executed.result.id

    for number in range(TEAMS):
        teams.append(run(AddNode(title=team_name(number), kind="team", data={"floor": number % 5})))
    for person in STAFF:
        data = {"age": person.age, "city": person.city, "hours": person.hours}
        content = f"{person.name} joined in {1990 + person.number % 35} and works on {_WORK[person.number % 6]}."
        people.append(run(AddNode(title=person.name, kind="person", content=content, data=data)))
    edges = [(people[person.number], teams[person.team], "member of") for person in STAFF]
    edges += [(teams[number], people[lead_of(number).number], "led by") for number in range(TEAMS)]
    for source, target, label in edges:
        store.write(engine.execute(AddEdge(source=source, target=target, edge_label=label)).commit)
