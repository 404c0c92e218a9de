"""The REST routes of runs: start one and follow it as lines of JSON, cancel it, read what is kept of it.

Owns paths, bodies and codes; see `transport.block_http` for errors. Holds no state. What keeps a run from asking a
model is a problem document; once a model is asked, all that happens is an event. A client that goes away ends the run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from quart import Blueprint, Response

from actors.blocks import UseBlocks
from actors.generation import Run
from actors.run_order import WRITER, RunOrder
from actors.space import Space
from blocks.model_resolution import NoModelError
from transport.block_http import block_blueprint, block_response, check_query, place_of
from transport.json_body import json_object, json_response
from transport.ndjson import ndjson_stream

_STORY = "/api/stories/<story>"


def generation_routes(space: Space) -> Blueprint:
    """Every route of runs."""
    routes = block_blueprint("generation")
    limits = space.options.limits
    generation = space.generation

    async def follow(story: str, agent: str) -> Response:
        check_query("branch")
        order = RunOrder.from_json(place_of(story), agent, await json_object(limits))
        run = generation.start(order)
        try:
            await run.begun()
            response = ndjson_stream(_events(run), run.cancel)
        except BaseException:
            run.cancel()
            raise
        response.headers["X-Run-Id"] = run.id
        return response

    @routes.post(f"{_STORY}/generate")
    async def generate(story: str) -> Response:
        return await follow(story, WRITER)

    @routes.post(f"{_STORY}/agent-blocks/<agent>/run")
    async def run_agent(story: str, agent: str) -> Response:
        return await follow(story, agent)

    @routes.get(f"{_STORY}/agent-blocks/<agent>/model")
    async def get_model(story: str, agent: str) -> Response:
        place = place_of(story)
        kept = await space.blocks.ask(UseBlocks(lambda store: store.stories.read(place.story)))
        space.block_prompts.story_agents.require(agent)
        return json_response(_model(space, agent, kept.result.value.settings))

    @routes.get(f"{_STORY}/active-agents")
    async def get_active(story: str) -> Response:
        return json_response([run.to_json() for run in generation.running(story)])

    @routes.get(f"{_STORY}/runs")
    async def get_runs(story: str) -> Response:
        running = [run.to_json() for run in generation.running(story)]
        kept = await generation.rows(story)
        rows = [dict(row) for row in kept.rows]
        return block_response({"running": running, "runs": rows}, set_aside=kept.set_aside)

    @routes.get(f"{_STORY}/runs/<run_id>")
    async def get_run(story: str, run_id: str) -> Response:
        return json_response(await generation.record(story, run_id))

    @routes.delete(f"{_STORY}/runs/<run_id>")
    async def cancel_run(story: str, run_id: str) -> Response:
        await generation.cancel(story, run_id)
        return json_response({"ok": True, "id": run_id})

    return routes


def _events(run: Run) -> Callable[[], Awaitable[Mapping[str, Any] | None]]:
    """The events of a run as JSON."""

    async def next_event() -> Mapping[str, Any] | None:
        event = await run.next_event()
        return None if event is None else event.to_json()

    return next_event


def _model(space: Space, agent: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What a run would ask, and why that; or why it could ask nothing."""
    try:
        model = space.generation.prompts.models.of(agent, settings)
    except NoModelError as error:
        return {
            "chain": list(error.chain),
            "tried": [{"place": one.place, "lacked": one.lacked} for one in error.tried],
            "error": str(error),
        }
    return {
        "providerId": model.provider_id,
        "providerName": model.provider.name,
        "modelId": model.model_id,
        "temperature": model.temperature,
        "foundIn": model.found_in,
        "source": model.source,
        "passedOver": [str(one) for one in model.passed_over],
        "error": None,
    }
