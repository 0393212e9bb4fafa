#!/bin/bash
# Events over time: the windows in the results, of a run, of its parts, and of parts beginning apart.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

records=$TESTS/data/collect/awkward.records
windows() { # RESULTS [jq filter]
	jq -c "select(.window) | ${2:-.}" "$1"
}

# ---- --every ----
run ipf-collect "$records"
is "$(head -1 "$OUT" | jq -c .series)" '{"every_ns":1000000000}' "windows are of one second"
is "$(windows "$OUT" '[.window, .stage, .length_ns]')" "[0,0,1000000000]
[0,1,1000000000]" "every stage with requests has a window"
run ipf-collect --every 100ms "$records"
is "$(head -1 "$OUT" | jq -c .series)" '{"every_ns":100000000}' "--every 100ms: the header says so"
is "$(windows "$OUT" '[.t_ns / .length_ns, .stage]' | tail -3)" "[7,1]
[8,1]
[9,1]" "windows of a tenth"
is "$(windows "$OUT" .window)" "$(windows "$OUT" '.t_ns / .length_ns')" "windows are numbered by their begin"
for every in 1h 3600s; do
	run ipf-collect --every $every "$records"
	status_is 0 "--every $every is accepted"
	is "$(windows "$OUT" '[.stage, .scheduled]')" "[0,1]
[1,8]" "--every $every gives one window a stage"
done
for every in 99ms 0 3601s 1 -1s soon; do
	run ipf-collect --every=$every "$records"
	status_is 2 "--every $every is refused"
	complains ipf-collect "--every" "--every $every is refused in one line"
done
run ipf-collect --every=99ms "$records"
contains "$(cat "$ERR")" "--every: expected a time from 100ms to 1h, got 99 ms" "the error of --every says what may be"

# ---- from a file or live ----
server_start --step-base 2ms --fail error-inband:share=0.1 --fail reset:share=0.1,after=3 --fail status:share=0.1 --fail cut:share=0.1,after=4
ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens uniform:1-40 -n 40 -q -o chat.trace
ipf-sched poisson:rate=80,n=60,slots=2 burst:n=20,warmup -t chat.trace -q -o chat.sched
ipf-fire -q -u "$URL" -m sim --cancel 0.1@20ms -t chat.trace chat.sched | tee run.records | { mkdir live && ipf-collect -q --every 100ms -o live/run.results; }
ipf-collect -q --every 100ms run.records -o run.results
same live/run.results run.results "live and from a file: the same bytes"
run python3 "$TESTS/helpers/second_opinion.py" run.records run.results
matches "$(tail -2 "$OUT" | head -1)" '^[0-9]+ windows, 0 differ$' "a second program computes the same windows"
isnt "$(windows run.results '.slot_wait_ns // empty' | head -1)" "" "some requests waited for a slot"
isnt "$(windows run.results '.hung_up // empty' | head -1)" "" "some requests were left on purpose"

# ---- divided into eight ----
part() { # K: part.K, the lines of a client of every eighth request
	head -1 run.records | jq -c --argjson k "$1" '.from[0].shard = {index: $k, of: 8}' >header
	body run.records | jq -c --argjson k "$1" 'select((.n // 0) % 8 == $k - 1)' | grep '"n":' >rows
	seal header rows >"part.$1"
}
for k in 1 2 3 4 5 6 7 8; do part $k; done
sorted() { # RESULTS: rows, windows and histograms
	body "$1" | grep -v '^{"sample"' | sed 's/,"edge_ns":[^]]*\],"edge_tokens":[^]]*\]//' | sort # each client had its own end of the burst
}
ipf-collect -q --every 100ms part.? -o parts.results
status=$?
status_is 0 "eight shards collected together"
sorted run.results >whole.sorted
sorted parts.results >parts.sorted
between "$(grep -c '^{"window"' whole.sorted)" 8 1000 "the whole run has windows"
same parts.sorted whole.sorted "the lines of the whole run, byte for byte"

# ---- shards beginning apart ----
for k in 1 2; do
	plain part.$k >whole
	sed '1d;$d' whole >rows
	head -1 whole | sed "s/\"t0_unix_ns\":[^,}]*/\"t0_unix_ns\":$((1700000000000000123 + (2 - k) * 2500000000))/" >header
	seal header rows >apart.$k
	ipf-collect -q --every 100ms apart.$k -o single.$k
done
ipf-collect -q --every 100ms apart.1 apart.2 -o apart.results
is "$(head -1 apart.results | grep -o '"series":{[^}]*}' | cut -c 10-)" '{"every_ns":100000000,"t0_unix_ns":1700000000000000123}' "windows count from the earliest start"
{
	windows single.1 '.window += 25 | .t_ns += 2500000000'
	windows single.2
} | jq -s -c 'map({window, stage, started, output_tokens, events})
	| group_by([.window, .stage])[] | {window: .[0].window, stage: .[0].stage, started: (map(.started // 0) | add), output_tokens: (map(.output_tokens // 0) | add),
		events: (map(.events // 0) | add)}' >expected
windows apart.results '{window, stage, started: (.started // 0), output_tokens: (.output_tokens // 0), events: (.events // 0)}' >got
same got expected "the later one's windows are moved by the difference"
is "$(body apart.results | jq -c 'select(.n) | [.n, .start_ns]' | sort)" \
	"$({ body apart.1 && body apart.2; } | jq -c 'select(.n) | [.n, .start_ns]' | sort)" "the times of rows are not"
run python3 "$TESTS/helpers/second_opinion.py" apart.1 apart.2 apart.results
matches "$(tail -2 "$OUT" | head -1)" '^[0-9]+ windows, 0 differ$' "a second program moves the windows in the same way"
matches "$(tail -3 "$OUT" | head -1)" '^[1-9][0-9]* bins of positions, 0 differ$' "a second program has the same gaps by position"
