"""Agents: what one is made of, how its folder is read, and how it takes hold of a scope."""
