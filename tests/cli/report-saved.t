#!/bin/bash
# ipf-report REPORT.json: a saved JSON report is shown in every format for people as from its results, byte for byte; options needing
# results are refused; and a report from elsewhere can do no harm.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
data=$TESTS/data/report
report=$BIN/ipf-report
here=$PWD
mkdir bare
unset IPF_REPORT_FULL
with_gnuplot=$PATH

# ---- as from the results --------------------------------------------------------------------------------------------
# A report of RESULTS with OPTIONS, and of its JSON without them, in all formats; its tables are read back. The pages have no plots, except
# with PLOTS=1: gnuplot takes most of the time.
shown() { # NAME TEXT RESULTS… -- [OPTIONS…]
	local name=$1 text=$2 of=() format differs='' path=$here/bare
	shift 2
	while [ "$1" != -- ]; do of+=("$1") && shift; done
	shift
	[ -z "${PLOTS:-}" ] || path=$with_gnuplot
	"$report" -q -f json "$@" -o "$name.json" "${of[@]}" 2>"$ERR"
	for format in text full md html; do
		local how=(-f "$format")
		[ "$format" != full ] || how=(--full)
		PATH=$path "$report" -q "${how[@]}" "$@" "${of[@]}" >"$name.$format" 2>"$ERR"
		PATH=$path "$report" -q "${how[@]}" "$name.json" >"$name.saved.$format" 2>"$name.err" ||
			differs="$differs $format: $(cat "$name.err")"
		cmp "$name.$format" "$name.saved.$format" >"$name.cmp" 2>&1 || differs="$differs $(cat "$name.cmp")"
		[ -s "$name.$format" ] || differs="$differs $format is empty"
	done
	is "$differs" "" "$text: the same from its JSON"
	"$report" -q -f json "$name.json" >"$name.again.json" 2>"$ERR"
	yes_if "$text: the JSON as well" cmp "$name.json" "$name.again.json"
	is "$(python3 "$TESTS/helpers/report_read_back.py" "$name.full" "$name.md" "$name.html" | grep -v ' tables, ')" "" "$text: text and Markdown have the cells of the page"
}

for file in "$data"/*.results; do
	name=$(basename "$file" .results)
	shown "$name" "$name.results" "$file" --
done
shown shards "two shards" "$data/shard-1.results" "$data/shard-2.results" --
shown slo "objectives" "$data/mixed.results" -- --slo ttft=150ms,tpot=50ms,p99:e2e=1s
shown slow "objectives that are missed" "$data/mixed.results" -- --slo p50:ttft=1ms,e2e=1ms
shown percentiles "other percentiles" "$data/mixed.results" -- --percentiles 75,99.9
shown infinite "failures as infinite" "$data/errors.results" -- --errors-as-inf --slo ttft=150ms
shown early "early stopping" "$data/mixed.results" -- --early-stopping
shown accuracy "a limit of accuracy" "$data/one.results" -- --accuracy 1ns
shown price "a price" "$data/mixed.results" -- --price "EUR 2.5/h" --slo ttft=150ms
shown as "other tools" "$data/mixed.results" -- --as all
for by in model target session time=100ms input-tokens=4 tag; do
	shown "by-$by" "by $by" "$data/mixed.results" -- --by "$by"
done

python3 "$TESTS/helpers/queue_results.py" --replicas 0=1,8=3 30^200:12 >spike.results
shown spike "a spike" spike.results -- --slo ttft=12ms
python3 "$TESTS/helpers/exports.py" make sessions.results
shown sessions "sessions, with names as bad as names can be" sessions.results -- --price 2/h
for seed in 1 2 3 4; do python3 "$TESTS/helpers/compare_results.py" --requests 200 --seed $seed >"r$seed.results"; done
python3 "$TESTS/helpers/compare_results.py" --requests 200 --seed 5 --slower 1.3 >r5.results
shown repeats "repeats with an outlier" r1.results r2.results r3.results r4.results r5.results --

# A run of several rates, its servers and accelerators watched. A busy machine's additions are taken out of it: some plots could not be
# drawn.
server_start --step-base 2ms --step-per-seq 100us --max-batch 4 --gpus 2
"$BIN/ipf-prep" synthetic -n 150 --input-tokens uniform:20-200 --output-tokens uniform:2-12 --models base=0.6,lora=0.4 --seed 1 -o trace 2>"$ERR"
"$BIN/ipf-sched" constant:rate=20,for=300ms,warmup constant:rate=40,for=700ms,name=low constant:rate=90,for=700ms,name=high -t trace --seed 3 -o schedule
"$BIN/ipf-fire" -q -u "$URL" --name 'the run' -t trace schedule | tee live.records |
	"$BIN/ipf-collect" -q --every 100ms --scrape "sim=$URL" --gpu "dcgm:$URL/dcgm/metrics" -o live.results 2>"$ERR"
python3 "$TESTS/helpers/calm.py" live.records >records || not_ok "the machine's delays are taken out of the records"
"$BIN/ipf-collect" -q --every 100ms --samples live.results -o measured.results records
# An energy whose last digits a written report does not have.
sed -E 's/"energy_j":[0-9.]+,"energy_counter/"energy_j":744.3134963291005,"energy_counter/' measured.results >results
yes_if "the results have an energy" grep -q '"energy_j":744.3134963291005,' results
shown run "servers and accelerators" results -- --slo ttft=100ms
shown pruned "a stage of it" results -- --stage low
shown drain "another window" results -- --window drain
"$BIN/ipf-prep" prefix -q -n 50 --hit-rate 0.5 --groups 4 --input-tokens uniform:200-400 --output-tokens 5 -o prefix.trace
"$BIN/ipf-sched" -q closed:users=2,n=50 -t prefix.trace -o prefix.schedule
"$BIN/ipf-fire" -q -m sim -u "$URL" -t prefix.trace prefix.schedule | "$BIN/ipf-collect" -q -o prefix.results
shown trace "a run beside its trace" prefix.results -- --trace prefix.trace --cache-size 1000
server_stop
if command -v gnuplot >/dev/null; then
	PLOTS=1 shown plots "with plots" results --
	between "$(grep -c '<figure' plots.html)" 15 19 "the page has its plots"
	is "$(jq '.plots | length' plots.json)" "$(grep -c '<figure' plots.html)" "the page has the plots of JSON"
	plain results | head -1 | jq -c '(.. | objects | select(.spec? and .name? == "low")) |= (.name = "it'"'"''"'"'s `x` \u4e2d\u6587 $(a) \u001b[1m @b;\\")' >header
	body results >lines
	seal header lines >named.results
	PLOTS=1 shown named "plots with any names" named.results --
	is "$(grep -c '<figure' named.html)" "$(grep -c '<figure' plots.html)" "plots with any names are drawn"
else
	skip "plots of a saved report" "gnuplot is not installed"
fi

# ---- only formats needing no results
# -------------------------------------------------------------------------------------
refused() { # TEXT PART OPTIONS…
	local text=$1 part=$2
	shift 2
	run "$report" "$@"
	status_is 2 "$text is refused"
	complains "ipf-report" "$part requires results" "$text: one message"
	is "$(cat "$OUT")" "" "$text: nothing is written"
}
refused "--by" --by --by model run.json
refused "--percentiles" --percentiles --percentiles 50 run.json
refused "--meta" --meta --meta a=b run.json
refused "--plots" --plots --plots folder run.json
refused "--as" --as --as vllm run.json
refused "--stage" --stage --stage low run.json
refused "--slo" --slo --slo ttft=1s run.json
refused "--window" --window --window drain run.json
refused "--errors-as-inf" --errors-as-inf --errors-as-inf run.json
refused "--early-stopping" --early-stopping --early-stopping run.json
refused "--price" --price --price 2/h run.json
refused "--accuracy" --accuracy --accuracy 1ms run.json
refused "--trace" --trace --trace trace run.json
refused "--from" --from --from vllm run.json
refused "--push" --push --push http://127.0.0.1:1 run.json
export AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b
refused "--upload" --upload --upload s3://bucket/x run.json
run "$report" certificate run.json
status_is 2 "certificate is refused"
complains "ipf-report certificate" "certificate requires results" "certificate: one message"
for format in csv prometheus sql junit requests-csv; do refused "-f $format" "-f $format" -f $format run.json; done
is "$(find . -name folder)" "" "refused formats make no folder"
run "$report" plot folder run.json
status_is 2 "ipf-report plot is refused"
for format in csv vllm; do
	run "$report" export $format run.json
	status_is 2 "export $format of a saved report ends with 2"
	is "$(tail -1 "$ERR")" "ipf-report export: $format requires results: a saved report can be shown as text, html or md" "ipf-report says that $format requires results"
done
run "$report" certificate run.json
status_is 2 "certificate of a saved report ends with 2"
run "$report" export json run.json
same "$OUT" run.json "ipf-report export json writes it again"

# ---- which files ----------------------------------------------------------------------------------------------------
jq -S . run.json >sorted.json
jq -c . run.json >line.json
{ printf '\n\t '; cat run.json; } >blank.json
zstd -q run.json -o run.json.zst
for copy in sorted line blank; do
	run "$report" --section verdict,errors "$copy.json"
	status_is 0 "a report that is $copy is recognised"
	"$report" --section verdict,errors run.json >wanted
	same "$OUT" wanted "a report that is $copy is shown"
done
run "$report" run.json.zst
status_is 0 "a compressed report is recognised"
same "$OUT" run.text "a compressed report is shown"
run "$report" --strict slow.json
status_is 4 "--strict judges a saved report"
cp "$ERR" judged.err
"$report" --strict --slo p50:ttft=1ms,e2e=1ms "$data/mixed.results" >"$OUT" 2>wanted.err
same judged.err wanted.err "--strict of a saved report has the message of its results"
jq '.verdict.status = "OK"' slow.json >missed.json # exact: made up
run "$report" --strict missed.json
status_is 4 "an objective that is missed is enough"
complains "ipf-report" "objectives: missed at the lowest rate, " "--strict names the missed objective"
run "$report" --strict run.json
is "$status" "$("$report" --strict --slo ttft=100ms results >/dev/null 2>&1; echo $?)" "--strict of a saved report ends as its results do"
"$report" -o file.txt run.json
same file.txt run.text "-o writes a file"

elsewhere() { # TEXT COMMAND…: one line, and status 3
	local text=$1
	shift
	run "$@"
	status_is 3 "$text: is not shown"
	complains "ipf-report" "a JSON report, where results are expected" "$text: one message"
}
elsewhere "standard input" bash -c 'exec "$0" - <run.json' "$report"
elsewhere "a pipe" bash -c 'cat run.json | "$0"' "$report"
elsewhere "a named pipe" bash -c 'exec "$0" <(cat line.json)' "$report"
elsewhere "a report and results" "$report" run.json results
elsewhere "results and a report" "$report" results run.json
elsewhere "two reports" "$report" run.json line.json
elsewhere "a comparison" "$report" compare run.json -- line.json
run bash -c 'exec "$0" --slo ttft=100ms <(cat results)' "$report"
same "$OUT" run.text "results from a named pipe are whole"

for bytes in 20 100 3000 $(($(wc -c <run.json) / 2)) $(($(wc -c <run.json) - 3)); do
	head -c "$bytes" run.json >cut.json
	run "$report" cut.json
	status_is 3 "a report that is cut after $bytes bytes is not shown"
	complains "ipf-report" "cut.json:" "ipf-report names the cut report"
done
sed 's/"verdict": {/"verdict": {"status": "OK",/' run.json >twice.json # exact: made up
run "$report" twice.json
status_is 3 "a member twice is damage"
for what in '.total = []' 'del(.total)' 'del(.verdict)' '.verdict.status = 1' '.verdict = "OK"'; do # exact: made up
	jq "$what" run.json >bad.json
	run "$report" bad.json
	status_is 3 "$what is no report"
	complains "ipf-report" "a JSON report without a verdict and a total" "$what: one message"
done
# each member of another kind: sections say nothing, or less, of it
for member in $(jq -r 'keys_unsorted[] | select(. != "ipf" and . != "verdict" and . != "total")' run.json); do
	for value in 5 '"x"' '[]' '{}' '[{}]' '[[1],{"name":null}]' '{"x":{"x":1}}'; do
		jq -c ".$member = $value" run.json >odd.json
		for format in -ftext --full -fmd; do
			"$report" $format odd.json >odd.out 2>odd.err || echo "$member $value $format: $(cat odd.err)"
			grep -l '(null)' odd.out
		done
	done
done >odd
is "$(cat odd)" "" "members of other kinds than ours are no reason to end"

# ---- from elsewhere -------------------------------------------------------------------------------------------------
foreign() { # SCRIPT TEXT: the first plot has other commands
	rm -f touched
	jq --arg script "$1" '.plots |= [.[0] | .script = $script]' plots.json >foreign.json
	run "$report" -f html foreign.json
	status_is 3 "$2: refused"
	complains "ipf-report" "which is not a part of our plots" "$2: one message"
	is "$(find . -name touched), $(wc -c <"$OUT")" ", 0" "$2: nothing is run, and nothing written"
}
if command -v gnuplot >/dev/null; then
	foreign 'system("touch touched")' "a call of a program"
	foreign "system('touch touched')" "a call of a program with single quotes"
	foreign '!touch touched' "a command of a shell"
	foreign 'x = `touch touched`' "backquotes"
	foreign "plot '<touch touched'" "a pipe as data"
	foreign "plot ('<touch touched')" "a pipe in parentheses"
	foreign "plot sprintf('<touch touched')" "a pipe that is computed"
	foreign $'shape(x) = x\nplot shape(\'<touch touched\')' "a pipe through a function"
	foreign $'needed(x) = (data = \'<touch touched\')\nset xrange [needed(1)*0:1]\nplot data' "other data"
	foreign "set label 11system('touch touched') at 1,1" "a program behind a number"
	foreign "set label 1 (glyphs(''';touch touched;''') ? 1 : 2)" "a function of ours that runs one"
	foreign $'set output \'touched\'\nplot x' "another output"
	foreign $'set print \'touched\'\nprint 1' "a file that is written"
	foreign "load 'touched'" "another script"
	foreign "eval 'x'" "commands in a text"
	foreign "plot '/etc/passwd'" "another file"
	foreign "plot data.('/../../../../etc/passwd')" "another file by its path"
	jq '.plots |= [.[0] | .name = "../x"]' plots.json >foreign.json
	run "$report" -f html foreign.json
	status_is 3 "a plot with another name is refused"
	complains "ipf-report" 'is not a plot of ours' "ipf-report says that the plot is not of ours"
	jq '.plots |= [.[0] | .width = 1e9]' plots.json >foreign.json
	run "$report" -f html foreign.json
	status_is 3 "a very large plot is refused"
	jq '.plots |= [.[0] | .title = "</title><script>alert(1)</script>`id`" | .about = "<img src=x onerror=alert(1)>"]' plots.json >foreign.json
	"$report" -f html -o foreign.html foreign.json
	is "$(python3 "$TESTS/helpers/html_page.py" foreign.html foreign.json)" "" "titles and descriptions are texts"
fi
run env PATH="$here/bare" "$report" -f text foreign.json
status_is 0 "text of a report with plots needs no gnuplot"
jq --arg bad '</td><script>alert(1)</script>' '.total["by_x\"><script>y"] = .total.by_model | .total.by_target[$bad] = .total.by_model.base
	| .run.name = $bad | .stages[1].name = "`a\u001b[2J" | .stages[1].throughput = {"absent": "b`c"} | .run.headers[0].ipf = "`"' run.json >names.json
PATH=$here/bare "$report" -q -f html -o names.html names.json 2>"$ERR"
is "$(python3 "$TESTS/helpers/html_page.py" names.html names.json | grep -v '^stages: \|low throughput')" "" "names of groups, stages and streams are texts in a page"
for format in -ftext --full -fmd; do "$report" $format names.json; done >names.out
is "$(LC_ALL=C grep -c $'\033' names.out)" 0 "names of groups, stages and streams are harmless in text and Markdown"
