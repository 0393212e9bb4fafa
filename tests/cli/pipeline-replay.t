#!/bin/bash
# A recorded trace, replayed: every request is sent at its recorded time divided by the speed, asks for what the trace asked
# for, and gets as long a prompt and answer, which the server itself confirms.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start --log server.log

# Times in ticks of 100 ns from the first row, and the two lengths, out of the CSV alone.
rows_of() { # CSV
	sed -e 1d -e 's/\r$//' "$1" | sed 's/^[0-9-]* \([0-9]*\):\([0-9]*\):\([0-9]*\)\.\([0-9]*\),/\1,\2,\3,\4,/' |
		awk -F, 'BEGIN { OFMT = CONVFMT = "%.0f" }
			{ t = (($1 * 60 + $2) * 60 + $3) * 10000000 + $4; if (NR == 1) first = t; print t - first, $5, $6 }'
}

replay() { # NAME SPEED ROWS: from NAME.trace; ROWS: file of ticks, input, output
	: >server.log
	run ipf-sched "replay:speed=$2" -t "$1.trace" -o "$1.sched"
	status_is 0 "$1: a schedule at speed $2"
	run ipf-fire -u "$URL" -t "$1.trace" "$1.sched" -o "$1.records"
	status_is 0 "$1: the run"
	run ipf-collect "$1.records" -o "$1.results"
	status_is 0 "$1: the results"
	local count
	count=$(wc -l <"$3")
	body "$1.results" | jq -c 'select(has("n") and has("start_ns"))' >rows.json
	is "$(jq -s 'map(select(.ok)) | length' rows.json)" "$count" "$1: all $count requests are ok"

	# Due to the nanosecond (one of rounding); started when due, as far as a busy machine allows.
	jq -s -r 'sort_by(.n)[] | "\(.due_ns) \(.start_ns - .due_ns)"' rows.json >timings
	paste -d ' ' "$3" timings |
		awk -v speed="$2" 'BEGIN { OFMT = "%.0f" } { d = $4 - $1 * 100 / speed; if (d < -1 || d > 1) print "row " NR ": due " $4 ", expected " $1 * 100 / speed }' >wrong
	is "$(cat wrong)" "" "$1: each request is due at its recorded time divided by $2"
	cut -d ' ' -f 2 timings | sort -n >lags
	between "$(sed -n 1p lags)" 0 1e12 "$1: none starts early"
	between "$(sed -n "$((count / 2 + 1))p" lags)" 0 100e6 "$1: half of them start within 100 ms"
	between "$(tail -1 lags)" 0 10e9 "$1: all within ten seconds"

	# What the server saw, on its own clock: when each came, and how long it was.
	t0=$(plain "$1.records" | head -1 | jq .t0_unix_ns)
	jq -s -r --argjson t0 "$t0" 'sort_by(.arrival_wall_ns)[] | .arrival_wall_ns - $t0' server.log | sort -n >came
	jq -s -r 'sort_by(.start_ns)[] | .start_ns' rows.json | paste -d ' ' - came |
		awk '{ d = ($2 - $1) / 1e6; if (d < -20 || d > 1000) print "request " NR " came " d " ms after its start" }' >wrong
	is "$(cat wrong)" "" "$1: the server got each when ipf-fire says that it was sent"
	jq -r '"\(.prompt_tokens) \(.output_tokens)"' server.log | sort >got
	cut -d ' ' -f 2,3 "$3" | sort >asked
	same got asked "$1: the server counted the trace's lengths, prompt and answer"
	jq -s -r 'sort_by(.n)[] | "\(.input_tokens) \(.output_tokens)"' rows.json >got
	cut -d ' ' -f 2,3 "$3" >asked
	same got asked "$1: so do the results, request by request"
	is "$(jq -s 'map(select(.input_tokens != .asked_input_tokens or .output_tokens != .asked_output_tokens)) | length' rows.json)" 0 \
		"$1: nothing is unlike what was asked"
}

head -61 "$ROOT/examples/arrivals.csv" >arrivals.csv
rows_of arrivals.csv >arrivals.rows
ipf-prep azure arrivals.csv -q -o arrivals.trace
replay arrivals 8 arrivals.rows

conv=$SHARED/data/traces/azure/AzureLLMInferenceTrace_conv.csv
if [ -n "$SHARED" ] && [ -e "$conv" ]; then
	# A slice out of the middle: from 10:00 on, what arrived within 12 s; it counts from there.
	ipf-prep azure "$conv" --from 10m --to 10m12s -q -o conv.trace
	rows_of "$conv" |
		awk 'BEGIN { OFMT = CONVFMT = "%.0f" } $1 >= 6e9 && $1 < 6.12e9 { print $1 - 6e9, $2, $3 }' >conv.rows
	replay conv 5 conv.rows
else
	skip "a slice of the published hour of conversations" "the data is not here"
fi
