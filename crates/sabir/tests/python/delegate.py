"""A delegate written with the published SDK: `delegate.py PORT SECRET DOMAIN`. It echoes, fails when
told to, and counts how often it was asked."""

import asyncio
import sys

from ldp_protocol import LdpCapability, LdpDelegate, QualityMetrics, TrustDomain

asked = 0


class Friend(LdpDelegate):
    async def handle_task(self, skill, input_data, task_id):
        global asked
        asked += 1
        if skill == "fail":
            raise RuntimeError("it was told to fail")
        if skill == "slow":
            await asyncio.sleep(600)
        return {"echo": input_data, "asked": asked}, 0.75


def capability(name):
    quality = QualityMetrics(quality_score=0.9, latency_p50_ms=10, cost_per_call_usd=0.001)
    return LdpCapability(name=name, description=f"{name}, in Python", quality=quality)


port, secret, domain = sys.argv[1:4]
Friend(
    delegate_id="ldp:delegate:friend",
    name="Friend",
    model_family="none",
    model_version="friend-1",
    capabilities=[capability(name) for name in ("echo", "fail", "slow")],
    trust_domain=TrustDomain(name=domain),
    signing_secret=secret or None,
).run(host="127.0.0.1", port=int(port))
