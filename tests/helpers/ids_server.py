#!/usr/bin/env python3
"""A model server that speaks of tokens, on a free port of 127.0.0.1, which is printed.

usage: ids_server.py LOG

Completions take a list of token ids, or a text, chat completions messages. Tokens are letters, 1 to 26, and pairs of letters, from 27 on; a text
is read pair by pair, but answers are letters one by one, so the text of an answer is never read as the tokens it was made of. Whoever asks for it
("return_token_ids") is told the ids of the prompt and of the answer. The prefix cache has whole blocks of four tokens of all prompts and answers
but for the last token of an answer, which no step has read, and usage says how much of a prompt it found. Each line of LOG is {"prompt": [ids],
"answer": [ids], "cached": tokens, "asked": was it asked for ids?}.
"""
import json
import random
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

BLOCK = 4
log = open(sys.argv[1], "a")
lock = Lock()
seen = set()  # beginnings of whole blocks
draw = random.Random(7)


def letter(c):
    return ord(c) - 96 if "a" <= c <= "z" else 26


def encode(text):
    ids = [27 + 26 * (letter(a) - 1) + letter(b) - 1 for a, b in zip(text[::2], text[1::2])]
    return ids + [letter(text[-1])] if len(text) % 2 else ids


def answer_to(prompt, length):
    """The ids of an answer, and how many tokens of the prompt were in the cache."""
    with lock:
        cached = max([0] + [n for n in range(BLOCK, len(prompt) + 1, BLOCK) if tuple(prompt[:n]) in seen])
        ids = [draw.randint(1, 26) for _ in range(length)]
        known = (prompt + ids)[:-1]
        seen.update(tuple(known[:n]) for n in range(BLOCK, len(known) + 1, BLOCK))
    return ids, min(cached, (len(prompt) - 1) // BLOCK * BLOCK)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        chat, asked = "messages" in request, request.get("return_token_ids", False)
        prompt = "".join(m["content"] for m in request["messages"]) if chat else request["prompt"]
        prompt = encode(prompt) if isinstance(prompt, str) else prompt
        ids, cached = answer_to(prompt, request["max_tokens"])
        with lock:
            log.write(json.dumps({"prompt": prompt, "answer": ids, "cached": cached, "asked": asked}) + "\n")
            log.flush()
        usage = {"prompt_tokens": len(prompt), "completion_tokens": len(ids), "prompt_tokens_details": {"cached_tokens": cached}}
        if request.get("stream"):
            self.send("text/event-stream", "".join(f"data: {e}\n\n" for e in self.events(chat, asked, prompt, ids, usage)))
        else:
            self.send("application/json", json.dumps(self.whole(chat, asked, prompt, ids, usage)))

    @staticmethod
    def events(chat, asked, prompt, ids, usage):
        for i, token in enumerate(ids):
            text = chr(96 + token)
            choice = {"index": 0, **({"delta": {"content": text}} if chat else {"text": text})}
            event = {"choices": [choice]}
            choice["finish_reason"] = "length" if i + 1 == len(ids) else None
            if asked:
                choice["token_ids"] = [token]
            if asked and i == 0:
                (event if chat else choice)["prompt_token_ids"] = prompt
            yield json.dumps(event)
        yield json.dumps({"choices": [], "usage": usage})
        yield "[DONE]"

    @staticmethod
    def whole(chat, asked, prompt, ids, usage):
        text = "".join(chr(96 + token) for token in ids)
        choice = {"index": 0, "finish_reason": "length", **({"message": {"role": "assistant", "content": text}} if chat else {"text": text})}
        answer = {"choices": [choice], "usage": usage}
        if asked:
            choice["token_ids"] = ids
            (answer if chat else choice)["prompt_token_ids"] = prompt
        return answer


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
