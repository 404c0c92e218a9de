"""Heights from an image file: black is low, white is high. Owns reading it; blocks, so run it off the world."""

from __future__ import annotations

import io
import warnings

import numpy as np
from PIL import Image, UnidentifiedImageError

from engine.errors import InvalidArgumentError
from engine.scene.measures import MAX_SAMPLES
from engine.scene.shape import Floats

MAX_IMAGE_SIDE = 8192
"""Pixels. Larger images take more memory than a height field is worth."""
FORMATS = ("PNG", "JPEG")
"""Of files that are taken. PNG may have 16 bits of grey, which gives smooth slopes."""

_BEGINNINGS = {
    b"\x89PNG": "a broken PNG image",
    b"\xff\xd8": "a broken JPEG image",
    b"GIF8": "a GIF image",
    b"BM": "a BMP image",
    b"RIFF": "a WebP image, a sound or a film",
    b"II*\0": "a TIFF image",
    b"MM\0*": "a TIFF image",
    b"%PDF": "a PDF document",
}
"""What a file that is no image of `FORMATS` most likely is, by how it begins."""
_SHOWN_CHARACTERS = 40
"""Of a text that was given for an image, in the error."""

_WHITE_16 = 65535.0
_WHITE_8 = 255.0


def heights_of_image(data: bytes, *, samples: int | None = None) -> Floats:
    """Samples in [0, 1], rows from the top of the image. The longer side gets `samples`, at most `MAX_SAMPLES`.

    Raises `InvalidArgumentError` for what is no image of `FORMATS` or too small or too large.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                _check_sides(*image.size)
                grey = _grey(image)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise InvalidArgumentError(f"The image has too many pixels; a terrain takes {_SIDES}.") from error
    except UnidentifiedImageError as error:  # its text shows an object of ours, not what is in the file
        raise InvalidArgumentError(f"{_NO_IMAGE}: it is {_kind_of(data)}; {_ACCEPTED}.") from error
    except (OSError, SyntaxError, ValueError) as error:
        raise InvalidArgumentError(f"{_NO_IMAGE}: it is {_kind_of(data)} ({error}); {_ACCEPTED}.") from error
    columns, rows = grey.size
    most = min(samples or MAX_SAMPLES, MAX_SAMPLES)
    scale = min(1.0, most / max(columns, rows)) if samples is None else most / max(columns, rows)
    size = (max(2, round(columns * scale)), max(2, round(rows * scale)))
    if size != grey.size:
        grey = grey.resize(size, Image.Resampling.BILINEAR)
    return np.clip(np.asarray(grey, dtype=np.float64), 0.0, 1.0)


_SIDES = f"from 2 to {MAX_IMAGE_SIDE} on each side"
_NO_IMAGE = f"The file is not a {' or '.join(FORMATS)} image that can be read"
_ACCEPTED = f"a terrain takes one of those, whole, with pixels {_SIDES}"


def _check_sides(columns: int, rows: int) -> None:
    if min(columns, rows) < 2 or max(columns, rows) > MAX_IMAGE_SIDE:
        raise InvalidArgumentError(f"The image has {columns} by {rows} pixels; a terrain takes {_SIDES}.")


def _kind_of(data: bytes) -> str:
    """In words, what these bytes are that are no image which can be read."""
    if not data:
        return "empty"
    known = next((kind for beginning, kind in _BEGINNINGS.items() if data.startswith(beginning)), None)
    if known is not None:
        return known
    text = data[:_SHOWN_CHARACTERS].decode("utf-8", "replace")
    if "\ufffd" in text.rstrip("\ufffd") or "\0" in text:
        return f"{len(data)} bytes of another kind"
    return f"a text that begins with {text.rstrip(chr(0xFFFD))!r}"


def _grey(image: Image.Image) -> Image.Image:
    """The brightness of each pixel as a float from 0 to 1; what is transparent counts as black."""
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        values = np.asarray(image, dtype=np.float32) / np.float32(_WHITE_16)
        return Image.fromarray(values)
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        with_alpha = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, (0, 0, 0, 255)), with_alpha)
    values = np.asarray(image.convert("L"), dtype=np.float32) / np.float32(_WHITE_8)
    return Image.fromarray(values)
