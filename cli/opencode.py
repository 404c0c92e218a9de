"""`space opencode`: starts opencode with the engine's tools and nothing else. Owns the folder of its configuration.

The user's own configuration is read for the model that they use, and never written.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.agents import usable_agent
from cli.answers import Status
from cli.atomic_file import write_atomically
from cli.client import segment
from cli.console import note, print_json, say
from cli.failure import CommandFailedError
from cli.folders import default_data_folder, opencode_folder
from cli.options import DEFAULT_URL, AgentOption, JsonOption, TokenOption, UrlOption, engine_at
from transport.defaults import MCP_PATH
from transport.opencode import CONFIGURATION_FILE, PLUGIN_LOCK, opencode_configuration, opencode_environment
from transport.opencode_user import CONFIGURATION_FILES, model_settings

PROGRAM = "opencode"
INSTALL = "npm install -g opencode-ai"

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
"""The configuration may hold the engine's token and the keys of providers."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What starts opencode: the folder of its configuration, the changes of the environment, and the command."""

    config_home: Path
    environment: dict[str, str | None]
    command: tuple[str, ...]

    def line(self) -> str:
        """The launch as a line for a shell."""
        unset = [word for name, value in self.environment.items() if value is None for word in ("-u", name)]
        assigned = [f"{name}={value}" for name, value in self.environment.items() if value is not None]
        return shlex.join(["env", *unset, *assigned, *self.command])

    def to_json(self) -> dict[str, Any]:
        """The launch as plain JSON values; a variable that is null is to be taken away."""
        return {
            "xdg_config_home": str(self.config_home),
            "configuration": str(self.config_home / CONFIGURATION_FILE),
            "environment": self.environment,
            "command": list(self.command),
        }


def opencode(
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[-- ARGS...]", help="What opencode gets.")] = None,
    print_only: Annotated[bool, typer.Option("--print", help="Write the configuration and start nothing.")] = False,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--dir", file_okay=False, show_default="in the data folder", help="Where to write the configuration."
        ),
    ] = None,
    agent: AgentOption = None,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Start opencode with this engine's tools, apart from the user's own configuration of opencode."""
    with engine_at(url, token, as_json=as_json) as engine:
        engine.ask(Status, "GET", "/status")
        endpoint = url + MCP_PATH if agent is None else f"{url}{MCP_PATH}/{segment(usable_agent(engine, agent))}"
        config_home = (folder or opencode_folder(default_data_folder(), url, agent)).expanduser().absolute()
        _write(config_home, opencode_configuration(endpoint, token=token, user=user_settings()))
        changes = opencode_environment(config_home, os.environ)
        launch = Launch(config_home, changes, (PROGRAM, *(arguments or ())))
        program = shutil.which(PROGRAM)
        if program is None and not (print_only or as_json):
            raise CommandFailedError(
                f"{PROGRAM} is not installed. Its configuration is ready in {config_home}.",
                f"Install it with: {INSTALL}",
            )
    if as_json:
        print_json(launch.to_json())
    elif program is None or print_only:
        say(f"OPENCODE_XDG_CONFIG_HOME={config_home}")
        say(launch.line())
    else:
        _become(program, launch)


def user_settings() -> dict[str, Any]:
    """What the user's own configuration says about models; nothing, with a note, where it cannot be read."""
    # opencode looks there on every platform, whatever the platform's own custom.
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / PROGRAM
    try:
        files = [home / name for name in CONFIGURATION_FILES if (home / name).is_file()]
        return model_settings([file.read_text(encoding="utf-8") for file in files], home)
    except (OSError, ValueError) as error:
        note(f"Your own configuration in {home} cannot be read ({error}); choose a model in opencode.")
        return {}


def _write(config_home: Path, configuration: dict[str, Any]) -> None:
    file = config_home / CONFIGURATION_FILE
    try:
        (file.parent / "node_modules").mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise CommandFailedError(f"Cannot make {file.parent}: {error.strerror or error}.") from None
    for path, content in ((file.with_name("package-lock.json"), PLUGIN_LOCK), (file, configuration)):
        write_atomically(path, json.dumps(content, indent=2).encode(), mode=PRIVATE_FILE)


def _become(program: str, launch: Launch) -> None:
    """Replace this process by opencode, so that its signals, terminal and exit code are its own."""
    environment = {name: value for name, value in os.environ.items() if name not in launch.environment}
    environment.update({name: value for name, value in launch.environment.items() if value is not None})
    sys.stdout.flush()
    try:
        os.execve(program, launch.command, environment)  # noqa: S606 - no shell is what is wanted
    except OSError as error:
        raise CommandFailedError(f"Cannot start {program}: {error.strerror or error}.") from None
