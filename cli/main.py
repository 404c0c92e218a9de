"""The `space` command: puts its commands together, and is the boundary at which an expected failure becomes words.

What is not expected keeps its traceback: it is a bug, and hiding it would not help.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated

import typer

from cli import (
    agents,
    call,
    calls,
    context,
    export,
    history,
    opencode,
    panel,
    presets,
    programs,
    serve,
    status,
    tools,
    units,
    worlds,
)
from cli.console import note, replace_what_cannot_be_printed, say
from cli.failure import CommandFailedError
from cli.leaving import leaving


def _print_version(asked: bool) -> None:
    if asked:
        say(f"space {version('space')}")
        raise typer.Exit


def _space(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Space: a headless engine that AI agents work in."""


def command_line() -> typer.Typer:
    """The command with all its subcommands. Help and usage errors have frames only where a person reads them."""
    markup = "rich" if sys.stdout.isatty() and sys.stderr.isatty() else None
    app = typer.Typer(
        name="space",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=markup,
        pretty_exceptions_enable=False,
    )
    app.callback()(_space)
    facts = typer.Typer(help="Read or change what the user is doing.", no_args_is_help=True, rich_markup_mode=markup)
    facts.command("get")(context.get)
    facts.command("set")(context.change)
    app.command("serve")(serve.serve)
    app.command("status")(status.status)
    app.add_typer(facts, name="context")
    world = typer.Typer(help="List, make, move and recover worlds.", no_args_is_help=True, rich_markup_mode=markup)
    world.command("list")(worlds.list_worlds)
    world.command("create")(worlds.create)
    world.command("switch")(worlds.switch)
    world.command("delete")(worlds.delete)
    world.command("export")(worlds.export)
    world.command("import")(worlds.import_world)
    world.command("recover")(worlds.recover)
    app.add_typer(world, name="world")
    app.command("presets")(presets.presets)
    app.command("preset")(presets.preset)
    app.command("tools")(tools.tools)
    app.command("explain")(tools.explain)
    app.command("call")(call.call)
    made = typer.Typer(rich_markup_mode=markup)
    made.callback(invoke_without_command=True)(calls.list_calls)
    made.command("cancel")(calls.cancel)
    app.add_typer(made, name="calls")
    app.command("panel")(panel.panel)
    app.command("undo")(history.undo)
    app.command("redo")(history.redo)
    agent = typer.Typer(rich_markup_mode=markup)
    agent.callback(invoke_without_command=True)(agents.list_agents)
    agent.command("show")(agents.show)
    agent.command("copy")(agents.copy)
    agent.command("remove")(agents.remove)
    app.add_typer(agent, name="agents")
    app.command("run")(programs.run)
    program = typer.Typer(rich_markup_mode=markup)
    program.callback(invoke_without_command=True)(programs.list_programs)
    program.command("show")(programs.show)
    app.add_typer(program, name="programs")
    own = typer.Typer(rich_markup_mode=markup)
    own.callback(invoke_without_command=True)(units.list_units)
    own.command("serve")(units.serve)
    app.add_typer(own, name="units")
    unit = typer.Typer(
        help="Make, look at, test and reload a unit: tools of your own.", no_args_is_help=True, rich_markup_mode=markup
    )
    unit.command("new")(units.new)
    unit.command("show")(units.show)
    unit.command("test")(units.run_tests)
    unit.command("reload")(units.reload)
    unit.command("log")(units.log)
    app.add_typer(unit, name="unit")
    app.command("export")(export.export)
    app.command("opencode")(opencode.opencode)
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code (`cli.failure` lists them)."""
    try:
        command_line()(args=list(arguments), prog_name="space")
    except CommandFailedError as failure:
        note(f"space: {failure.message}")
        if failure.hint is not None:
            note(failure.hint)
        return failure.exit_code
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


def main() -> None:
    """The entry point."""
    replace_what_cannot_be_printed()
    sys.exit(leaving(run(sys.argv[1:])))
