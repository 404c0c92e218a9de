"""Questions of a call that has no session, over as many rounds as it takes.

Owns what is carried from round to round: the body of a tool runs from its start in each of them, asks the same
questions in the same order, and finds those answered that were answered before. An agreement is bound to its question:
the state says which was asked, and an answer to a question that nobody was asked is none. Sends nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import cast

from protocol.input_request import ElicitForm, InputRequest, InputRequired, InputResponse, MalformedAnswer, settle
from protocol.stateless_facts import StatelessFacts
from protocol.tool import JsonObject

_ANSWERS = "answers"
_OWN = "own"
_ASKED = "asked"


class Rounds:
    """The questions of one round. Two questions of one call must not have the same key."""

    def __init__(self, facts: StatelessFacts) -> None:
        carried = _member(facts.state, _ANSWERS)
        self._answers: dict[str, object] = {**facts.answers, **carried}
        self._carried: dict[str, object] = dict(carried)
        self._asked: dict[str, object] = dict(_member(facts.state, _ASKED))
        """Which agreements the client was asked for in the rounds before, by their keys."""
        self._state: object = cast("JsonObject", facts.state).get(_OWN) if isinstance(facts.state, Mapping) else None

    @property
    def state(self) -> object:
        """What was given to `ask` in the round before; None where that was nothing."""
        return self._state

    def ask(
        self, requests: Mapping[str, InputRequest], state: object = None
    ) -> Mapping[str, InputResponse] | InputRequired | MalformedAnswer:
        """All the answers; or what the client is to be asked before the call can go on, which ends this round.

        Raises `SchemaError` for a form whose own schema is none.
        """
        marks = {key: _mark(request) for key, request in requests.items()}
        given = {key: answer for key, answer in self._answers.items() if self._asked.get(key) == marks.get(key)}
        settled = settle(requests, given)
        if isinstance(settled, MalformedAnswer):
            return settled
        self._carried |= {key: self._answers[key] for key in settled.answers}
        if not settled.missing:
            return settled.answers
        asked = {**self._asked, **{key: marks[key] for key in settled.missing if marks[key] is not None}}
        carry: dict[str, object] = {_ANSWERS: dict(self._carried), _OWN: state}
        if asked:
            return InputRequired(settled.missing, {**carry, _ASKED: asked}, once=True)
        return InputRequired(settled.missing, carry if self._carried or state is not None else None)


def _mark(request: InputRequest) -> str | None:
    """What tells the question for one agreement from every other; None for what is no such question."""
    if not isinstance(request, ElicitForm) or not request.agreement:
        return None
    return sha256(json.dumps([request.message, request.schema], sort_keys=True, default=str).encode()).hexdigest()


def _member(state: object, name: str) -> JsonObject:
    """An object of the carried state; empty where there is none."""
    kept: object = cast("JsonObject", state).get(name) if isinstance(state, Mapping) else None
    return cast("JsonObject", kept) if isinstance(kept, Mapping) else {}
