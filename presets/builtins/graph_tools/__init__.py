"""The tools of the graph, one module for each topic."""
