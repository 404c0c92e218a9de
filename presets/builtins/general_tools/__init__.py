"""The tools of the general presets, one module a topic. `presets.builtins.general` puts them together."""
