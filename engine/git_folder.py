"""What belongs to Git itself, and is not written by file tools. Owns recognising it by name, and the refusal.

Hooks and settings in a `.git` folder are commands that Git runs at the user's next commit or status, so whoever may
write there may run anything, whether or not the shell is on. A file named `.git` can send Git to another such folder.
"""

from __future__ import annotations

from pathlib import Path

from engine.errors import ForbiddenError
from engine.workspace_path import shown

_GIT_NAMES = frozenset({".git", "git~1"})
"""In lower case; the second is the short name of the first on file systems of Windows."""
_IGNORED = dict.fromkeys((0x200C, 0x200D, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF))
"""Characters that some file systems of macOS overlook in a name."""


def refuse_git_folder(root: Path, parts: tuple[str, ...]) -> None:
    """Raise `ForbiddenError` for a path that is, or is inside, a `.git`; also when the workspace at `root` itself is.

    `root` must be without links, and `parts` are opened without following any. Names count as the same whatever the
    case, since file systems that do not tell `.GIT` from `.git` are common.
    """
    inside = "The workspace folder" if _has_git(root.parts) else repr(shown(parts)) if _has_git(parts) else None
    if inside is not None:
        raise ForbiddenError(
            f"{inside} is inside a '.git', where no file tool writes: Git runs the hooks and settings that are there "
            "as commands. Write somewhere else; what the repository needs, Git's own commands do, which the user can "
            "let you run (space_app_run_bash) or run for you."
        )


def _has_git(parts: tuple[str, ...]) -> bool:
    return any(part.translate(_IGNORED).casefold().rstrip(" .") in _GIT_NAMES for part in parts)
