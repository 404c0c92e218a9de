"""The version of Space, as clients and people see it."""

from importlib.metadata import version

VERSION = version("space")
