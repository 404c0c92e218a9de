"""The REST routes of the user's providers of models: list, add, change, delete, choose the default, try out.

Owns paths, bodies and codes; see `transport.block_http` for errors. Holds no state. A key comes in and never goes out.
"""

from __future__ import annotations

import trio
from quart import Blueprint, Response

from actors.model_client import ModelEndpoint, ProviderError
from actors.provider_book import ProviderRow
from actors.providers import ChooseDefaultProvider, DeleteProvider, ProvidersView, PutProvider, ReadProviders
from actors.space import Space
from blocks.model_role import MODEL_ROLES
from engine.errors import ConflictError, InvalidArgumentError, NotFoundError
from transport.block_http import block_blueprint
from transport.json_body import json_object, json_response

TRIAL_SECONDS = 20.0
"""How long a provider may take to list its models when somebody tries it out: a person waits for that."""

_ALL = "/api/providers"


def provider_routes(space: Space) -> Blueprint:
    """Every route of providers."""
    routes = block_blueprint("providers")
    limits = space.options.limits

    @routes.get(_ALL)
    async def get_providers() -> Response:
        return _shown(await space.providers.ask(ReadProviders()))

    @routes.put(_ALL)
    async def put_default() -> Response:
        body = await json_object(limits)
        chosen = body.get("defaultProviderId", 0)
        if set(body) != {"defaultProviderId"} or not (chosen is None or isinstance(chosen, str)):
            raise InvalidArgumentError(
                'the body must be {"defaultProviderId": "…"}, or null for none; a provider goes to its own path'
            )
        return _shown(await space.providers.ask(ChooseDefaultProvider(chosen)))

    @routes.put(f"{_ALL}/<provider_id>")
    async def put_provider(provider_id: str) -> Response:
        body = await json_object(limits)
        known = {row.id for row in (await space.providers.ask(ReadProviders())).rows}
        row = await space.providers.ask(PutProvider(provider_id, body))
        return json_response(row.to_json(), 200 if provider_id in known else 201)

    @routes.get(f"{_ALL}/<provider_id>")
    async def get_provider(provider_id: str) -> Response:
        return json_response((await _row(space, provider_id)).to_json())

    @routes.delete(f"{_ALL}/<provider_id>")
    async def delete_provider(provider_id: str) -> Response:
        return json_response((await space.providers.ask(DeleteProvider(provider_id))).to_json())

    @routes.post(f"{_ALL}/<provider_id>/test")
    async def test_provider(provider_id: str) -> Response:
        """The provider's word is a result, also where it refuses."""
        endpoint = await _endpoint(space, provider_id)
        started = trio.current_time()
        models: tuple[str, ...] = ()
        error: str | None = f"provider {provider_id!r} gave no answer within {TRIAL_SECONDS:g} s"
        with trio.move_on_after(TRIAL_SECONDS):
            try:
                models, error = await space.generation.client.models(endpoint), None
            except ProviderError as refusal:
                error = str(refusal)
        seconds = round(trio.current_time() - started, 3)
        return json_response({"ok": error is None, "models": list(models), "error": error, "seconds": seconds})

    @routes.get("/api/model-roles")
    async def get_roles() -> Response:
        return json_response(
            [{"key": role.key, "label": role.label, "description": role.description} for role in MODEL_ROLES]
        )

    return routes


async def _endpoint(space: Space, provider_id: str) -> ModelEndpoint:
    """Where a provider is asked; a disabled one may be tried out too. Raises for one that cannot be used."""
    provider = next((one for one in space.providers.providers.value.providers if one.id == provider_id), None)
    if provider is not None:
        return ModelEndpoint.of(provider)
    row = await _row(space, provider_id)
    raise ConflictError(f"provider {provider_id!r} is not valid: {row.fault}")


async def _row(space: Space, provider_id: str) -> ProviderRow:
    rows = (await space.providers.ask(ReadProviders())).rows
    row = next((row for row in rows if row.id == provider_id), None)
    if row is None:
        known = ", ".join(repr(row.id) for row in rows) or "none"
        raise NotFoundError(f"there is no provider {provider_id[:80]!r}; there are: {known}")
    return row


def _shown(view: ProvidersView) -> Response:
    rows = [row.to_json() for row in view.rows]
    return json_response({"providers": rows, "defaultProviderId": view.default_id, "reports": list(view.reports)})
