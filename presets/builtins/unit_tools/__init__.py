"""The tools on units, a module for each topic."""
