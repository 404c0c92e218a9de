"""Floor 2: JSON-RPC and MCP without I/O: wire models, versions, tool registry, sessions, handler."""
