"""`space call`: calls a tool as an agent would, through the same gate. Owns how the result of a call is shown."""

from __future__ import annotations

import base64
import binascii
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from cli.answers import CallResult, Content
from cli.atomic_file import write_atomically
from cli.client import CALL_SECONDS, EngineClient, segment
from cli.console import note, print_json, say
from cli.failure import REFUSED, CommandFailedError
from cli.options import DEFAULT_URL, AgentOption, JsonOption, TokenOption, UrlOption, agent_query, engine_at

ImageOption = Annotated[
    Path | None,
    typer.Option(
        "--save-image",
        metavar="FILE",
        dir_okay=False,
        show_default=False,
        help="Where to put the image; more become FILE-2 and so on.",
    ),
]


def call(
    tool: Annotated[str, typer.Argument(help="The tool's MCP name.")],
    arguments: Annotated[str, typer.Argument(metavar="[JSON|-]", help="Its arguments; - reads them.")] = "{}",
    save_image: ImageOption = None,
    agent: AgentOption = None,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Call a tool and print its result. The exit code is 1 when the tool fails or is hidden."""
    body = _arguments(sys.stdin.read() if arguments == "-" else arguments)
    with engine_at(url, token, as_json=as_json) as engine:
        show_call(engine, tool, body, agent, save_image, as_json=as_json)


def show_call(
    engine: EngineClient,
    tool: str,
    arguments: Mapping[str, Any],
    agent: str | None,
    save_image: Path | None,
    *,
    as_json: bool,
) -> None:
    """Call a tool as that agent would and print its result. Exits with 1 when the tool fails or is hidden."""
    path = f"/api/tools/{segment(tool)}/call"
    answer = engine.ask(CallResult, "POST", path, body=arguments, query=agent_query(agent), seconds=CALL_SECONDS)
    images = [_decoded(block) for block in answer.value.content if block.type == "image"]
    saved = [] if save_image is None else _saved(images, save_image)
    if as_json:
        print_json(answer.raw)
    else:
        _print(answer.value, images, saved)
    if save_image is not None and not saved:
        note("There is no image in the result, so none was saved.")
    if answer.value.is_error:
        raise typer.Exit(REFUSED)


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        said = error.msg if isinstance(error, json.JSONDecodeError) else "it cannot be read"
        where = f" at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
        raise typer.BadParameter(
            f"the arguments are not JSON: {said}{where}; write for example '{{\"width\": 40}}'", param_hint="JSON"
        ) from None
    if not isinstance(value, dict):
        raise typer.BadParameter(
            f"the arguments are a JSON object such as '{{\"width\": 40}}', not {_kind(value)}", param_hint="JSON"
        )
    return cast("dict[str, Any]", value)


def _kind(value: object) -> str:
    kinds: dict[type, str] = {list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return kinds.get(type(value), "null")


def _print(result: CallResult, images: list[bytes], saved: list[Path]) -> None:
    """Print text to standard output, or to standard error where the tool failed."""
    out = note if result.is_error else say
    pictures = iter(range(len(images)))
    for block in result.content:
        if block.type == "text":
            out(block.text)
        elif block.type == "image":
            index = next(pictures)
            where = f"saved as {saved[index]}" if saved else "not saved; --save-image FILE saves it"
            say(f"[{block.mimeType or 'image'}, {len(images[index]):,} bytes, {where}]")
        else:
            say(f"[{block.type}; --json shows it]")
    if not result.content and result.structured_content is not None:
        out(json.dumps(result.structured_content, indent=2, ensure_ascii=False))


def _decoded(block: Content) -> bytes:
    try:
        return base64.b64decode(block.data, validate=True)
    except (ValueError, binascii.Error):
        raise CommandFailedError("The result holds an image that is not base64.") from None


def _saved(images: list[bytes], file: Path) -> list[Path]:
    names = [
        file if index == 0 else file.with_name(f"{file.stem}-{index + 1}{file.suffix}") for index in range(len(images))
    ]
    for name, image in zip(names, images, strict=True):
        write_atomically(name, image)
    return names
