//! The servers: the tools over MCP (standard input and output, HTTP) and as a JSON API.
