"""Small resources, prompts, moments and a call whose client answers, for the tests of what is no tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from mcp_types import TextResourceContents

from engine.engine import WorldInfo
from presets.app import App
from presets.definition import DefaultState, PresetDefinition, Risk
from presets.interactions import UnattendedCall
from presets.moment import Moment, Source
from presets.prompt_adapters import PromptAdapter, text_message
from presets.resolution import Resolution
from presets.resource_adapters import ResourceAdapter, Stamp
from protocol.client_capabilities import Capability, ClientCapabilities
from protocol.input_request import ElicitAnswer, InputRequest, InputRequired, InputResponse
from protocol.interaction import InputNeededError, Interaction
from protocol.prompt import PromptOutcome, PromptRun
from protocol.resource import ResourceOutcome, ResourceRead
from protocol.session import Audience
from tests.presets.samples import ANYWHERE, DRAWING

THEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def resource(
    item_id: str,
    uri: str | None = None,
    *,
    follows: Sequence[Source] = (),
    stamp: Stamp | None = None,
    name: str | None = None,
) -> ResourceAdapter:
    """A resource whose text says who reads what."""

    def make_read(app: App, audience: Audience) -> ResourceRead:
        async def read(uri: str, values: Mapping[str, str], call: Interaction) -> ResourceOutcome:
            text = f"{item_id} for {audience.agent or 'everybody'}: {dict(values)}"
            return ResourceOutcome((TextResourceContents(uri=uri, mime_type="text/plain", text=text),))

        return read

    return ResourceAdapter(
        id=item_id,
        uri=uri or f"test://{item_id}",
        name=name or item_id,
        make_read=make_read,
        follows=frozenset(follows),
        stamp=stamp,
    )


def prompt(item_id: str, name: str | None = None) -> PromptAdapter:
    """A prompt that says whose it is."""

    def make_run(app: App, audience: Audience) -> PromptRun:
        async def run(arguments: Mapping[str, str], call: Interaction) -> PromptOutcome:
            return PromptOutcome((text_message(f"{item_id} for {audience.agent or 'everybody'}"),))

        return run

    return PromptAdapter(id=item_id, name=name or item_id, make_run=make_run)


def item_preset(
    name: str,
    *,
    resources: Sequence[str] = (),
    prompts: Sequence[str] = (),
    tools: Sequence[str] = (),
    contexts: Sequence[Mapping[str, str]] = (ANYWHERE,),  # pyright: ignore[reportArgumentType] - facts of text only
    risk: Risk = Risk.NORMAL,
    group: str | None = None,
    system_prompt: str | None = None,
) -> PresetDefinition:
    """A preset of whatever kinds."""
    return PresetDefinition(
        name=name,
        group=group,
        default_state=DefaultState.AUTO,
        risk=risk,
        contexts=tuple(contexts),
        tool_ids=tuple(tools),
        resource_ids=tuple(resources),
        prompt_ids=tuple(prompts),
        system_prompt=system_prompt,
    )


def world(number: int = 1, revision: int = 0, *, active: bool = True) -> WorldInfo:
    return WorldInfo(id=f"world-{number}", name=f"w{number}", active=active, revision=revision, created_at=THEN)


def moment(revision: int = 0, *, edits: int = 0) -> Moment:
    """Two worlds, of which the first has that revision."""
    active, other = world(1, revision), world(2, active=False)
    return Moment(
        context=DRAWING,
        active_world=active,
        worlds=(active, other),
        theme="light",
        resolution=Resolution(),
        edits=edits,
        agents={},
    )


class AnsweringCall(UnattendedCall):
    """A call whose client shows forms and answers each of them alike. `asked` is what it was asked, in order.

    Without a session (`rounds`) the first question ends the round, and is answered in the next call with the same
    `given`.
    """

    def __init__(
        self,
        action: str | None = "accept",
        *,
        forms: bool = True,
        rounds: bool = False,
        given: dict[str, InputResponse] | None = None,
    ) -> None:
        super().__init__()
        self._action = action
        self._forms = forms
        self._rounds = rounds
        self.given: dict[str, InputResponse] = {} if given is None else given
        self.asked: list[tuple[str, InputRequest]] = []
        self.tasks = 0

    @property
    def client(self) -> ClientCapabilities:
        return ClientCapabilities(frozenset({Capability.ELICITATION_FORM} if self._forms else ()))

    async def become_task(self) -> None:
        self.tasks += 1

    async def ask(self, requests: Mapping[str, InputRequest], state: object = None) -> Mapping[str, InputResponse]:
        self.asked.extend(requests.items())
        answers: dict[str, InputResponse] = {key: self._answer() for key in requests}
        if self._rounds and not requests.keys() <= self.given.keys():
            self.given.update(answers)
            raise InputNeededError(InputRequired(requests))
        return answers

    def _answer(self) -> ElicitAnswer:
        match self._action:
            case "decline":
                return ElicitAnswer("decline")
            case "cancel":
                return ElicitAnswer("cancel")
            case _:
                return ElicitAnswer("accept", {})
