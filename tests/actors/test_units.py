"""Units in a running engine: loaded, followed, changed, broken and taken away, with real files and a real watcher."""
