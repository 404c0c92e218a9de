"""The servers that are measured, one program each, so that each has a process and an interpreter of its own."""
