"""What one agent sees of the resources and prompts: the one registry, through the filters of its chain of scopes.

The filters are those of its tools, less the ones that name tools: a preset, a group or a risk that is kept from an
agent is kept from it in every form. What it sees is bound to it, so that its body knows who asks.
"""

from __future__ import annotations

from presets.prompt_adapters import OfferedPrompt, prompt_for
from presets.resource_adapters import OfferedResource, OfferedTemplate, resource_for
from presets.scope_view import ScopeView
from presets.tool_filters import Listed, ListFilter
from presets.tool_labels import UNLABELLED, ToolLabels
from protocol.owned_table import OwnedTable
from protocol.prompt import PromptDefinition
from protocol.prompt_list import PromptList
from protocol.resource import ResourceDefinition, ResourceTemplate
from protocol.resource_list import ResourceList
from protocol.session import Audience
from protocol.versions import REVISIONS

_NEWEST = tuple(REVISIONS)[-1]


def project_resources(listed: ResourceList, view: ScopeView, audience: Audience, revision: int) -> ResourceList:
    """What that audience sees of these resources, as a list with this revision."""
    resources: dict[str, ResourceDefinition] = {}
    templates: dict[str, ResourceTemplate] = {}
    for key, definition in listed.resources.by_key.items():
        if _admitted(definition, view):
            bound = resource_for(definition, audience)
            assert isinstance(bound, ResourceDefinition)  # noqa: S101 - a resource stays one
            resources[key] = bound
    for key, template in listed.templates.by_key.items():
        if _admitted(template, view):
            made = resource_for(template, audience)
            assert isinstance(made, ResourceTemplate)  # noqa: S101 - a template stays one
            templates[key] = made
    return ResourceList(
        revision,
        OwnedTable(listed.resources.kind, resources),
        OwnedTable(listed.templates.kind, templates),
    )


def project_prompts(listed: PromptList, view: ScopeView, audience: Audience, revision: int) -> PromptList:
    """What that audience sees of these prompts, as a list with this revision."""
    prompts = {
        name: prompt_for(definition, audience)
        for name, definition in listed.prompts.by_key.items()
        if _admitted(definition, view)
    }
    return PromptList(revision, OwnedTable(listed.prompts.kind, prompts))


def resources_look_alike(one: ResourceList, other: ResourceList) -> bool:
    """Whether a client could not tell the two apart by listing resources and templates."""
    return _resources_wire(one) == _resources_wire(other)


def prompts_look_alike(one: PromptList, other: PromptList) -> bool:
    """Whether a client could not tell the two apart by listing prompts."""
    return one.wire(_NEWEST, 0, len(one.names)) == other.wire(_NEWEST, 0, len(other.names))


def _resources_wire(listed: ResourceList) -> tuple[bytes, bytes]:
    resources, templates = len(listed.uris), len(listed.template_texts)
    return listed.wire_resources(_NEWEST, 0, resources), listed.wire_templates(_NEWEST, 0, templates)


def _admitted(definition: ResourceDefinition | ResourceTemplate | PromptDefinition, view: ScopeView) -> bool:
    known = isinstance(definition, OfferedResource | OfferedTemplate | OfferedPrompt)
    labels: ToolLabels = definition.labels if known else UNLABELLED
    return all(
        one.admits(definition.key, labels)
        for one in view.filters
        if not (isinstance(one, ListFilter) and one.of is Listed.TOOLS)
    )
