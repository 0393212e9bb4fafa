#!/bin/bash
# Effects of the edges of a stage on its figures: tokens count when they arrive, requests without the bias of those in flight at begin and end, and
# where stages overlap each token, request and second counts once.
. "$TESTS/tap.sh"
data=$TESTS/data/report
PATH=$BIN:$PATH

# ---- overlapping stages ----
stage() { # NAME BEGIN END [MEASURED]: in seconds; END "" for none
	jq -nc --arg name "$1" --arg begin "$2" --arg last "$3" --argjson measured "${4:-true}" \
		'{name: $name, kind: "constant", spec: "", begin_ns: ($begin | tonumber * 1000000000), arrivals: 0, first_n: 0, measured: $measured}
		+ (if $last == "" then {} else {end_ns: ($last | tonumber * 1000000000)} end)'
}
results() { # FILE STAGES BEGINS, "STAGE START END" in seconds on standard input: ten tokens each; BEGINS as ipf-fire saw them, in seconds
	jq -c --argjson stages "$2" '.stages = $stages | .from[0].from[0].stages = $stages' <(head -1 "$data/one.results") >header
	awk '{ printf "{\"n\":%d,\"stage\":%d,\"ok\":true,\"start_ns\":%.0f,\"end_ns\":%.0f,\"ttft_ns\":%.0f,\"e2e_ns\":%.0f,\"events\":10,\"output_tokens\":10}\n", \
		NR - 1, $1, $2 * 1e9, $3 * 1e9, ($3 - $2) * 1e8, ($3 - $2) * 1e9 }' >rows
	seal header rows | sed "s/\"end\":{/&\"from\":[{\"stages\":$(jq -nc --arg at "$3" '$at | split(" ") | map({begin_ns: (tonumber * 1000000000)})')}],/" >"$1"
}
sums='.total | [.window_s, .rate.completed * .window_s, .rate.completed_own * .window_s, .throughput.output_tokens_per_s * .window_s, .in_flight.mean * .window_s] | map(. * 100 | round / 100)'
total() { # RESULTS… OPTION…
	ipf-report -q -f json "$@" | jq -c "$sums"
}
steady() { # STAGE FROM TO: ten requests a second, ten seconds each
	seq "$2" 0.1 "$3" | awk -v stage="$1" '{ print stage, $1, $1 + 10 }'
}

{ steady 0 0 9.9 && steady 1 10 19.9; } | results two.results "[$(stage a 0 10), $(stage b 10 20)]" "0 10"
is "$(total --window drain two.results)" "[29.9,200,200,2000,2000]" "two stages whose requests end late: 200 requests, 2,000 tokens, and 2,000 s in flight, in 29.9 s"
is "$(ipf-report -q -f json --window drain two.results | jq -c '[.stages[].window_s]')" "[19.9,19.9]" "windows of stages that end late overlap"
{ steady 0 0 9.9 && steady 1 10 14.9 && steady 2 15 19.9; } | results three.results "[$(stage a 0 10), $(stage warm 10 15 false), $(stage b 15 20)]" "0 10 15"
is "$(total --window drain three.results)" "[29.9,200,150,2000,2000]" "requests of an unmeasured stage that end in others count there"
{ echo 0 0 8 && echo 0 0 2 && echo 1 4 6 && echo 1 5 12; } | results burst.results "[$(stage a 0 ""), $(stage b 4 10)]" "0 4"
is "$(total burst.results)" "[10,3,3,37,17]" "a burst that still lasts when the next stage begins: its window is in that of the other"
is "$(ipf-report -q -f json burst.results | jq -c '[.stages[].window_s]')" "[8,6]" "a burst within another stage has windows of 8 and 6 s, in 10 s"
sed '1s/"t0_unix_ns":[0-9]*/"t0_unix_ns":1790000000000000000/' two.results >first.results
sed '1s/"t0_unix_ns":[0-9]*/"t0_unix_ns":1790001000000000000/' two.results >second.results
grep -q '"t0_unix_ns":1790001' second.results || sed -i '1s/"ipf":"records",/&"t0_unix_ns":1790001000000000000,/' second.results
grep -q '"t0_unix_ns":1790000' first.results || sed -i '1s/"ipf":"records",/&"t0_unix_ns":1790000000000000000,/' first.results
is "$(total --window drain first.results second.results 2>&1 | jq -c 'map(. / 2)')" "[29.9,200,200,2000,2000]" "repeats have their windows each"

# ---- shards that do not end a stage together ----
twin server.twin model=sim step_base_ns=10000000 step_per_sequence_ns=0
jq -nc 'range(400) | {prompt: "question number \(.) please answer", output_tokens: (if . % 40 == 0 then 400 else 10 end)}' >prompts.jsonl
ipf-prep jsonl -q prompts.jsonl -o prompts.trace
shards() { # NAME N STAGE…: NAME1.results … and NAME.results of all records
	local name=$1 count=$2 k
	shift 2
	for k in $(seq "$count"); do
		ipf-sched -q "$@" --shard "$k/$count" -t prompts.trace -o "$name$k.sched"
		ipf-twin predict -q server.twin -t prompts.trace "$name$k.sched" -o "$name$k.records"
		ipf-collect -q "$name$k.records" -o "$name$k.results"
	done
	# shellcheck disable=SC2046 # a word each
	ipf-collect -q $(seq -f "$name%g.records" "$count") -o "$name.results"
}
all='[.stages[], .total] | map([.name, .window_s, .requests, .rate, .throughput, .in_flight, .latency.e2e_ms.from_start.n])'
same_figures() { # TEXT RESULTS -- RESULTS…: of one file and of several
	local text=$1 one=$2 window
	shift 3
	for window in stage drain; do
		is "$(ipf-report -q -f json --window $window "$@" | jq -c "$all")" "$(ipf-report -q -f json --window $window "$one" | jq -c "$all")" \
			"$text, --window $window"
	done
}
shards pair 2 burst:n=2 closed:users=4,for=6s
isnt "$(jq -c 'select(.end).end.from[].stages[1].begin_ns' pair.results | sort -u | wc -l)" 1 "two shards begin the second stage apart"
same_figures "their results and those of all records have the same figures" pair.results -- pair1.results pair2.results
same_figures "in any order" pair.results -- pair2.results pair1.results
is "$(ipf-report -q -f json --window drain pair1.results pair2.results | jq '.total.throughput.output_tokens_per_s * .total.window_s | round')" \
	"$(jq -s 'map(select(.n != null).output_tokens) | add' pair.results)" "tokens of shards that begin apart count once in the total"
shards three 3 closed:users=3,n=12 constant:rate=20,for=2s,drain burst:n=6
same_figures "three shards, a closed loop that ends apart and a stage that drains" three.results -- three3.results three1.results three2.results
is "$(ipf-report -q -f json --window drain three.results | jq '.total.throughput.output_tokens_per_s * .total.window_s | round')" \
	"$(jq -s 'map(select(.n != null).output_tokens) | add' three.results)" "tokens of three stages count once in the total"

# ---- runs whose answers take half of their stage ----
ipf-prep synthetic -q -n 1200 --input-tokens 20 --output-tokens 110 -o long.trace
measured() { # STEP STAGE…: the last stage of a run by a server making a token each STEP
	twin pace.twin model=sim step_base_ns="$1" step_per_sequence_ns=0
	shift
	ipf-sched -q "$@" -t long.trace -o pace.sched
	ipf-twin predict -q pace.twin -t long.trace pace.sched 2>/dev/null | ipf-collect -q -o pace.results
	ipf-report -q -f json pace.results >pace.json
	jq -c '.stages[-1] | [.throughput.output_tokens_per_s, .rate.completed]' pace.json
}
near() { # GOT EXPECTED TEXT: within 2 %
	between "$(jq -n --argjson got "$1" --argjson expected "$2" '1000 * $got / $expected | round')" 980 1020 "$3"
}
got=$(measured 50000000 closed:users=8,for=10s)
near "$(jq '.[0]' <<<"$got")" 160 "8 users with a token each 50 ms: 160 tokens/s"
near "$(jq '.[1]' <<<"$got")" 1.454545 "8 users complete 1.45 answers of 110 tokens each second"
is "$(jq -c '.stages[0] | [.rate.completed_counted, .in_flight.begin, .in_flight.end]' pace.json)" "[0.8,0,8]" "only 0.8 answers end each second, and 8 are in flight at the end"
contains "$(ipf-report -q pace.results | tr -s ' \n' ' ')" \
	"closed: 0 requests in flight at its begin, 8 at its end: completed is corrected for them; 0.800 a second ended in it" "the row says so"
near "$(measured 50000000 closed:users=120,for=10s | jq '.[0]')" 2400 "120 users: 2,400 tokens/s"
near "$(measured 50000000 closed:users=1,for=8s | jq '.[0]')" 20 "a single user: 20 tokens/s"
fast=$(measured 44000000 closed:users=60,for=10s)
cp pace.results fast.results
slow=$(measured 46000000 closed:users=60,for=10s)
for figure in requests output_tokens; do
	between "$(ipf-report compare -q -f json fast.results -- pace.results | jq ".figures[] | select(.name == \"$figure\").change * 1000 | round")" -63 -23 \
		"comparisons say the same: $figure"
done
for i in 0 1; do
	between "$(jq -n --argjson a "$fast" --argjson b "$slow" "1000 * (\$b[$i] / \$a[$i] - 1) | round")" -63 -23 "46 ms a token instead of 44 are 4.3 % less"
done
got=$(measured 50000000 poisson:rate=40,for=2s,warmup poisson:rate=40,for=12s)
near "$(jq '.[1]' <<<"$got")" "$(jq '.stages[1].rate.offered' pace.json)" "an open loop whose server keeps up completes what is offered"
near "$(jq '.[1]' <<<"$got")" 40 "an open loop completes 40 requests a second"
near "$(jq '.stages[1] | .goodput.requests_per_s' <(ipf-report -q -f json --slo e2e=10s pace.results))" "$(jq '.[1]' <<<"$got")" "goodput of an open loop is its rate"

# ---- a closed loop beginning all at once ----
twin busy.twin model=sim step_base_ns=5000000 step_per_sequence_ns=0 prefill_tokens_per_s=20000
sed -i 's/"step_per_sequence_ns":{"value":0}/"step_per_sequence_ns":{"value":100000}/' busy.twin
ipf-prep synthetic -q -n 3000 --input-tokens 400 --output-tokens uniform:10-110 -o busy.trace
loop() { # STAGE…: busy.json and its text
	ipf-sched -q "$@" -t busy.trace -o busy.sched
	ipf-twin predict -q busy.twin -t busy.trace busy.sched 2>/dev/null | ipf-collect -q -o busy.results
	ipf-report -q -f json busy.results >busy.json
	ipf-report -q busy.results | tr -s ' \n' ' ' >busy.txt
}
loop closed:users=32,for=22s
is "$(jq '.stages[0].started_together.requests' busy.json)" 32 "32 users begin at the same moment"
others=$(jq -s '[.[] | select(.n != null and .start_ns > 0)] | sort_by(.ttft_ns) | map(.ttft_ns / 1000000) | ((length - 1) * 0.99) as $h | ($h | floor) as $i | .[$i] + ($h - $i) * (.[$i + 1] - .[$i])' busy.results)
is "$(jq '.stages[0].started_together.ttft_p99_ms * 1000 | round' busy.json)" "$(jq -n "$others * 1000 | round")" "p99 of TTFT leaves out the users that begin together"
yes_if "much less than that of all" jq -e '.stages[0] | .latency.ttft_ms.from_start.p99 > 5 * .started_together.ttft_p99_ms' busy.json
matches "$(cat busy.txt)" 'closed: 32 of [0-9]* requests began at the same moment, without a warm-up or rampup=; TTFT p99 of the others [0-9.]* ms, E2E p99 [0-9,]* ms' "the text says so"
for stages in "closed:users=32,for=4s,warmup closed:users=32,for=22s" "closed:users=32,for=22s,rampup=1s" "poisson:rate=20,for=10s"; do
	# shellcheck disable=SC2086 # a word each
	loop $stages
	is "$(jq -c '[.stages[] | select(.measured) | has("started_together")]' busy.json)" "[false]" "$stages: nothing began together"
	is "$(grep -c "same moment" busy.txt)" 0 "the text without a common start says nothing of it"
done

# ---- where requests end as they come, or a queue grows ----
python3 "$TESTS/helpers/queue_results.py" 150:40 >over.results
near "$(ipf-report -q -f json over.results | jq '.total.rate.completed')" 100 "a server that is overloaded completes what it can, not what is offered"
python3 "$TESTS/helpers/queue_results.py" 150:20 20:20 >after.results
ended=$(jq -s '[.[] | select(.n != null and .ok and .end_ns >= 20000000000 and .end_ns - 20000000000 < 20000000000)] | length / 20' after.results) # exact: made up
near "$(ipf-report -q -f json after.results | jq '.stages[1].rate.completed')" "$ended" "a server that works off a backlog completes more than is offered" # exact: made up
python3 "$TESTS/helpers/queue_results.py" 50:60 >enough.results
is "$(ipf-report -q -f json enough.results | jq -c '[.total.rate | has("completed_counted")] + [.total.in_flight | has("end")]')" "[false,false]" "short answers in a long stage need nothing"

# ---- exactly at both edges ----
cat >exact.py <<'END'
# Tokens by the time of each event, from the results of ipf-collect --events.
import json, sys

rows, end, counted = [], None, False
for line in open(sys.argv[1]):
    row = json.loads(line)
    if "stages" in row:
        stages = row["stages"]
    if "n" in row:
        rows.append(row)
    end = row.get("end", end)
for stage, seen in zip(stages, end["from"][0]["stages"]):
    begin = seen["begin_ns"]
    begin += counted  # that moment is in the window of the stage before
    last = seen["begin_ns"] + stage["end_ns"] - stage["begin_ns"] if "end_ns" in stage else None
    counted = last is None
    if counted:
        last = max(row["end_ns"] for row in rows if row["stage"] == stages.index(stage)) + 1
    print(sum(n for row in rows if row["ok"] for t, n in zip(row["event_ns"], row["event_tokens"]) if begin <= t < last))
END
twin uneven.twin model=sim step_base_ns=7000000 step_per_sequence_ns=0 step_jitter=1.5
ipf-prep synthetic -q -n 400 --input-tokens 50 --output-tokens uniform:5-200 -o uneven.trace
for stages in "poisson:rate=20,for=2s poisson:rate=10,for=3s" "burst:n=20 closed:users=6,for=2s poisson:rate=20,for=1500ms" \
	"constant:rate=15,for=2s,drain closed:users=9,for=1700ms,warmup poisson:rate=12,for=2s"; do
	# shellcheck disable=SC2086 # a word each
	ipf-sched -q $stages -t uneven.trace --seed 3 -o uneven.sched
	ipf-twin predict -q uneven.twin -t uneven.trace uneven.sched -o uneven.records 2>/dev/null
	ipf-collect -q --events uneven.records -o events.results
	ipf-collect -q uneven.records -o uneven.results
	is "$(ipf-report -q -f json uneven.results | jq '.stages[] | .throughput.output_tokens_per_s * .window_s | round')" "$(python3 exact.py events.results)" "$stages: each token at its time"
	is "$(ipf-report -q -f json uneven.results | jq -c '[.stages[].throughput | has("spread")] | unique')" "[false]" "tokens of exact times give no doubt"
	head -1 uneven.results >header
	sed -e 1d -e '$d' -e 's/,"edge_ns":[^]]*\],"edge_tokens":[^]]*\]//' uneven.results >rows
	seal header rows | sed "s/\"end\":{/&$(tail -1 uneven.results | jq -c '.end | {from}' | sed 's/^{//; s/}$//'),/" >old.results
	ipf-report -q -f json old.results >old.json
	python3 exact.py events.results >exact
	is "$(jq '.stages[] | .throughput.output_tokens_per_s * .window_s' old.json | paste - exact | awk '{ if ($1 < 0.9 * $2 || $1 > 1.1 * $2) print }')" "" "results without these times come near it"
done
contains "$(ipf-report -q old.results | tr -s ' \n' ' ')" "of its output tokens are of answers that crossed its edges, and the results do not say exactly when they arrived" "the report says that times of tokens are not known exactly"
