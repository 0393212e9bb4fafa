"""A FastAPI application with OpenAI's chat API, for frameworks that serve such: its model says numbers, one in 10 ms, and counts words."""
import asyncio, json
from fastapi import FastAPI, HTTPException
from fastapi.responses import StreamingResponse

app = FastAPI()


@app.get("/v1/models")
async def models(): return {"object": "list", "data": [{"id": "numbers", "object": "model"}]}


@app.post("/v1/chat/completions")
async def chat(asked: dict):
    if asked["model"] != "numbers": raise HTTPException(404, f"no model {asked['model']}")
    words = [f"{n} " for n in range(asked["max_tokens"])]
    usage = {"prompt_tokens": sum(len(message["content"].split()) for message in asked["messages"]), "completion_tokens": len(words)}
    if not asked.get("stream"):
        choice = {"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": "".join(words)}}
        return {"id": "n", "object": "chat.completion", "model": "numbers", "choices": [choice], "usage": usage}

    async def events():
        for n, word in enumerate(words):
            await asyncio.sleep(0.01)
            yield event([{"index": 0, "delta": {"content": word}, "finish_reason": "length" if n == len(words) - 1 else None}])
        yield event([], usage=usage) + "data: [DONE]\n\n"

    event = lambda choices, **more: "data: " + json.dumps({"id": "n", "object": "chat.completion.chunk", "choices": choices} | more) + "\n\n"
    return StreamingResponse(events(), media_type="text/event-stream")
