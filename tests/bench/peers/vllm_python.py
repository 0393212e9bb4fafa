#!/usr/bin/env python3
"""The request function of `vllm bench serve` without vllm: VLLM_CLIENT names its endpoint_request_func.py. Requests are made as its
serve.py makes them: all tasks at once, a semaphore, one aiohttp session. Prints TTFT and ITL in ms as one line of JSON."""
import asyncio
import importlib.util
import json
import os
import statistics
import sys

import aiohttp

spec = importlib.util.spec_from_file_location("endpoint_request_func", os.environ["VLLM_CLIENT"])
client = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = client
spec.loader.exec_module(client)


def percentile(values, p):
    """Between the nearest ranks, as numpy has it."""
    values = sorted(values)
    at = (len(values) - 1) * p / 100
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


async def run(url, concurrency, count):
    limit = asyncio.Semaphore(concurrency)
    connector = aiohttp.TCPConnector(limit=concurrency, limit_per_host=concurrency, ttl_dns_cache=300, keepalive_timeout=60,
                                     enable_cleanup_closed=True)
    request = client.RequestFuncInput(prompt="Tell me.", api_url=url + "/v1/chat/completions", prompt_len=3, output_len=100, model="raw")

    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=3600)) as session:
        async def one():
            async with limit:
                return await client.async_request_openai_chat_completions(request, session)
        return await asyncio.gather(*(asyncio.create_task(one()) for _ in range(count)))


outputs = asyncio.run(run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
assert all(output.success for output in outputs), next(output.error for output in outputs if not output.success)
result = {}
for name, values in (("ttft", [output.ttft for output in outputs]), ("itl", [gap for output in outputs for gap in output.itl])):
    if values:
        result[name] = {"mean": statistics.fmean(values) * 1e3, "p99": percentile(values, 99) * 1e3}
print(json.dumps(result))
