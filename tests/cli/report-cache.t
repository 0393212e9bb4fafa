#!/bin/bash
# The possible hits of a prefix cache in a run (--trace), against the simulated server's cache, whose size is known: to the token.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text
. "$TESTS/fixture.sh"

server() { # ARGUMENTS OF ipf-sim…
	server_start --step-base 100us --step-per-seq 0 --prefill-rate 100M "$@"
}
fire() { # NAME TRACE STAGE ARGUMENTS OF ipf-fire…: NAME.results
	ipf-sched -q "$3" -t "$2" -o now.sched
	ipf-fire -q -m sim -u "$URL" -t "$2" "${@:4}" now.sched | ipf-collect -q -o "$1.results"
}
cache() { # TRACE RESULTS FILTER ARGUMENTS OF ipf-report…
	ipf-report -f json --trace "$1" "${@:4}" "$2" | jq -c ".cache | $3"
}
warm() { # NAME: whether the verdict names a warm start
	ipf-report -f json --trace "$2" "$1" | jq -r '.verdict.checks[] | select(.name == "enough_samples") | .status + " " + .detail' |
		grep -c '^DOUBTFUL.*the prefix cache was warm'
}

ipf-prep prefix -q -n 50 --hit-rate 0.5 --groups 4 --input-tokens uniform:200-400 --output-tokens 5 -o a.trace
one_by_one=closed:users=1,n=50

# ---- no limit ----
server
fire cold a.trace $one_by_one
fire again a.trace $one_by_one
is "$(cache a.trace cold.results '[.reported.tokens == .ideal_tokens, .reported.gap_tokens, .requests, .warm.tokens, .block_tokens]')" \
	'[true,0,50,0,16]' "the server found as much as was possible"
between "$(cache a.trace cold.results .ideal_share)" 0.48 0.52 "the hit rate that was asked for"
is "$(cache a.trace cold.results '.curve | [.[-1].ideal_tokens, (map(.share) | . == sort)]')" \
	"[$(cache a.trace cold.results .ideal_tokens),true]" "the curve rises to it"
is "$(ipf-report -f json --trace a.trace again.results | jq '[(.verdict.checks[] | select(.name == "enough_samples").cache_possible), .cache.ideal_share, (.cache.reported | .ideal_tokens / .prompt_tokens)] | map(. * 1e6 | round) | unique | length')" 1 \
	"the share that the trace allows is the same wherever it stands"
is "$(warm cold.results a.trace)" 0 "a cold start is none"
between "$(cache a.trace again.results .warm.share)" 0.9 1 "a second run finds nearly everything"
is "$(warm again.results a.trace)" 1 "the verdict names a warm start"
ipf-prep prefix -q -n 50 --hit-rate 0.5 --groups 4 --input-tokens uniform:200-400 --output-tokens 5 --salt other -o salted.trace
fire salted salted.trace $one_by_one
is "$(warm salted.results salted.trace)$(cache salted.trace salted.results .reported.gap_tokens)" 00 "other text makes it cold again"

# Conversations: the answers of the server are in its cache too, those of the trace are not.
ipf-prep sharegpt "$ROOT/examples/chat.json" --turns all --wait 1ms --output-tokens 21 --salt x -q -n 60 -o chat.trace 2>prep.err ||
	ipf-prep sharegpt "$ROOT/examples/chat.json" --turns all --wait 1ms --output-tokens 21 -q -n 60 -o chat.trace
server
fire recorded chat.trace closed:users=1,n=20
is "$(cache chat.trace recorded.results '[.reported.gap_tokens, .warm.tokens, .sessions.count > 1, .sessions.share == .sessions.ideal_share]')" '[0,0,true,true]' \
	"sessions with recorded answers"
server
fire live chat.trace closed:users=1,n=20 --history live
is "$(cache chat.trace live.results '[.reported.gap_tokens, .warm.tokens]')" '[0,0]' "sessions with live answers"
between "$(cache chat.trace live.results .ideal_tokens)" "$(($(cache chat.trace recorded.results .ideal_tokens) + 1))" 1e9 "live answers allow more than recorded ones"

# ---- without the trace ----
# ipf-prep's figures in the trace come with the results.
unaided() { # NAME: how often the verdict names a warm start, and how much the trace allows
	ipf-report -f json "$1.results" | jq -r '.verdict.checks[] | select(.name == "enough_samples") |
		"\(.detail | [scan("of the input tokens were in the server.s prefix cache")] | length) \(.cache_possible)"'
}
possible() { # NAME TRACE: by the prompts as they were sent
	cache "$2" "$1.results" '.ideal_share * 1e6 | round / 1e6'
}
is "$(unaided cold)" "0 $(possible cold a.trace)" "a cold start, of which as much was possible as with the trace"
is "$(unaided again)" "1 $(possible again a.trace)" "a warm start"
is "$(ipf-report -f json --trace a.trace again.results | grep -c 'the trace allows')$(warm again.results a.trace)" 01 "a warm start is stated once with the trace"
ipf-report -f json --accuracy 1s cold.results again.results | jq -r '.verdict.checks[] | select(.name == "enough_samples").detail' >repeats.detail
matches "$(cat repeats.detail)" 'it was warm from earlier requests, such as those of the repeat before' "repeats against one server"
ipf-prep prefix -q -n 60 --hit-rate 0.9 --groups 4 --input-tokens uniform:600-900 --output-tokens 5 --salt y -o much.trace
ipf-prep prefix -q -n 90 --hit-rate 0 --input-tokens uniform:200-400 --output-tokens 5 --salt z -o own.trace
server
fire much much.trace closed:users=4,n=60
is "$(unaided much)" "0 $(possible much much.trace)" "prompts that share nearly all make no start warm"
fire much much.trace closed:users=4,n=60
is "$(unaided much | cut -c1)" 1 "repeated prompts make the next start warm"
fire part own.trace closed:users=4,n=30 --warm 20
is "$(unaided part)" "0 0" "prompts of --warm do not make the start warm"
fire all own.trace closed:users=4,n=90
is "$(unaided all)" "1 0" "prompts of an earlier run make the start warm"
is "$(plain own.trace | tail -1 | jq -c .end.reuse)" "$(plain now.sched | head -1 | jq -c .trace.reuse)" "the schedule has what the trace says"
ipf-prep prefix -q -n 5 --input-tokens 100 --output-tokens 5 --prompt none -o none.trace
printf '{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:,"}}]}],"output_tokens":3}\n' |
	ipf-prep jsonl -q -o image.trace
is "$(for i in none image; do plain $i.trace | tail -1 | jq -c .end.reuse; done)" "$(printf 'null\nnull')" "lengths and images say nothing"

# ---- the blocks of the server ----
server
ipf-sched -q $one_by_one -t a.trace -o now.sched
ipf-fire -q -m sim -u "$URL" -t a.trace now.sched | ipf-collect -q --scrape "$URL" -o scraped.results
is "$(cache a.trace scraped.results '[.block_tokens, .block_from, .reported.gap_tokens]')" '[16,"metrics",0]' "metrics tell the length of blocks"
is "$(cache a.trace cold.results '[.block_tokens, .block_from]')" '[16,"assumed"]' "the length of blocks is assumed without metrics"
is "$(cache a.trace cold.results '[.block_tokens, .block_from, .ideal_tokens % 64, .curve[-1].ideal_tokens - .ideal_tokens]' --cache-block 64)" \
	'[64,"option",0,0]' "--cache-block says it: whole ones are found"

# ---- with a limit ----
server --kv-blocks 90
fire small a.trace $one_by_one
is "$(cache a.trace small.results '.reported.tokens == .size.ideal_tokens and .size.ideal_tokens < .ideal_tokens' --cache-size 1440)" true \
	"a cache of 90 blocks finds what it can"
is "$(cache a.trace small.results '.warm.tokens')" 0 "a small cache is not called warm"
server --no-prefix-cache
fire none a.trace closed:users=8,n=50
is "$(cache a.trace none.results '[.reported.tokens, .reported.gap_tokens == .ideal_tokens, .warm.tokens]')" '[0,true,0]' "a server without a cache misses all"
server
fire busy a.trace closed:users=8,n=50
is "$(warm busy.results a.trace)" 0 "requests that overlap make no start warm"

# ---- recorded blocks ----
# A trace whose prompts are blocks of 512 tokens, a part of each shared; arrivals that are not in the order of the file.
awk 'BEGIN { for (i = 0; i < 40; i++) printf "{\"timestamp\":%d,\"input_length\":%d,\"output_length\":3,\"hash_ids\":[%d,%d,%d]}\n",
	i * 37 % 40 * 10, 1024 + 1 + i * 7 % 500, i % 3, 10 + i % 5 + 100 * (i % 3), 1000 + i % 20 }' >blocks.jsonl
ipf-prep mooncake blocks.jsonl -q -o blocks.trace
server
fire blocks blocks.trace replay
expected() { # the same by another program: tokens of prompts, and those of leading blocks of the prompts arriving before
	python3 - "$1" <<'END'
import json, sys
asked = [json.loads(line) for line in open(sys.argv[1])]
asked = [r for r in asked if "blocks" in r]
seen, hits, tokens = set(), 0, 0
for r in sorted(asked, key=lambda r: r["at_ns"]):
    size, left, chain, leading = r["blocks"]["tokens"], r["input_tokens"], (), True
    before = []
    for i in r["blocks"]["ids"]:
        here = min(size, left)
        left -= here
        chain += ((i, here),)
        leading = leading and chain in seen
        hits += here if leading else 0
        before.append(chain)
    seen.update(before)
    tokens += r["input_tokens"]
print(f"[{len(asked)},{tokens},{hits}]")
END
}
if command -v python3 >/dev/null; then
	plain blocks.trace | sed -e 1d -e '$d' >blocks.lines
	is "$(cache blocks.trace blocks.results '.recorded | [.requests, .prompt_tokens, .ideal_tokens]')" "$(expected blocks.lines)" \
		"an independent program finds the same in the recorded blocks"
else
	skip "recorded blocks" "no python3 here"
fi
is "$(cache blocks.trace blocks.results '[.recorded.ideal_share > 0.3, (.recorded.ideal_share - .ideal_share | fabs) < 0.05]')" '[true,true]' \
	"recorded blocks allow about as much as the prompts sent"
is "$(ipf-prep stat -f json blocks.trace | jq -c '.sharing.hit_rate * 1000 | round')" \
	"$(cache blocks.trace blocks.results '.recorded.ideal_share * 1000 | round')" "ipf-prep stat finds the same in the recorded blocks"
fire some blocks.trace closed:users=1,n=10
is "$(cache blocks.trace some.results .recorded.requests)" 10 "recorded blocks count only requests that were sent"
is "$(cache chat.trace recorded.results 'has("recorded")')" false "a trace without blocks has nothing recorded"
matches "$(ipf-report --trace blocks.trace blocks.results)" '^  recorded +a cache finds [0-9.]+ % of the trace' "a line of the text"
ipf-report -f html --trace blocks.trace blocks.results -o blocks.html
is "$(grep -o "a cache finds [0-9.]* % of the trace" blocks.html | wc -l)" 1 "a fact of the page"

# ---- formats ----
run ipf-report --ascii --trace a.trace --cache-size 1k again.results
matches "$(cat "$OUT")" '^  blocks +of 16 tokens; possible: in a cache without a limit' "a section of the text"
matches "$(cat "$OUT")" '^  warm +[0-9,]+ tokens found that this run had not sent before' "the section on the cache says that it was warm"
matches "$(cat "$OUT")" '^  1,000 as given +[0-9,]+ +[0-9.]+ %$' "the section on the cache has the given size"
is "$(awk 'length > 80' "$OUT" | wc -l)" 0 "the section on the cache fits into 80 columns"
is "$(ipf-report cold.results | grep -c '^Prefix cache')" 0 "the text without a trace has no section on the cache"
ipf-report -f html --trace a.trace --cache-size 1k cold.results -o cold.html
is "$(grep -c -e 'id="cache-sums-table' -e 'id="cache-sizes-table' cold.html)" 2 "the page has its tables"

# ---- unknown values ----
jq_rows() { # FILTER FILE: results with other rows
	plain "$2" | jq -c "if .n != null then $1 else . end" | sed -e 1d -e '$d' >changed.body
	seal <(plain "$2") changed.body >changed.results
}
jq_rows 'del(.cached_tokens)' cold.results
is "$(cache a.trace changed.results '[has("reported"), has("warm"), .ideal_tokens]')" \
	"[false,false,$(cache a.trace cold.results .ideal_tokens)]" "a server that says nothing"
jq_rows 'del(.req)' cold.results
is "$(cache a.trace changed.results .)" '{"absent":"no successful request has a prompt in the trace"}' "rows without their requests"
run ipf-report --trace salted.trace cold.results
complains ipf-report 'salted.trace: is not the trace of this run' "the trace of another run"
status_is 3 "the trace of another run ends with 3"
run ipf-report --trace missing.trace cold.results
complains ipf-report 'missing.trace: cannot open' "a trace that is not there"
run ipf-report --cache-size 5 cold.results
status_is 2 "--cache-size alone ends with 2"
run ipf-report --cache-block 32 cold.results
status_is 2 "--cache-block alone ends with 2"
run ipf-report --cache-block 8 --trace a.trace cold.results
status_is 2 "--cache-block of less than can be told apart"
complains ipf-report "--cache-block: expected 16 to" "ipf-report refuses a short --cache-block"
