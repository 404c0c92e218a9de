"""Takes the types out of a program, keeping every line and column. Owns one small deno process and its JSON lines."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, cast

from sandbox.compiler_process import PROJECT, CompilerPlan, CompilerProcess, CompilerProcessError

_FLAGS = (
    *("run", "--quiet", "--no-prompt", "--no-config", "--no-lock", "--no-check"),
    *("--no-remote", "--no-npm", "--cached-only", "--deny-import"),
    *("--deny-read", "--deny-write", "--deny-net", "--deny-env", "--deny-sys", "--deny-run", "--deny-ffi"),
)

_HEAD, _TAIL = "async function program() {\n", "\n}"
"""A body has `return` and `await`, which only a function may have. On lines of their own: columns stay."""

_PLACE = re.compile(r"\s*(?:at )?file:///\S+?:(\d+):(\d+)\s*\Z")
_KIND = re.compile(r"\A\[\w+\] ")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the types cannot be taken out; line and column count from 0 as in the body, and are None where unknown."""

    message: str
    line: int | None = None
    column: int | None = None


class Stripper:
    """The process. Never two requests at once; whoever starts it kills it."""

    def __init__(self, process: CompilerProcess) -> None:
        self.process = process
        self.walls: tuple[str, ...] = ()
        """What stands around the process."""
        self._last_id = 0

    @classmethod
    async def start(cls, plan: CompilerPlan) -> Stripper:
        """Start it and wait until it is ready. Raises `CompilerProcessError` and `OSError`; then nothing is left."""
        process = CompilerProcess(plan, [*_FLAGS, str(PROJECT / "strip.js")])
        stripper = cls(process)
        try:
            stripper.walls = await process.walls()
            await stripper._answer("ready", True)
        except BaseException:
            await process.kill()
            raise
        return stripper

    async def strip(self, body: str) -> str | Refusal:
        """The body of an async function as JavaScript. Raises `CompilerProcessError` when the process dies of it."""
        self._last_id += 1
        request = json.dumps({"id": self._last_id, "code": _HEAD + body + _TAIL})
        await self.process.send(request.encode() + b"\n")
        answer = await self._answer("id", self._last_id)
        javascript = answer.get("js")
        if not isinstance(javascript, str):
            return _refusal(str(answer.get("error", "no reason given")))
        # The parser forgives a type that swallows the last brace; then the end is not ours.
        if not (javascript.startswith(_HEAD) and javascript.endswith(_TAIL)):
            return Refusal("a bracket is not closed")
        return javascript[len(_HEAD) : -len(_TAIL)]

    async def _answer(self, key: str, value: object) -> dict[str, Any]:
        while True:
            try:
                answer = json.loads(await self.process.line())
            except ValueError:
                raise CompilerProcessError("the process wrote something else than JSON") from None
            if isinstance(answer, dict) and cast("dict[str, Any]", answer).get(key) == value:
                return cast("dict[str, Any]", answer)


def _refusal(text: str) -> Refusal:
    place = _PLACE.search(text)
    message = _KIND.sub("", _PLACE.sub("", text))
    if place is None:
        return Refusal(message)
    return Refusal(message, max(0, int(place[1]) - 1 - _HEAD.count("\n")), max(0, int(place[2])))
