#!/bin/sh
# A plan: plan.sh PLAN.txt TRACE, for the variables of plan.mk For each window of EVERY seconds of the trace, the least number of
# replicas of the twin meeting all objectives, by predictions with one number after another: as predicted, and with the twin's error on
# either side.
plan=$1 trace=$2
twin=$TWIN slo=$SLO every=$EVERY most=$MOST traffic=$TRAFFIC input=$INPUT output=$OUTPUT cache=$CACHE price=$PRICE seed=$SEED
folder=$(dirname "$plan")
margins=$folder/part.margins # "WINDOW REPLICAS LOW MARGIN HIGH" for each prediction so far

fail() {
	echo "plan.mk: $*" >&2
	exit 2
}
number() { # NAME VALUE
	case $2 in '' | *[!0-9.]* | *.*.* | . | 0) fail "$1: expected a number above 0, got \"$2\"" ;; esac
}
number EVERY "$every"
number MOST "$most"
case $most in *.*) fail "MOST: expected a whole number, got \"$most\"" ;; esac
number TRAFFIC "$traffic"
number INPUT "$input"
number OUTPUT "$output"
number CACHE "$cache"
[ -z "$price" ] || number PRICE "$price"

predict_run() { # ARGUMENT…
	[ "$input" = 1 ] || set -- --assume "input_tokens=x$input" "$@"
	[ "$output" = 1 ] || set -- --assume "output_tokens=x$output" "$@"
	[ "$cache" = 1 ] || set -- --assume "kv_blocks=x$cache" "$@"
	env -S "ipf-twin predict $PREDICT_OPTIONS" -q --force "$twin" ${MODEL:+-m "$MODEL"} -t "$trace" "$@"
}

# How much of its limit the worst objective takes in a stage, or in the total, from the CSV of a report: with the twin's error below, as
# predicted, and above it. A run of which requests failed meets none.
margin_of() { # STAGE
	awk -F, -v stage="$1" '
	function ms(text) { return text ~ /ms$/ ? text + 0 : text ~ /us$/ ? text / 1e3 : text ~ /ns$/ ? text / 1e6 : text ~ /m$/ ? text * 6e4 : text * 1e3 }
	NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
	$1 == stage {
		for (i = 1; i <= NF; i++) {
			if (name[i] == "requests_failed") failed = $i
			if (name[i] !~ /^slo_.*_value_ms$/) continue
			text = name[i]; sub(/^slo_.*=/, "", text); sub(/_value_ms$/, "", text)
			error = $(i + 1) == "" ? 0 : $(i + 1)
			of = $i == "" ? 1e9 : $i / ms(text)
			if (of > worst) worst = of
			if (of * (1 - error) > low) low = of * (1 - error)
			if (of * (1 + error) > high) high = of * (1 + error)
			known = 1
		}
	}
	END { if (!known) exit 1; if (failed) low = worst = high = 1e9; printf "%.6g %.6g %.6g\n", low, worst, high }'
}

predict() { # WINDOW REPLICAS: adds a line to the margins
	if grep -q "^$1 $2 " "$margins"; then return 0; fi
	schedule=$folder/window-$1.schedule
	predict_run --replicas "$2" -o "$folder/part.records.zst" "$schedule" &&
		ipf-collect -q -o "$folder/part.results.zst" "$folder/part.records.zst" &&
		ipf-report export csv -q --slo "$slo" -o "$folder/part.csv" "$folder/part.results.zst" || exit
	margin=$(margin_of total <"$folder/part.csv") || fail "SLO: expected objectives on percentiles, such as p99:ttft=2s, got \"$slo\""
	echo "$1 $2 $margin" >>"$margins"
}

meets() { # WINDOW REPLICAS COLUMN: of the margins
	predict "$1" "$2"
	awk -v w="$1" -v r="$2" -v c="$3" '$1 == w && $2 == r { met = $c <= 1 } END { exit !met }' "$margins"
}

# The least number meeting all, from a near one; more than MOST: none does.
least_of() { # WINDOW COLUMN NEAR
	good=$3 bad=0
	while ! meets "$1" "$good" "$2"; do
		bad=$good
		[ "$good" -lt "$most" ] || { echo $((most + 1)) && return; }
		good=$((2 * good < most ? 2 * good : most))
	done
	while [ $((good - bad)) -gt 1 ]; do
		middle=$(((good + bad) / 2))
		if meets "$1" "$middle" "$2"; then good=$middle; else bad=$middle; fi
	done
	echo "$good"
}

# ---- the windows ----
mkdir -p "$folder" && : >"$margins" && : >"$folder/part.rows" || exit
span=$(ipf-prep stat "$trace" | sed -n 's/^arrivals .*span_s \([0-9.]*\).*/\1/p')
[ -n "$span" ] || fail "$trace: the requests have no arrival times"
windows=$(awk -v span="$span" -v every="$every" 'BEGIN { n = int(span / every); print n + (n * every < span || n == 0) }')
near=1
window=0
set --          # the stages of all windows
series="" kept=1 # how many replicas there are from each of them on, and in the last one
while [ "$window" -lt "$windows" ]; do
	from=$(awk -v w="$window" -v e="$every" 'BEGIN { printf "%.9g", w * e }')
	to=$(awk -v w="$window" -v e="$every" 'BEGIN { printf "%.9g", (w + 1) * e }')
	schedule=$folder/window-$window.schedule
	if ipf-sched -q "replay:from=${from}s,to=${to}s,for=${every}s" -t "$trace" --seed "$seed" -o "$schedule" 2>"$folder/part.why"; then
		rate=$(ipf-sched stat "$schedule" | awk -v e="$every" '$1 == "arrivals" { n += $2 } END { printf "%.9g", n / e }')
		rated=""
		if [ "$traffic" != 1 ]; then
			rate=$(awk -v r="$rate" -v t="$traffic" 'BEGIN { printf "%.9g", r * t }')
			rated="rate=$rate,"
			ipf-sched -q "replay:from=${from}s,to=${to}s,${rated}for=${every}s" -t "$trace" --seed "$seed" -o "$schedule" || exit
		fi
		echo "plan.mk: window $((window + 1)) of $windows" >&2
		low=$(least_of "$window" 3 "$near") && middle=$(least_of "$window" 4 "$low") && high=$(least_of "$window" 5 "$middle") || exit
		near=$((middle > most ? most : middle))
		kept=$near
		set -- "$@" "replay:from=${from}s,to=${to}s,${rated}for=${every}s,name=from-${from}s"
		echo "$from $rate $middle $low $high" >>"$folder/part.rows"
	elif grep -q 'no arrival was recorded in this slice' "$folder/part.why"; then
		set -- "$@" "rest:for=${every}s"
		echo "$from 0 0 0 0" >>"$folder/part.rows"
	else
		cat "$folder/part.why" >&2
		exit 3
	fi
	series=$series${series:+,}$kept$([ "$window" -eq 0 ] || echo "@${from}s")
	window=$((window + 1))
done

# ---- all windows in one run ----
# With as many replicas from one moment on as are planned from there on: a window begins with the rest of the one before.
carried=0
rm -f "$folder/plan.results.zst" # another plan's
if grep -qv "^[^ ]* 0 " "$folder/part.rows"; then
	ipf-sched -q "$@" -t "$trace" --seed "$seed" -o "$folder/plan.schedule" &&
		predict_run --name plan --replicas "$series" -o "$folder/plan.records.zst" "$folder/plan.schedule" &&
		ipf-collect -q -o "$folder/plan.results.zst" "$folder/plan.records.zst" &&
		ipf-report -q -f html --slo "$slo" -o "$folder/plan.html" "$folder/plan.results.zst" &&
		ipf-report export csv -q --slo "$slo" -o "$folder/part.csv" "$folder/plan.results.zst" || exit
	awk '$2 > 0 { print $1 }' "$folder/part.rows" >"$folder/part.why"
	while read -r from; do
		carried=$((carried + $(margin_of "from-${from}s" <"$folder/part.csv" | awk '{ print ($2 <= 1) }')))
	done <"$folder/part.why"
fi

# How near the twin is, the parts of the plan beyond its runs, and windows too short for their percentiles: in the report's own
# words.
twin_facts() {
	[ -f "$folder/plan.results.zst" ] || return 0
	ipf-report -q --section verdict "$folder/plan.results.zst" | awk '/^  [a-z]/ { on = /^  (predicted|exceeded) / || /^  enough samples +(DOUBTFUL|INVALID)/ } on'
}
twin_json() { # a member and a comma; nothing without a run
	[ ! -f "$folder/plan.results.zst" ] || ipf-report export json -q "$folder/plan.results.zst" |
		jq -r '.run.predicted | "  \"error\": \(.error | tojson), \"extrapolated\": \((.extrapolated // []) | tojson),"'
}

twin_json=$(twin_json)

# ---- output ----
write() { # FORM: text, csv or json, of the rows
	awk -v form="$1" -v most="$most" -v every="$every" -v price="$price" -v slo="$slo" -v twin="$(basename "$twin")" -v traffic="$traffic" \
		-v input="$input" -v output="$output" -v cache="$cache" -v carried="$carried" -v twin_json="$twin_json" '
	function times(name, factor) { return factor == 1 ? "" : ", " name " times " factor }
	function json(text) { gsub(/[\\"]/, "\\\\&", text); gsub(/[\001-\037]/, "?", text); return "\"" text "\"" }
	# A number of replicas, or the sign for more than MOST.
	function known(n, other) { return n > most ? other : n }
	function cost(n, other) { return n > most ? other : sprintf("%.6g", n * price * every / 3600) }
	BEGIN {
		priced = price != ""
		if (form == "text") {
			printf("PREDICTED by %s, %s, traffic times %s", twin, slo, traffic)
			print times("prompts", input) times("answers", output) times("KV cache", cache) "\n"
			printf("%10s %12s %10s %14s", "from (s)", "requests/s", "replicas", "with error")
			print priced ? sprintf(" %10s", "cost") : ""
		} else if (form == "csv") {
			print "from_s,requests_per_s,replicas,replicas_low,replicas_high" (priced ? ",cost" : "")
		} else {
			printf("{\n  \"ipf\": \"plan\", \"predicted\": true, \"twin\": %s, \"slo\": %s,\n", json(twin), json(slo))
			printf("  \"traffic\": %s, \"input\": %s, \"output\": %s, \"cache\": %s,\n", traffic, input, output, cache)
			if (twin_json != "") print twin_json
			printf("  \"every_s\": %s, \"most\": %s,\n  \"windows\": [", every, most)
		}
	}
	{
		if ($3 > most) beyond = 1
		if ($2 > 0) busy++
		if ($3 > peak) peak = $3
		hours += $3 * every / 3600
		if (form == "text") {
			more = "> " most
			printf("%10s %12.2f %10s %14s", $1, $2, known($3, more), known($4, more) " to " known($5, more))
			print priced ? sprintf(" %10s", cost($3, "?")) : ""
		} else if (form == "csv") {
			printf("%s,%s,%s,%s,%s", $1, $2, known($3, ""), known($4, ""), known($5, ""))
			print priced ? "," cost($3, "") : ""
		} else {
			printf("%s\n    {\"from_s\": %s, \"requests_per_s\": %s, ", (NR > 1 ? "," : ""), $1, $2)
			printf("\"replicas\": %s, \"replicas_low\": %s, \"replicas_high\": %s", known($3, "null"), known($4, "null"), known($5, "null"))
			printf("%s}", (priced ? ", \"cost\": " cost($3, "null") : ""))
		}
	}
	END {
		fixed = peak * NR * every / 3600
		if (form == "json") {
			printf("\n  ],\n  \"one_run\": {\"windows\": %d, \"met\": %d}", busy, carried)
			if (!beyond) {
				printf(",\n  \"peak\": %s, \"replica_hours\": %.6g, \"replica_hours_fixed\": %.6g", peak, hours, fixed)
				if (priced) printf(", \"cost\": %.6g, \"cost_fixed\": %.6g", hours * price, fixed * price)
			}
			print "\n}"
		} else if (form == "text") {
			if (beyond)
				printf("\nMore than %s replicas are needed, or no number of them meets the objectives: MOST= allows more.\n", most)
			else if (priced)
				printf("\n%.2f replica hours as above (%.2f); %.2f with %s all the time (%.2f).\n", hours, hours * price, fixed, peak, fixed * price)
			else
				printf("\n%.2f replica hours as above; %.2f with %s all the time.\n", hours, fixed, peak)
			if (busy) printf("In one run of all windows, with replicas that are there at once, %d of %d with requests meet the objectives: plan.html\n", carried, busy)
		}
	}' "$folder/part.rows"
}
write csv >"$folder/part.plan.csv" && mv "$folder/part.plan.csv" "$folder/plan.csv" &&
	write json >"$folder/part.plan.json" && mv "$folder/part.plan.json" "$folder/plan.json" || exit

rm -f "$folder"/part.records.zst "$folder"/part.results.zst "$folder"/part.csv "$folder"/part.why
{ write text && twin_facts; } | tee "$folder/part.plan.txt" && mv "$folder/part.plan.txt" "$plan" && rm -f "$margins" "$folder/part.rows"
