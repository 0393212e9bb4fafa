#!/bin/bash
# The error of the client: bars of a real run against a second computation, the effect of --accuracy, results without them.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text
. "$TESTS/fixture.sh"

if ! command -v python3 >/dev/null; then
	skip "error bars" "python3 is not installed"
	exit
fi
small_run 40
# A busy machine's additions are taken out of it: only errors that are put in count below.
mv chat.records live.records
python3 "$TESTS/helpers/calm.py" live.records >chat.records
ipf-collect -q chat.records -o chat.results
run ipf-report -f json chat.results
status_is 0 "a run is reported"
cp "$OUT" report.json
is "$(jq -c '.accuracy' report.json)" '{"known":true}' "the accuracy is known"
run python3 "$TESTS/helpers/error_bars.py" chat.results report.json
matches "$(tail -1 "$OUT")" '^[1-9][0-9]+ figures, 0 differ$' "error bars are those of the definition"
[ "$(tail -1 "$OUT" | sed 's/.*, //')" = "0 differ" ] || sed 's/^/#   /' "$OUT"
is "$(jq -c '[.total, .stages[0]] | map(.accuracy) | .[0] == .[1]' report.json)" true "the total of one stage is that stage"

# made wider, number by number: 1 ms until a request was on its way, which every TTFT and E2E then may have too much: they take a second or
# more, as none can be too long by more than it is
sed -E 's/"sending_ns":[0-9]+/"sending_ns":1000000/; s/_early_ns":[0-9]+/_early_ns":0/g; s/"setup_ns":[0-9]+,"send_waits":[0-9]+,//
	s/"(ttft|e2e)_ns":([0-9])/"\1_ns":1000\2/' chat.results >wide.body
body wide.body >lines
seal chat.results lines >wide.results
run ipf-report -f json wide.results
cp "$OUT" wide.json
run python3 "$TESTS/helpers/error_bars.py" wide.results wide.json
matches "$(tail -1 "$OUT")" ', 0 differ$' "error bars of late requests are those of the definition"
yes_if "a bar is as wide as that" jq -e '.total | .latency.ttft_ms.from_start.p50 - .accuracy.ttft_ms.from_start.low.p50 >= 1' wide.json
run ipf-report wide.results
matches "$(cat "$OUT")" "^Error of the client, ms ± +mean +min +p50 +p90 +p99 +max$" "text has them below the latencies"
matches "$(cat "$OUT")" '^  TTFT from start +1\.0[0-9]+ ' "the text has the error in ms"
is "$(sed -n "/^Error of the client/,/^$/p" "$OUT" | awk '{ gsub(/[^ -~]+/, "x"); if (length > 80) n++ } END { print n + 0 }')" 0 "the section on errors fits into 80 columns"
run ipf-report -f md wide.results
matches "$(cat "$OUT")" '^\| TTFT, from start \| 1\.0[0-9]+ \|' "Markdown has them"
run ipf-report -f html wide.results
matches "$(cat "$OUT")" 'Error of the client' "HTML has them"

# ---- the evidence
run ipf-report certificate -f json chat.results
status_is 0 "certificate -f json ends with 0"
cp "$OUT" certificate.json
is "$(jq -c '[.ipf, .known, [.sources[].source]]' certificate.json)" \
	'["certificate",true,["sending","connection","first_event","last_event","client_lag","clock"]]' "the certificate has every source of error"
is "$(jq -c '.sources[0] | [.observations, .ns.max == .worst[0].ns]' certificate.json)" "[40,true]" "sources of error have quantiles and the largest"
is "$(jq -c '[.figures[] | select(.latency == "ttft_ms") | .error.p50] | map(. > 0)' certificate.json)" "[true,true]" "figures of the certificate have their errors"
is "$(jq -r '.streams[0].sha256' certificate.json)" "$(tail -1 chat.results | jq -r .end.sha256)" "the certificate has the digest of the results"
is "$(jq -r '.streams[1].sha256' certificate.json)" "$(tail -1 chat.records | jq -r .end.sha256)" "the certificate has the digest of the records"
is "$(bash -c "$(jq -r '.verify[0].command' certificate.json)" | cut -d ' ' -f 1)" "$(jq -r '.streams[0].sha256' certificate.json)" \
	"the first command of the certificate computes the digest again"
bash -c "$(jq -r '.verify[1].command' certificate.json | sed 's/RECORDS/chat.records/')" >again.results
same again.results chat.results "the second command of the certificate makes the same results"
run ipf-report certificate chat.results
matches "$(cat "$OUT")" '^ +40 observations: p50 [0-9.]+ [um]s, p99 ' "the certificate is text by default"
is "$(sed '/^Streams/,$d' "$OUT" | awk '{ gsub(/[^ -~]+/, "x"); if (length > 80) n++ } END { print n + 0 }')" 0 "the certificate fits into 80 columns"
run ipf-report certificate -f csv chat.results
status_is 2 "certificate -f csv ends with 2"

# ---- why a bar is as long as its cause
is "$(ipf-report chat.results | grep -c 'it may have come earlier')" 0 "an error that is small needs no reason"
whole() { # STAMPS: answers that are not streamed come in one read
	sed -E "s/\"last_early_ns\":[0-9]+/\"last_early_ns\":9000000000000/; 1s/\"stamps\":\"[a-z]*\"/\"stamps\":\"$1\"/" chat.results |
		sed '/"sample":"client"/d' >once.body
	body once.body >lines
	seal once.body lines >once.results
	run ipf-report once.results
	tr -s ' \n' '  ' <"$OUT" >once.txt
}
whole user
matches "$(cat once.txt)" 'E2E of [0-9.]+ ms is right to [0-9.]+ ms at p50: the last content came in one read with the end of the response or with more content; it may have come earlier, at any time since the read before: the times are those of ipf-fire.s reads' \
	"a large one has one, with the clock of ipf-fire"
whole kernel
matches "$(cat once.txt)" 'it may have come earlier, by at most ipf-fire.s read delay' "the reason of a large error is another with timestamps of the kernel"

# ---- a limit
run ipf-report --accuracy 1h wide.results
lacks=$(grep -c -- --accuracy "$OUT")
is "$status $lacks" "0 0" "a limit that is met is not mentioned"
run ipf-report -f json --accuracy 500us wide.results
status_is 0 "--accuracy 500us ends with 0"
is "$(jq -r '.accuracy | [.limit_ms, .missed > 20] | map(tostring) | join(" ")' "$OUT")" "0.5 true" "JSON counts the figures that miss --accuracy"
is "$(jq -r '.verdict.checks[1].status' "$OUT")" DOUBTFUL "figures that miss a limit are DOUBTFUL" # exact: times that are written
contains "$(jq -r '.verdict.checks[1].detail' "$OUT")" "not exact to 500 us (--accuracy): TTFT from start mean ± 1" "the verdict names the first figure that misses"
run ipf-report --accuracy 500us --strict wide.results
status_is 4 "--strict ends with 4 if figures miss --accuracy"
run ipf-report --accuracy 2 wide.results
status_is 2 "a limit has a unit"

# ---- results of an earlier version
grep -v '"itl_[a-z]*_ns","stage"' wide.results |
	sed -E 's/"(sending|first_early|last_early)_ns":[0-9]+,//g' >old.body
body old.body >lines
seal chat.results lines >old.results
run ipf-report -f json old.results
is "$status $(jq -c '[.accuracy, .total.accuracy]' "$OUT")" '0 [{"known":false},null]' "results without error have no bars"
run ipf-report old.results
is "$(grep -c "Error of the client" "$OUT")" 0 "the text of results without error has no section on it"
run ipf-report --accuracy 1s old.results
contains "$(tr -s ' \n' '  ' <"$OUT")" "TTFT from start is not known to be exact at all" "results without error miss every limit"
run ipf-report certificate old.results
is "$status $(grep -c 'Unknown: the results do not have' "$OUT")" "0 1" "the certificate of results without error says that it is unknown"
python3 "$TESTS/helpers/compare_results.py" --requests 5 >bare.results
run ipf-report certificate bare.results
is "$status $(sed -n '/^Client$/,/^Streams/p' "$OUT" | grep -c -E 'machine|timestamps')" "0 0" "the certificate shows nothing of a silent client"
