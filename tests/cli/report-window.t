#!/bin/bash
# A figure the window of a stage cannot show is absent with the reason, never 0.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text
data=$TESTS/data/report
report=$BIN/ipf-report

# run.results: stages as JSON, and a row for each "STAGE START END OK [MODEL]" in seconds.
results() { # STAGES, rows on standard input
	jq -c --argjson stages "$1" '.stages = $stages | .from[0].from[0].stages = $stages' <(head -1 "$data/one.results") >header
	awk '{ printf "{\"n\":%d,\"stage\":%d,\"ok\":%s,\"start_ns\":%.0f,\"end_ns\":%.0f,\"lag_ns\":0,\"ttft_ns\":1000000,\"e2e_ns\":%.0f", NR - 1, $1, $4 ? "true" : "false", $2 * 1e9, $3 * 1e9, ($3 - $2) * 1e9
		if ($4 == 1) printf ",\"output_tokens\":10,\"input_tokens\":4"
		if ($5) printf ",\"model\":\"%s\"", $5
		print ($4 ? "}" : ",\"error\":{\"kind\":\"timeout\"}}") }' >rows
	seal header rows >run.results
}
stage() { # NAME BEGIN END ARRIVALS [MEASURED [MEMBERS]]: in seconds; END "" for none
	jq -nc --arg name "$1" --arg begin "$2" --arg last "$3" --arg n "$4" --argjson measured "${5:-true}" --argjson more "${6:-{\}}" \
		'{name: $name, kind: "constant", spec: "", begin_ns: ($begin | tonumber * 1000000000), arrivals: ($n | tonumber), first_n: 0, measured: $measured}
		+ (if $last == "" then {} else {end_ns: ($last | tonumber * 1000000000)} end) + $more'
}
json() { # FILTER [OPTION…]
	local filter=$1
	shift
	"$report" -f json --slo ttft=1s "$@" run.results | jq -c "$filter"
}
samples='.verdict.checks[] | select(.name == "enough_samples") | [.status, .detail]'
rates='[.rate.completed, .throughput.requests_per_s, .throughput.input_tokens_per_s, .throughput.output_tokens_per_s, .throughput.total_tokens_per_s, .goodput.requests_per_s]'

# ---- all answers later than the stage ----
late() { # REASON INPUT OUTPUT TOTAL: neither stage nor total has requests/s; tokens/s, of those arriving within, or null
	is "$(json "[.stages[0], .total] | map($rates)")" "[[null,null,$2,$3,$4,null],[null,null,$2,$3,$4,null]]" "requests that all end later give no rate: $1"
	is "$(json '[.stages[0], .total] | map(.throughput.absent) | unique')" "[\"$1\"]" "JSON has the reason for the absent rate: $1"
	contains "$(json "$samples")" 'started requests ended within the stage' "the verdict says so"
	"$report" -f csv run.results >run.csv
	is "$(python3 -c 'import csv; print([[row[k] for k in ("rate_completed", "output_tokens_per_s", "throughput_absent")] for row in csv.DictReader(open("run.csv"))])')" \
		"[['', '${3/null/}', '$1'], ['', '${3/null/}', '$1']]" "CSV has the reason for the absent rate: $1"
	"$report" run.results >run.txt
	contains "$(tr -s ' \n' ' ' <run.txt)" "no $([ "$3" = null ] && echo throughput || echo requests/s): $1" "the text has the reason for the absent rate: $1"
	is "$(sed -n '/^Stages/,/^$/s/^  s  *[0-9.-]*  *[0-9.-]*  *\([^ ]*\) .*/\1/p' run.txt)" - "the text has a dash for the absent rate: $1"
}
for members in '{}' '{"closed":true,"cycle":true,"slots":5}'; do
	results "[$(stage s 0 5 5 true "$members")]" <<-END
		0 0 10 1
		0 1 11 1
		0 2 12 1
		0 3 13 1
		0 4 14 1
	END
	late "no request ended within the window" 4 3 7
	contains "$(json "$samples")" "s: only 0 of 5 started requests ended within the stage" "$members: the verdict says how many"
	is "$(json '.total.requests.ok')" 5 "requests that end after the window are good"
	is "$(json '.total.throughput | [.output_tokens_per_s, .absent]' --window drain)" '[3.571429,null]' "--window drain gives a rate"
	is "$(json "$samples" --window drain | grep -c 'ended within')" 0 "--window drain gives no doubt"
done
results "[$(stage s 0 5 5)]" <<'END'
0 0 1 0
0 1 11 1
0 2 12 1
0 3 13 1
0 4 14 1
END
late "no successful request ended within the window" 3.2 2 5.2
results "[$(stage s 0 5 2)]" <<'END'
0 0 10 0
0 1 11 0
END
late "no request ended within the window" null null null
results "[$(stage s 0 5 3)]" <<'END'
0 0 1 2
0 6 11 1
0 7 12 1
END
is "$(json '.total | [.throughput.requests_per_s, .throughput.output_tokens_per_s, .throughput.absent]')" \
	'[0.2,null,"no request whose tokens are known ended within the window"]' "answers without a count of tokens are no 0 tokens/s"
# A whole run by the programs: five answers taking longer than their stage.
server_start --step-base 100ms
"$BIN/ipf-prep" sharegpt "$TESTS/../examples/chat.json" --output-tokens 20 -n 5 -q -o chat.trace
"$BIN/ipf-sched" constant:rate=20,n=5 -t chat.trace -q | "$BIN/ipf-fire" -q -u "$URL" -m sim -t chat.trace |
	"$BIN/ipf-collect" -q -o run.results
is "$(json '[.total.requests.ok, .total.throughput.requests_per_s, .total.throughput.absent]')" '[5,null,"no request ended within the window"]' "five good answers are no 0 requests/s"

# ---- rates of 0, and other rates ----
results "[$(stage s 0 5 2)]" <<'END'
0 0 1 0
0 1 2 0
END
is "$(json '[.total.rate.completed, .total.throughput.absent]')" "[0,null]" "a window of failures has completed nothing"
share() { # INSIDE OUTSIDE: so many requests
	results "[$(stage s 0 10 "$(($1 + $2))")]" < <(seq "$1" | sed 's/.*/0 1 2 1/'; seq "$2" | sed 's/.*/0 1 12 1/')
}
share 49 51
contains "$(json "$samples")" "s: only 49 of 100 started requests ended within the stage" "less than half of the requests in the window"
is "$(json '.total.rate.completed')" 4.9 "the doubtful rate is that of the window"
share 50 50
is "$(json "$samples" | grep -c 'ended within')" 0 "half of them are enough"

# ---- several stages, models ----
results "[$(stage warm 0 5 2 false), $(stage s 5 10 2)]" <<'END'
0 0 7 1
0 1 7 1
1 5 6 1
1 6 7 1
END
is "$(json "$samples" | grep -c 'ended within')" 0 "a warm-up is not judged"
is "$(json '[.stages[0].throughput.absent, .total.throughput.absent]')" '["no request ended within the window",null]' "an unmeasured stage has its reason"
results "[$(stage first 0 5 2), $(stage second 5 10 2)]" <<'END'
0 0 7 1 slow
0 1 7 1 slow
1 5 6 1 fast
1 6 7 1 fast
END
contains "$(json "$samples")" "first: only 0 of 2" "one stage of two is doubted"
is "$(json '.total | [.throughput.output_tokens_per_s, .by_model.fast.throughput.output_tokens_per_s, .by_model.slow.throughput.output_tokens_per_s, .by_model.slow.throughput.absent]')" \
	'[4,2,2,null]' "requests of a stage count in the window in which they end"
is "$(json '[.stages[], .total | [.rate.completed, .rate.completed_own]]')" '[[null,null],[0.8,0.4],[0.4,0.2]]' "requests of earlier stages are told from the stage's own"
contains "$("$report" run.results | tr -s ' \n' ' ')" "first: no requests/s: no request ended within the window; --window drain" "the text names it"
results "[$(stage first 0 5 2), $(stage second 5 10 2)]" <<'END'
0 0 12 1 slow
0 1 12 1 slow
1 5 6 1 fast
1 6 7 1 fast
END
is "$(json '.total | [.throughput.output_tokens_per_s, .by_model.fast.throughput.output_tokens_per_s, .by_model.slow.throughput.output_tokens_per_s, .by_model.slow.throughput.absent]')" \
	'[3.6,2,1.6,"no request ended within the window"]' "one model of two has tokens and no requests/s"
is "$(json '.total | [.rate.completed, .by_model.fast.rate.completed, .by_model.slow.rate.completed]')" '[0.2,0.2,null]' "the total has the rate of the model whose requests ended"
is "$("$report" run.results | awk '{ gsub(/[^ -~]/, "?") } length > 80')" "" "the text fits into 80 columns"

# ---- stages without a length, and stages waiting for their last request ----
results "[$(stage s 0 0 1), $(stage t 0 5 1)]" <<'END'
0 0 1 1
1 1 2 1
END
is "$(json '.stages[0] | [.window_s, .throughput.absent]')" '[null,"the window has no length"]' "a stage without a length has no rate"
results "[$(stage s 0 "" 5)]" <<'END'
0 0 10 1
0 0 12 1
END
is "$(json '.total | [.window_s, .throughput.output_tokens_per_s, .throughput.absent]')" '[12,1.666667,null]' "a burst lasts until its last request has ended"
is "$(json "$samples" | grep -c 'ended within')" 0 "every request of a burst ends within its window"
