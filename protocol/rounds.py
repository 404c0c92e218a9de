"""Questions of a call that has no session, over as many rounds as it takes.

Owns what is carried from round to round: the body of a tool runs from its start in each of them, asks the same
questions in the same order, and finds those answered that were answered before. Sends nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from protocol.input_request import InputRequest, InputRequired, InputResponse, MalformedAnswer, settle
from protocol.stateless_facts import StatelessFacts
from protocol.tool import JsonObject

_ANSWERS = "answers"
_OWN = "own"


class Rounds:
    """The questions of one round. Two questions of one call must not have the same key."""

    def __init__(self, facts: StatelessFacts) -> None:
        carried: JsonObject = {}
        state = facts.state
        if isinstance(state, Mapping):
            kept: object = cast("JsonObject", state).get(_ANSWERS)
            carried = cast("JsonObject", kept) if isinstance(kept, Mapping) else {}
        self._answers: dict[str, object] = {**facts.answers, **carried}
        self._carried: dict[str, object] = dict(carried)
        self._state: object = cast("JsonObject", state).get(_OWN) if isinstance(state, Mapping) else None

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
        settled = settle(requests, self._answers)
        if isinstance(settled, MalformedAnswer):
            return settled
        self._carried |= {key: self._answers[key] for key in settled.answers}
        if not settled.missing:
            return settled.answers
        carry = {_ANSWERS: dict(self._carried), _OWN: state} if self._carried or state is not None else None
        return InputRequired(settled.missing, carry)
