"""A caller written with the published SDK. It does what it is told on stdin, a JSON object a line,
and prints what came of each, a JSON object a line:

  {"do": "discover"|"discover_wellknown"|"session"|"submit", "skill": ..., "input": ...}
"""

import asyncio
import json
import sys

from ldp_protocol import LdpClient


async def step(client, url, order):
    do = order["do"]
    if do == "discover":
        return (await client.discover(url)).model_dump(mode="json")
    if do == "discover_wellknown":
        return (await client.discover_wellknown(url)).model_dump(mode="json")
    if do == "session":
        return (await client.establish_session(url)).model_dump(mode="json")
    if do == "submit":
        return await client.submit_task(url, skill=order["skill"], input_data=order["input"])
    raise ValueError(f"unknown order {do!r}")


async def main(url, delegate_id, secret):
    async with LdpClient(delegate_id=delegate_id, signing_secret=secret or None) as client:
        for line in sys.stdin:
            try:
                answer = {"ok": await step(client, url, json.loads(line))}
            except Exception as error:  # What the SDK raises is what the test is about.
                answer = {"error": type(error).__name__, "message": str(error)}
            print(json.dumps(answer, default=str), flush=True)


asyncio.run(main(*sys.argv[1:4]))
