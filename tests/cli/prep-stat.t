#!/bin/bash
# ipf-prep stat: figures counted by hand.
. "$TESTS/tap.sh"
prep=$BIN/ipf-prep

figure() { # JQ EXPECTED TEXT
	is "$(jq -c "$1" stat.json)" "$2" "$3"
}

# Four arrivals at 0, 1, 1.5 and 4 s; blocks of 512 tokens.
cat >m.jsonl <<'ROWS'
{"timestamp": 0, "input_length": 1024, "output_length": 10, "hash_ids": [1, 2]}
{"timestamp": 1000, "input_length": 1100, "output_length": 20, "hash_ids": [1, 2, 3]}
{"timestamp": 1500, "input_length": 512, "output_length": 30, "hash_ids": [2]}
{"timestamp": 4000, "input_length": 1024, "output_length": 40, "hash_ids": [4, 3]}
ROWS
run "$prep" mooncake m.jsonl -o m.trace.zst
status_is 0 "a trace to look at"
run "$prep" stat -f json m.trace.zst
status_is 0 "stat describes the trace"
cp "$OUT" stat.json
figure .requests 4 "requests"
figure .arrivals.span_s 4 "span"
figure .arrivals.rate 0.75 "rate: three gaps in four seconds"
figure .arrivals.peak_1s 2 "the fullest second"
figure '.arrivals.cv * 1e6 | round' 637377 "variation of the gaps 1, 0.5 and 2.5 s"
figure '[.output_tokens | .mean, .p50, .p90, .p99, .max, .min]' '[25,20,40,40,40,10]' "nearest ranks"
figure '[.sharing | .blocks, .distinct, .most_blocks]' '[8,4,3]' "blocks"
figure '.sharing.reuse' 0.5 "blocks that were there before: 1 and 2 of the second, 2 of the third, 3 of the last"
figure '.sharing.leading' 0.25 "leading blocks found before are those of the second prompt"
figure '.sharing.hit_rate * 3660 | round' 1024 "tokens that an endless cache finds"
run "$prep" stat m.trace.zst
contains "$(cat "$OUT")" "requests       4" "the text has the requests"
contains "$(cat "$OUT")" "output tokens  mean 25.0, p50 20, p90 40, p99 40, max 40" "the text has the lengths"

# Prefixes of text, and sessions, whose turns have the turns before in their context.
printf '{"prompt":"%s","output":"a"}\n' "$(printf 'x%.0s' {1..200})one" "$(printf 'x%.0s' {1..200})two" "other" >t.jsonl
# Who counted the tokens.
counted() { # BY TEXT TRACE
	run "$prep" stat "$3"
	is "$(grep '^tokens ' "$OUT" | sed 's/^tokens *//')" "$2" "the text says who counted the tokens: $2"
	is "$("$prep" stat -f json "$3" | jq -r .tokens.by)" "$1" "JSON says who counted the tokens: $1"
}
"$prep" jsonl t.jsonl -q -o counted.trace
counted estimate "estimated, bytes/4: no tokenizer counted them" counted.trace
"$prep" jsonl t.jsonl -q -t "$TESTS/data/tokenizer/bytelevel.json" -o counted.trace
counted tokenizer "counted by bytelevel.json" counted.trace
counted data "recorded in the data, mooncake; text by bytes/4" m.trace.zst
"$prep" synthetic -n 2 -q -o counted.trace
counted drawn "drawn by synthetic; text by bytes/4" counted.trace
printf '{"id":"a","prompt":"b"}\n' >lines
trace_of lines >foreign.trace
counted unknown "their tokenizer is not known" foreign.trace
"$prep" jsonl t.jsonl | "$prep" stat -f json - >stat.json
figure '.sharing | [.by, .hit_rate * 5 | if type == "number" then round else . end]' '["text",2]' "two prompts of three begin alike"
printf '{"conversations":[{"from":"human","value":"%s"},{"from":"gpt","value":"%s"},{"from":"human","value":"Why?"},{"from":"gpt","value":"So."}]}\n' \
	"$(printf 'abc%.0s' {1..100})" "$(printf 'def%.0s' {1..100})" >s.jsonl
"$prep" sharegpt s.jsonl --turns all | "$prep" stat -f json >stat.json
figure '[.sessions | .count, .of_several_turns, .lone_requests, .turns.max]' '[1,1,0,2]' "sessions"
figure '.sharing.hit_rate > 0.45 and .sharing.hit_rate < 0.7' true "a second turn finds the first and its answer"

run "$prep" stat -f xml m.trace.zst
status_is 2 "a format that is not known"
run "$prep" stat no-such.trace
status_is 1 "a trace that is not there"
plain m.trace.zst | head -3 >cut.trace
run "$prep" stat cut.trace
status_is 3 "a trace that was cut"
contains "$(cat "$OUT")" "requests       2" "a cut trace is described as far as it goes"
run "$prep" stat m.trace.zst -o /dev/full
status_is 1 "a full disk"

# As a picture.
if command -v gnuplot >/dev/null; then
	run "$prep" stat --plot m.svg m.trace.zst
	status_is 0 "stat --plot draws"
	contains "$(head -c 200 m.svg)" "<svg" "stat --plot writes an SVG"
	for title in "Arrivals over time" "Gaps between arrivals" Lengths "Hits of an unlimited prefix cache"; do
		contains "$(cat m.svg)" "$title" "the plot has $title"
	done
	"$prep" sharegpt s.jsonl --turns all -o s.trace
	run "$prep" stat --plot s.svg s.trace
	status_is 0 "stat --plot takes a trace without arrivals"
	is "$(grep -c "Arrivals over time" s.svg)" 0 "the plot of a trace without arrivals has no arrivals"
	printf '{"prompt":"a","output":"b"}\n' >one.jsonl
	"$prep" jsonl one.jsonl -o one.trace
	run "$prep" stat --plot one.svg one.trace
	status_is 0 "stat --plot takes a trace of one request"
	stderr_is "" "stat --plot of one request has no messages"
else
	skip "stat --plot draws" "gnuplot is not installed"
fi
run "$prep" stat --plot m.gif m.trace.zst
status_is 2 "stat --plot refuses another kind of picture"
mkdir bare
ln -s "$(command -v sh)" bare/sh
PATH=$PWD/bare run "$prep" stat --plot none.svg m.trace.zst
status_is 0 "stat --plot without gnuplot gives the figures"
contains "$(cat "$ERR")" "gnuplot is not installed: none.svg is not drawn" "stat says that gnuplot is missing"

# Numbers among the tags, where their names end in a unit.
printf '{"id":"c","models":["m"],"block_size":4,"hash_id_scope":"local","requests":[{"t":0,"type":"n","model":"m","in":9,"out":3,"hash_ids":[1,2],"ttft":0.5},{"t":9,"type":"n","model":"m","in":9,"out":3,"hash_ids":[1,2],"ttft":1.5,"think_time":2}]}\n' >w.jsonl
"$prep" weka w.jsonl | "$prep" stat -f json >stat.json
figure '.tags | [.ttft_s.n, .ttft_s.mean, .ttft_s.max, .think_time_s.n, (keys | length)]' '[2,1,1.5,1,2]' "numbers among the tags"
