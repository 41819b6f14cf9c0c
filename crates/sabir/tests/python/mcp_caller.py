"""A client of MCP servers written with the published SDK: `mcp_caller.py MODE URL`, or `mcp_caller.py
MODE -- COMMAND...`. It does what it is told on stdin, a JSON object a line, and prints what came of
each, a JSON object a line:

  {"do": "who"|"tools"}
  {"do": "call", "name": ..., "arguments": ..., "cancel_after": N}

With `cancel_after` the call is given up after so many notifications of progress.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def call(client, order):
    told = []
    enough = asyncio.Event()

    async def progress(done, total, message):
        told.append({"progress": done, "message": message})
        if len(told) >= order.get("cancel_after", 1 << 30):
            enough.set()

    calling = asyncio.create_task(
        client.call_tool(order["name"], order.get("arguments"), progress_callback=progress)
    )
    if "cancel_after" in order:
        waiting = asyncio.create_task(enough.wait())
        await asyncio.wait([calling, waiting], return_when=asyncio.FIRST_COMPLETED)
        if not calling.done():
            calling.cancel()
            await asyncio.wait([calling])
            return {"cancelled": True, "progress": told}
    result = await calling
    return {
        "is_error": bool(result.is_error),
        "structured": result.structured_content,
        "text": "".join(block.text for block in result.content),
        "progress": told,
    }


async def step(client, order):
    if order["do"] == "who":
        session = client.session
        return {"name": session.server_info.name, "version": session.protocol_version}
    if order["do"] == "tools":
        listed = await client.list_tools()
        return [tool.model_dump(mode="json", by_alias=True) for tool in listed.tools]
    if order["do"] == "call":
        return await call(client, order)
    raise ValueError(f"unknown order {order!r}")


async def main(mode, target, *command):
    server = target
    if target == "--":
        server = StdioServerParameters(command=command[0], args=list(command[1:]))
    lines = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def read():
        for line in sys.stdin:
            loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, None)

    loop.run_in_executor(None, read)
    async with Client(server, mode=mode) as client:
        while (line := await lines.get()) is not None:
            try:
                answer = {"ok": await step(client, json.loads(line))}
            except Exception as error:  # What the SDK raises is what the test is about.
                answer = {"error": type(error).__name__, "message": str(error)}
            print(json.dumps(answer, default=str), flush=True)


asyncio.run(main(*sys.argv[1:]))
