"""Floor 2: what an agent may see and do in a context. Never does I/O; only bodies of tools are async."""
