#!/bin/sh
# The tables of study.mk: study.sh FOLDER MODEL/SERVER/LOAD…, from report.json and results.zst of each cell in its folder. A cell with the file
# "failed" has no figures. They are made again if a cell has changed, and then shown. Ends with status 1 if a cell failed.
folder=$1
shift
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

	# What fits a page: four digits of each figure, a dash for what is not known.
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
