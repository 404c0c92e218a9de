"""Type-checks a program against declarations. Owns one `deno lsp` process and the part of its protocol that we use.

Nothing is written to disk: the documents exist in the process alone. What is imported is never looked for, since no
text that reaches the process holds the words for it (`compiler_imports`).
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

import trio

from sandbox.compiler_imports import with_imports, without_imports
from sandbox.compiler_problems import Problem, problem_at
from sandbox.compiler_process import PROJECT, CompilerPlan, CompilerProcess, CompilerProcessError

KEPT_SDKS = 4
"""Declarations that stay loaded. A check against loaded ones takes 5 ms; loading 500 tools takes 50 ms."""

_DECLARED = re.compile(r"^(?:declare )?(?:const|class|function|type|interface) ([A-Za-z_$][\w$]*)", re.MULTILINE)
_ERROR = 1
"""Severity of a diagnostic that is more than a hint."""

_PROGRAM = "program.ts"


class Checker:
    """The process. Never two requests at once; whoever starts it kills it."""

    def __init__(self, process: CompilerProcess) -> None:
        self.process = process
        self.walls: tuple[str, ...] = ()
        """What stands around the process."""
        self._last_id = 0
        self._versions: dict[str, int] = {}
        self._sdks: dict[str, str] = {}
        """The document of each loaded text of declarations, the longest unused first."""

    @classmethod
    async def start(cls, plan: CompilerPlan) -> Checker:
        """Start it and let it load the language. Raises `CompilerProcessError` and `OSError`; then nothing is left."""
        process = CompilerProcess(plan, ["lsp", "--quiet"])
        checker = cls(process)
        try:
            checker.walls = await process.walls()
            await checker._request(
                "initialize",
                {
                    "processId": None,
                    "rootUri": PROJECT.as_uri(),
                    "capabilities": {
                        "textDocument": {"diagnostic": {"dynamicRegistration": False}},
                        "workspace": {"configuration": True},
                    },
                    "initializationOptions": _SETTINGS,
                },
            )
            await checker._notify("initialized", {})
            await checker._write_document("runtime.d.ts", (PROJECT / "runtime.d.ts").read_text("utf-8"))
            await checker.check("return 1;", "")
        except BaseException:
            await process.kill()
            raise
        return checker

    async def check(self, body: str, declarations: str) -> list[Problem] | None:
        """All that is wrong with the body of an async function, in the order of the text; None when it gave up.

        `declarations` holds statements that begin at the start of a line; what they declare is what the body may use.
        Raises `CompilerProcessError` when the process dies of it.
        """
        sdk = await self._sdk(without_imports(declarations))
        names = ", ".join(dict.fromkeys(_DECLARED.findall(declarations)))
        # All on line 0, so that line 1 is the first of the body. The import is ours: it names a document in memory.
        head = f'import {{ {names} }} from "./{sdk}"; async function program() {{'
        await self._write_document(_PROGRAM, f"{head}\n{without_imports(body)}\n}}\n")
        report = await self._request("textDocument/diagnostic", {"textDocument": {"uri": _uri(_PROGRAM)}})
        if report is None:
            return None
        lines = body.split("\n")
        problems = [
            problem
            for item in cast("list[dict[str, Any]]", report.get("items", []))
            if (problem := _problem(item, lines)) is not None
        ]
        return sorted(problems, key=lambda problem: (problem.line, problem.column))

    async def _sdk(self, declarations: str) -> str:
        """The document with these declarations, loaded now if it is not."""
        name = self._sdks.pop(declarations, None)
        if name is None:
            used = len(self._sdks)
            name = f"sdk{used}.d.ts" if used < KEPT_SDKS else self._sdks.pop(next(iter(self._sdks)))
            names = ", ".join(dict.fromkeys(_DECLARED.findall(declarations)))
            await self._write_document(name, f"{declarations}\nexport {{ {names} }};\n")
        self._sdks[declarations] = name
        return name

    async def _write_document(self, name: str, text: str) -> None:
        version = self._versions.get(name, 0) + 1
        self._versions[name] = version
        if version == 1:
            document = {"uri": _uri(name), "languageId": "typescript", "version": version, "text": text}
            await self._notify("textDocument/didOpen", {"textDocument": document})
            return
        changed = {"textDocument": {"uri": _uri(name), "version": version}, "contentChanges": [{"text": text}]}
        await self._notify("textDocument/didChange", changed)

    async def _notify(self, method: str, params: dict[str, Any]) -> None:
        await self._send({"method": method, "params": params})

    async def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        """The result, or None where the answer is an error."""
        self._last_id += 1
        request_id, answer = self._last_id, dict[str, Any]()
        failed = False
        try:
            # Read while writing: with full pipes on both sides neither process would get on.
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._send, {"id": request_id, "method": method, "params": params})
                while answer.get("id") != request_id or "method" in answer:
                    answer = await self._receive()
                    if "method" in answer and "id" in answer:
                        nursery.start_soon(self._send, {"id": answer["id"], "result": _answer_to(answer)})
        except* CompilerProcessError:
            failed = True
        if failed:
            raise CompilerProcessError("the checker has ended")
        result = answer.get("result")
        return cast("dict[str, Any]", result) if isinstance(result, dict) else None

    async def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        await self.process.send(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))

    async def _receive(self) -> dict[str, Any]:
        length = b"0"
        while line := (await self.process.line()).strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = value.strip()
        if not length.isdigit():
            raise CompilerProcessError(f"the process announced {length[:20]!r} bytes")
        try:
            message = json.loads(await self.process.exactly(int(length)))
        except ValueError:
            raise CompilerProcessError("the process wrote something else than JSON") from None
        if not isinstance(message, dict):
            raise CompilerProcessError("the process wrote something else than a message")
        return cast("dict[str, Any]", message)


_SETTINGS: dict[str, Any] = {
    "enable": True,
    "lint": False,
    "documentPreloadLimit": 0,
    "codeLens": {"implementations": False, "references": False, "test": False},
    "suggest": {"imports": {"autoDiscover": False, "hosts": {}}},
}


def _answer_to(request: dict[str, Any]) -> object:
    if request["method"] != "workspace/configuration":
        return None
    return [_SETTINGS for _ in request.get("params", {}).get("items", [])]


def _uri(name: str) -> str:
    return (PROJECT / name).as_uri()


def _problem(item: dict[str, Any], lines: list[str]) -> Problem | None:
    """A diagnostic as a problem of the body; None for hints and for what is said about our own first line."""
    code, start = item.get("code"), item["range"]["start"]
    if item.get("severity") != _ERROR or start["line"] == 0:
        return None
    number = code if isinstance(code, int) else int(code) if isinstance(code, str) and code.isdigit() else 0
    return problem_at(lines, start["line"] - 1, start["character"], number, with_imports(item["message"]))
