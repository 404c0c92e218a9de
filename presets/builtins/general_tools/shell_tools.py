"""The tool that runs a shell command in the workspace folder. Owns how its outcome is described to a model."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import Field

from engine.printed import printed_size
from engine.shell import (
    DEFAULT_SHELL_TIMEOUT_SECONDS,
    MAX_COMMAND_CHARACTERS,
    MAX_SHELL_TIMEOUT_SECONDS,
    ShellCommand,
    cut_middle,
)
from engine.workspace_path import MAX_PATH_CHARACTERS
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.schema import ToolArguments, ToolResult
from protocol.interaction import Interaction
from protocol.tool import TaskSupport

STDOUT_PRINTED_BYTES = 30_000
"""Of JSON. Output full of control characters grows in it, and clients show 50 KiB of a result."""

STDERR_PRINTED_BYTES = 10_000
"""See `STDOUT_PRINTED_BYTES`."""


_BACKGROUND_NOTE = (
    "The command left processes running in the background; they were ended with it. What needs such a process must run "
    "in the same command."
)


class RunBashArguments(ToolArguments):
    """What to run, where, and how long at most."""

    command: str = Field(
        description="What `bash -c` runs. There is no terminal and no input.",
        min_length=1,
        max_length=MAX_COMMAND_CHARACTERS,
    )
    timeout_seconds: Annotated[float, Field(gt=0, le=MAX_SHELL_TIMEOUT_SECONDS)] = Field(
        DEFAULT_SHELL_TIMEOUT_SECONDS, description="After this the command and all it has started are ended."
    )
    working_directory: Annotated[str, Field(min_length=1, max_length=MAX_PATH_CHARACTERS)] = Field(
        ".", description="Folder in which it runs, relative to the workspace folder or absolute inside it."
    )


class RunBashResult(ToolResult):
    """What came of a command. It succeeded when `exit_code` is 0."""

    exit_code: int | None = Field(None, description="Left out when the command was ended before it was done.")
    stdout: str
    stderr: str
    timed_out: bool = Field(description="Whether it was ended because its time was over.")
    signal: int | None = Field(None, description="Number of the signal that ended it, where one did.")
    truncated: bool = Field(description="Whether the middle of stdout or stderr is left out.")
    background_ended: bool = Field(description="Whether processes it had left running were ended when it was done.")
    note: str | None = Field(None, description="What that means; left out when there is nothing to say.")


async def run_bash(app: App, arguments: RunBashArguments, call: Interaction) -> RunBashResult:
    """Body of `space_app_run_bash`. A command that fails is a result like any other."""
    folder = await app.in_thread(partial(app.files.folder, arguments.working_directory))
    # Nobody knows beforehand how long a command takes.
    await call.become_task()
    done = await app.run_shell(
        ShellCommand(
            command=arguments.command,
            timeout_seconds=arguments.timeout_seconds,
            working_directory=str(folder.relative_to(app.files.root)),
        )
    )
    stdout = _fitting(done.stdout, STDOUT_PRINTED_BYTES)
    stderr = _fitting(done.stderr, STDERR_PRINTED_BYTES)
    return RunBashResult(
        exit_code=done.exit_code,
        stdout=stdout,
        stderr=stderr,
        timed_out=done.timed_out,
        signal=done.signal,
        truncated=done.truncated or stdout != done.stdout or stderr != done.stderr,
        background_ended=done.background_ended,
        note=_BACKGROUND_NOTE if done.background_ended else None,
    )


def _fitting(output: str, limit_bytes: int) -> str:
    """The output, cut in the middle until its printed size is at most the limit."""
    keep = limit_bytes
    text = output
    while printed_size(text) > limit_bytes:
        text = cut_middle(output.encode("utf-8", "replace"), keep).text
        keep = keep * 2 // 3
    return text


def adapters() -> tuple[ToolAdapter, ...]:
    """Every adapter of this topic."""
    return (
        typed_adapter(
            id="app.run-bash",
            mcp_name="space_app_run_bash",
            title="Run bash",
            description=(
                "Run a shell command in the workspace folder and get its exit code and output. The command can do "
                "whatever the engine's user can do, on this machine and beyond. Background processes (&, nohup) are "
                "ended when the command ends."
            ),
            arguments=RunBashArguments,
            result=RunBashResult,
            run=run_bash,
            task_support=TaskSupport.OPTIONAL,
        ),
    )
