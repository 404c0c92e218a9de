"""The rules for requests that both generations know: tools, resources, prompts and completion.

Owns the functions from a request to a decision; which generation knows which is in the tables beside this.
Source: MCP specification, server/tools, server/resources, server/prompts and server/utilities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from pydantic_core import to_json

from protocol.answers import error_reply
from protocol.client_capabilities import TASKS_EXTENSION, Capability
from protocol.completion import Completer, CompletionOutcome, PreparedCompletion, completion_members
from protocol.decision import (
    CallTool,
    Complete,
    GetPrompt,
    HiddenOrUnknownTool,
    ItemDecision,
    ReadResource,
    RefusedCall,
    Reply,
)
from protocol.jsonrpc import Request, RequestId, encode, json_type
from protocol.pages import page
from protocol.prepared_call import InvalidArguments, UnknownTool, prepare_call
from protocol.prompt import prepare_prompt
from protocol.prompt_list import EMPTY_PROMPT_LIST
from protocol.resource_list import EMPTY_RESOURCE_LIST
from protocol.result import error_result
from protocol.scene import Scene, invalid_params, object_param, progress_token, text_param
from protocol.schema import closest, preview
from protocol.tool import JsonObject, TaskSupport


def list_tools(request: Request, scene: Scene) -> ItemDecision:
    """All tools at once, as most clients expect; in pages only where there are very many."""
    tools = scene.offer.tools
    if len(tools) <= scene.limits.tools_per_page and request.params.get("cursor") is None:
        return scene.result(request, b'{"tools":%b}' % tools.wire(scene.revision.version))
    return _page(request, scene, "tools", "tools", tools.names, scene.limits.tools_per_page, tools.wire_part)


def call_tool(request: Request, scene: Scene) -> ItemDecision:
    """Arguments are checked here, so that only calls that can run are handed on."""
    asked = _named(request, scene, "the name of a tool")
    if isinstance(asked, Reply):
        return asked
    name, arguments, token = asked
    call = prepare_call(scene.offer.tools, name, arguments)
    if isinstance(call, UnknownTool):
        return HiddenOrUnknownTool(request.id, call, scene.stateless, arguments)
    if isinstance(call, InvalidArguments):
        # A result and no error: the model sees it and mends its call.
        return _refused(request, scene, name, arguments, str(call))
    support = call.entry.definition.task_support
    knows_tasks = scene.offer.tasks and scene.stateless is not None and Capability.TASKS in scene.stateless.client
    if support is TaskSupport.REQUIRED and not knows_tasks:
        reason = f"{name} goes on as a task, and this client knows none; it needs the extension {TASKS_EXTENSION}"
        return _refused(request, scene, name, arguments, reason)
    may_become_task = knows_tasks and support is not TaskSupport.FORBIDDEN
    return CallTool(request.id, scene.session_id, scene.revision.version, call, token, scene.stateless, may_become_task)


def _refused(request: Request, scene: Scene, name: str, arguments: JsonObject, reason: str) -> Reply:
    refused = RefusedCall(name, arguments, reason, scene.stateless)
    return replace(scene.result(request, error_result(reason)), refused=refused)


def list_resources(request: Request, scene: Scene) -> ItemDecision:
    """The resources in pages."""
    listed = scene.offer.resources or EMPTY_RESOURCE_LIST
    size = scene.limits.items_per_page
    return _page(request, scene, "resources", "resources", listed.uris, size, listed.wire_resources)


def list_templates(request: Request, scene: Scene) -> ItemDecision:
    """The templates in pages."""
    listed = scene.offer.resources or EMPTY_RESOURCE_LIST
    size = scene.limits.items_per_page
    return _page(request, scene, "templates", "resourceTemplates", listed.template_texts, size, listed.wire_templates)


def read_resource(request: Request, scene: Scene) -> ItemDecision:
    """A resource by its uri, whether it is listed or described by a template."""
    uri = uri_param(request, scene)
    if isinstance(uri, Reply):
        return uri
    token = progress_token(request, scene.limits)
    if isinstance(token, Reply):
        return token
    prepared = (scene.offer.resources or EMPTY_RESOURCE_LIST).prepare(uri)
    if prepared is None:
        return missing_resource(request, uri, scene)
    return ReadResource(
        request_id=request.id,
        session_id=scene.session_id,
        version=scene.revision.version,
        read=prepared,
        progress_token=token,
        stateless=scene.stateless,
    )


def uri_param(request: Request, scene: Scene) -> str | Reply:
    """The uri in the params."""
    uri = text_param(request, "uri", "the uri of a resource")
    if isinstance(uri, str) and len(uri) > scene.limits.uri_chars:
        return invalid_params(request, f"params.uri has {len(uri)} characters; the most is {scene.limits.uri_chars}")
    return uri


def missing_resource(request: Request, uri: str, scene: Scene) -> Reply:
    """The answer about a resource that does not exist. Its code is another one in each generation."""
    return missing_resource_error(request.id, uri, scene.revision.missing_resource)


def missing_resource_error(request_id: RequestId, uri: str, code: int) -> Reply:
    """As `missing_resource`, for when the request is gone."""
    reason = f"no resource has the uri {preview(uri)}; the lists of resources and of templates name those that exist"
    return error_reply(request_id, code, reason, data={"uri": uri})


def list_prompts(request: Request, scene: Scene) -> ItemDecision:
    """The prompts in pages."""
    listed = scene.offer.prompts or EMPTY_PROMPT_LIST
    return _page(request, scene, "prompts", "prompts", listed.names, scene.limits.items_per_page, listed.wire)


def get_prompt(request: Request, scene: Scene) -> ItemDecision:
    """A prompt by its name, with arguments that it takes."""
    asked = _named(request, scene, "the name of a prompt")
    if isinstance(asked, Reply):
        return asked
    name, arguments, token = asked
    listed = scene.offer.prompts or EMPTY_PROMPT_LIST
    definition = listed.get(name)
    if definition is None:
        return invalid_params(request, _unknown("prompt", name, listed.names))
    prompt = prepare_prompt(definition, arguments)
    if isinstance(prompt, str):
        return invalid_params(request, prompt)
    return GetPrompt(
        request_id=request.id,
        session_id=scene.session_id,
        version=scene.revision.version,
        prompt=prompt,
        progress_token=token,
        stateless=scene.stateless,
    )


def complete(request: Request, scene: Scene) -> ItemDecision:
    """Suggestions for one argument of a prompt, or one name of a template; none where nobody suggests any."""
    reference, argument = object_param(request, "ref"), object_param(request, "argument")
    context = object_param(request, "context")
    for part in (reference, argument, context):
        if isinstance(part, Reply):
            return part
    assert not isinstance(reference, Reply)  # noqa: S101 - the loop has seen to it; for the type checker
    assert not isinstance(argument, Reply)  # noqa: S101
    assert not isinstance(context, Reply)  # noqa: S101
    name, value = argument.get("name"), argument.get("value")
    if not isinstance(name, str) or not isinstance(value, str):
        return invalid_params(request, "params.argument must have a name and a value, which are strings")
    filled: object = context.get("arguments", {})
    if not isinstance(filled, Mapping):
        return invalid_params(request, f"params.context.arguments must be an object, not {json_type(filled)}")
    given = cast("Mapping[str, object]", filled)
    if not all(isinstance(text, str) for text in given.values()):
        return invalid_params(request, "params.context.arguments must hold strings only")
    found = _completer(request, reference, name, scene)
    if isinstance(found, Reply):
        return found
    if found is None:
        nothing = encode({"completion": completion_members(CompletionOutcome(()))})
        return scene.result(request, nothing)
    return Complete(
        request_id=request.id,
        session_id=scene.session_id,
        version=scene.revision.version,
        completion=PreparedCompletion(found, name, value, cast("Mapping[str, str]", given)),
        stateless=scene.stateless,
    )


def _completer(request: Request, reference: JsonObject, name: str, scene: Scene) -> Completer | Reply | None:
    """Who completes that argument; None for nobody."""
    kind = reference.get("type")
    if kind == "ref/prompt":
        prompts = scene.offer.prompts or EMPTY_PROMPT_LIST
        prompt_name: object = reference.get("name")
        prompt = prompts.get(prompt_name) if isinstance(prompt_name, str) else None
        if prompt is None:
            return invalid_params(request, _unknown("prompt", prompt_name, prompts.names))
        argument = prompt.argument(name)
        known = tuple(each.name for each in prompt.arguments)
        return _no_such_argument(request, name, known) if argument is None else argument.completer
    if kind == "ref/resource":
        resources = scene.offer.resources or EMPTY_RESOURCE_LIST
        uri: object = reference.get("uri")
        template = resources.templates.by_key.get(uri) if isinstance(uri, str) else None
        if template is not None:
            if name not in template.template.names:
                return _no_such_argument(request, name, template.template.names)
            return template.completers.get(name)
        if isinstance(uri, str) and uri in resources.resources.by_key:
            return None
        return invalid_params(request, _unknown("resource template", uri, resources.template_texts))
    return invalid_params(request, f"params.ref.type must be ref/prompt or ref/resource; it is {preview(kind)}")


def _no_such_argument(request: Request, name: str, known: Sequence[str]) -> Reply:
    shown = ", ".join(known)
    return invalid_params(
        request, f"{_unknown('argument', name, known)}; " + (f"these are: {shown}" if known else "it has none")
    )


def _unknown(what: str, name: object, known: Sequence[str]) -> str:
    meant = closest(name, known) if isinstance(name, str) else None
    return f"there is no {what} {preview(name)}" + ("" if meant is None else f"; did you mean {preview(meant)}?")


def _page(
    request: Request,
    scene: Scene,
    kind: str,
    member: str,
    keys: Sequence[str],
    size: int,
    wire: Callable[[str, int, int], bytes],
) -> Reply:
    cursor: object = request.params.get("cursor")
    found = page(kind, keys, cursor, size)
    if found is None:
        return invalid_params(
            request, f"cursor {preview(cursor)} names no page; leave it out for the first one, or send a nextCursor"
        )
    more = b"" if found.next_cursor is None else b',"nextCursor":%b' % to_json(found.next_cursor)
    items = wire(scene.revision.version, found.start, found.stop)
    return scene.result(request, b'{"%b":%b%b}' % (member.encode(), items, more))


def _named(request: Request, scene: Scene, what: str) -> tuple[str, JsonObject, RequestId | None] | Reply:
    """Name, arguments and progress token of a request that calls something by its name; or what is wrong with them."""
    name = text_param(request, "name", what)
    if isinstance(name, Reply):
        return name
    arguments = object_param(request, "arguments")
    if isinstance(arguments, Reply):
        return arguments
    token = progress_token(request, scene.limits)
    return token if isinstance(token, Reply) else (name, arguments, token)
