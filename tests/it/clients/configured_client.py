"""Starts the server of a configuration as its agent does, and asks a question: `configured_client.py CONFIGURATION`.

The current directory is the project. The configuration is one that `cortex init` wrote, with the key `mcpServers`.
"""

import json
import sys

import anyio
from mcp import Client, StdioServerParameters


async def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        entry = json.load(file)["mcpServers"]["cortex"]
    # An agent gives a server few variables; PATH leads nowhere.
    server = StdioServerParameters(command=entry["command"], args=entry["args"], env={"PATH": "/nowhere"})
    async with Client(server) as client:
        answer = await client.call_tool("cortex_search", {"query": "wait longer after a failed attempt"})
        print(answer.content[0].text)


anyio.run(main)
