"""Compositions: what a row may say, and how a wrong one is refused."""

from __future__ import annotations

import pytest

from presets.agents.composition import MAX_ROWS, InvalidCompositionError, parse_composition
from presets.agents.rows import (
    PresetGroupsRow,
    PresetsRow,
    PromptBlocksRow,
    RestrictRow,
    RiskCeilingRow,
    ToolPresentationRow,
)
from presets.agents.yaml_file import YamlFileError, parse_yaml
from presets.definition import Risk
from presets.presentation import Presentation

EVERY_KIND = """
- row: preset-groups
  groups: all
  except: [units]
- row: preset-groups
  groups: [drawing, none]
- row: presets
  allow: [drawing-shape-tools]
- row: restrict
  deny: [space_app_run_bash]
  id: no-shell
- row: risk-ceiling
  risk: filesystem-read
- row: tool-presentation
  mode: both
  disabled: true
- row: prompt-blocks
  blocks: [tools, instructions]
"""


def test_every_kind_of_row_is_read():
    assert parse_composition(parse_yaml(EVERY_KIND)) == (
        PresetGroupsRow(groups="all", except_=("units",)),
        PresetGroupsRow(groups=("drawing", "none")),
        PresetsRow(allow=("drawing-shape-tools",)),
        RestrictRow(deny=("space_app_run_bash",), id="no-shell"),
        RiskCeilingRow(risk=Risk.FILESYSTEM_READ),
        ToolPresentationRow(mode=Presentation.BOTH, disabled=True),
        PromptBlocksRow(blocks=("tools", "instructions")),
    )


def test_an_agent_without_rows_is_one():
    assert parse_composition(parse_yaml("[]")) == ()


@pytest.mark.parametrize("text", ["", "row: restrict", "3", "agents", "~"])
def test_what_is_no_list_is_refused_as_a_whole(text: str):
    (fault,) = faults_of(text)
    assert fault == (None, "must be a top-level list of rows, each beginning '- row: …'")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("just text", "must be a mapping with a member 'row'"),
        ("[a, b]", "must be a mapping with a member 'row'"),
        ("{mode: code}", "names no kind; it needs the member 'row', one of preset-groups, presets, restrict, "),
        ("{row: 3}", "names no kind"),
        ("{row: tool-presentaton, mode: code}", "there is no row 'tool-presentaton'. Did you mean 'tool-presentation'"),
        ("{row: zzz}", "restrict, risk-ceiling, tool-presentation, tool-finder or prompt-blocks."),
        ("{row: tool-presentation}", "needs the member 'mode': native, code or both"),
        ("{row: tool-presentation, mode: ptc}", "'mode': Input should be 'native', 'code' or 'both'"),
        ("{row: tool-presentation, mode: [code]}", "'mode': Input should be"),
        ("{row: tool-presentation, mod: code, mode: code}", "has no member 'mod'. Did you mean 'mode'?"),
        ("{row: tool-presentation, mode: code, xyzzy: 1}", "has no member 'xyzzy'. It has id, disabled or mode."),
        ("{row: tool-presentation, mode: code, disabled: 1}", "'disabled': Input should be a valid boolean"),
        ("{row: tool-presentation, mode: code, id: 7}", "'id': Input should be a valid string"),
        ("{row: tool-presentation, mode: code, 7: 7}", "has the member 7; names of members are words"),
        ("{row: preset-groups}", "needs the member 'groups': 'all' or a list of groups"),
        ("{row: preset-groups, groups: drawing}", "'groups' must be 'all' or a list of groups"),
        ("{row: preset-groups, groups: [a, 1]}", "'groups', item 2: Input should be a valid string"),
        ("{row: preset-groups, groups: all, except: units}", "'except': must be a list"),
        ("{row: presets}", "needs 'allow' or 'deny', each a list of names"),
        ("{row: presets, deny: []}", "needs 'allow' or 'deny'"),
        ("{row: restrict, allow: !!set {a, b}}", "'allow': must be a list"),
        ("{row: restrict, allow: [a, 2]}", "'allow', item 2: Input should be a valid string"),
        ("{row: restrict, allow: ['']}", "'allow', item 1: String should have at least 1 character"),
        ("{row: restrict, deny: [space_run_code]}", "a row 'tool-presentation' or 'tool-finder' decides"),
        ("{row: restrict, allow: [run-code]}", "'run-code' cannot be allowed or denied"),
        ("{row: risk-ceiling}", "needs the member 'risk': normal, filesystem-read, "),
        ("{row: risk-ceiling, risk: high}", "'risk': Input should be 'normal'"),
        ("{row: prompt-blocks}", "needs the member 'blocks', a list of names"),
        ("{row: prompt-blocks, blocks: [tool]}", "there is no block 'tool'. Did you mean 'tools'?"),
        ("{row: prompt-blocks, blocks: [qqq]}", "There are instructions, tools, preset-prompts, "),
        ("{row: prompt-blocks, blocks: [tools, tools]}", "block 'tools' stands in the list twice"),
    ],
)
def test_a_wrong_row_is_refused_by_its_number_saying_what_is_wrong_and_what_would_be_right(row: str, reason: str):
    ((number, said),) = faults_of(f"- {{row: risk-ceiling, risk: shell}}\n- {row}")
    assert number == 2
    assert reason in said


def test_every_faulty_row_is_named():
    assert [row for row, _ in faults_of("- one\n- {row: risk-ceiling, risk: shell}\n- {row: two}")] == [1, 3]


@pytest.mark.parametrize(
    ("composition", "reason"),
    [
        (
            "- {row: tool-presentation, mode: code}\n- {row: tool-presentation, mode: both}",
            "row 1 is a 'tool-presentation' already; an agent has at most one",
        ),
        (
            "- {row: prompt-blocks, blocks: []}\n- {row: prompt-blocks, blocks: []}",
            "row 1 is a 'prompt-blocks' already",
        ),
        (
            "- {row: risk-ceiling, risk: shell, id: a}\n- {row: risk-ceiling, risk: normal, id: a}",
            "row 1 has the id 'a' already",
        ),
    ],
)
def test_rows_that_contradict_an_earlier_one_are_refused_naming_it(composition: str, reason: str):
    ((number, said),) = faults_of(composition)
    assert number == 2
    assert reason in said


def test_a_disabled_row_leaves_room_for_another_of_its_kind_but_has_to_be_a_row():
    rows = "- {row: tool-presentation, mode: code, disabled: true}\n- {row: tool-presentation, mode: both}"
    assert len(parse_composition(parse_yaml(rows))) == 2
    assert faults_of("- {row: nonsense, disabled: true}")[0][0] == 1


def test_more_rows_than_anybody_writes_are_refused():
    text = "- {row: risk-ceiling, risk: shell}\n" * (MAX_ROWS + 1)
    assert faults_of(text) == [(None, f"has {MAX_ROWS + 1} rows; the most is {MAX_ROWS}")]


# YAML


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- {row: [", "is not valid YAML, line 1, column 10: "),
        ("- a\n  - b: c: d", "is not valid YAML, line 2"),
        ("- &a [1]\n- *a", "anchors and aliases (& and *) are not allowed; write the value out"),
        ("- &a {row: &b x}", "anchors and aliases"),
        ("- {row: x, row: y}", "line 1, column 12: key 'row' stands twice"),
        ("- !!python/object/apply:os.system [id]", "could not determine a constructor"),
        ("- !tag x", "could not determine a constructor"),
        ("a: b\n---\nc: d", "expected a single document"),
        ("- \x07", "is not valid YAML: "),
        ("- 2026-13-45", "has a value that cannot be: "),
        ("[" * 600, "is nested too deep"),
        ("- {? [a, b] : c}", "found unhashable key"),
    ],
)
def test_yaml_that_is_broken_or_does_more_than_say_values_is_refused(text: str, reason: str):
    with pytest.raises(YamlFileError) as refused:
        parse_yaml(text)
    assert reason in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def faults_of(text: str) -> list[tuple[int | None, str]]:
    with pytest.raises(InvalidCompositionError) as refused:
        parse_composition(parse_yaml(text))
    return [(fault.row, fault.reason) for fault in refused.value.faults]
