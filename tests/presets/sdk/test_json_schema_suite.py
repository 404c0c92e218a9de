"""The JSON Schema Test Suite against the translation: the checker decides whether each instance fits its type.

`TOO_STRICT` names every valid instance that does not fit, with the reason; nothing else may be refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import trio

from presets.sdk.schema_type import type_of_schema
from presets.sdk.type_tree import print_type
from sandbox.compiler_checker import Checker
from sandbox.compiler_process import CompilerPlan

SUITE = Path(__file__).parents[2] / "data" / "json_schema_test_suite"

PRELUDE = (
    "type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue | undefined };\n"
)

OBJECT_MEANT = "properties without a type mean an object; whoever writes them does not mean other types to pass"
ARRAY_MEANT = "items without a type mean an array"
NOTHING_IN_COMMON = "an object without any of the known members, all optional, is a mistake in a program"

TOO_STRICT = {
    ("additionalProperties being false does not allow other properties", "ignores strings"): OBJECT_MEANT,
    ("additionalProperties being false does not allow other properties", "ignores other non-objects"): OBJECT_MEANT,
    ("dependent subschema incompatible with root", "matches dependency"): NOTHING_IN_COMMON,
    ("dependent subschema incompatible with root", "no dependency"): NOTHING_IN_COMMON,
    ("a schema given for items", "ignores non-arrays"): ARRAY_MEANT,
    ("a schema given for items", "JavaScript pseudo-array is valid"): ARRAY_MEANT,
    ("a schema given for prefixItems", "JavaScript pseudo-array is valid"): ARRAY_MEANT,
    ("forbidden property", "property absent"): NOTHING_IN_COMMON,
    ("object properties validation", "doesn't invalidate other properties"): NOTHING_IN_COMMON,
    ("object properties validation", "ignores arrays"): OBJECT_MEANT,
    ("object properties validation", "ignores other non-objects"): OBJECT_MEANT,
    ("root pointer ref", "match"): OBJECT_MEANT,
    ("root pointer ref", "recursive match"): OBJECT_MEANT,
    ("simple URN base URI with $ref via the URN", "valid under the URN IDed schema"): OBJECT_MEANT,
    ("required validation", "ignores arrays"): OBJECT_MEANT,
    ("required validation", "ignores strings"): OBJECT_MEANT,
    ("required validation", "ignores other non-objects"): OBJECT_MEANT,
}

LEAST_SCHEMAS = 300
LEAST_REFUSED = 200
"""Invalid instances that the types refuse. TypeScript cannot say most constraints; with fewer the types are gone."""


@dataclass(frozen=True)
class Line:
    """What one line of the program asks."""

    schema: str
    instance: str | None = None
    valid: bool = True


def literal_type(value: object) -> str:
    """The type of exactly this JSON value."""
    if isinstance(value, dict):
        return "{ " + "; ".join(f"{json.dumps(key)}: {literal_type(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(literal_type, value))}]"
    return json.dumps(value)


def questions() -> Iterator[tuple[str, Line]]:
    groups = (group for path in sorted(SUITE.glob("*.json")) for group in json.loads(path.read_text("utf-8")))
    for number, group in enumerate(groups):
        translated = type_of_schema(group["schema"], prefix=f"S{number}", root="Root")
        about = Line(group["description"])
        for name, declared in translated.declarations:
            yield f"type {name} = {print_type(declared, documented=False)};", about
        yield f"type S{number} = {print_type(translated.type, documented=False)};", about
        for test in group["tests"]:
            fits = f"[{literal_type(test['data'])}] extends [S{number}] ? true : false"
            asked = Line(group["description"], test["description"], test["valid"])
            yield f"{{ const fits: {fits} = true; }}", asked


@pytest.mark.slow
async def test_every_schema_of_the_suite_is_valid_typescript_and_refuses_no_valid_instance_without_a_reason() -> None:
    program = list(questions())
    assert sum(line.instance is None and text.startswith("type S") for text, line in program) >= LEAST_SCHEMAS
    with trio.fail_after(60):
        checker = await Checker.start(await CompilerPlan.made())
        try:
            found = await checker.check("\n".join(text for text, _ in program), PRELUDE)
        finally:
            await checker.process.kill()
    assert found is not None
    failed = {problem.line - 1: problem.message for problem in found}

    broken = {line.schema: failed[at] for at, (_, line) in enumerate(program) if line.instance is None and at in failed}
    assert broken == {}

    refused = {
        (line.schema, line.instance)
        for at, (_, line) in enumerate(program)
        if line.instance is not None and line.valid and at in failed
    }
    assert refused == set(TOO_STRICT)
    assert sum(not line.valid and at in failed for at, (_, line) in enumerate(program)) >= LEAST_REFUSED
