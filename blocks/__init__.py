"""Floor 2: a prompt as blocks that people can see, order and change. No runtime, no network, no files, no clock."""
