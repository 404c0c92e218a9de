"""Where Space keeps its things when nobody says otherwise. Owns the names of these folders; makes none of them."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_data_path


def default_data_folder() -> Path:
    """The folder of the user's worlds, where this platform keeps such things."""
    return user_data_path("space", appauthor=False)


def opencode_folder(data: Path, url: str, agent: str | None = None) -> Path:
    """The configuration folder for opencode with the engine at `url`: one for each engine and agent, never shared."""
    url = url if agent is None else f"{url}-{agent}"
    name = "".join(c if c.isalnum() or c in ".-" else "-" for c in url.partition("://")[2])
    return data / "opencode" / name
