"""The tool that makes identities."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from engine.graph.identities import CreateIdentity, role_of
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.builtins.graph_tools.arguments import EdgeLabelText, LabelText, NodeId
from presets.builtins.graph_tools.results import NodeResult, members_of
from presets.schema import WriteArguments
from protocol.tool import ToolCall

MAX_MEMBERS = 200
"""Nodes that one call lets share an identity."""


class CreateIdentityArguments(WriteArguments):
    """Whose identity."""

    name: LabelText = Field(description="Its name; neither case nor spacing makes another identity of it.")
    role: EdgeLabelText | None = Field(None, description="What it is to the others, such as 'author'; replaces a role.")
    nodes: Annotated[list[NodeId], Field(max_length=MAX_MEMBERS)] | None = Field(
        None, description="Nodes of the map that share it from now on: all of them mean this one."
    )


class CreateIdentityResult(NodeResult):
    """The identity. `created` is false when the name had one already; `shared_by` counts the nodes that share it."""

    role: str | None = None
    created: bool
    shared_by: int
    changed: bool
    revision: int


def adapters() -> tuple[ToolAdapter, ...]:
    """`graph.create-identity`."""
    return (
        typed_adapter(
            id="graph.create-identity",
            mcp_name="space_graph_create_identity",
            title="Create an identity",
            description="Make the identity of a name, or find it: the same name always gives the same id. It is shown "
            "on the map, tied to the nodes that share it.",
            arguments=CreateIdentityArguments,
            result=CreateIdentityResult,
            run=_create_identity,
            idempotent=True,
        ),
    )


async def _create_identity(app: App, arguments: CreateIdentityArguments, call: ToolCall) -> CreateIdentityResult:
    del call
    command = CreateIdentity(name=arguments.name, role=arguments.role, members=tuple(arguments.nodes or ()))
    done = await app.execute(command)
    made = done.result
    return CreateIdentityResult(
        **members_of(made.node),
        role=role_of(made.node),
        created=made.created,
        shared_by=made.sharing_count,
        changed=done.changed,
        revision=done.revision,
    )
