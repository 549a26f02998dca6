"""Drives a server with the official Python SDK, as an agent's program would: `python_client.py MODE PROGRAM-OR-URL`.

MODE is `auto` (the newest revision of the protocol) or `legacy` (with a handshake). The current directory is the project
that is served, as clients.rs made it. The first thing that is not as it should be ends the run with a message.
"""

import fcntl
import json
import os
import sys
from pathlib import Path
from urllib.parse import quote

import anyio
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import INVALID_PARAMS
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

RETRY = "src/retry.rs"
# Nothing takes so long, except on a machine that is busy with other things.
LONG = 60
# About a token for 3.5 bytes, as the server counts.
BUDGET = 2000 * 3.5

generations = []
notifications = []


def check(holds, what, *shown):
    """Ends the run unless it holds; at once, since the SDK's task groups would bury the message."""
    if not holds:
        print(f"FAILED: {what}", *(str(s)[:4000] for s in shown), sep="\n", file=sys.stderr, flush=True)
        os._exit(1)


async def ask(client, tool, **arguments):
    """Calls a tool that must answer; its reply as JSON, and as the text that models read."""
    result = await client.call_tool(tool, {**arguments, "format": "json"})
    check(not result.is_error, f"{tool} answers", result.content)
    check(result.structured_content is not None and not result.content, f"{tool} answers with JSON alone", result)
    reply, text = result.structured_content, ""
    check(len(json.dumps(reply)) <= 4 * BUDGET, f"{tool} keeps to its budget", reply)
    if tool.startswith(("cortex_", "search_")):
        result = await client.call_tool(tool, arguments)
        check(not result.is_error and result.structured_content is None, f"{tool} answers with text alone", result)
        text = result.content[0].text
        check(len(text.encode()) <= BUDGET, f"{tool} keeps to its budget", text)
    generation = reply["index"]["generation"]
    check(not generations or generation >= generations[-1], "generations do not go back", generations, generation)
    generations.append(generation)
    return reply, text


async def searching(client):
    """Finds, and goes from what was found to its text, its neighbours and its file."""
    reply, text = await ask(client, "cortex_search", query="wait longer after a failed attempt")
    first = reply["results"][0]
    check(first["path"] == RETRY, "a question finds its file first", text)
    check(first["symbol"] in text and f"{RETRY}:" in text, "the text says what the JSON says", text)

    reply, text = await ask(client, "cortex_grep", pattern="salted water")
    check(reply["total"] == 1 and "salted water" in text, "every place is counted and shown", text)

    reply, text = await ask(client, "cortex_read", chunk_id=first["chunk_id"])
    check("fn retry_with_backoff" in reply["content"] and not reply["changed"], "a chunk is read", text)
    reply, text = await ask(client, "cortex_read", path=RETRY, lines="2-2")
    check(reply["content"] == Path(RETRY).read_text().splitlines()[1], "a line is read as it is", text)

    reply, text = await ask(client, "cortex_outline", path=RETRY)
    check([s["name"] for s in reply["symbols"]] == ["retry_with_backoff", "Backoff", "Backoff", "pause"], "a file is outlined", text)
    reply, text = await ask(client, "cortex_outline")
    check(reply["total_files"] == 4, "the project is outlined", text)

    reply, text = await ask(client, "cortex_map")
    check(RETRY in [f["path"] for f in reply["files"]] and f"{RETRY} " in text, "the project is explained", text)
    reply, text = await ask(client, "cortex_explore", about=["retry_with_backoff", "wait longer"])
    check("function retry_with_backoff" in text, "several subjects are explored", text)
    reply, text = await ask(client, "cortex_related", path=RETRY, line=2)
    check(reply["results"][0]["path"] == "src/poll.rs", "similar code is found", text)
    reply, text = await ask(client, "cortex_history", query="why does it wait between attempts")
    check("The service was flooded" in reply["commits"][0]["message"][0], "a commit says why", text)
    reply, text = await ask(client, "cortex_why", at=f"{RETRY}:2")
    check("The service was flooded" in text, "a line is explained by its commit", text)
    reply, text = await ask(client, "cortex_changes")
    check("wait longer" in text, "what happened is told", text)

    reply, text = await ask(client, "cortex_graph", operation="callers", target="Backoff::pause")
    check(reply["targets"][0]["path"] == RETRY and reply["total"] == len(reply["results"]), "the graph knows a method", text)
    reply, text = await ask(client, "cortex_impact", files=["Backoff::pause"])
    check(reply["changed"][0]["path"] == RETRY, "the impact of a planned change is told", text)
    reply, text = await ask(client, "cortex_pattern", pattern="pub fn $NAME($$$) -> u32 { $$$ }", language="rust")
    check(any(place["path"] == RETRY for place in reply["places"]), "code of a shape is found", text)
    reply, text = await ask(client, "cortex_files")
    check(reply["total"]["files"] == 4, "the files are counted", text)

    reply, text = await ask(client, "cortex_status")
    check(reply["files"] == 4 and reply["languages"]["rust"] == 2, "the status counts", text)
    return first


async def refusals(client):
    """What cannot be answered: a tool says what to do instead, the protocol refuses what is no tool."""
    result = await client.call_tool("cortex_read", {"path": "src/rety.rs"})
    check(result.is_error and RETRY in result.content[0].text, "an unknown file is told, and what is like it", result)
    result = await client.call_tool("cortex_search", {})
    check(result.is_error and "query is missing" in result.content[0].text, "what is missing is told", result)
    try:
        result = await client.call_tool("cortex_nothing", {})
        check(False, "an unknown tool is an error of the protocol", result)
    except MCPError as e:
        check(e.error.code == INVALID_PARAMS and "cortex_search" in e.error.message, "an unknown tool is told", e.error)


async def resources(client, found):
    """The resources that are listed can be read."""
    listed = (await client.list_resources()).resources
    check([str(r.uri) for r in listed] == ["cortex://status", "cortex://briefing"], "status and briefing are listed", listed)
    content = (await client.read_resource("cortex://status")).contents[0]
    check(content.mime_type == "application/json" and json.loads(content.text)["files"] == 4, "the status is read", content)

    templates = (await client.list_resource_templates()).resource_templates
    check([t.uri_template for t in templates] == ["cortex://chunk/{id}"], "chunks are listed", templates)
    content = (await client.read_resource("cortex://chunk/" + quote(found["chunk_id"], safe=""))).contents[0]
    check("fn retry_with_backoff" in content.text, "a chunk is read", content)
    try:
        content = await client.read_resource("cortex://chunk/nothing")
        check(False, "an unknown chunk is an error", content)
    except MCPError as e:
        check("cortex_search" in e.error.message, "an unknown chunk is told", e.error)


async def editing(client):
    """An edit is in the reply to the call that waits for it."""
    before = generations[-1]
    with Path(RETRY).open("a") as file:
        file.write("\npub fn shuffle_the_deck(cards: &mut Vec<u8>) {\n    cards.reverse();\n}\n")
    reply, text = await ask(client, "cortex_search", query="shuffle the deck", wait_ms=20000)
    check("fn shuffle_the_deck" in text, "the edit is found", text)
    check(reply["index"]["generation"] > before, "the index is a newer one", text)


async def remembering(client):
    """What is stored is found."""
    await ask(client, "add_memory", name="Retries", episode_body="We decided that a download is tried four times.")
    reply, text = await ask(client, "search_memory_nodes", query="how often is a download tried?")
    check("tried four times" in text and len(reply["results"]) == 1, "a memory is found", text)
    reply, text = await ask(client, "search_memory_facts", query="how often is a download tried?")
    check("tried four times" in text, "a fact is found", text)


async def progress(client):
    """Who gives a token is told how far indexing is, nobody else; who does not wait any longer can go on asking."""
    # A process that indexes says so in this file. It counts while somebody holds the write lock: here, this client.
    lock = open(".cortex/write.lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    run = Path(".cortex/cache/run.json")
    told = []

    async def on_progress(done, total, message):
        told.append((done, total, message))
        waiting.cancel_scope.cancel()

    never = {"query": "attempts", "min_generation": 1_000_000, "wait_ms": LONG * 1000}
    run.write_text('{"done": 3, "total": 7}')
    try:
        with anyio.move_on_after(LONG / 2):
            async with anyio.create_task_group() as waiting:
                waiting.start_soon(lambda: client.call_tool("cortex_search", never))
                waiting.start_soon(lambda: client.call_tool("cortex_search", never, progress_callback=on_progress))
    finally:
        run.unlink(missing_ok=True)
        lock.close()
    check(told == [(3, 7, "indexing: 3 of 7 files")], "progress is told once", told)
    tokens = [m.params.progress_token for m in notifications if isinstance(m, types.ProgressNotification)]
    check(len(tokens) == 1, "nobody else is told", notifications)
    await ask(client, "cortex_search", query="attempts")


async def on_message(message):
    """What comes besides answers."""
    notifications.append(message)


async def main(mode, target):
    """Everything, in one connection."""
    is_http = target.startswith("http://")
    server = target if is_http else StdioServerParameters(command=target, args=["mcp"])
    async with Client(server, mode=mode, read_timeout_seconds=LONG, message_handler=on_message) as client:
        version = LATEST_MODERN_VERSION if mode == "auto" else LATEST_HANDSHAKE_VERSION
        check(client.protocol_version == version, f"{version} is spoken", client.protocol_version)
        check("cortex_search" in client.instructions and client.server_info.name == "cortex", "it introduces itself")

        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        for tool in tools.values():
            check(tool.output_schema is None and tool.description, "a tool says what it is", tool)
            check(tool.annotations.read_only_hint == (tool.name != "add_memory"), "a tool says whether it changes anything", tool)
        # The first call comes before anything is indexed, and may wait for it.
        reply, text = await ask(client, "cortex_status", wait_ms=20000)
        check(reply["files"] == 4 and reply["index"]["generation"] > 0, "the first call waits for the index", text)

        await resources(client, await searching(client))
        await refusals(client)
        # Before the edit, with which the server would have something to say of its own.
        await progress(client)
        await editing(client)
        await remembering(client)
        check(set(tools) == CALLED, "every tool was called", set(tools) ^ CALLED)
    print(json.dumps({"protocol": version, "tools": len(tools), "generations": generations[-1]}))


CALLED = {
    "cortex_explore",
    "cortex_search",
    "cortex_grep",
    "cortex_read",
    "cortex_map",
    "cortex_outline",
    "cortex_related",
    "cortex_why",
    "cortex_history",
    "cortex_changes",
    "cortex_status",
    "cortex_graph",
    "cortex_impact",
    "cortex_pattern",
    "cortex_files",
    "add_memory",
    "search_memory_nodes",
    "search_memory_facts",
}

anyio.run(main, *sys.argv[1:])
