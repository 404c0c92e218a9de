"""`space units` and `space unit`: tools of one's own, made on this machine, and tested and reloaded in an engine.

`space units serve` starts a server for agents from outside that develop them; what it does is in
`transport.unit_server`.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Annotated

import typer

from cli.answers import Unit, UnitLog, UnitRow, Units, UnitTests
from cli.client import EngineClient, segment
from cli.console import note, print_facts, print_json, print_table, say
from cli.failure import REFUSED, CommandFailedError, NoEngineError, RefusedError
from cli.folders import default_data_folder
from cli.opencode import user_settings
from cli.options import DEFAULT_URL, JsonOption, TokenOption, UrlOption, engine_at, lists_itself
from cli.serve import demanded_token
from transport.defaults import DEFAULT_HOST
from transport.logs import LogFormat, LogLevel

PATH = "/api/units"
COLUMNS = ("unit", "state", "version", "tools", "folder")

UNITS_FOLDER = "units"
"""Below the data folder."""

TEST_MARGIN_SECONDS = 30.0
"""What the engine may need beside the tests themselves."""

Name = Annotated[str, typer.Argument(metavar="NAME", help="The unit; `space units` lists them.")]


def list_units(
    context: typer.Context, url: UrlOption = DEFAULT_URL, token: TokenOption = None, as_json: JsonOption = False
) -> None:
    """List the units: what each offers, and why one is not loaded. Or let an agent from outside develop them."""
    if not lists_itself(context):
        return
    with engine_at(url, token, as_json=as_json) as engine:
        answer = engine.ask(Units, "GET", PATH)
    if as_json:
        print_json(answer.raw)
        return
    print_table(None, COLUMNS, [_row(unit) for unit in answer.value.units])
    for unit in answer.value.units:
        if unit.problem is not None:
            note(f"{unit.name}: {unit.problem}")


def serve(
    units: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, show_default="the user's units", help="The folder of the units."),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = DEFAULT_HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 0,
    data: Annotated[
        Path | None,
        typer.Option(
            file_okay=False,
            show_default="the user's data folder",
            help="Where logs and snapshots are kept; an engine's folder lets it restore what is changed here.",
        ),
    ] = None,
    force_sse: Annotated[bool, typer.Option("--force-sse", help="Serve MCP over one SSE stream alone.")] = False,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="SPACE_TOKEN", callback=demanded_token, show_default=False, help="Demand this of every request."
        ),
    ] = None,
    allow_non_loopback: Annotated[
        bool, typer.Option("--allow-non-loopback", help="Listen beyond this machine; demands a token.")
    ] = False,
    log_format: Annotated[LogFormat, typer.Option(help="How log lines look.")] = LogFormat.CONSOLE,
    log_level: Annotated[LogLevel, typer.Option(help="The least that is logged.")] = LogLevel.WARNING,
) -> None:
    """Let an agent from outside develop units: an MCP server with ten tools, and an opencode that has no others.

    Prints MCP_URL=... and OPENCODE_XDG_CONFIG_HOME=... and serves until it is told to stop (Ctrl-C). An engine that
    serves the same folder follows by itself; none is needed.
    """
    # Here, not above: the web server takes a while to import, and no other command needs it.
    from transport.unit_server import UnitServeOptions, run

    kept = (data or default_data_folder()).expanduser().absolute()
    folder = (units or kept / UNITS_FOLDER).expanduser().absolute()
    if units is None:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise CommandFailedError(f"Cannot make {folder}: {error.strerror or error}.") from None
    options = UnitServeOptions(
        units=folder.resolve(),
        data=kept,
        host=host,
        port=port,
        force_sse=force_sse,
        token=token,
        allow_non_loopback=allow_non_loopback,
        user=user_settings(),
        log_format=log_format,
        log_level=log_level,
    )
    raise typer.Exit(run(options))


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Small letters, digits and dashes, such as star-map.")],
    folder: Annotated[
        Path | None,
        typer.Option("--in", file_okay=False, show_default="the engine's", help="The folder it is made in."),
    ] = None,
    proxy: Annotated[
        bool, typer.Option("--proxy", help="Stand for an MCP server: its address, or its command after --.")
    ] = False,
    server: Annotated[
        list[str] | None, typer.Argument(metavar="[SERVER]...", help="With --proxy, the server that it stands for.")
    ] = None,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a small unit with a test that passes, where the engine that runs has its units, which loads it at once.

    Where none runs, it is made in the user's data folder.
    """
    # Here, not above: no other command needs them.
    from engine.errors import EngineError
    from engine.units.folder import make_unit
    from space_unit.proxy_template import proxy_template_files
    from space_unit.template import template_files

    if server and not proxy:
        raise typer.BadParameter("a server is named with --proxy: space unit new NAME --proxy -- COMMAND ARGUMENTS")
    root = (folder or _engines_folder(url, token)).expanduser().absolute()
    try:
        files = proxy_template_files(name, server or ()) if proxy else template_files(name)
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = make_unit(root, name, files)
    except EngineError as error:
        raise CommandFailedError(str(error)) from None
    except OSError as error:
        raise CommandFailedError(f"Cannot make {root}: {error.strerror or error}.") from None
    if as_json:
        print_json({"unit": name, "folder": str(made.path)})
        return
    say(f"Made {made.path}")
    if proxy:
        say(f"Say in unit.toml there which tools are offered when; until then: space preset on {name}")
    else:
        say(f"Edit unit.py there; an engine that serves this folder follows. Then: space unit test {name}")
    if folder is not None:
        say(f"Serve it with: space serve --units {root}")


def _engines_folder(url: str, token: str | None) -> Path:
    """Where the engine makes its own new units; the user's units where none runs, or it has none on this machine."""
    default = default_data_folder() / UNITS_FOLDER
    try:
        with EngineClient(url, token) as engine:
            folders = engine.ask(Units, "GET", PATH).value.folders
    except CommandFailedError as failure:
        reason = f"no engine answers at {url}" if isinstance(failure, NoEngineError) else failure.message.rstrip(".")
    else:
        if folders and Path(folders[0]).is_dir():
            return Path(folders[0])
        reason = f"the engine at {url} has no folder of units on this machine"
    note(
        f"It goes to {default}: {reason}. An engine with another --data does not look there; name it with --url, or a "
        "folder of its units with --in."
    )
    return default


@contextmanager
def _unit_of(engine: EngineClient) -> Generator[None]:
    """Say where the engine has looked, for a unit that it does not have."""
    try:
        yield
    except RefusedError as failure:
        if failure.members.get("status") != HTTPStatus.NOT_FOUND:
            raise
        folders = ", ".join(engine.ask(Units, "GET", PATH).value.folders) or "no folder"
        hint = (
            f"The engine at {engine.url} looks in {folders}. Move the unit there, start the engine with --units "
            "FOLDER, or name the engine that has it with --url."
        )
        raise RefusedError(failure.message, hint, failure.members) from None


def show(name: Name, url: UrlOption = DEFAULT_URL, token: TokenOption = None, as_json: JsonOption = False) -> None:
    """Show a unit: what it contributes, its files, and why it is not loaded."""
    with engine_at(url, token, as_json=as_json) as engine, _unit_of(engine):
        answer = engine.ask(Unit, "GET", f"{PATH}/{segment(name)}")
    if as_json:
        print_json(answer.raw)
        return
    unit = answer.value
    print_facts(
        None,
        [
            ("unit", unit.name),
            ("title", unit.title),
            ("description", unit.description),
            ("folder", unit.folder),
            ("kind", unit.kind),
            ("state", unit.state),
            ("version", unit.version),
            ("presets", ", ".join(unit.presets)),
            ("facts", ", ".join(unit.facts)),
            ("prompt blocks", ", ".join(unit.blocks)),
            ("prompt hooks", ", ".join(unit.hooks)),
            ("keeps in this world", ", ".join(unit.state_keys)),
            ("snapshots", ", ".join(unit.snapshots)),
        ],
    )
    if unit.tools:
        print_table("Tools", (), [(tool,) for tool in unit.tools])
    print_table("Files", ("file", "bytes"), [(file.path, file.size_bytes) for file in unit.files])
    if unit.problem is not None:
        say(f"\nProblem:\n\n{unit.report or unit.problem}")


def run_tests(
    name: Name,
    only: Annotated[
        str | None, typer.Argument(metavar="[TEST]", help="A file, or one test: tests/test_unit.py::test_it.")
    ] = None,
    seconds: Annotated[float, typer.Option("--seconds", help="After this the process is ended.")] = 30.0,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a unit's tests in a process of their own. The exit code is 1 when one fails."""
    body = {"seconds": seconds} if only is None else {"only": only, "seconds": seconds}
    with engine_at(url, token, as_json=as_json) as engine, _unit_of(engine):
        path = f"{PATH}/{segment(name)}/test"
        answer = engine.ask(UnitTests, "POST", path, body=body, seconds=seconds + TEST_MARGIN_SECONDS)
    if as_json:
        print_json(answer.raw)
    else:
        _print_tests(answer.value)
    if not answer.value.passed:
        raise typer.Exit(REFUSED)


def reload(name: Name, url: UrlOption = DEFAULT_URL, token: TokenOption = None, as_json: JsonOption = False) -> None:
    """Load what lies on disk, also where nothing has changed. When it fails, what ran before runs on."""
    with engine_at(url, token, as_json=as_json) as engine, _unit_of(engine):
        try:
            answer = engine.ask(UnitRow, "POST", f"{PATH}/{segment(name)}/reload")
        except CommandFailedError as failure:
            report = failure.members.get("report")
            if isinstance(report, str) and report.rstrip(".") != failure.message.rstrip(".") and not as_json:
                note(report)
            raise
    if as_json:
        print_json(answer.raw)
    else:
        print_table(None, COLUMNS, [_row(answer.value)])


def log(
    name: Name,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, max=1000, help="So many from the end.")] = 100,
    grep: Annotated[str | None, typer.Option("--grep", metavar="TEXT", help="Only lines that hold this.")] = None,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the end of a unit's log: loads, tracebacks, what its tests and tools printed."""
    query: dict[str, str | int] = {"lines": lines} if grep is None else {"lines": lines, "grep": grep}
    with engine_at(url, token, as_json=as_json) as engine, _unit_of(engine):
        answer = engine.ask(UnitLog, "GET", f"{PATH}/{segment(name)}/log", query=query)
    if as_json:
        print_json(answer.raw)
        return
    for line in answer.value.lines:
        say(line.text)


def _row(unit: UnitRow) -> tuple[str, str, int, str, str]:
    # A server behind a proxy has dozens of them; `space unit show` names them.
    count = len(unit.tools)
    return (unit.name, unit.state, unit.version, f"{count} tool{'' if count == 1 else 's'}", unit.folder)


def _print_tests(tests: UnitTests) -> None:
    for failed in tests.failed:
        say(f"FAILED {failed.test} ({failed.where}): {failed.message}\n\n{failed.traceback}\n")
    if tests.problem is not None:
        say(f"{tests.problem}\n")
    if tests.running is not None:
        say(f"It ended during {tests.running}.")
    if tests.output and not tests.passed:
        say(f"Output:\n\n{tests.output.rstrip()}\n")
    skipped = f", {tests.skipped_count} skipped" if tests.skipped_count else ""
    say(
        f"{tests.passed_count} of {tests.found} passed, {tests.failed_count} failed{skipped} "
        f"in {tests.seconds:g} s ({tests.ending})"
    )
