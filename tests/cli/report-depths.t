#!/bin/bash
# How much of a report is shown: a first screen, deviations, options, sections by their names, and all of it; on terminals of any width.
. "$TESTS/tap.sh"
data=$TESTS/data/report
report=$BIN/ipf-report
unset IPF_REPORT_FULL NO_COLOR

lines() { # COMMAND…: how many, of which verdict and its reasons are VERDICT
	"$@" 2>"$ERR" >now
	wc -l <now
}
verdict_lines() { sed -n '/^Verdict/,/^$/p' now | wc -l; }
words_of() { tr -s ' \n' ' ' <"$1"; }

# ---- the first screen -----------------------------------------------------------------------------------------------
for name in one closed shard-1; do
	between "$(lines "$report" "$data/$name.results")" 8 40 "$name: a run of one stage is a screen"
done
between "$(lines "$report" "$data/errors.results")" 8 40 "$name: a run with errors fits on a screen"

# Six rates, the servers watched. A busy machine's additions are taken out of it: there would be notes on that.
server_start --step-base 2ms --step-per-seq 100us --max-batch 8 --gpus 1
"$BIN/ipf-prep" synthetic -q -n 400 --input-tokens uniform:20-200 --output-tokens uniform:2-12 --seed 1 -o trace
stages=()
for k in 1 2 3 4 5 6; do stages+=("poisson:rate=$((k * 25)),for=500ms,name=s$k"); done
"$BIN/ipf-sched" -q constant:rate=20,for=200ms,warmup "${stages[@]}" -t trace --seed 3 -o schedule
"$BIN/ipf-fire" -q -u "$URL" -m sim -t trace schedule | tee live.records |
	"$BIN/ipf-collect" -q --every 100ms --scrape "sim=$URL" --gpu "dcgm:$URL/dcgm/metrics" -o live.results 2>"$ERR"
python3 "$TESTS/helpers/calm.py" live.records >records || not_ok "the machine's delays are taken out of the records"
"$BIN/ipf-collect" -q --every 100ms --samples live.results -o results records
server_stop
for options in '' '--slo ttft=100ms' '--slo ttft=100ms,p99:e2e=1s'; do
	# shellcheck disable=SC2086 # several words
	count=$(lines "$report" $options results)
	between "$((count - $(verdict_lines)))" 20 50 "a sweep of six stages, $options: the lines beside its verdict"
	between "$count" 20 $((50 + 5 * 4)) "a sweep of six stages, $options: a screen"
done
for stage in s1 s2 s3 s4 s5 s6; do is "$(grep -c "^  $stage  " now)" 3 "$stage has its load, its latencies and its objectives"; done
is "$(awk '{ if (length($0) > 80) print }' now)" "" "a first screen fits into 80 columns"
matches "$(tail -1 now)" 'More: --full, or --section .*tokens.*server.*run' "the last line says what else there is"
for name in $(tail -1 now | sed 's/.*--section //' | tr ',' ' '); do
	is "$("$report" --section "$name" results | grep -c 'nothing to show')" 0 "the section $name has something to show"
done

# ---- failures first --------------------------------------------------------------------------------------------------
# where they decide, they and a remedy follow the verdict, in the text and in the page, and nothing is drawn or tabled before
for name in errors mixed; do
	"$report" "$data/$name.results" >now 2>"$ERR"
	is "$(grep -nE '^(Verdict|Errors|Stages) ' now | cut -d: -f2 | cut -d' ' -f1 | tr '\n' ' ')" "Verdict Errors Stages " "$name: errors come before figures"
	"$report" -f html "$data/$name.results" >page.html 2>"$ERR"
	is "$(grep -oE '<section id="(verdict|errors|summary|stages)"' page.html | cut -d'"' -f2 | tr '\n' ' ')" "verdict errors summary stages " "$name: in the page, too"
done
"$report" "$data/one.results" --full >now 2>"$ERR"
is "$(grep -nE '^(Verdict|Errors|Stages)' now | cut -d: -f2 | cut -d' ' -f1 | tr '\n' ' ')" "Verdict Stages Errors " "errors come after stages if no request failed"

# ---- deviations ------------------------------------------------------------------------------------
for file in "$data"/{mixed,errors,empty,one,closed}.results results; do
	"$report" -q "$file" >now 2>"$ERR"
	"$report" -q -f json "$file" >now.json 2>"$ERR"
	words_of now >now.words
	absent=
	while IFS= read -r detail; do grep -qF -e "$detail" now.words || absent="$absent $detail"; done \
		< <(jq -r '.verdict.checks[] | select(.status != "OK") | .status + " " + .cause' now.json | tr -s ' ') # exact: two texts of one run
	is "$absent" "" "$(basename "$file"): each check that is not OK has its reason"
	jq -r '.verdict.checks[] | select(.status == "OK") | .detail | select(length > 20)' now.json >details # exact: two texts of one run
	is "$(grep -F -f details now.words | wc -l)" 0 "$(basename "$file"): a check that is OK is a word"
	while IFS= read -r error; do grep -qF -e "$error" now.words || absent="$absent $error"; done \
		< <(jq -r '(.errors // [])[:6][] | ((.status // .kind | tostring) + " ×" + (.count | tostring) + " " + (.text // "")), (.hint // empty)' now.json |
			tr -s ' ' | sed 's/ $//')
	is "$absent" "" "$(basename "$file"): the most frequent errors have their texts and hints"
done
python3 "$TESTS/helpers/queue_results.py" 40:2 >one.results
"$report" --slo p50:ttft=1ms,p99:e2e=100s one.results >now
matches "$(cat now)" '^ +p50:ttft=1ms +missed: [0-9]' "an objective that is missed is shown"
matches "$(cat now)" 'p99:e2e=100s +met: [0-9]' "an objective that is met is shown next to a missed one"
head -c 4000 "$data/mixed.results" >cut.results
"$report" cut.results >now 2>"$ERR"
contains "$(head -3 now)" "cut.results" "a part that is missing comes first"

# ---- options -------------------------------------------------------------------------------------------
shows() { # PATTERN TEXT OPTIONS…: with the options, and not without
	local pattern=$1 text=$2
	shift 2
	"$report" "$@" >now 2>"$ERR"
	matches "$(cat now)" "$pattern" "$text: shown with the option"
	is "$("$report" "${@: -1}" 2>"$ERR" | grep -cE -e "$pattern")" 0 "$text: not shown without the option"
}
head -1 "$data/mixed.results" | jq -c '.from[0].targets = ["http://10.0.0.1/v1", "http://10.0.0.2/v1"] | .from[0].target = (.from[0].targets | join(", "))' >header
body "$data/mixed.results" | jq -c 'if .n then .target = .n % 2 else . end' >lines
seal header lines >two.results
shows '^Cost' "--price asks for the cost" --price 2/h "$data/mixed.results"
shows '^ +vllm +vLLM|^Other tools' "--as for other tools" --as vllm "$data/mixed.results"
shows '^Early stopping' "--early-stopping for its estimates" --early-stopping results
shows '^Goodput' "--slo for goodput" --slo ttft=1s results
shows '^Models' "--by model for models" --by model "$data/mixed.results"
shows '^Targets' "--by target for targets" --by target two.results
shows '^Fidelity|^Prefix cache' "--trace for the comparison with it" --trace trace results
shows ' p75 ' "--percentiles for others" --percentiles 75 results

# ---- sections by name -----------------------------------------------------------------------------------------------
names="incomplete verdict summary stages plots latency shape repeats saturation autoscaling sessions fidelity reference cache tokens timeline server
	accelerators cost errors goodput accuracy as run commands provenance definitions"
PATH_WITHOUT=$PWD/none
mkdir none
for name in $names; do
	for format in text md html; do
		PATH=$PATH_WITHOUT "$report" -q -f $format --section "$name" "$data/one.results" >now 2>"$ERR"
		is "$? $(grep -c . now | grep -c '^0$')" "0 0" "--section $name as $format says something"
	done
	is "$(python3 "$TESTS/helpers/html_page.py" now)" "" "--section $name is a page"
done
for name in verdict stages latency tokens server accelerators errors accuracy run commands; do
	is "$("$report" --section "$name" results | grep -c 'nothing to show')" 0 "the run has the section $name"
done
is "$("$report" --section cache,errors "$data/one.results" | grep -c 'nothing to show')" 1 "a section without content says so"
"$report" --section errors,verdict results >one
"$report" --section verdict,errors results >other
same one other "sections have a fixed order"
contains "$(head -1 one)" Verdict "sections begin with the verdict"
for bad in nothing 'errors,nothing' 'errors,' 'Errors' ',' 'error'; do
	run "$report" --section "$bad" results
	if [ "$bad" = errors, ]; then status_is 0 "a comma at the end is no name"; continue; fi
	status_is 2 "--section $bad is refused"
	is "$(wc -l <"$ERR")" 1 "--section $bad is refused in one line"
	for name in $names; do grep -qw -e "$name" "$ERR" || not_ok "the error of --section lists $name" "$(cat "$ERR")"; done
done
is "$("$report" --help | grep -c -e '--section\|--full')" 2 "--help has both"

# ---- all of it ------------------------------------------------------------------------------------------------------
"$report" --full results >full
for title in Verdict Stages 'Latency, ms' Shape Saturation Tokens 'Time line' Server Accelerators Errors 'Error of the client' Run; do
	is "$(grep -c "^$title" full)" 1 "--full has $title"
done
"$report" --full --slo ttft=1s --price 2/h --as all --trace trace --early-stopping results >full
for title in Goodput Cost 'Other tools' 'Early stopping'; do is "$(grep -c "^$title" full)" 1 "--full has $title if asked"; done
is "$("$report" --full results | grep -c 'More: --full')" 0 "--full does not point to more"

# ---- terminals ------------------------------------------------------------------------------------------------------
on_terminal() { # COLUMNS COMMAND: without the escapes of colours
	python3 "$TESTS/terminal.py" lines 50 "$1" 0 "$2" | tr -d '\r' | sed 's/\x1b\[[0-9;]*m//g'
}
too_long() { python3 -c 'import sys
for line in sys.stdin.read().split("\n"):
    if len(line) > int(sys.argv[1]) and len(max(line.split(), key=len)) < int(sys.argv[1]) - 20: print(len(line), line)' "$1"; }
for columns in 60 80 120; do
	for options in '' --full '--full --slo ttft=1s --price 2/h --as all --trace trace --early-stopping' '--by model' '--full --ascii'; do
		is "$(TERM=xterm on_terminal $columns "'$report' $options results" | too_long $columns)" "" "$columns columns, $options: no line is longer"
	done
	for file in "$data"/{mixed,errors,shard-1}.results; do
		is "$(TERM=xterm on_terminal $columns "'$report' --full '$file'" | too_long $columns)" "" "$columns columns, $(basename "$file"): no line is longer"
	done
done
narrow=$(TERM=xterm on_terminal 60 "'$report' results" | awk '{ if (length($0) > m) m = length($0) } END { print m }')
wide=$(TERM=xterm on_terminal 120 "'$report' results" | awk '{ if (length($0) > m) m = length($0) } END { print m }')
between "$wide" $((narrow + 20)) 120 "a wide terminal is used"
TERM=xterm on_terminal 60 "'$report' --full results" >narrow
is "$(for stage in s1 s2 s3 s4 s5 s6; do grep -c "^  $stage " narrow; done | sort -n | head -1 | awk '{ print ($1 >= 2) }')" 1 "tables that are too wide are continued"
raw() { python3 "$TESTS/terminal.py" lines 50 80 0 "$1"; }
is "$(TERM=xterm raw "'$report' results" | grep -c $'\033\[')" "$(TERM=xterm raw "'$report' results" | grep -c $'\033\[[0-9]*m')" "colours are all escapes"
isnt "$(TERM=xterm raw "'$report' results" | grep -c $'\033\[')" 0 "a terminal has colours"
is "$(NO_COLOR=1 TERM=xterm raw "'$report' results" | grep -c $'\033')" 0 "NO_COLOR gives no colours"
is "$(TERM=dumb raw "'$report' results" | grep -c $'\033')" 0 "a dumb terminal has no colours"
is "$(TERM=xterm raw "'$report' results | cat" | grep -c $'\033')" 0 "a pipe has no colours"
is "$(TERM=xterm raw "'$report' -o file results; cat file" | grep -c $'\033')" 0 "a file has no colours"
NO_COLOR=1 TERM=xterm raw "'$report' results" | tr -d '\r' >terminal
"$report" results >plain
same terminal plain "a terminal of 80 columns shows what a file has"
