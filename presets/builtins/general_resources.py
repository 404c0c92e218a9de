"""The resources that Space brings along: the context, the picture of the surface, worlds, presets, agents, programs.

Owns their uris, their form, and what each follows. All of it can be looked at, and none of it changes anything.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterable, Mapping

from mcp_types import BlobResourceContents, TextResourceContents

from engine.view import ViewRequest
from presets.app import App
from presets.moment import Moment, Source
from presets.resource_adapters import MakeCompleters, MakeRead, ResourceAdapter
from protocol.completion import Completer, CompletionOutcome
from protocol.interaction import Interaction
from protocol.resource import ResourceOutcome, ResourceRead
from protocol.session import Audience

JSON = "application/json"

PROGRAM_URI = "space://programs/{id}"
"""Where the whole of a program is read."""


def resources() -> tuple[ResourceAdapter, ...]:
    """The adapters of every resource that the presets name."""
    return (
        ResourceAdapter(
            id="general.context",
            uri="space://context",
            name="context",
            title="Context",
            description="What the user is doing now: the facts, the overrides, and which presets are active and why.",
            mime_type=JSON,
            make_read=_json(lambda app, _: app.readings.context()),
            follows=frozenset({Source.CONTEXT, Source.PRESETS}),
            stamp=lambda moment, _: (moment.context, moment.resolution.signature),
        ),
        ResourceAdapter(
            id="general.view-png",
            uri="space://view.png",
            name="view.png",
            title="Picture of the surface",
            description="The current surface of the active world as a picture.",
            mime_type="image/png",
            make_read=_picture,
            follows=frozenset({Source.CONTEXT, Source.WORLD}),
            stamp=_view_stamp,
        ),
        ResourceAdapter(
            id="general.view-svg",
            uri="space://view.svg",
            name="view.svg",
            title="Drawing of the surface",
            description="The current surface of the active world as an SVG document.",
            mime_type="image/svg+xml",
            make_read=_document,
            follows=frozenset({Source.CONTEXT, Source.WORLD}),
            stamp=_view_stamp,
        ),
        ResourceAdapter(
            id="general.worlds",
            uri="space://worlds",
            name="worlds",
            title="Worlds",
            description="Every world: id, name, revision, and which is active.",
            mime_type=JSON,
            make_read=_json(_worlds),
            follows=frozenset({Source.WORLD}),
            stamp=lambda moment, _: moment.worlds,
        ),
        ResourceAdapter(
            id="general.world",
            uri="space://world/{id}",
            name="world",
            title="World",
            description="One world, and how much of what is in it.",
            mime_type=JSON,
            make_read=_json(lambda app, values: app.readings.world(values["id"])),
            follows=frozenset({Source.WORLD}),
            stamp=lambda moment, values: moment.world(values["id"]),
            make_completers=_completing(_world_ids),
        ),
        ResourceAdapter(
            id="general.presets",
            uri="space://presets",
            name="presets",
            title="Presets",
            description="Every preset: what it offers, when, at what risk, and whether it is active now.",
            mime_type=JSON,
            make_read=_json(_presets),
            follows=frozenset({Source.PRESETS}),
        ),
        ResourceAdapter(
            id="general.agents",
            uri="space://agents",
            name="agents",
            title="Agents",
            description="Every agent, in which form it has its tools, and why one cannot be used.",
            mime_type=JSON,
            make_read=_json(_agents),
            follows=frozenset({Source.AGENTS}),
        ),
        ResourceAdapter(
            id="general.agent",
            uri="space://agents/{id}",
            name="agent",
            title="Agent",
            description="One agent: the rows that it is composed of, and what its prompt is made of.",
            mime_type=JSON,
            make_read=_json(lambda app, values: app.readings.agent(values["id"])),
            follows=frozenset({Source.AGENTS}),
            stamp=lambda moment, values: moment.agents.get(values["id"]),
            make_completers=_completing(_agent_ids),
        ),
        ResourceAdapter(
            id="general.program",
            uri=PROGRAM_URI,
            name="program",
            title="Program",
            description="A program that was run: its text, its calls, and all that it printed and returned.",
            mime_type=JSON,
            # It follows nothing: whoever runs programs says when one has ended.
            make_read=_program,
            is_there=lambda app, audience, values: app.readings.has_program(values["id"], audience),
            make_completers=_completing(_program_ids),
        ),
    )


def complete_from(values: Iterable[str], typed: str) -> CompletionOutcome:
    """Those that begin with what was typed, in their order; where none does, those that hold it."""
    known = tuple(values)
    wanted = typed.casefold()
    fitting = tuple(value for value in known if value.casefold().startswith(wanted))
    return CompletionOutcome(fitting or tuple(value for value in known if wanted in value.casefold()))


async def agent_ids(app: App) -> tuple[str, ...]:
    """The ids of the agents that can be used."""
    return tuple(agent["id"] for agent in await app.readings.agents() if agent["usable"])


async def _worlds(app: App, values: Mapping[str, str]) -> object:
    return [
        {"id": each.id, "name": each.name, "active": each.active, "revision": each.revision}
        for each in await app.readings.worlds()
    ]


async def _presets(app: App, values: Mapping[str, str]) -> object:
    return [row.to_json() for row in (await app.readings.presets()).rows]


async def _agents(app: App, values: Mapping[str, str]) -> object:
    return list(await app.readings.agents())


async def _world_ids(app: App, audience: Audience) -> tuple[str, ...]:
    return tuple(world.id for world in await app.readings.worlds())


async def _agent_ids(app: App, audience: Audience) -> tuple[str, ...]:
    return await agent_ids(app)


async def _program_ids(app: App, audience: Audience) -> tuple[str, ...]:
    return tuple(program["id"] for program in await app.readings.programs(audience))


def _program(app: App, audience: Audience) -> ResourceRead:
    """A program is read by the agent that ran it: its text and output may hold what is kept from another one."""
    return _json(lambda app, values: app.readings.program(values["id"], audience))(app, audience)


def _json(value_of: Callable[[App, Mapping[str, str]], Awaitable[object]]) -> MakeRead:
    """Reads what can be written as JSON."""

    def make_read(app: App, audience: Audience) -> ResourceRead:
        async def read(uri: str, values: Mapping[str, str], call: Interaction) -> ResourceOutcome:
            text = json.dumps(await value_of(app, values), ensure_ascii=False, indent=2)
            return ResourceOutcome((TextResourceContents(uri=uri, mime_type=JSON, text=text),))

        return read

    return make_read


def _picture(app: App, audience: Audience) -> ResourceRead:
    async def read(uri: str, values: Mapping[str, str], call: Interaction) -> ResourceOutcome:
        view = await app.capture_view(ViewRequest())
        blob = b64encode(view.png).decode("ascii")
        return ResourceOutcome((BlobResourceContents(uri=uri, mime_type="image/png", blob=blob),))

    return read


def _document(app: App, audience: Audience) -> ResourceRead:
    async def read(uri: str, values: Mapping[str, str], call: Interaction) -> ResourceOutcome:
        svg = await app.readings.svg()
        return ResourceOutcome((TextResourceContents(uri=uri, mime_type="image/svg+xml", text=svg),))

    return read


def _view_stamp(moment: Moment, values: Mapping[str, str]) -> object:
    world, context = moment.active_world, moment.context
    return (world.id, world.revision, context.surface, context.activity, moment.theme)


def _completing(ids_of: Callable[[App, Audience], Awaitable[tuple[str, ...]]]) -> MakeCompleters:
    """Suggests values for `{id}`."""

    def make(app: App, audience: Audience) -> Mapping[str, Completer]:
        async def complete(typed: str, filled_in: Mapping[str, str]) -> CompletionOutcome:
            return complete_from(await ids_of(app, audience), typed)

        return {"id": complete}

    return make
