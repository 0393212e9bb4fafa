#!/usr/bin/env python3
"""The bodies that requests with media should have, made from a trace and its media file without ipf.

    media_bodies.py TRACE MEDIA SHAPE     SHAPE: chat, anthropic, gemini

Prints a line "ID SHA256 BYTES" for each request: the media of its messages, in their order, as bytes.
    media_bodies.py --body SHAPE < BODY   prints "SHA256 BYTES" of a body of this shape
"""
import base64
import hashlib
import json
import re
import sys

MARK = re.compile(rb"^\{ipf-media:(\d+)\+(\d+)\}$")


def of_chat(body):
    for message in body["messages"]:
        content = message["content"]
        for part in content if isinstance(content, list) else []:
            for kind in ("image_url", "audio_url", "video_url"):
                if kind in part:
                    yield part[kind]["url"].split(";base64,", 1)[1]
            if "input_audio" in part:
                yield part["input_audio"]["data"]


def of_anthropic(body):
    for message in body["messages"]:
        content = message["content"]
        for part in content if isinstance(content, list) else []:
            if part["type"] == "image":
                assert part["source"]["type"] == "base64", part["source"]["type"]
                yield part["source"]["data"]


def of_gemini(body):
    for content in body["contents"]:
        for part in content["parts"]:
            if "inlineData" in part:
                yield part["inlineData"]["data"]


SHAPES = {"chat": of_chat, "anthropic": of_anthropic, "gemini": of_gemini}


def digest(texts):
    data = b"".join(base64.b64decode(text, validate=True) for text in texts)
    return "%s %d" % (hashlib.sha256(data).hexdigest(), len(data))


def main():
    if sys.argv[1] == "--body":
        print(digest(SHAPES[sys.argv[2]](json.load(sys.stdin))))
        return
    media = open(sys.argv[2], "rb").read()
    for line in open(sys.argv[1], encoding="utf-8"):
        request = json.loads(line)
        if "messages" not in request:
            continue
        texts = []
        for mark in of_chat(request):
            begin, length = map(int, MARK.match(mark.encode()).groups())
            texts.append(media[begin : begin + length])
        print(request["id"], digest(texts))


if __name__ == "__main__":
    main()
