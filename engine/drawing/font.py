"""The one font of drawings: where its files are, and how wide text is in it. Owns measuring; draws no glyph.

The font carries no kerning, so a line is as wide as the sum of its advance widths, here and in every renderer. What the
font lacks is shown in a font of the machine; it is measured by an average width, and renderers are told that width.
"""

from __future__ import annotations

import struct
import unicodedata
from functools import cache
from pathlib import Path

FONT_FAMILY = "Space Sans"
"""The name inside the font files; no other font bears it."""
FONT_FILE = Path(__file__).parent / "fonts" / "space-sans.ttf"
"""For renderers that load fonts by path."""
WEB_FONT_FILE = Path(__file__).parent / "fonts" / "space-sans.woff2"
"""The same glyphs, small enough to embed in an SVG."""

LINE_HEIGHT = 1.2
"""From baseline to baseline, in ems; also the height of the box of one line."""
BASELINE_DROP = 0.96
"""From the top of a line's box down to its baseline, in ems: the font's ascent, with a hair taken off both ends."""

_FOREIGN_ADVANCE = 0.6
"""Assumed width of a character that the font lacks, in ems: about the mean of text fonts."""
_FOREIGN_WIDE_ADVANCE = 1.0
"""The same for East Asian wide characters and emoji, which are as wide as they are high."""
_ZERO_WIDTH = frozenset({"Mn", "Me", "Cf"})
"""Unicode categories of characters that stand on or between others and take no room."""


def text_lines(text: str) -> list[str]:
    """The lines of a text; a newline always ends one."""
    return text.split("\n")


def line_width(line: str) -> float:
    """The width of one line, in ems."""
    advances = _advances()
    return sum(advances[c] if c in advances else _foreign_advance(c) for c in line)


def is_covered(text: str) -> bool:
    """Whether the font has every character of the text, so that no font of the machine is needed."""
    advances = _advances()
    return all(c in advances or c == "\n" for c in text)


def text_size(text: str) -> tuple[float, float]:
    """Width and height of the box of a text, in ems."""
    lines = text_lines(text)
    return max(line_width(line) for line in lines), LINE_HEIGHT * len(lines)


def _foreign_advance(character: str) -> float:
    if unicodedata.category(character) in _ZERO_WIDTH:
        return 0.0
    return _FOREIGN_WIDE_ADVANCE if unicodedata.east_asian_width(character) in "WF" else _FOREIGN_ADVANCE


@cache
def _advances() -> dict[str, float]:
    """Advance width in ems of every character of the font. Reads the tables head, hhea, hmtx and cmap (format 4)."""
    data = FONT_FILE.read_bytes()
    tables: dict[bytes, int] = {}
    for index in range(struct.unpack_from(">H", data, 4)[0]):
        tag, _checksum, offset, _length = struct.unpack_from(">4sIII", data, 12 + 16 * index)
        tables[tag] = offset
    units_per_em: int = struct.unpack_from(">H", data, tables[b"head"] + 18)[0]
    metric_count: int = struct.unpack_from(">H", data, tables[b"hhea"] + 34)[0]
    widths = struct.unpack_from(">" + "Hh" * metric_count, data, tables[b"hmtx"])[::2]
    glyphs = _character_map(data, tables[b"cmap"])
    return {chr(code): widths[min(glyph, metric_count - 1)] / units_per_em for code, glyph in glyphs.items()}


def _character_map(data: bytes, cmap: int) -> dict[int, int]:
    subtable = cmap + struct.unpack_from(">I", data, cmap + 8)[0]
    table_format, _length, _language, twice_count = struct.unpack_from(">HHHH", data, subtable)
    if table_format != 4:
        raise ValueError(f"{FONT_FILE}: the character map must have format 4, not {table_format}")
    count = twice_count // 2
    ends = struct.unpack_from(f">{count}H", data, subtable + 14)
    starts = struct.unpack_from(f">{count}H", data, subtable + 16 + twice_count)
    deltas = struct.unpack_from(f">{count}H", data, subtable + 16 + 2 * twice_count)
    ranges_at = subtable + 16 + 3 * twice_count
    ranges = struct.unpack_from(f">{count}H", data, ranges_at)
    glyphs: dict[int, int] = {}
    for segment in range(count):
        for code in range(starts[segment], min(ends[segment], 0xFFFE) + 1):
            glyph = code
            if ranges[segment]:
                place = ranges_at + 2 * segment + ranges[segment] + 2 * (code - starts[segment])
                glyph = struct.unpack_from(">H", data, place)[0]
                if glyph == 0:
                    continue
            glyphs[code] = (glyph + deltas[segment]) & 0xFFFF
    return {code: glyph for code, glyph in glyphs.items() if glyph}
