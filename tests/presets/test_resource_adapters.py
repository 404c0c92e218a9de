"""Resource adapters: what they become, what they refuse, and what a moment says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from engine.errors import ConflictError, InvalidArgumentError, NotFoundError
from presets.app import App
from presets.moment import Source
from presets.resource_adapters import (
    OfferedResource,
    OfferedTemplate,
    ResourceAdapter,
    resource_adapters,
    resource_for,
    stamp_of,
)
from presets.tool_labels import ToolLabels
from protocol.interaction import Interaction
from protocol.resource import ResourceNotFoundError, ResourceOutcome, ResourceRead
from protocol.session import Audience
from protocol.tool import ToolError
from tests.presets.item_samples import AnsweringCall, moment, resource
from tests.presets.samples import app

LABELS = ToolLabels("looking", "general")


async def text_of(definition: OfferedResource | OfferedTemplate, uri: str, **values: str) -> str:
    outcome = await definition.read(uri, values, AnsweringCall())
    return getattr(outcome.contents[0], "text", "")


async def test_an_adapter_becomes_a_resource_or_with_names_in_its_uri_a_template() -> None:
    plain = resource("a.plain", "test://plain").make(app(), LABELS, "us")
    many = resource("a.many", "test://many/{id}").make(app(), LABELS, "us")
    assert isinstance(plain, OfferedResource)
    assert isinstance(many, OfferedTemplate)
    assert (plain.key, plain.owner, plain.source, plain.labels) == ("test://plain", "us", "a.plain", LABELS)
    assert many.template.match("test://many/7") == {"id": "7"}
    assert await text_of(many, "test://many/7", id="7") == "a.many for everybody: {'id': '7'}"


async def test_a_resource_knows_for_whom_it_is_read_once_it_is_bound() -> None:
    bound = resource_for(resource("a.plain").make(app(), LABELS, "us"), Audience("code"))
    assert isinstance(bound, OfferedResource)
    assert await text_of(bound, bound.uri) == "a.plain for code: {}"


@pytest.mark.parametrize(
    ("adapter", "said"),
    [
        (resource("a.b", "context"), "needs a scheme, as 'space://'"),
        (resource("a.b", "test://{id}}"), "has a brace that belongs to no"),
        (resource("a.b", "test://{?q}"), "only plain {names} are"),
        (resource("", "test://x"), "needs an id"),
        (replace(resource("a.b"), make_completers=lambda app, who: {}), "only a template has names to complete"),
    ],
)
def test_an_adapter_that_says_nonsense_is_refused(adapter: ResourceAdapter, said: str) -> None:
    with pytest.raises(InvalidArgumentError) as refused:
        resource_adapters().register(adapter)
    assert said in str(refused.value)


def test_an_id_is_taken_once_and_free_again_when_it_is_given_back() -> None:
    registry = resource_adapters()
    first = resource("a.b")
    registry.register(first)
    with pytest.raises(InvalidArgumentError, match=r"resource adapter 'a\.b' is already registered"):
        registry.register(resource("a.b", "test://other"))
    assert registry.unregister("a.b") is first
    with pytest.raises(NotFoundError):
        registry.unregister("a.b")


@pytest.mark.parametrize(
    ("raised", "seen"),
    [(NotFoundError("no such world"), ResourceNotFoundError), (ConflictError("nothing to see"), ToolError)],
)
async def test_what_the_engine_refuses_is_told_as_readers_know_it(raised: Exception, seen: type[Exception]) -> None:
    def make_read(app: App, audience: Audience) -> ResourceRead:
        async def read(uri: str, values: Mapping[str, str], call: Interaction) -> ResourceOutcome:
            raise raised

        return read

    made = replace(resource("a.b"), make_read=make_read).make(app(), LABELS, "us")
    assert isinstance(made, OfferedResource)
    with pytest.raises(seen, match=str(raised)):
        await made.read("test://a.b", {}, AnsweringCall())


def test_a_resource_changes_with_the_sources_it_follows_and_with_no_other() -> None:
    made = resource("a.b", follows=(Source.PRESETS,)).make(app(), LABELS, "us")
    assert stamp_of(made, {}, moment(revision=1)) == stamp_of(made, {}, moment(revision=2))
    assert stamp_of(made, {}, moment(edits=1)) != stamp_of(made, {}, moment(edits=2))


def test_a_stamp_narrows_a_source_down_to_what_the_resource_is_made_of() -> None:
    made = resource(
        "a.b", "test://w/{id}", follows=(Source.WORLD,), stamp=lambda moment, values: moment.world(values["id"])
    ).make(app(), LABELS, "us")
    first, second = {"id": "world-1"}, {"id": "world-2"}
    assert stamp_of(made, first, moment(revision=1)) != stamp_of(made, first, moment(revision=2))
    assert stamp_of(made, second, moment(revision=1)) == stamp_of(made, second, moment(revision=2))
    assert stamp_of(made, {"id": "world-9"}, moment()) is None
