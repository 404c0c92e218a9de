"""The nine agents that work on a story, one file each."""
