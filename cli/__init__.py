"""Floor 5: the `space` command. Nothing imports it."""
