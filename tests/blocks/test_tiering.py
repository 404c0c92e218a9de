"""How deep fragments enter a prompt, and how they read there."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from blocks.fragment import Fragment
from blocks.prose import CUT_TEXT_UNITS, WHOLE_TEXT_UNITS, in_short, utf16_units
from blocks.sheet import catalog, catalog_row, full_sheet, full_sheets
from blocks.tiering import tiers, writer_context_ids
from tests.blocks.stories import FIRST, LAW, MARA, OREN, ROAD, SECOND, TONE, fragment

FRAGMENTS = st.lists(
    st.builds(
        fragment,
        st.sampled_from(["kn-aaaa", "kn-bbbb", "ch-aaaa", "pr-aaaa", "im-aaaa"]),
        st.sampled_from(["knowledge", "character", "prose", "summary", "image", "spell"]),
        st.text(),
        sticky=st.booleans(),
        archived=st.booleans(),
    )
)


@given(FRAGMENTS, st.sets(st.sampled_from(["kn-aaaa", "ch-aaaa"])), st.booleans())
def test_every_fragment_is_in_exactly_one_tier(of: list[Fragment], promoted: set[str], cataloged: bool):
    sorted_out = tiers(of, promoted=promoted, cataloged=cataloged)
    ids = [one.id for tier in (sorted_out.full, sorted_out.catalog, sorted_out.on_demand) for one in tier]
    assert sorted(ids) == sorted({one.id for one in of})
    assert all(one.sticky or one.id in promoted for one in sorted_out.full)
    assert cataloged or not sorted_out.catalog


def test_sticky_and_promoted_are_in_full_and_the_rest_in_the_catalogue_or_on_demand():
    old = fragment("kn-oldd", "knowledge", "Old", sticky=True, archived=True)
    of = (TONE, OREN, ROAD, old, FIRST)
    promoted = writer_context_ids((FIRST, SECOND))
    assert promoted == {"ch-oren"}
    assert tiers(of, promoted=promoted).full == (TONE, OREN)
    assert tiers(of, promoted=promoted).catalog == (ROAD,)
    assert tiers(of, promoted=promoted).on_demand == (old, FIRST)
    assert tiers(of, cataloged=False).on_demand == (OREN, ROAD, old, FIRST)


def test_ids_of_another_form_in_the_meta_of_prose_are_ignored():
    for meta in ({}, {"writerContextIds": "ch-oren"}, {"writerContextIds": None}, {"writerContextIds": [1, {}]}):
        assert writer_context_ids([fragment("pr-aaaa", "prose", "N", meta=meta)]) == frozenset()


def test_a_sheet_drops_the_description_unless_it_is_the_substance_or_somebody_edits():
    image = fragment("im-aaaa", "image", "Map", "x", description="A map of the salt.").model_copy(
        update={"content": ""}
    )
    assert full_sheet(MARA) == "#### Mara\n\nAll of Mara."
    assert full_sheet(MARA, editing=True) == "#### Mara (ch-mara)\n\nabout Mara\n\nAll of Mara."
    assert full_sheet(image) == "#### Map\n\nA map of the salt."


def test_a_row_is_one_line_whatever_the_fragment_is_named():
    assert catalog_row(fragment("kn-aaaa", "knowledge", "Two\nlines", description="a\r\n b")) == (
        "`kn-aaaa` | Two lines | a b"
    )


def test_types_come_in_their_order_and_those_of_plugins_at_the_end():
    spell = fragment("sp-aaaa", "spell", "Fog")
    text = full_sheets("Notes", (spell, MARA, LAW, TONE, MARA))
    headings = [line for line in text.split("\n") if line.startswith("#")]
    assert headings == [
        "## Notes",
        "### Guidelines",
        "#### Tone",
        "### Knowledge",
        "#### Storm Law",
        "### Characters",
        "#### Mara",
        "### Spell",
        "#### Fog",
    ]
    assert catalog("Catalog", ()) == ""


@given(st.text(alphabet=st.sampled_from(["a", "\n", "🎭"]), min_size=300, max_size=700))
def test_a_piece_in_short_is_whole_or_cut_at_the_limit(content: str):
    text = in_short(fragment("pr-aaaa", "prose", "N", content))
    if utf16_units(content) < WHOLE_TEXT_UNITS:
        assert text == content
    else:
        begin = text.removesuffix(" … (cut; `pr-aaaa` has the whole text)")
        assert CUT_TEXT_UNITS - 1 <= utf16_units(begin) <= CUT_TEXT_UNITS
        assert content.replace("\n", " ").startswith(begin)
