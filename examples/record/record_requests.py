"""A callback of LiteLLM's proxy: a line of JSON for each request, as `ipf-prep openai-log` reads it.

The request is the body the client sent, with all its parameters. It records the text of the response and LiteLLM's usage, also for streams.
The file is $RECORD_REQUESTS, by default requests.jsonl.
"""

import json
import os

from litellm.integrations.custom_logger import CustomLogger


class Recorder(CustomLogger):
    def __init__(self):
        super().__init__()
        self.file = open(os.environ.get("RECORD_REQUESTS", "requests.jsonl"), "a", encoding="utf-8", buffering=1)

    def write(self, kwargs, failed):
        asked = kwargs["litellm_params"].get("proxy_server_request") or {}
        payload = kwargs["standard_logging_object"]
        body = {name: value for name, value in asked.get("body", {}).items() if name not in ("metadata", "litellm_metadata")}
        record = {
            "time": payload["startTime"],
            "duration": payload["endTime"] - payload["startTime"],
            "session_id": (asked.get("headers") or {}).get("x-session", ""),
            "status": 500 if failed else 200,
            "request": body,
        }
        if not failed:
            record["response"] = {
                "choices": (payload["response"] or {}).get("choices", []),
                "usage": {"prompt_tokens": payload["prompt_tokens"], "completion_tokens": payload["completion_tokens"]},
            }
        self.file.write(json.dumps(record, default=str) + "\n")

    async def async_log_success_event(self, kwargs, response_obj, start_time, end_time):
        self.write(kwargs, False)

    async def async_log_failure_event(self, kwargs, response_obj, start_time, end_time):
        self.write(kwargs, True)


recorder = Recorder()
