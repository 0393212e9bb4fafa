#!/bin/bash
# A recorded trace, replayed: every request is sent at its recorded time divided by the speed, asks for the trace's length,
# and gets as long a prompt and answer, which the server itself confirms.
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
	# shellcheck disable=SC2016 # the program's variable
	run ipf-fire -u "$URL" -t "$1.trace" -H 'X-Request-Id: $id' "$1.sched" -o "$1.records"
	status_is 0 "$1: the run"
	run ipf-collect "$1.records" -o "$1.results"
	status_is 0 "$1: the results"
	local count
	count=$(wc -l <"$3")
	body "$1.results" | jq -c 'select(has("n") and has("start_ns"))' >rows.json
	is "$(jq -s 'map(select(.ok)) | length' rows.json)" "$count" "$1: all $count requests are ok"

	# Due to the nanosecond (one of rounding), and never started before. (tests/bench/lag.sh has how soon after.)
	jq -s -r 'sort_by(.n)[] | "\(.due_ns) \(.start_ns - .due_ns)"' rows.json >timings
	paste -d ' ' "$3" timings |
		awk -v speed="$2" 'BEGIN { OFMT = "%.0f" } { d = $4 - $1 * 100 / speed; if (d < -1 || d > 1) print "row " NR ": due " $4 ", expected " $1 * 100 / speed }' >wrong
	is "$(cat wrong)" "" "$1: each request is due at its recorded time divided by $2"
	at_least "$(cut -d ' ' -f 2 timings | sort -n | head -1)" 0 "$1: none starts before it is due"

	# The server's view: when each came, by the clock of both, and how long it was.
	all_logged() { [ "$(wc -l <server.log)" = "$count" ]; }
	wait_for all_logged
	t0=$(plain "$1.records" | head -1 | jq .t0_clock_ns)
	jq -c '[.id, .arrival_ns, .first_token_ns]' server.log >came
	body "$1.records" | jq -c --slurpfile came came --argjson t0 "$t0" 'INDEX($came[]; .[0]) as $at | select(.n != null) | $at[.id] as [$id, $arrival, $answered] |
		select($t0 + .start_ns <= $arrival and $answered <= $t0 + .end_ns | not) | [.n, .start_ns, $arrival - $t0, $answered - $t0, .end_ns]' >wrong
	is "$(cat wrong)" "" "$1: each request comes to the server after ipf-fire says that it started, and ends after the server answered"
	jq -r '"\(.prompt_tokens) \(.output_tokens)"' server.log | sort >got
	cut -d ' ' -f 2,3 "$3" | sort >asked
	same got asked "$1: the server counted the trace's lengths, prompt and answer"
	jq -s -r 'sort_by(.n)[] | "\(.input_tokens) \(.output_tokens)"' rows.json >got
	cut -d ' ' -f 2,3 "$3" >asked
	same got asked "$1: the results have the trace's lengths, request by request"
	is "$(jq -s 'map(select(.input_tokens != .asked_input_tokens or .output_tokens != .asked_output_tokens)) | length' rows.json)" 0 \
		"$1: nothing is unlike what was asked"
}

head -61 "$ROOT/examples/arrivals.csv" >arrivals.csv
rows_of arrivals.csv >arrivals.rows
ipf-prep azure arrivals.csv -q -o arrivals.trace
replay arrivals 8 arrivals.rows

conv=$SHARED/data/traces/azure/AzureLLMInferenceTrace_conv.csv
if [ -n "$SHARED" ] && [ -e "$conv" ]; then
	# A slice out of the middle: from 10:00 on, the arrivals within 12 s; it counts from there.
	ipf-prep azure "$conv" --from 10m --to 10m12s -q -o conv.trace
	rows_of "$conv" |
		awk 'BEGIN { OFMT = CONVFMT = "%.0f" } $1 >= 6e9 && $1 < 6.12e9 { print $1 - 6e9, $2, $3 }' >conv.rows
	replay conv 5 conv.rows
else
	skip "a slice of the published hour of conversations" "the data is not here"
fi
