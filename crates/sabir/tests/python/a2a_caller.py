"""A client of A2A agents written with the published SDK: `a2a_caller.py BINDING URL [TOKEN]`. It does
what it is told on stdin, a JSON object a line, and prints what came of each, a JSON object a line. A
stream prints its events as {"event": ...} lines before that.

  {"do": "card"|"send"|"stream"|"get"|"list"|"cancel"|"subscribe"
         |"push_create"|"push_get"|"push_list"|"push_delete", "request": ...}
"""

import asyncio
import json
import sys

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.client.card_resolver import A2ACardResolver
from a2a.types import a2a_pb2 as pb
from google.protobuf.json_format import MessageToDict, ParseDict


def shown(message):
    return MessageToDict(message)


async def events(stream):
    told = []
    async for event in stream:
        event = shown(event)
        told.append(event)
        print(json.dumps({"event": event}), flush=True)
    return told


async def step(card, clients, order):
    polling, streaming = clients
    do, raw = order["do"], order.get("request", {})
    if do == "card":
        return shown(card)
    if do in ("send", "stream"):
        request = ParseDict(raw, pb.SendMessageRequest())
        if do == "stream":
            return await events(streaming.send_message(request))
        return [shown(event) async for event in polling.send_message(request)][0]
    if do == "get":
        return shown(await polling.get_task(ParseDict(raw, pb.GetTaskRequest())))
    if do == "list":
        return shown(await polling.list_tasks(ParseDict(raw, pb.ListTasksRequest())))
    if do == "cancel":
        return shown(await polling.cancel_task(ParseDict(raw, pb.CancelTaskRequest())))
    if do == "subscribe":
        return await events(streaming.subscribe(ParseDict(raw, pb.SubscribeToTaskRequest())))
    if do == "push_create":
        request = ParseDict(raw, pb.TaskPushNotificationConfig())
        return shown(await polling.create_task_push_notification_config(request))
    if do == "push_get":
        request = ParseDict(raw, pb.GetTaskPushNotificationConfigRequest())
        return shown(await polling.get_task_push_notification_config(request))
    if do == "push_list":
        request = ParseDict(raw, pb.ListTaskPushNotificationConfigsRequest())
        return shown(await polling.list_task_push_notification_configs(request))
    if do == "push_delete":
        request = ParseDict(raw, pb.DeleteTaskPushNotificationConfigRequest())
        await polling.delete_task_push_notification_config(request)
        return None
    raise ValueError(f"unknown order {do!r}")


async def main(binding, url, token=""):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:
        card = await A2ACardResolver(http, url).get_agent_card()

        def client(streams):
            config = ClientConfig(
                httpx_client=http, streaming=streams, supported_protocol_bindings=[binding]
            )
            return ClientFactory(config).create(card)

        clients = (client(False), client(True))
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            try:
                answer = {"ok": await step(card, clients, json.loads(line))}
            except Exception as error:  # What the SDK raises is what the test is about.
                answer = {"error": type(error).__name__, "message": str(error)}
            print(json.dumps(answer), flush=True)


asyncio.run(main(*sys.argv[1:]))
