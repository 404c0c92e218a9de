"""Floor 1: runs JavaScript that a model or a user wrote. Knows nothing of agents, tools and prompts."""
