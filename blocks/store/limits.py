"""How much a story, a fragment and a configuration may hold. Owns the numbers; the modules beside it enforce them."""

from __future__ import annotations

MAX_FILE_BYTES = 4 * 1024 * 1024
"""One file. As much as one request to the engine may carry; a larger file is none that was written here."""

MAX_CONFIG_BYTES = 1024 * 1024
"""One agent's configuration as JSON: a hundred long blocks."""

MAX_CUSTOM_BLOCKS = 100
"""Custom blocks of one agent. Each script among them may take seconds of every prompt."""

MAX_STORIES = 1000
"""Stories that are not archived; a list of them is read file by file."""

MAX_BRANCHES = 100
"""Branches of one story. Each is a copy of everything in it."""

MAX_FRAGMENTS = 5000
"""Fragments of one branch, archived ones too. A prompt is made by looking at all of them."""

MAX_NAME_LENGTH = 200
"""Characters of the name of a story, a branch or a fragment: it stands in one line of a list."""

MAX_DESCRIPTION_LENGTH = 10_000
"""Characters of a description, which stands in catalogues."""

MAX_CONTENT_LENGTH = 500_000
"""Characters of a fragment's content or of a story's summary: a whole novel of 80,000 words."""

MAX_TAGS = 100
"""Tags of one fragment, and refs."""

MAX_TAG_LENGTH = 100
"""Characters of one tag or ref."""

MAX_VERSIONS = 20
"""Earlier versions that a fragment keeps; the oldest goes first."""

MAX_VERSION_CHARACTERS = 1_000_000
"""Characters of all earlier versions of a fragment together, so that its file stays readable."""

CACHED_DOCUMENTS = 10_000
"""Files that are kept parsed. Looking whether one has changed takes a twentieth of the time of parsing it."""
