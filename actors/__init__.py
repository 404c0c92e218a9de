"""Floor 3: the runtime (actor, mailbox, supervision, shutdown) and one small module per actor."""
