"""The REST routes of stories, their branches and their fragments: make, read, change, order, archive.

Owns paths, bodies and codes; see `transport.block_http` for revisions and errors. Holds no state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from quart import Blueprint, Response, request

from actors.blocks import OnDisk, UseBlocks
from actors.long_story_changes import create_branch, set_order
from actors.space import Space
from blocks.fragment import Fragment
from blocks.store.block_store import BlockStore
from blocks.store.documents import SetAside, Versioned
from blocks.store.story_files import BranchIndex
from blocks.story import StoryMeta
from engine.errors import InvalidArgumentError
from transport.block_http import (
    base_revisions,
    block_blueprint,
    block_response,
    check_query,
    flag_of,
    place_of,
)
from transport.json_body import json_object

ResultT = TypeVar("ResultT")

_STORY = "/api/stories/<story>"
_FRAGMENT = f"{_STORY}/fragments/<fragment>"


def story_routes(space: Space) -> Blueprint:
    """Every route of stories, branches and fragments."""
    routes = block_blueprint("stories")
    limits = space.options.limits

    async def use(work: Callable[[BlockStore], ResultT]) -> OnDisk[ResultT]:
        return await space.blocks.ask(UseBlocks(work))

    @routes.get("/api/stories")
    async def get_stories() -> Response:
        check_query("archived")
        archived = flag_of("archived") or False
        done = await use(lambda store: store.stories.list(archived=archived))
        return block_response({"stories": [_with_revision(one) for one in done.result]}, set_aside=done.set_aside)

    @routes.post("/api/stories")
    async def post_story() -> Response:
        body = await json_object(limits)
        return _one(await use(lambda store: store.stories.create(body)), 201)

    @routes.get(_STORY)
    async def get_story(story: str) -> Response:
        return _one(await use(lambda store: store.stories.read(story)))

    @routes.patch(_STORY)
    async def patch_story(story: str) -> Response:
        body, base = await json_object(limits), base_revisions()
        return _one(await use(lambda store: store.stories.update(story, body, base)))

    @routes.patch(f"{_STORY}/settings")
    async def patch_settings(story: str) -> Response:
        body, base = await json_object(limits), base_revisions()
        return _one(await use(lambda store: store.stories.update_settings(story, body, base)))

    @routes.post(f"{_STORY}/archive")
    async def archive_story(story: str) -> Response:
        base = base_revisions()
        return _one(await use(lambda store: store.stories.archive(story, base)))

    @routes.post(f"{_STORY}/restore")
    async def restore_story(story: str) -> Response:
        return _one(await use(lambda store: store.stories.restore(story)))

    @routes.get(f"{_STORY}/branches")
    async def get_branches(story: str) -> Response:
        return _branches(await use(lambda store: store.stories.branches(story)))

    @routes.post(f"{_STORY}/branches")
    async def post_branch(story: str) -> Response:
        body = await json_object(limits)
        done = await create_branch(space.blocks, story, body)
        return block_response(done.result.to_json(), set_aside=done.set_aside, status=201)

    @routes.put(f"{_STORY}/branches/active")
    async def put_active_branch(story: str) -> Response:
        body = await json_object(limits)
        return _branches(await use(lambda store: store.stories.switch_branch(story, body)))

    @routes.patch(f"{_STORY}/branches/<branch>")
    async def patch_branch(story: str, branch: str) -> Response:
        body = await json_object(limits)
        done = await use(lambda store: store.stories.rename_branch(story, branch, body))
        return block_response(done.result.to_json(), set_aside=done.set_aside)

    @routes.delete(f"{_STORY}/branches/<branch>")
    async def delete_branch(story: str, branch: str) -> Response:
        body = await json_object(limits)
        done = await use(lambda store: store.stories.delete_branch(story, branch, body))
        return block_response(done.result.to_json(), set_aside=done.set_aside)

    @routes.get(f"{_STORY}/fragments")
    async def get_fragments(story: str) -> Response:
        check_query("branch", "type", "tag", "archived", "sticky")
        place, archived, sticky = place_of(story), flag_of("archived") or False, flag_of("sticky")
        kind, tag = request.args.get("type"), request.args.get("tag")
        done = await use(lambda store: store.fragments.list(place))
        rows = [
            {name: value for name, value in _with_revision(one).items() if name != "versions"}
            for one in done.result
            if one.value.archived == archived
            and kind in (None, one.value.type)
            and (tag is None or tag in one.value.tags)
            and sticky in (None, one.value.sticky)
        ]
        return block_response({"fragments": rows}, set_aside=done.set_aside)

    @routes.post(f"{_STORY}/fragments")
    async def post_fragment(story: str) -> Response:
        body, place = await json_object(limits), place_of(story)
        return _one(await use(lambda store: store.fragments.create(place, body)), 201)

    @routes.put(f"{_STORY}/fragments/order")
    async def put_order(story: str) -> Response:
        ids, place = _ids(await json_object(limits)), place_of(story)
        done = await set_order(space.blocks, place, ids)
        rows = [{"id": one.value.id, "order": one.value.order, "revision": one.revision} for one in done.result]
        return block_response({"fragments": rows}, set_aside=done.set_aside)

    @routes.get(_FRAGMENT)
    async def get_fragment(story: str, fragment: str) -> Response:
        place = place_of(story)
        return _one(await use(lambda store: store.fragments.read(place, fragment)))

    @routes.patch(_FRAGMENT)
    async def patch_fragment(story: str, fragment: str) -> Response:
        body, place, base = await json_object(limits), place_of(story), base_revisions()
        return _one(await use(lambda store: store.fragments.update(place, fragment, body, base)))

    @routes.delete(_FRAGMENT)
    async def delete_fragment(story: str, fragment: str) -> Response:
        place, base = place_of(story), base_revisions()
        return _one(await use(lambda store: store.fragments.delete(place, fragment, base)))

    @routes.post(f"{_FRAGMENT}/archive")
    async def archive_fragment(story: str, fragment: str) -> Response:
        place, base = place_of(story), base_revisions()
        return _one(await use(lambda store: store.fragments.set_archived(place, fragment, True, base)))

    @routes.post(f"{_FRAGMENT}/restore")
    async def restore_fragment(story: str, fragment: str) -> Response:
        place, base = place_of(story), base_revisions()
        return _one(await use(lambda store: store.fragments.set_archived(place, fragment, False, base)))

    @routes.get(f"{_FRAGMENT}/tags")
    async def get_tags(story: str, fragment: str) -> Response:
        place = place_of(story)
        return _tags(await use(lambda store: store.fragments.read(place, fragment)))

    @routes.post(f"{_FRAGMENT}/tags")
    async def post_tag(story: str, fragment: str) -> Response:
        tag, place, base = _tag(await json_object(limits)), place_of(story), base_revisions()
        return _tags(await use(lambda store: store.fragments.add_tag(place, fragment, tag, base)))

    @routes.delete(f"{_FRAGMENT}/tags/<path:tag>")
    async def delete_tag(story: str, fragment: str, tag: str) -> Response:
        place, base = place_of(story), base_revisions()
        return _tags(await use(lambda store: store.fragments.remove_tag(place, fragment, tag, base)))

    return routes


def _with_revision(one: Versioned[StoryMeta] | Versioned[Fragment]) -> dict[str, Any]:
    return {**one.value.to_json(), "revision": one.revision}


def _one(done: OnDisk[Versioned[StoryMeta]] | OnDisk[Versioned[Fragment]], status: int = 200) -> Response:
    one = done.result
    return block_response(_with_revision(one), revision=one.revision, set_aside=done.set_aside, status=status)


def _branches(done: OnDisk[Versioned[BranchIndex]]) -> Response:
    set_aside: tuple[SetAside, ...] = done.set_aside
    return block_response(done.result.value.to_json(), revision=done.result.revision, set_aside=set_aside)


def _tags(done: OnDisk[Versioned[Fragment]]) -> Response:
    one = done.result
    return block_response({"tags": list(one.value.tags)}, revision=one.revision, set_aside=done.set_aside)


def _tag(body: dict[str, Any]) -> str:
    tag = body.get("tag")
    if not isinstance(tag, str) or set(body) != {"tag"}:
        raise InvalidArgumentError('the body must be {"tag": "…"}, with the tag as a text')
    return tag


def _ids(body: dict[str, Any]) -> list[str]:
    ids: object = body.get("ids")
    if set(body) == {"ids"} and isinstance(ids, list):
        texts = [one for one in ids if isinstance(one, str)]  # pyright: ignore[reportUnknownVariableType]
        if len(texts) == len(ids):  # pyright: ignore[reportUnknownArgumentType]
            return texts
    raise InvalidArgumentError('the body must be {"ids": ["pr-…", "pr-…"]}, the ids of fragments in their new order')
