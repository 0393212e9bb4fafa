#!/bin/bash
# ipf-prep fit, synthetic --like and stat --against: a model of recorded traffic makes traffic near it.
. "$TESTS/tap.sh"
prep=$BIN/ipf-prep
for kind in bursty even even-fast even-tide sessions ticks; do
	python3 "$TESTS/helpers/traffic.py" $kind 8000 >$kind.data
done
format() { case $1 in bursty | even*) echo azure ;; sessions) echo qwen-bailian ;; *) echo mooncake ;; esac; }

at_least() { # ACTUAL LEAST TEXT
	between "$1" "$2" 1e18 "$3"
}

# There are few wide windows in short data, so their dispersion is a matter of chance.
near() { # MODEL LEAST TEXT: as many figures are compared, at three seeds, and all are near
	local seed
	for seed in 1 2 3; do
		"$prep" synthetic --like "$1" --seed $seed --prompt none -q -o near.trace
		"$prep" stat -f json --against "$1" near.trace >near.json
		is "$(jq -r '.figures[] | select(.near == false and (.name | test("dispersion [0-9]{2,}s") | not)) | "\(.name): \(.this), not \(.against)"' near.json)" "" "$3: seed $seed"
		at_least "$(jq .comparable near.json)" "$2" "$3: figures that are compared at seed $seed"
	done
}

for kind in bursty even even-fast even-tide sessions ticks; do
	run "$prep" fit "$(format $kind)" $kind.data -o $kind.json
	status_is 0 "$kind: a model"
	stderr_is "" "$kind: fit has no messages"
	between "$(wc -c <$kind.json)" 1000 100000 "$kind: less than 100 KB"
done
near bursty.json 20 "bursty arrivals"
for kind in even even-fast even-tide; do
	near $kind.json 15 "$kind arrivals"
done
is "$(jq -c '.arrivals.gap_cv * 20 | round / 20' even.json even-fast.json | tr '\n' ' ')$(jq -c '.arrivals | has("gap_cv")' bursty.json)" "0.5 0.25 false" "even gaps are in the model, others are not"
near sessions.json 35 "sessions with arrivals"
near ticks.json 24 "a coarse clock"
is "$(jq -c '[.arrivals.tick_s, .prefixes.block_tokens, .requests]' ticks.json)" "[3,512,8000]" "the clock, the blocks and the requests are in the model"
is "$("$prep" synthetic --like ticks.json --prompt none -q | jq -s '[.[].at_ns // 0 | . % 3000000000] | unique' -c)" "[0]" "arrivals are at its ticks"

# Traces are read as well as their sources.
"$prep" azure bursty.data --prompt none -q -o bursty.trace.zst
"$prep" fit bursty.trace.zst -o trace.json
body='del(.argv, .created, .from)'
is "$(jq -c "$body" trace.json | sha256sum)" "$(jq -c "$body" bursty.json | sha256sum)" "a trace gives the model of its source"
zstd -qdc bursty.trace.zst | "$prep" fit --reproducible >piped.json
is "$(jq -c "$body" piped.json | sha256sum)" "$(jq -c "$body" bursty.json | sha256sum)" "a trace on standard input gives the same model"
"$prep" fit bursty.data -o detected.json
is "$(jq -c "$body" detected.json | sha256sum)" "$(jq -c "$body" bursty.json | sha256sum)" "the format of a file is detected"
zstd -qdc bursty.trace.zst | head -3001 >cut.trace
run "$prep" fit cut.trace -o cut.json
status_is 3 "a trace that was cut"
is "$(jq .requests cut.json)" 3000 "a cut trace gives a model of its good part"
run "$prep" fit azure bursty.data bursty.data --from 1m --to 2m -n 100 -o some.json
status_is 0 "options select what is learned from"
is "$(jq .requests some.json)" 100 "a model has as many requests as -n"
run "$prep" fit bursty.data bursty.data
status_is 2 "several files need a source"
complains "ipf-prep fit" "auto" "fit says that several files need a source"

# No text of the data is in the model, but names of models are.
printf '{"prompt":"confidential, and long enough for a block of sixteen tokens, %s","output":"secret","model":"big"}\n' {1..50} >texts.jsonl
run "$prep" fit jsonl texts.jsonl --field prompt=/prompt --field output=/output --field model=/model -o texts.json
status_is 0 "fit reads texts"
is "$(grep -ciE 'confidential|secret' texts.json)" 0 "texts are not in the model"
is "$(jq -c '[.models, (.prefixes.block_tokens > 0)]' texts.json)" '[{"big":1},true]' "the model's name is, and what prompts have in common"
"$prep" synthetic --like texts.json -q -n 40 -o texts.trace
is "$(sed -e 1d -e '$d' texts.trace | jq -r .model | sort | uniq -c | sed 's/^ *//')" "40 big" "requests are for that model"

# Tools, failures, waits.
for i in {0..299}; do
	printf '{"id":"%d","messages":[{"role":"user","content":"a"}],"input_tokens":%d,"output_tokens":%d,"session":"%d","turn":%d%s%s%s%s}\n' "$i" $((100 + i % 50)) \
		$((10 + i % 7)) $((i / 3)) $((i % 3)) "$([ $((i % 3)) = 0 ] || echo ',"wait_ns":2000000000')" "$([ $((i % 4)) != 0 ] || echo ',"tools":[{},{}]')" \
		"$([ $((i % 10)) != 0 ] || echo ',"tags":{"failed":true}')" "$([ $((i % 5)) != 0 ] || echo ",\"hang_up_ns\":$(((i + 1) * 10000000))")"
done >lines
trace_of lines >agents.trace
"$prep" fit agents.trace -o agents.json
is "$(jq -c '[.starts, .failed, .tools.mean, .sessions.share, .sessions.turns[50], .sessions.wait_s[50]]' agents.json)" "[100,0.1,2,1,3,2]" "sessions, failures, tools, waits"
"$prep" synthetic --like agents.json -q -o agents.more
sed -e 1d -e '$d' agents.more >agents.lines
is "$(jq -s -c '[length, ([.[].session] | unique | length), ([.[] | select(.wait_ns == 2000000000)] | length)]' agents.lines)" "[300,100,200]" \
	"traffic like agents has sessions of three turns, and waits between them"
between "$(jq -s '[.[] | select(.tools)] | length' agents.lines)" 50 100 "a quarter has tools"
between "$(jq -s '[.[] | select(.tags.failed)] | length' agents.lines)" 15 50 "a tenth is marked as failed"
is "$(jq -c '.hang_ups | [.share, .after_s[0], .after_s[-1]]' agents.json)" "[0.2,0.01,2.96]" "a fifth of the clients hung up"
between "$(jq -s '[.[] | select(.hang_up_ns)] | length' agents.lines)" 40 80 "a fifth of the made clients hang up"
is "$(jq -s '[.[].hang_up_ns // empty | . >= 10000000 and . <= 2960000000] | all' agents.lines)" true "made clients hang up within the recorded times"
contains "$("$prep" stat agents.trace)" "hung up, s     mean 1.485, p50 1.460" "the statistics say when"
contains "$("$prep" stat agents.more --against agents.json)" "hang_ups" "the comparison has their share"

# Rates and mixtures.
rate() { "$prep" stat -f json "$1" | jq '.arrivals.rate'; }
"$prep" synthetic --like bursty.json --prompt none -q -o once.trace
"$prep" synthetic --like bursty.json --scale 3 -n 24000 --prompt none -q -o thrice.trace
between "$(jq -n "100 * $(rate thrice.trace) / $(rate once.trace) | round")" 285 315 "three times the rate"
"$prep" stat -f json --against bursty.json thrice.trace >thrice.json
is "$(jq -c '[.figures[] | select((.name | startswith("input_tokens")) and .near == false) | .name]' thrice.json)" "[]" "three times the rate has the same lengths"
"$prep" synthetic --like bursty.json=70,ticks.json=30 -n 10000 --prompt none -q -o mixed.trace
between "$(sed -e 1d -e '$d' mixed.trace | grep -c '"scope":"m2"')" 2800 3200 "three of ten requests are of the second model"
is "$(sed -e 1d -e '$d' mixed.trace | jq -s '[.[].at_ns] | . == sort')" true "requests of two models are in the order of arrival"
between "$(jq -n "100 * $(rate mixed.trace) / (0.7 * $(rate once.trace) + 0.3 * $(jq '.requests / .arrivals.span_s' ticks.json)) | round")" 90 112 "requests of two models have the mean of their rates"
"$prep" synthetic --like sessions.json -q -n 500 -o a.trace
"$prep" synthetic --like sessions.json -q -n 500 -o b.trace
"$prep" synthetic --like sessions.json -q -n 500 --seed 2 -o c.trace
is "$(sed 1d a.trace | sha256sum)" "$(sed 1d b.trace | sha256sum)" "the same seed gives the same traffic"
isnt "$(sed 1d a.trace | sha256sum)" "$(sed 1d c.trace | sha256sum)" "another seed gives other traffic"
is "$(sed -e 1d -e '$d' a.trace | wc -l)" 500 "exactly as many requests as -n says"
is "$(tail -1 a.trace | jq -c '[.end.from[].file]')" '["sessions.json"]' "the trailer names the model"
at_least "$("$prep" stat -f json a.trace | jq '.sharing.hit_rate * 100 | round')" 40 "texts have common beginnings, as the blocks say"

# An incomparable figure has its reason.
"$prep" azure "$TESTS/../examples/arrivals.csv" -q -n 30 --prompt none -o few.trace
run "$prep" stat few.trace --against few.trace
status_is 0 "stat --against of few requests ends with 0"
contains "$(cat "$OUT")" "input_tokens p99           not comparable: 30 values, at least 1000 are needed" "quantiles need values"
contains "$(cat "$OUT")" "turns                      not comparable: neither has any" "turns need sessions"
contains "$(cat "$OUT")" "0 of 0 figures are near" "the last line counts"
run "$prep" stat --against ticks.json bursty.json
status_is 0 "stat --against of two models ends with 0"
contains "$(cat "$OUT")" "not near" "stat --against says that the models are not near"
contains "$(cat "$OUT")" "hit_rate                   not comparable: only one has prompts in blocks or texts" "stat --against says that blocks are missing"
run "$prep" stat bursty.trace.zst --against nothing.json
status_is 1 "a file that does not exist"
if command -v gnuplot >/dev/null; then
	run "$prep" stat once.trace --against bursty.json --plot near.svg
	status_is 0 "stat --plot ends with 0"
	contains "$(cat near.svg)" "Burstiness of arrivals" "show the burstiness"
	contains "$(cat near.svg)" "Prompts" "the plot shows the lengths"
	"$prep" stat sessions.json --against ticks.json --plot hits.svg -o /dev/null
	contains "$(cat hits.svg)" "Hits of prefix caches" "the plot shows the hits"
	contains "$(cat hits.svg)" "Time between turns" "the plot shows the times between turns"
else
	skip "stat --plot" "gnuplot is not installed"
fi

# Usage.
usage() { # TEXT OPTION…
	run "$prep" "${@:2}"
	status_is 2 "ipf-prep synthetic refuses $1"
	complains ipf-prep "--" "$1: the option is named"
}
usage "lengths of their own" synthetic --like bursty.json --input-tokens 100
usage "turns of their own" synthetic --like bursty.json --turns 3
usage "a rate without arrivals" synthetic --like agents.json --scale 2
usage "data of its own" azure bursty.data --like bursty.json
usage "a list" synthetic --like a.json=x

# Hostile models.
bad() { # JQ PLACE TEXT
	jq -c "$1" sessions.json >bad.json
	run "$prep" synthetic --like bad.json -n 10
	status_is 3 "$3: synthetic --like ends with 3"
	complains ipf-prep "bad.json: $2" "$3: the place is named"
	run "$prep" stat a.trace --against bad.json
	status_is 3 "$3, to compare with"
}
bad '.version = 2' version "a later version"
bad '.ipf = "trace"' "not a traffic model" "something else"
bad '.requests = -1' requests "a negative number"
bad 'del(.lengths)' lengths "no lengths"
bad '.lengths = []' lengths "an empty list"
bad '.lengths[0].input_tokens[3] = "x"' 'lengths[0].input_tokens[3]' "a text for a number"
bad '.lengths[0].input_tokens[106] = 1e300' 'lengths[0].input_tokens[106]' "an absurd length"
bad '.lengths[0].input_tokens |= .[1:]' 'lengths[0].input_tokens' "a short list"
bad '.lengths[0].output_tokens |= (.[0] = 9 | .[1] = 1)' 'lengths[0].output_tokens[1]' "descending quantiles"
bad '.lengths[0].joint_ranks[2] = [range(16) | 0]' 'lengths[0].joint_ranks[2]' "shares that are all 0"
bad '.arrivals.counts[1] = 1e18' 'arrivals.counts[1]' "more arrivals than can be"
bad '.arrivals.counts |= map(0)' arrivals.counts "none at all"
bad '.arrivals.counts = [range(999) | 1]' arrivals.counts "windows beyond the limit"
bad '.arrivals.window_s = 17' arrivals.window_s "another width"
bad '.arrivals.correlations[0] = 7' 'arrivals.correlations[0]' "a correlation above 1"
bad '.arrivals.span_s = "long"' arrivals.span_s "a text for a time"
bad '.arrivals = 3' arrivals "a number for an object"
bad '.sessions.turns[106] = 1e9' 'sessions.turns[106]' "endless sessions"
bad '.sessions.share = 2' sessions.share "a share above 1"
bad '.prefixes.block_tokens = 0' prefixes.block_tokens "blocks of nothing"
bad '.prefixes.first[0].cells[0] = [1, 2]' 'prefixes.first[0].cells' "a short cell"
bad '.prefixes.first = [range(99) | {}]' prefixes.first "ranges beyond the limit"
bad '.figures.dispersion[0] = 1' 'figures.dispersion[0]' "figures in another form"
bad 'del(.figures)' figures "no figures"
head -c 3000 sessions.json >bad.json
run "$prep" synthetic --like bad.json
status_is 3 "a model that was cut"
complains ipf-prep "not a traffic model: " "ipf-prep says why a cut model is no model"
{
	printf '{"ipf":"traffic-model","x":"'
	head -c 5000000 /dev/zero | tr '\0' x
	printf '"}'
} >bad.json
run "$prep" synthetic --like bad.json
status_is 3 "a huge one"
complains ipf-prep "more than 4 MB" "ipf-prep says how large a model may be"
jq -c '.arrivals.counts |= map(if . > 0 then 1e9 else . end) | .arrivals.correlations |= map(1)' bursty.json >much.json
run "$prep" synthetic --like much.json -n 1000 --prompt none -q -o much.trace
status_is 0 "a model of very many arrivals needs no more memory or time"
run "$prep" fit "$prep" -o none.json
status_is 3 "fit of a program ends with 3"
printf 'TIMESTAMP,ContextTokens,GeneratedTokens\n' >empty.csv
run "$prep" fit azure empty.csv -o none.json
status_is 3 "fit of no request ends with 3"
run "$prep" fit bursty.trace.zst -o /dev/full
status_is 1 "a full disk"
