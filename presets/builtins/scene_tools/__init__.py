"""The tools of the scene, one module for each preset."""
