"""The order of asks: who may ask whom. An actor asks only those below it, so no two can wait for each other."""

UNITS = 80
CONTEXT = 70
AGENTS = 65
RESOLUTION = 60
MCP_SYNC = 50
CATALOG = 40
STREAM = 30
TASKS = 27
LISTENERS = 24
SESSIONS = 20
BLOCKS = 15
OWN_BLOCKS = 14
WORLD = 10
PROVIDERS = 5
