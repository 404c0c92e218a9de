"""Floor 2: what an agent may see and do in a context. Pure and synchronous but for the bodies of tools; never does I/O."""
