#!/bin/sh
# Variants of a plan: what-if.sh WHAT-IF.txt TRACE, for the variables of plan.mk. The plan beside it (plan.csv), and those of plan.sh for twice
# the traffic, prompts twice as long, half and twice the KV cache: each in a folder of its own below what-if. Prints their peaks, replica
# hours and costs in one table, as predicted and with the twin's error on either side.
out=$1 trace=$2
folder=$(dirname "$out")
rows=$folder/part.what-if # a line of CSV for each case
product() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.9g", a * b }'; }

# The sums of a plan; none if more than MOST are needed.
add() { # CASE PLAN.csv
	awk -F, -v name="$1" -v every="$EVERY" -v price="$PRICE" '
	function note(k, n) { if (n == "") beyond[k] = 1; if (n > peak[k]) peak[k] = n; hours[k] += n * every / 3600 }
	NR > 1 { note(1, $3); note(2, $4); note(3, $5) }
	END {
		line = name
		for (k = 1; k <= 3; k++) line = line "," (beyond[k] || NR < 2 ? "" : peak[k] + 0)
		for (k = 1; k <= 3; k++) line = line "," (beyond[k] || NR < 2 ? "" : sprintf("%.6g", hours[k]))
		for (k = 1; k <= 3 && price != ""; k++) line = line "," (beyond[k] || NR < 2 ? "" : sprintf("%.6g", hours[k] * price))
		print line
	}' "$2" >>"$rows"
}

try() { # CASE FOLDER TRAFFIC INPUT CACHE
	echo "plan.mk: what if: $1" >&2
	mkdir -p "$folder/what-if/$2" || exit
	if TRAFFIC=$3 INPUT=$4 CACHE=$5 sh "$(dirname "$0")/plan.sh" "$folder/what-if/$2/plan.txt" "$trace" 2>"$folder/part.why" >/dev/null; then
		add "$1" "$folder/what-if/$2/plan.csv"
	elif grep -q 'kv_blocks: the twin does not know it' "$folder/part.why"; then
		add "$1" /dev/null
	else
		cat "$folder/part.why" >&2
		exit 2
	fi
}

: >"$rows" || exit
add "as it is" "$folder/plan.csv"
try "traffic times 2" traffic-2 "$(product "$TRAFFIC" 2)" "$INPUT" "$CACHE"
try "prompts times 2" input-2 "$TRAFFIC" "$(product "$INPUT" 2)" "$CACHE"
try "KV cache times 0.5" cache-0.5 "$TRAFFIC" "$INPUT" "$(product "$CACHE" 0.5)"
try "KV cache times 2" cache-2 "$TRAFFIC" "$INPUT" "$(product "$CACHE" 2)"

write() { # FORM: text, csv or json
	awk -F, -v form="$1" -v price="$PRICE" -v slo="$SLO" -v twin="$(basename "$TWIN")" -v most="$MOST" '
	function json(text) { gsub(/[\\"]/, "\\\\&", text); gsub(/[\001-\037]/, "?", text); return "\"" text "\"" }
	function known(text, other) { return text == "" ? other : text }
	function short(text) { return text == "" ? "?" : text ~ /[.]/ ? sprintf("%.2f", text) : text }
	function range(k) { return short($(k + 1)) " to " short($(k + 2)) }
	function members(name, k) {
		return sprintf(", \"%s\": %s, \"%s_low\": %s, \"%s_high\": %s", name, known($k, "null"), name, known($(k + 1), "null"), name, known($(k + 2), "null"))
	}
	function header(name) { return "," name "," name "_low," name "_high" }
	BEGIN {
		if (form == "csv") print "case" header("peak") header("replica_hours") (price == "" ? "" : header("cost"))
		if (form == "json")
			printf("{\n  \"ipf\": \"what-if\", \"predicted\": true, \"twin\": %s, \"slo\": %s, \"most\": %s,\n  \"cases\": [", json(twin), json(slo), most)
		if (form == "text") {
			printf("PREDICTED by %s, %s\n\n%-18s %5s %12s %8s %18s", twin, slo, "what if", "peak", "with error", "hours", "with error")
			print price == "" ? "" : sprintf(" %10s", "cost")
		}
	}
	form == "csv" { print }
	form == "json" {
		printf("%s\n    {\"case\": %s%s%s%s}", NR > 1 ? "," : "", json($1), members("peak", 2), members("replica_hours", 5), price == "" ? "" : members("cost", 8))
	}
	form == "text" {
		printf("%-18s %5s %12s %8s %18s", $1, short($2), range(2), short($5), range(5))
		print price == "" ? "" : sprintf(" %10s", short($8))
		unknown = unknown || $4 == ""
	}
	END {
		if (form == "json") print "\n  ]\n}"
		if (form == "text" && unknown)
			printf("\n?: more than %s replicas (MOST=), or the twin does not know the size of the KV cache.\n", most)
	}' "$rows"
}
for form in csv json text; do
	write $form >"$folder/part.$form" || exit
done
mv "$folder/part.csv" "$folder/what-if.csv" && mv "$folder/part.json" "$folder/what-if.json" && cat "$folder/part.text" &&
	mv "$folder/part.text" "$out" && rm -f "$rows" "$folder/part.why"
