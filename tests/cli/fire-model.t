#!/bin/bash
# Which model is requested without --model: the trace's, else the only one in the server's list. And names of APIs people type.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

printf '{"id":"a","prompt":"x","output_tokens":2}\n{"id":"b","prompt":"y","output_tokens":2}\n' >none.jsonl
ipf-prep -q jsonl none.jsonl -o none.trace

with_model() { # LINE: a trace in which only this line of the body names a model
	body none.trace | sed "$1s/^{/{\"model\":\"lora-a\",/" >lines
	seal none.trace lines
}
with_model 1 >named.trace
with_model 2 >mixed.trace
for trace in none named mixed; do ipf-sched -q burst:n=2 -t $trace.trace -o $trace.sched; done

models() { # FILE: those of the records, and of their header
	jq -sc 'map(select(.n != null)) | sort_by(.n)[] | .model' "$1" | tr '\n' ' '
	jq -c 'select(.ipf != null) | .model' "$1"
}

# ---- the only model ----
server_start -m org/only
run ipf-fire -u "$URL" -t none.trace none.sched -o records
status_is 0 "a server with one model"
stderr_is "ipf-fire: model org/only, the only one of the server" "ipf-fire names the only model of the server"
is "$(models records)" '"org/only" "org/only" "org/only"' "requests and records have the server's model"
is "$(jq -c 'select(.n != null) | .status' records | sort -u)" 200 "requests for the server's model succeed"
run ipf-fire -q -u "$URL/v1" -t none.trace none.sched -o records
stderr_is "" "-q does not say it"
run ipf-fire -u "$URL" -t none.trace --probe -o records
contains "$(cat "$ERR")" '"model":"org/only"' "--probe requests it, too"
run ipf-fire -q -u "$URL" -m other -t none.trace none.sched -o records
is "$(models records)" '"other" "other" "other"' "--model is not questioned"
run ipf-fire -u "$URL" -t named.trace named.sched -o records
is "$(grep -c "only one of the server" "$ERR")" 0 "a model of the trace gives no message"
is "$(models records)" '"lora-a" null null' "requests keep the model of the trace"
run ipf-fire -q -u "$URL" -t mixed.trace mixed.sched -o records
is "$(models records)" '"org/only" "lora-a" "org/only"' "requests without a model get the server's"
run ipf-fire -q -u "$URL" --api vllm-completions -t none.trace none.sched -o records
is "$(models records)" '"org/only" "org/only" "org/only"' "--api vllm-completions finds the server's model"
first=$URL
server_start -m org/only
run ipf-fire -q -u "$first" -u "$URL" -t none.trace none.sched -o records
is "$(models records)" '"org/only" "org/only" "org/only"' "two servers with the same model"
run ipf-fire -u "$first" -u "$URL" -t none.trace --wait-ready 120s none.sched -o records
status_is 0 "ipf-fire waits for two servers before it asks for the model"
server_start --api-key sesame -m org/only
OPENAI_API_KEY=sesame run ipf-fire -q -u "$URL" -t none.trace none.sched -o records
is "$(models records)" '"org/only" "org/only" "org/only"' "the key is sent"

# ---- several ----
server_start -m base -m lora-a -m lora-b
run ipf-fire -u "$URL" -t none.trace none.sched -o several
status_is 2 "a server with several"
complains ipf-fire "--model is required, one of the server's 3 models: base, lora-a, lora-b" "ipf-fire lists the models of the server"
yes_if "a server of several models gets no request" test ! -e several
run ipf-fire -q -u "$URL" -t none.trace --probe -o several
status_is 2 "--probe with several models ends with 2"
run ipf-fire -u "$first" -u "$URL" -t none.trace none.sched -o several
status_is 2 "two servers of different models end with 2"
# shellcheck disable=SC2046 # 30 options
server_start $(seq -f '-m model-%03g' 30)
run ipf-fire -u "$URL" -t none.trace none.sched -o several
complains ipf-fire "one of the server's 30 models: model-001, model-002, model-003, model-004, model-005, model-006, model-007, model-008, …" \
	"ipf-fire lists the first eight of many models"

# ---- servers with bad lists ----
cat >odd.py <<'PY'
import itertools

BODIES = {
    "/html/v1/models": (200, b"<html>no</html>"),
    "/empty/v1/models": (200, b'{"object":"list","data":[]}'),
    "/other/v1/models": (200, b'{"models":"none"}'),
    "/nothing/v1/models": (200, b""),
    "/controls/v1/models": (200, b'{"data":[{"id":"a\\u001b[31mred"},{"id":"\\u202eb"}]}'),
    "/one-escape/v1/models": (200, b'{"data":[{"id":"a\\u001b[31m"}]}'),
    "/one-c1/v1/models": (200, b'{"data":[{"id":"a\\u009b31m"}]}'),
    "/one-bidi/v1/models": (200, '{"data":[{"id":"a\u202eb"}]}'.encode()),
    "/one-newline/v1/models": (200, b'{"data":[{"id":"a\\n"}]}'),
    "/one-control/v1/models": (200, b'{"data":[{"id":"a\\u0000b"}]}'),
    "/numbers/v1/models": (200, b'{"data":[{"id":5},{"id":null},{}]}'),
    "/twice/v1/models": (200, b'{"data":[{"id":"m"},{"id":"m"}]}'),
    "/denied/v1/models": (401, b"no"),
    "/moved/v1/models": (301, b""),
    "/deep/v1/models": (200, b"[" * 100000),
}
ANSWER = b'{"choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}'


def answer(path, headers, body):
    if body:
        return 200, ANSWER
    if path == "/endless/v1/models":
        return 200, itertools.repeat(b'{"data":[' + b" " * 65536)
    return *BODIES.get(path, (404, b"no")), ("Location", "http://192.0.2.1/")
PY
peer_start "$TESTS/helpers/canned_server.py" odd.py
odd=$PEER_URL
without() { # PATH PART
	run ipf-fire --no-stream -u "$odd/$1" -t none.trace none.sched -o records
	status_is 0 "$1: the run goes on"
	complains ipf-fire "warning: requests name no model: neither --model nor the trace has one, and /v1/models: $2" "$1: ipf-fire warns"
	is "$(models records)" 'null null null' "$1: requests have no model"
}
without missing "status 404"
without html "the response is not JSON"
without nothing "the response is not JSON"
without deep "the response is not JSON"
without other "the response names no models"
without numbers "the response names no models"
without denied "status 401"
without moved "status 301"
without endless "the response is longer than 1 MiB"
run ipf-fire --no-stream -u "$odd/twice" -t none.trace none.sched -o records
is "$(models records)" '"m" "m" "m"' "a model that is listed twice"
run ipf-fire --no-stream -u "$odd/empty" -t none.trace none.sched
status_is 2 "an empty list"
complains ipf-fire "--model is required: /v1/models lists no model" "ipf-fire says that the list of models is empty"
run ipf-fire --no-stream -u "$odd/controls" -t none.trace none.sched
status_is 2 "names with controls"
is "$(grep -c "$(printf '\033\\|\342\200\256')" "$ERR")" 0 "names of models are shown without control characters"
for name in control escape c1 bidi newline; do
	run ipf-fire --no-stream -u "$odd/one-$name" -t none.trace none.sched
	status_is 2 "a name that cannot be requested ($name)"
	complains ipf-fire "--model is required: the name of the server's model is not usable" "ipf-fire refuses a model's name of control characters"
done

# ---- APIs ----
server_start --log server.log -m sim
for api in vllm sglang-openai TGI_OpenAI nim dynamo lmdeploy; do
	run ipf-fire -q -u "$URL" --api $api -t none.trace none.sched -o records
	is "$(jq -c 'select(.n != null) | .status' records | sort -u)" 200 "--api $api takes the place of openai-chat"
done
is "$(jq -r 'select(.ipf != null) | [.api.name, .api.aliases] | tostring' records)" '["openai-chat",null]' "records have the descriptor's own name"
for api in trtllm tensorrt_llm_triton; do
	run ipf-fire -q -u "$URL/triton-generate" --api $api -m m -t none.trace none.sched -o records
	is "$(jq -r 'select(.ipf != null) | .api.name' records)" triton-generate "--api $api takes the place of triton-generate"
done
run ipf-fire -u "$URL" --api vlmm -t none.trace none.sched
status_is 2 "a name nearly right"
complains ipf-fire 'unknown API "vlmm": did you mean vllm?' "a misspelt API gets a suggestion"
echo 'name: mine' >mine.yaml
run ipf-fire -u "$URL" --api mine.yaml -t none.trace none.sched
complains ipf-fire 'if the file of this name is meant, write ./mine.yaml' "a file by its name only"
for file in ./mine.yaml /dev/null none.trace .; do
	run ipf-fire -u "$URL" --api "$(realpath $file)" -t none.trace none.sched
	is "$(wc -l <"$ERR") $(grep -c "$(basename "$(realpath $file)").*:" "$ERR")" "1 1" "--api $file: one line with its name"
done
run ipf-fire -u "$URL" --api ./mine.yaml -t none.trace none.sched
status_is 3 "a file that is not JSON"
complains ipf-fire "mine.yaml:1: not an API descriptor (ipf-api(5)): expected a JSON object" "ipf-fire says that the descriptor is not JSON"
matches "$(ipf-fire --list-apis)" '^openai-chat .*; also: .*vllm' "--list-apis has the other names"
