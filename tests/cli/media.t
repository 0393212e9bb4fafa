#!/bin/bash
# Images, audio and video: synthetic and of data sets, in the media file of a trace; sent as each API takes them, over each transport, byte for
# byte; counted in results and report.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/nginx.sh"
bodies=$TESTS/helpers/media_bodies.py

requests() { # TRACE: its requests
	body "$1" | jq -c 'select(.id != null)'
}

# ---- synthetic media are of the stated kind, by decoders of others ----

ipf-prep synthetic -n 6 --input-tokens 20 --images 2x64x48,bytes=4kB --audio uniform:1s-2s,rate=8000 --video 2sx32x16,fps=3 -q -o a.trace
cat >decode.py <<'END'
"""Decodes the media of a trace by Python's library, and holds them against what the trace says of them."""
import base64, io, json, re, struct, sys, wave, zlib

def png(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, pixels = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        inside = data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + inside)
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", inside[:10])
        pixels += inside if kind == b"IDAT" else b""
        at += 12 + length
    assert (depth, colour) == (8, 2) and len(zlib.decompress(pixels)) == height * (1 + 3 * width)
    return width, height

def avi(data):
    kind, size, form = struct.unpack("<4sI4s", data[:12])
    assert (kind, form) == (b"RIFF", b"AVI ") and size == len(data) - 8
    index = data.rindex(b"idx1")
    entries = struct.unpack("<I", data[index + 4 : index + 8])[0] // 16
    movie = data.index(b"movi")
    for i in range(entries):
        name, flags, at, length = struct.unpack("<4sIII", data[index + 8 + 16 * i : index + 24 + 16 * i])
        assert data[movie + at : movie + at + 4] == b"00dc"
        png(data[movie + at + 8 : movie + at + 8 + length])
    return entries

media = open(sys.argv[2], "rb").read()
seen = set()
for line in open(sys.argv[1]):
    request = json.loads(line)
    marks = re.findall(r"\{ipf-media:(\d+)\+(\d+)\}", json.dumps(request["messages"]))
    assert len(marks) == len(request["media"])
    for (begin, length), told in zip(marks, request["media"]):
        data = base64.b64decode(media[int(begin) : int(begin) + int(length)], validate=True)
        assert len(data) == told["bytes"], told
        seen.add(data)
        if told["kind"] == "image":
            assert png(data) == (told["width"], told["height"])
            assert abs(len(data) - 4000) < 200, len(data)
        elif told["kind"] == "audio":
            with wave.open(io.BytesIO(data)) as sound:
                ns = sound.getnframes() * 10**9 // sound.getframerate()
                assert (sound.getnchannels(), sound.getsampwidth(), sound.getframerate()) == (1, 2, 8000)
                assert ns == told["duration_ns"] and 10**9 <= ns <= 2 * 10**9
        else:
            assert avi(data) == 6
print(len(seen))
END
requests a.trace >a.requests
run python3 decode.py a.requests a.trace.media
is "$(cat "$OUT")" 24 "media are all different, and as the trace says"
is "$(jq -c '[.media[].kind]' a.requests | sort -u)" '["image","image","audio","video"]' "media have the order of their options"
ipf-prep synthetic -n 6 --input-tokens 20 --images 2x64x48,bytes=4kB --audio uniform:1s-2s,rate=8000 --video 2sx32x16,fps=3 -q -o again.trace
same a.trace.media again.trace.media "the same seed gives the same media"
ipf-prep synthetic -n 40 --images 1x64x64,pool=5 -q -o pool.trace
is "$(requests pool.trace | jq -r '.messages[0].content[0].image_url.url' | sort -u | wc -l)" 5 "a pool has so many different images"
between "$(wc -c <pool.trace.media)" 5000 9000 "the pool writes every image once"
ipf-prep synthetic -n 1 --images 1x64x64 --seed 1 -q >inline.trace
is "$(requests inline.trace | jq -r '.messages[0].content[0].image_url.url' | sed 's/.*base64,//' | base64 -d | openssl dgst -sha256 -r | cut -d ' ' -f 1)" \
	"$(ipf-prep synthetic -n 1 --images 1x64x64 --seed 1 -q -o one.trace && requests one.trace | "$bodies" /dev/stdin one.trace.media chat | cut -d ' ' -f 2)" \
	"a trace on standard output contains its media"

# ---- requests, in the shape of each API ----

mkdir kept
peer_start "$TESTS/helpers/body_keeper.py" kept
KEEPER=$PEER_URL
ipf-sched burst:n=6 -t a.trace -q -o a.sched
fire() { # URL ARGUMENTS…
	run ipf-fire -m sim -t a.trace a.sched -u "$1" -H 'X-Request-Id: $id' --no-stream -q -o a.records --force "${@:2}"
	status_is 0 "ipf-fire ${*:2} ends with 0"
}
kept_are() { # SHAPE EXPECTED TEXT
	for name in 1 2 3 4 5 6; do
		echo "$name $("$bodies" --body "$1" <kept/$name)"
	done >got
	same got "$2" "$3"
}
"$bodies" a.requests a.trace.media chat >want
requests a.trace | jq -c '.messages[].content |= map(select(.type == "image_url" or .type == "text"))' >images.requests
"$bodies" images.requests a.trace.media chat >want.images
fire "$KEEPER" --api openai-chat
kept_are chat want "openai-chat: all media, byte for byte"
for name in 1 2 3 4 5 6; do openssl dgst -sha256 -r kept/$name | cut -d ' ' -f 1; done >sums
is "$(body a.records | jq -c 'select(.n != null) | .request_bytes' | sort)" "$(wc -c kept/? | sed '$d' | awk '{print $1}' | sort)" "records have the size of the body"
fire "$KEEPER" --api gemini
kept_are gemini want "gemini: media are inline data"
is "$(jq -r '.contents[0].parts[2].inlineData.mimeType' kept/1)" audio/wav "gemini: inline audio has its type"
fire "$KEEPER" --api anthropic-messages
kept_are anthropic want.images "anthropic-messages: the images"
fire "$KEEPER" --api openai-chat -H 'Transfer-Encoding: chunked'
kept_are chat want "openai-chat: media arrive in chunks"

# ---- over every transport ----

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost >/dev/null 2>&1
server_start --log server.log --step-base 1ms
if nginx_start "${URL##*:}"; then
	over() { # TEXT URL ARGUMENTS…
		: >server.log
		fire "$2" "${@:3}"
		jq -r '[.id, .body_sha256] | join(" ")' server.log | sort -n | cut -d ' ' -f 2 >got
		same got sums "$1: the same bodies"
	}
	over "HTTP/1.1" "$URL"
	over "TLS" "https://localhost:$TLS1" --cacert cert.pem --http 1.1
	over "HTTP/2" "http://127.0.0.1:$H2C" --http 2-prior
	over "HTTP/2 over TLS" "https://localhost:$TLS" --cacert cert.pem --http 2
else
	skip "transports carry the same bodies" "nginx is not installed"
fi

# ---- bodies of 10 MB, more at a time than there is memory for ----

ipf-prep synthetic -n 60 --input-tokens 20 --images 1x2000x1700,bytes=10MB,pool=3 --output-tokens 1 -q -o big.trace
ipf-sched burst:n=60 -t big.trace -q -o big.sched
limited() {
	if [ -n "${SANITIZE:-}" ]; then
		"$@" # sanitizers take address space of their own
	else
		(ulimit -v 450000 && exec "$@")
	fi
}
run limited ipf-fire -m sim -t big.trace big.sched -u "$URL" -q -o big.records
status_is 0 "60 requests of 13 MB at once"
is "$(body big.records | jq -c 'select(.n != null) | [.status, .request_bytes > 13e6]' | sort | uniq -c | tr -s ' ')" ' 60 [200,true]' "bodies of 13 MB fit into 450 MB of address space"

# ---- results and report ----

ipf-collect a.records -q >a.results
is "$(body a.results | jq -s -c 'map(select(.n != null)) | [(map(.images) | add), (map(.audio_clips) | add), (map(.video_clips) | add),
	(map(.audio_ns) | add), (map(.media_bytes) | add)]')" "$(jq -s -c '[.[].media[]] | [(map(select(.kind == "image")) | length),
	(map(select(.kind == "audio")) | length), (map(select(.kind == "video")) | length), (map(.duration_ns // 0) | add), (map(.bytes) | add)]' a.requests)" \
	"rows have what was sent"
ipf-report -f json --window drain a.results >report.json
is "$(jq -c '.total.media | [.images, .audio_clips, .video_clips, .bytes]' report.json)" "$(body a.results | jq -s -c 'map(select(.n != null)) |
	[(map(.images) | add), (map(.audio_clips) | add), (map(.video_clips) | add), (map(.media_bytes) | add)]')" "the report their sums"
is "$(jq '.total | .throughput.images_per_s * .window_s * 1000 | round' report.json)" 12000 "the report has images per second"
ipf-report --section tokens a.results | tr -s ' ' >text
contains "$(cat text)" "sent 12 images, 6 audio clips of" "people are told"

# ---- media of data sets ----

mkdir data
printf '\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x05\x08\x02\0\0\0' >data/a.png
printf 'GIF89a\x07\0\x09\0' >data/b.gif
printf '\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x0b\x08\0\x11\0\x13\x01' >data/c.jpg
base=$(base64 -w0 data/a.png)
cat >data/llava.json <<END
[{"id": "x", "image": "a.png", "conversations": [{"from": "human", "value": "<image>\nWhat is it?"}, {"from": "gpt", "value": "A dot."},
	{"from": "human", "value": "Sure?"}, {"from": "gpt", "value": "Yes."}]},
 {"id": "y", "images": ["b.gif", "c.jpg"], "conversations": [{"from": "human", "value": "<image><image>Compare."}, {"from": "gpt", "value": "No."}]}]
END
run ipf-prep sharegpt data/llava.json --turns all -o llava.trace
status_is 0 "ipf-prep reads LLaVA's images"
requests llava.trace >llava.requests
is "$(jq -c '[.media[]? | [.type, .bytes, .width, .height]]' llava.requests)" '[["image/png",29,3,5]]
[]
[["image/gif",10,7,9],["image/jpeg",18,19,17]]' "LLaVA's images are found beside the data, with their sizes"
is "$(jq -c '.messages[0].content | if type == "array" then map(.text // empty) else . end' llava.requests)" '["What is it?"]
"Sure?"
["Compare."]' "the text is without its marks"
ipf-sched burst:n=3 -t llava.trace -q -o llava.sched
run ipf-fire -m sim -t llava.trace llava.sched -u "$KEEPER" -H 'X-Request-Id: $id' --no-stream -q
is "$("$bodies" --body chat <kept/1_1 | cut -d ' ' -f 2)" 29 "a later turn sends the image of an earlier one again"
cat >data/parts.jsonl <<END
{"messages": [{"role": "user", "content": [{"type": "text", "text": "in base64"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,$base"}}]}]}
{"messages": [{"role": "user", "content": [{"type": "text", "text": "by path"}, {"type": "image_url", "image_url": {"url": "file://a.png", "detail": "low"}}]}]}
{"messages": [{"role": "user", "content": [{"type": "text", "text": "by URL"}, {"type": "image_url", "image_url": {"url": "https://images.example/a.png"}}]}]}
END
run ipf-prep jsonl data/parts.jsonl -o parts.trace
status_is 0 "parts of the chat API"
is "$(requests parts.trace | jq -r '.messages[0].content[1].image_url.url' | sort | uniq -c | sort -n | tr -s ' ' | cut -d ' ' -f 2,3 | cut -c 1-50)" "1 https://images.example/a.png
2 data:image/png;base64,{ipf-media:28+40}" "a medium is written once, and a URL is the server's to fetch"
is "$(requests parts.trace | jq -r 'select(.id == "2") | .messages[0].content[1].image_url.detail')" low "other members are kept"
printf '{"q": "hear", "clip": "%s"}\n' "a.png" >data/fields.jsonl
run ipf-prep jsonl --field prompt=/q --field audio=/clip data/fields.jsonl -o fields.trace
is "$(requests fields.trace | jq -c '[.messages[0].content[0].type, .media[0].bytes]')" '["input_audio",29]' "--field says where they are"
run ipf-prep trace a.trace -n 2 -q -o part.trace
requests part.trace >part.requests
"$bodies" part.requests part.trace.media chat >got
sed 2q want | same got /dev/stdin "a part of a trace has a media file of its own"

# ---- errors ----

ln -s /etc data/out
printf '{"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "%s"}}]}]}\n' ../a.trace /etc/passwd out/passwd none.png \
	'data:image/png;base64,!' 'data:text/plain,x' >data/bad.jsonl
run ipf-prep jsonl data/bad.jsonl -o bad.trace
status_is 3 "files outside the folder of the data, and what is no medium, are left out"
is "$(sed -n 's/.*record \([0-9]\): \(.*\)/\1 \2/p' "$ERR" | sed 's/(--media-root)/ROOT/')" "1 the file ../a.trace of the data is not in the folder data/ ROOT
2 the file /etc/passwd of the data is not in the folder data/ ROOT
3 the file out/passwd of the data is not in the folder data/ ROOT
4 the file none.png of the data: cannot read: No such file or directory
5 data URL: expected base64, got \"!\"
6 url: expected a data URL in base64, got \"data:text/plain,x\"" "media that are left out have their reasons"
run ipf-prep synthetic --images 1x64
complains ipf-prep 'images: expected COUNTxWIDTHxHEIGHT' "a size of one side"
run ipf-prep synthetic --images 1x4x4,bytes=1MB
complains ipf-prep 'bytes: expected 300 to 348' "more bytes than pixels have"
run ipf-prep synthetic --images 1x64x64 --prompt text
complains ipf-prep '--images' "a prompt without messages"
fails() { # TEXT PART ARGUMENTS…
	run ipf-fire -m sim a.sched -u "$KEEPER" -q -o x.records --force "${@:3}"
	complains ipf-fire "$2" "$1"
}
mv a.trace.media moved
fails "a trace without its media file" 'the trace has no media file' -t a.trace
fails "a file that is none" 'not a media file' -t a.trace --media a.requests
head -c 2000 moved >short
fails "a media file of another trace" 'does it belong to the trace?' -t a.trace --media short
fails "an API of plain prompts" 'does not accept media' -t a.trace --media moved --api openai-completions
