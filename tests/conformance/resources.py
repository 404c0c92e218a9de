"""The suite's resources, as adapters."""

from __future__ import annotations

import json
from collections.abc import Mapping

from mcp_types import BlobResourceContents, TextResourceContents

from presets.app import App
from presets.resource_adapters import ResourceAdapter
from protocol.interaction import Interaction
from protocol.resource import ResourceOutcome, ResourceRead
from protocol.session import Audience
from tests.conformance.adapting import PIXEL


def adapters() -> tuple[ResourceAdapter, ...]:
    """The resources of the suite."""
    return (
        _resource("static-text", "test://static-text", "text/plain", _text),
        _resource("static-binary", "test://static-binary", "image/png", _picture),
        _resource("watched-resource", "test://watched-resource", "text/plain", _text),
        _resource("template", "test://template/{id}/data", "application/json", _data),
    )


def _resource(name: str, uri: str, mime_type: str, read: ResourceRead) -> ResourceAdapter:
    def make_read(app: App, audience: Audience) -> ResourceRead:
        return read

    return ResourceAdapter(
        id=f"conformance.{name}",
        uri=uri,
        name=name,
        make_read=make_read,
        description=f"The resource {name} of the suite.",
        mime_type=mime_type,
    )


async def _text(uri: str, values: Mapping[str, str], call: Interaction) -> ResourceOutcome:
    text = "This is the content of a static text resource."
    return ResourceOutcome((TextResourceContents(uri=uri, mime_type="text/plain", text=text),))


async def _picture(uri: str, values: Mapping[str, str], call: Interaction) -> ResourceOutcome:
    return ResourceOutcome((BlobResourceContents(uri=uri, mime_type="image/png", blob=PIXEL),))


async def _data(uri: str, values: Mapping[str, str], call: Interaction) -> ResourceOutcome:
    text = json.dumps({"id": values["id"], "data": f"Data for ID: {values['id']}"})
    return ResourceOutcome((TextResourceContents(uri=uri, mime_type="application/json", text=text),))
