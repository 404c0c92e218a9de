"""What is asked without a session, and what becomes of it (2026-07-28).

Owns the table of methods, the description of the server, and what is read from a request beside its method: answers
and the sealed state that its client brings back. Source: MCP specification 2026-07-28.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import cast

from protocol.answers import Answers
from protocol.cache_hint import DEFAULT_HINTS, CacheHint
from protocol.decision import Accepted, CancelTask, Decision, GetTask, Listen, Reply, UpdateTask
from protocol.feature_rules import (
    call_tool,
    complete,
    get_prompt,
    list_prompts,
    list_resources,
    list_templates,
    list_tools,
    read_resource,
)
from protocol.http_facts import HttpFacts
from protocol.jsonrpc import Message, Notification, ParseFault, Request, encodable, encode, json_type
from protocol.ladder import TASK_METHODS, climb
from protocol.limits import Limits
from protocol.offer import Offer, capabilities
from protocol.request_state import StateBinding, StateFault, StateSealer
from protocol.scene import Rule, Scene, invalid_params, text_param
from protocol.schema import preview
from protocol.stateless_facts import Claims, StatelessFacts
from protocol.subscription import read_filter
from protocol.versions import REVISIONS, STATELESS_VERSIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Stateless:
    """What it takes to serve clients that know no sessions.

    `sealer` seals the states that they bring back. `hints` say for each method how long its answer may be kept.
    """

    sealer: StateSealer
    hints: Mapping[str, CacheHint] = field(default_factory=lambda: DEFAULT_HINTS)


def decide_stateless(
    facts: HttpFacts,
    message: Message | ParseFault,
    offer: Offer,
    served: Stateless,
    answers: Answers,
    limits: Limits,
) -> Decision:
    """What to do about a POST that names no session, or whose session is not looked at."""
    rules = served_rules(offer)
    climbed = climb(facts, message, rules, offer)
    if isinstance(climbed, Reply):
        return climbed
    if isinstance(climbed, Notification):
        # None is defined for clients. What cancels a request is that its client goes away.
        return Accepted()
    request, claims = climbed
    sender = _sender(request, claims, facts, served.sealer)
    if isinstance(sender, Reply):
        return sender
    revision = REVISIONS[claims.version]
    scene = Scene(offer=offer, revision=revision, limits=limits, answers=answers, hints=served.hints, stateless=sender)
    return rules[request.method](request, scene)


def served_rules(offer: Offer) -> Mapping[str, Rule]:
    """The methods that are answered with that offer."""
    return _served(offer.resources is not None, offer.prompts is not None, offer.completions, offer.tasks)


@cache
def _served(resources: bool, prompts: bool, completions: bool, tasks: bool) -> Mapping[str, Rule]:
    # Asked for each request, and there are sixteen answers in all.
    missing: set[str] = set()
    if not resources:
        missing |= {"resources/list", "resources/templates/list", "resources/read"}
    if not prompts:
        missing |= {"prompts/list", "prompts/get"}
    if not completions:
        missing.add("completion/complete")
    if not tasks:
        missing |= TASK_METHODS
    return MappingProxyType({method: rule for method, rule in _REQUESTS.items() if method not in missing})


def principal_of(facts: HttpFacts) -> str:
    """Whose a state or a task is: the credential, at the endpoint of one agent."""
    return f"{facts.principal}\n{facts.agent}"


def _sender(request: Request, claims: Claims, facts: HttpFacts, sealer: StateSealer) -> StatelessFacts | Reply:
    binding = StateBinding(request.method, request.params, principal_of(facts))
    given: Mapping[str, object] = {}
    state: object = None
    if request.method in ASKING_METHODS:
        found = _answers(request)
        if isinstance(found, Reply):
            return found
        given = found
        sealed: object = request.params.get("requestState")
        if sealed is not None and not isinstance(sealed, str):
            return invalid_params(request, f"params.requestState must be a string, not {json_type(sealed)}")
        if sealed is not None:
            opened = sealer.open(sealed, binding)
            if isinstance(opened, StateFault):
                return invalid_params(request, f"requestState is refused: {opened.reason}")
            state = opened.value
    return StatelessFacts(
        version=claims.version,
        client=claims.client,
        client_name=claims.client_name,
        client_version=claims.client_version,
        log_level=claims.log_level,
        answers=given,
        state=state,
        binding=binding,
        trace=claims.trace,
    )


def _answers(request: Request) -> Mapping[str, object] | Reply:
    value: object = request.params.get("inputResponses")
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        return invalid_params(request, f"params.inputResponses must be an object, not {json_type(value)}")
    answers = cast("Mapping[str, object]", value)
    for key, answer in answers.items():
        if not isinstance(answer, Mapping):
            reason = f"the answer to {preview(key)} must be an object, not {json_type(answer)}"
            return invalid_params(request, f"params.inputResponses: {reason}")
    return answers


def _discover(request: Request, scene: Scene) -> Decision:
    found: dict[str, object] = {
        "supportedVersions": list(STATELESS_VERSIONS),
        "capabilities": capabilities(scene.offer, scene.revision),
    }
    if scene.offer.instructions:
        found["instructions"] = encodable(scene.offer.instructions)
    return scene.result(request, encode(found))


def _listen(request: Request, scene: Scene) -> Decision:
    asked = read_filter(request.params, scene.limits)
    if isinstance(asked, str):
        return invalid_params(request, asked)
    return Listen(request.id, scene.revision.version, asked.honoured(scene.offer), _stateless(scene))


def _get_task(request: Request, scene: Scene) -> Decision:
    task_id = text_param(request, "taskId", "the id of a task")
    return task_id if isinstance(task_id, Reply) else GetTask(request.id, task_id, _stateless(scene))


def _cancel_task(request: Request, scene: Scene) -> Decision:
    task_id = text_param(request, "taskId", "the id of a task")
    return task_id if isinstance(task_id, Reply) else CancelTask(request.id, task_id, _stateless(scene))


def _update_task(request: Request, scene: Scene) -> Decision:
    task_id = text_param(request, "taskId", "the id of a task")
    if isinstance(task_id, Reply):
        return task_id
    answers = _answers(request)
    return answers if isinstance(answers, Reply) else UpdateTask(request.id, task_id, answers, _stateless(scene))


def _stateless(scene: Scene) -> StatelessFacts:
    if scene.stateless is None:
        raise ValueError("a rule of the stateless generation was asked in a session")
    return scene.stateless


ASKING_METHODS = frozenset({"tools/call", "prompts/get", "resources/read"})
"""The methods that may be answered with questions, and whose requests may bring answers and a state."""

_REQUESTS: Mapping[str, Rule] = MappingProxyType(
    {
        "server/discover": _discover,
        "tools/list": list_tools,
        "tools/call": call_tool,
        "resources/list": list_resources,
        "resources/templates/list": list_templates,
        "resources/read": read_resource,
        "prompts/list": list_prompts,
        "prompts/get": get_prompt,
        "completion/complete": complete,
        "subscriptions/listen": _listen,
        "tasks/get": _get_task,
        "tasks/update": _update_task,
        "tasks/cancel": _cancel_task,
    }
)
"""What can be asked. A method that is missing here is answered with 404 and -32601, and no capability declares it."""
