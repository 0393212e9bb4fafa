#!/usr/bin/env bash
# The simulated server solves the tasks of canaries, answers equal prompts alike under any load, and makes its answers wrong on request.
. "$TESTS/tap.sh"
. "$TESTS/together.sh"
PATH=$BIN:$PATH

# Prints for each request of the trace whether its answer in the log is right (canaries), with the faults: "copy right", "recall wrong cut".
cat >judge.py <<'END'
import hashlib, json, sys
log = {}
for line in open(sys.argv[2]):
    entry = json.loads(line)
    log.setdefault(entry["prompt_sha256"], []).append(entry)
for line in open(sys.argv[1]):
    request = json.loads(line)
    if not request.get("tags", {}).get("canary"):
        continue
    text = request.get("prompt") or request["messages"][0]["content"]
    canary = request["tags"]["canary"]
    for entry in log.get(hashlib.sha256(text.encode()).hexdigest(), []):
        got, expected = entry.get("text", ""), canary["answer"]
        if canary["kind"] == "json":
            try:
                got, expected = json.loads(got), json.loads(expected)
            except ValueError:
                got = None
        print(canary["kind"], "right" if got == expected else "wrong", *entry.get("faults", []), entry["finish"])
END
fire() { # TRACE SCHEDULE [OPTION…]: its requests go into log.ndjson
	: >log.ndjson
	ipf-sched -q "$2" -t "$1" -o sched
	ipf-fire -q -u "$URL" -m sim -t "$1" sched "${@:3}" -o records || not_ok "ipf-fire sends $1"
}
fire_together() { # TRACE COUNT [OPTION…]: all at once
	hold
	fire "$1" "burst:n=$2" "${@:3}" &
	release "$2"
	wait "$!"
}
judged() { # TRACE: "copy right stop"
	python3 judge.py "$1" log.ndjson
}
counts() { sort | uniq -c | awk '{ $1 = $1 } 1' | paste -sd ','; }

ipf-prep canaries -q -n 20 --input-tokens 200 -o chat.trace
ipf-prep canaries -q -n 20 --input-tokens 200 --prompt text -o text.trace
ipf-prep synthetic -q -n 20 --input-tokens 40 --output-tokens 30 --canaries 5 -o mixed.trace
right='4 arithmetic right stop,4 copy right stop,4 json right stop,4 list right stop,4 recall right stop'

# ---- right answers ----
server_start --step-base 1ms --log log.ndjson --eos-mean 3
for api in openai-chat openai-completions sglang anthropic-messages tgi ollama-chat vllm-generate; do
	trace=chat.trace
	case $api in openai-completions | vllm-generate | tgi) trace=text.trace ;; esac
	case $api in openai-*) prefix=$URL ;; *) prefix=$URL/$api ;; esac
	: >log.ndjson
	ipf-sched -q closed:users=4,n=20 -t $trace -o sched
	ipf-fire -q -u "$prefix" --api $api -m sim -t $trace sched -o records >/dev/null
	is "$(judged $trace | counts)" "$right" "canaries are answered right: $api"
done
fire chat.trace closed:users=4,n=20 --no-stream --exact-output
is "$(judged chat.trace | counts)" "$right" "canaries are answered right in whole answers and with --exact-output"
fire mixed.trace closed:users=4,n=25
is "$(judged mixed.trace | awk '{ print $2, $3 }' | counts)" "5 right stop" "canaries among other requests are answered right"
ask() { # BODY: the answer's text, finish and tokens
	curl -sS "$URL/v1/completions" -d "$1" | jq -c '.choices[0] + .usage | [.text, .finish_reason, .completion_tokens]'
}
task='"prompt":"Q: Compute 41 + 10. Write only the number.\nA:"'
is "$(ask "{$task,\"max_tokens\":9}")" '["51","stop",1]' "a solved task ends by itself"
is "$(ask "{$task,\"max_tokens\":3,\"ignore_eos\":true}" | jq -c '[.[0][:2], .[1], .[2]]')" '["51","length",3]' "with ignore_eos, text follows the solution"
is "$(ask '{"prompt":"Q: Compute 41 - 10. Write only the number.\nA:","max_tokens":3,"ignore_eos":true}' | jq -c '[.[0][:2] == "31", .[2]]')" \
	'[false,3]' "an unknown task is not solved"

# ---- the same answers under any load ----
server_start --step-base 1ms --log log.ndjson
ipf-prep synthetic -q -n 24 --input-tokens 40 --output-tokens 30 -o plain.trace
texts() { jq -c '[.prompt_sha256, .text, .finish]' log.ndjson | sort | cksum; }
fire plain.trace closed:users=1,n=24
alone=$(texts)
fire_together plain.trace 24
is "$(texts)" "$alone" "equal prompts have equal answers alone and under load"

# ---- log probabilities ----
body='"messages":[{"role":"user","content":"hello"}],"max_tokens":4,"ignore_eos":true'
curl -sS "$URL/v1/chat/completions" -d "{$body,\"logprobs\":true,\"top_logprobs\":3}" >whole.json
is "$(jq -c '[.choices[0].logprobs.content[] | [(.top_logprobs | length), .token == .top_logprobs[0].token, (.bytes | implode) == .token]] | unique' whole.json)" \
	'[[3,true,true]]' "a chat lists the most likely tokens, its own first"
is "$(jq -r '[.choices[0].logprobs.content[].token] | join("")' whole.json)" "$(jq -r '.choices[0].message.content' whole.json)" "log probabilities are those of the text"
is "$(curl -sSN "$URL/v1/chat/completions" -d "{$body,\"stream\":true,\"logprobs\":true,\"top_logprobs\":3}" | sed -n 's/^data: //p' |
	jq -cR 'fromjson? | .choices[0].logprobs.content? // empty | .[]' | cksum)" "$(jq -c '.choices[0].logprobs.content[]' whole.json | cksum)" \
	"a stream has the same log probabilities"
is "$(curl -sS "$URL/v1/chat/completions" -d "{$body}" | jq -c '.choices[0].logprobs')" null "a chat without a request has no log probabilities"
is "$(curl -sS "$URL/v1/completions" -d '{"prompt":"hello","max_tokens":3,"ignore_eos":true,"logprobs":2}' |
	jq -c '.choices[0] | [(.logprobs.tokens | join("")) == .text, (.logprobs.top_logprobs | map(length)), (.logprobs.token_logprobs | map(. < 0)), .logprobs.text_offset]')" \
	'[true,[2,2,2],[true,true,true],[0,4,8]]' "a completion lists tokens, log probabilities and offsets"

# ---- wrong tokens ----
server_start --step-base 1ms --log log.ndjson --wrong 100%
fire chat.trace closed:users=1,n=20
is "$(judged chat.trace | awk '{ print $2, $3, $4 }' | counts)" "20 wrong wrong stop" "with --wrong 100%, every answer has a wrong token"
server_start --step-base 1ms --log log.ndjson --wrong 50%
fire chat.trace closed:users=1,n=20
between "$(judged chat.trace | grep -c 'wrong wrong')" 4 16 "with --wrong 50%, about half of the answers are wrong"
is "$(judged chat.trace | grep -v -e ' right stop' -e ' wrong wrong stop')" "" "exactly the answers with a wrong token are wrong"
server_start --step-base 1ms --log log.ndjson --wrong 100%,above=60% --kv-blocks 40
fire chat.trace closed:users=1,n=20
is "$(judged chat.trace | awk '{ print $2 }' | counts)" "20 right" "alone, the KV cache is never fuller than above="
fire_together chat.trace 20
at_least "$(judged chat.trace | grep -c 'wrong wrong')" 1 "in a full KV cache, answers are wrong"

# ---- answers of other requests ----
server_start --step-base 1ms --log log.ndjson --crosstalk 100%
fire chat.trace closed:users=1,n=20
is "$(judged chat.trace | awk '{ print $2 }' | counts)" "20 right" "alone, there is no other answer"
fire_together chat.trace 20
at_least "$(judged chat.trace | grep -c 'wrong crosstalk')" 10 "under load, answers are those of others"
is "$(jq -r .text log.ndjson | tr -d ' ' | sort -u | comm -23 - <(body chat.trace | jq -r .tags.canary.answer | tr -d ' ' | sort -u) | wc -l)" 0 \
	"each answer is that of a request in flight"

# ---- near ties ----
server_start --step-base 1ms --log log.ndjson --near-ties 100%,load=3
fire plain.trace closed:users=1,n=24
is "$(jq -r '.faults // "none"' log.ndjson | counts)" "24 none" "alone, near ties do not flip"
is "$(texts)" "$alone" "alone, answers with a near tie are the ordinary ones"
fire_together plain.trace 24
at_least "$(jq -r '.faults[]?' log.ndjson | grep -c near-tie)" 20 "under load, near ties flip"
isnt "$(texts)" "$alone" "flipped answers differ"
fire_together chat.trace 20
is "$(judged chat.trace | counts)" "$right" "canaries have no near ties"
curl -sS "$URL/v1/chat/completions" -d "{$body,\"logprobs\":true,\"top_logprobs\":2}" >tie.json
is "$(jq -c '[.choices[0].logprobs.content[] | select(.top_logprobs[0].logprob - .top_logprobs[1].logprob < 0.01)] | length' tie.json)" 1 \
	"one token has two candidates that are nearly equal"

# ---- cut answers ----
server_start --step-base 1ms --log log.ndjson --cut 100%
fire plain.trace closed:users=1,n=24
is "$(texts)" "$alone" "alone, no answer is cut"
fire_together plain.trace 24
at_least "$(jq -c 'select(.faults == ["cut"] and .finish == "stop" and .output_tokens < 30)' log.ndjson | wc -l)" 20 "under load, answers end early with the reason stop"
ipf-collect -q records -o results
is "$(jq -c 'select(.output_tokens? and .error?)' results | wc -l)" 0 "cut answers look complete"

# ---- refusals ----
fails_with 2 '--wrong: expected SHARE[,above=…] such as 5%, got "x"' ipf-sim --wrong x
fails_with 2 '--cut' ipf-sim --cut 5%,above=3
