"""Floor 1: the domain. Worlds and what is in them, history, files, shell and store. Knows no agent and no protocol."""
