"""`space programs` and `space run`: the programs that were run, and running one as an agent would."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from cli.answers import Program, ProgramRow, Programs
from cli.call import ImageOption, show_call
from cli.client import segment
from cli.console import print_facts, print_json, print_table, say
from cli.failure import CommandFailedError, RefusedError
from cli.options import DEFAULT_URL, JsonOption, TokenOption, UrlOption, engine_at, lists_itself
from presets.presentation import RUN_CODE_NAME

PATH = "/api/programs"
COLUMNS = ("program", "agent", "started at", "seconds", "calls", "steps", "ended", "description")

PROGRAM_AGENT = "code"
"""The agent of `space run`: one that presents programs."""

DESCRIPTION_CHARACTERS = 200
"""Longest description of a program that the engine takes."""


def list_programs(
    context: typer.Context, url: UrlOption = DEFAULT_URL, token: TokenOption = None, as_json: JsonOption = False
) -> None:
    """List the programs that were run, the latest first, or look at one."""
    if not lists_itself(context):
        return
    with engine_at(url, token, as_json=as_json) as engine:
        answer = engine.ask(Programs, "GET", PATH)
    if as_json:
        print_json(answer.raw)
        return
    rows = [
        (
            program.id,
            program.agent,
            program.started_at,
            program.seconds,
            program.call_count,
            program.steps,
            _ended(program),
            program.description,
        )
        for program in answer.value.programs
    ]
    print_table(None, COLUMNS, rows)


def show(
    program_id: Annotated[str, typer.Argument(metavar="ID", help="The program's id; `space programs` lists them.")],
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a program whole: its code, its calls, what it printed and returned."""
    with engine_at(url, token, as_json=as_json) as engine:
        try:
            answer = engine.ask(Program, "GET", f"{PATH}/{segment(program_id)}")
        except RefusedError as refusal:
            raise RefusedError(refusal.message, "List them with: space programs", refusal.members) from None
    if as_json:
        print_json(answer.raw)
    else:
        _print(answer.value)


def run(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="The program in TypeScript; - reads it.")],
    agent: Annotated[
        str, typer.Option("--agent", metavar="ID", help="Which agent runs it, with the tools that it has.")
    ] = PROGRAM_AGENT,
    description: Annotated[
        str | None,
        typer.Option("--description", metavar="TEXT", show_default="the file's name", help="What the program does."),
    ] = None,
    save_image: ImageOption = None,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a program as an agent would. The exit code is 1 when it fails. What it changes is one step to undo."""
    said = description or ("standard input" if file == "-" else Path(file).name)
    with engine_at(url, token, as_json=as_json) as engine:
        body = {"code": _code(file), "description": said[:DESCRIPTION_CHARACTERS]}
        show_call(engine, RUN_CODE_NAME, body, agent, save_image, as_json=as_json)


def _code(file: str) -> str:
    try:
        code = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CommandFailedError(f"Cannot read {file}: {error.strerror or error}.") from None
    except UnicodeDecodeError as error:
        raise CommandFailedError(f"{file} is no UTF-8 text: byte {error.start} cannot be read.") from None
    if not code.strip():
        raise CommandFailedError("There is no program in it.", "Write for example: return await tools.NAME({})")
    return code


def _ended(program: ProgramRow) -> str:
    if program.seconds is None:
        return "runs"
    return "well" if program.failure is None else f"failed ({program.failure.partition(':')[0]})"


def _print(program: Program) -> None:
    print_facts(
        None,
        [
            ("program", program.id),
            ("agent", program.agent),
            ("description", program.description),
            ("started at", program.started_at),
            ("seconds", program.seconds),
            ("ended", _ended(program)),
            ("steps to undo", program.steps),
        ],
    )
    _print_part("Program", program.code)
    calls = [(call.tool, call.started, call.seconds, call.error, call.arguments) for call in program.calls]
    if calls:
        print_table("Calls", ("tool", "started", "seconds", "error", "arguments"), calls)
    _print_part("Output", "\n".join(program.logs))
    _print_part("Result", program.result)
    _print_part("Failure", program.failure)


def _print_part(title: str, text: str | None) -> None:
    if text:
        say(f"\n{title}:\n\n{text.rstrip()}")
