#!/bin/sh
# A study: study.sh FOLDER RUN.mk. Measures each cell with RUN.mk and makes the tables from report.json and results.zst of each cell. A failed
# cell gets the file "failed" and has no figures. The tables are made again if a cell has changed, and then shown. Ends with status 1 if a
# cell failed.
folder=$1 run_mk=$2
set -f

# An entry is [NAME=]VALUE; its name is a folder, without the password of a URL.
name_of() { # ENTRY
	case ${1%%=*} in
	"$1" | *[:/]*) printf '%s\n' "$1" | sed -E 's,/$,,; s,^https?://,,; s,.*@,,; s,%20|[:/],_,g' ;;
	*) printf '%s\n' "${1%%=*}" ;;
	esac
}
value_of() { # ENTRY
	case ${1%%=*} in
	"$1" | *[:/]*) printf '%s\n' "$1" ;;
	*) printf '%s\n' "${1#*=}" ;;
	esac | sed 's/%20/ /g'
}

fail() {
	echo "study.mk: $*" >&2
	exit 2
}
check_names() { # VARIABLE ENTRY…: two with one name would be one folder
	variable=$1
	shift
	for entry; do
		case $(name_of "$entry") in
		'' | -* | . | .. | *[!A-Za-z0-9._+,@-]*) fail "$variable: $entry: its name has other characters than A-Z a-z 0-9 . _ + , @ -: give it another one, as in NAME=VALUE" ;;
		esac
	done
	[ -z "$(for entry; do name_of "$entry"; done | sort | uniq -d)" ] || fail "$variable: two have the same name: give each another one, as in NAME=VALUE"
}
[ -n "$MODELS" ] || MODELS=default
case $MODELS in "$MODEL") MODELS=$(printf '%s\n' "$MODEL" | sed 's/ /%20/g') ;; esac
# shellcheck disable=SC2086 # lists of words, here and below
{ check_names MODELS $MODELS && check_names SERVERS $SERVERS && check_names LOADS $LOADS; }

# Cells are measured by a make of their own, whose variables are in the environment.
unset MAKEFLAGS MFLAGS MAKELEVEL STAGES
salt=${SALT:-$(cat "$folder/salt")}
measure() { # MODEL SERVER LOAD: entries
	model=$(name_of "$1") server=$(name_of "$2") load=$(name_of "$3")
	OUT=$folder/$model/$server/$load URL=$(value_of "$2") MODEL=$(value_of "$1") RATE=$load SALT=$salt-$model-$load
	[ "$1" != default ] || MODEL=
	stages=$(printenv "STAGES_$load")
	[ -z "$stages" ] || export STAGES="$stages"
	export OUT URL MODEL RATE SALT
	FIRE_OPTIONS="$common_options $(printenv "FIRE_OPTIONS_$server")"
	SCRAPE=$(printenv "SCRAPE_$server") || SCRAPE=$common_scrape
	TOKENIZER=$(printenv "TOKENIZER_$model") || TOKENIZER=$common_tokenizer
	SHOW=0 PAGE=1 UPLOAD='' PUSH_REPORT='' exec make -s -f "$run_mk"
}
child='' ended=''
trap 'ended=143; kill "$child" 2>/dev/null' TERM HUP
trap 'ended=130; kill "$child" 2>/dev/null' INT
common_options=$FIRE_OPTIONS common_scrape=$SCRAPE common_tokenizer=$TOKENIZER
count() { echo $#; }
# shellcheck disable=SC2086
RUNS=$(($(count $MODELS) * $(count $SERVERS) * $(count $LOADS)))
export RUNS
cells=
for model_entry in $MODELS; do
	for server_entry in $SERVERS; do
		for load_entry in $LOADS; do
			cell=$(name_of "$model_entry")/$(name_of "$server_entry")/$(name_of "$load_entry")
			cells="$cells $cell"
			(measure "$model_entry" "$server_entry" "$load_entry") &
			child=$!
			wait $child
			status=$?
			while [ -n "$ended" ] && kill -0 $child 2>/dev/null; do wait $child; done
			[ -z "$ended" ] || exit $ended
			if [ $status -eq 0 ]; then
				rm -f "$folder/$cell/failed"
			else
				mkdir -p "$folder/$cell" && : >"$folder/$cell/failed" && echo "study: $folder/$cell failed" >&2
			fi
		done
	done
done

# ---- the tables ----
# shellcheck disable=SC2086
set -- $cells
failed=0
for cell; do [ ! -e "$folder/$cell/failed" ] || failed=$((failed + 1)); done

sum=$(for cell; do
	echo "$cell"
	if [ -e "$folder/$cell/failed" ]; then echo failed; else cksum <"$folder/$cell/report.json"; fi
done | cksum)
if [ "$sum" != "$(cat "$folder/study.set" 2>/dev/null)" ] || ! [ -e "$folder/study.sql" ]; then
	rm -f "$folder/study.set"
	for cell; do
		if [ -e "$folder/$cell/failed" ]; then
			jq -n -c --arg cell "$cell" '{cell: ($cell / "/"), verdict: "failed"}'
		else
			jq -c --arg cell "$cell" '{cell: ($cell / "/"), verdict: .verdict.status} + (.total | {offered: .rate.offered, completed: .rate.completed,
				tokens: .throughput.output_tokens_per_s, failures: .requests.failed}
				+ ((.latency.ttft_ms | .from_due // .from_start) | {ttft_p50: .p50, ttft_p99: .p99})
				+ (.latency.tpot_ms | {tpot_p50: .p50, tpot_p99: .p99})
				+ ((.latency.e2e_ms | .from_due // .from_start) | {e2e_p50: .p50, e2e_p99: .p99}))' "$folder/$cell/report.json"
		fi || exit
	done >"$folder/part.rows" || exit

	jq -r -s '["model", "server", "load", "verdict", "offered_per_s", "completed_per_s", "output_tokens_per_s", "failed",
			"ttft_p50_ms", "ttft_p99_ms", "tpot_p50_ms", "tpot_p99_ms", "e2e_p50_ms", "e2e_p99_ms"],
		(.[] | .cell + [.verdict, .offered, .completed, .tokens, .failures, .ttft_p50, .ttft_p99, .tpot_p50, .tpot_p99, .e2e_p50, .e2e_p99]) | @csv' \
		"$folder/part.rows" >"$folder/part.study.csv" || exit

	# Rounds for a page: four digits of each figure, a dash for an unknown one.
	columns='def figure: if . == null then "-" elif . == 0 then "0" else
			(fabs | log10 | floor) as $e | if $e >= 3 then round else pow(10; 3 - $e) as $f | (. * $f | round) / $f end | tostring end;
		def heading: ["model", "server", "load", "verdict", "done/s", "tokens/s", "failed", "TTFT p50, ms", "TTFT p99", "TPOT p50, ms", "TPOT p99"];
		def cells: .cell + [.verdict] + ([.completed, .tokens, .failures, .ttft_p50, .ttft_p99, .tpot_p50, .tpot_p99] | map(figure));'
	jq -r -s "$columns"' def pad($n): . + (" " * ([$n - length, 0] | max) // ""); def lead($n): (" " * ([$n - length, 0] | max) // "") + .;
		[["model", "server", "load", "verdict", "done/s", "tokens/s", "failed", "TTFT", "p99", "TPOT", "p99"], (.[] | cells)]
		| (transpose | map(map(length) | max)) as $widths
		| .[] | [to_entries[] | $widths[.key] as $width | if .key < 4 then .value | pad($width) else .value | lead($width) end] | join("  ")' \
		"$folder/part.rows" >"$folder/part.study.txt" || exit
	echo "TTFT and TPOT: median and p99, ms. Each cell has report.txt and report.html in its folder." >>"$folder/part.study.txt" || exit
	jq -r -s "$columns"' def row: "| " + (map(gsub("[|<>\\[\\]*`\\\\]"; "\\\(.)")) | join(" | ")) + " |";
		(heading | row), (heading | to_entries | map(if .key < 4 then "---" else "---:" end) | "| " + join(" | ") + " |"), (.[] | cells | row)' \
		"$folder/part.rows" >"$folder/part.study.md" || exit
	jq -r -s "$columns"' "<!DOCTYPE html>", "<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>Study</title>",
		"<style>body{font:15px system-ui,sans-serif;margin:2em}table{border-collapse:collapse}th,td{padding:.3em .7em;border-bottom:1px solid #8884;text-align:left}",
		"td:nth-child(n+5),th:nth-child(n+5){text-align:right;font-variant-numeric:tabular-nums}:root{color-scheme:light dark}</style></head>",
		"<body><h1>Study</h1><table><thead><tr>" + (heading | map("<th>" + @html) | join("")) + "</tr></thead><tbody>",
		(.[] | (.cell | map(@uri) | join("/") + "/report.html") as $page | .verdict as $verdict | cells | to_entries
			| map("<td>" + if .key == 3 and $verdict != "failed" then "<a href=\"\($page)\">" + (.value | @html) + "</a>" else (.value | @html) end)
			| "<tr>" + join("") + "</tr>"),
		"</tbody></table></body></html>"' "$folder/part.rows" >"$folder/part.index.html" || exit
	for cell; do
		[ -e "$folder/$cell/failed" ] || ipf-report -q -f sql --meta "cell=$cell" "$folder/$cell/results.zst" || [ $? -eq 3 ] || exit
	done >"$folder/part.study.sql" || exit
	for file in study.csv study.txt study.md index.html study.sql; do mv -f "$folder/part.$file" "$folder/$file" || exit; done
	rm -f "$folder/part.rows"
	echo "$sum" >"$folder/study.set" || exit
	cat "$folder/study.txt"
fi
[ "$failed" -eq 0 ] || { echo "study: $failed of $# cells failed; the next call tries them again" >&2; exit 1; }
