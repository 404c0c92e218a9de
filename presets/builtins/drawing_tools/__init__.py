"""The tools of the drawing presets, one module a topic. `presets.builtins.drawing` puts them together."""
