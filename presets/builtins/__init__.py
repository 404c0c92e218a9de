"""The presets and adapters that Space brings along. Each module offers `adapters()` and `presets()`: plain values."""
