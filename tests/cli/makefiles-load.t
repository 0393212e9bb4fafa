#!/bin/bash
# The makefiles to find a server's limits or compare servers: profile, capacity, compare. Each once, and again with nothing to do; the
# ones making several runs are interrupted and go on. Where figures decide, runs are virtual, so every machine finds the same limits.
. "$TESTS/tap.sh"
SHARE=$(cd "$TESTS/../share/ipf" && pwd)
PATH=$BIN:$PATH
. "$TESTS/virtual.sh"
export PATH XDG_RUNTIME_DIR=$PWD
unset MAKEFLAGS MAKELEVEL MODEL DATA V
# Eight requests at a time, a step each 2 ms: 500 requests a second of eight tokens, and no more.
server_start --step-base 2ms --step-per-seq 0 --prefill-rate 1000M --max-batch 8
VIRTUAL_URL=http://virtual.test
virtual_server $VIRTUAL_URL step_base_ns=2000000 step_per_sequence_ns=0 most_sequences=8
small="MODEL=sim REQUESTS=1500 INPUT=32 OUTPUT=8"
sent() { grep -c 'records.zst: .* requests ' "$ERR"; } # how many runs

# ---- profile --------------------------------------------------------------------------------------------------------
# shellcheck disable=SC2086 # $small is several words, here and below
profile() { run make -s -f "$SHARE/profile.mk" URL=$VIRTUAL_URL $small FOR=1s POINTS=3 REST=100ms BURST=16 COLLECT_OPTIONS="--itl request" "$@"; }
profile MOST=16
status_is 2 "profile: a burst that is too small, and none larger allowed"
matches "$(cat "$ERR")" "^saturate: a larger burst is needed" "profile: make says that a larger burst is needed"
profile -j4
status_is 0 "profile: larger bursts follow"
is "$(grep -c 'too few:' "$ERR")" "$(($(sent) - 2))" "profile: bursts grow until one tells the rate"
sustained=$(plain profile/schedule | head -1 | jq '[.stages[] | select(.measured) | .rate] | max / 1.2')
is "$(for results in profile/*results.zst; do plain "$results" | head -1 | jq -c .itl; done | sort -u)" '"request"' "COLLECT_OPTIONS are those of all results"
between "$sustained" 490 510 "the sustained rate is that of the server" # exact: the run is virtual
is "$(jq -c '[.stages[] | select(.measured)] | length' profile/report.json)" 3 "the sweep has its points"
is "$(wc -l <profile/curve.csv | tr -d ' ')" 4 "profile: the curve has its points"
is "$(head -1 profile/curve.csv | tr , '\n' | head -3 | tr '\n' ' ')" 'stage offered_per_s completed_per_s ' "profile: the curve has its heading"
if command -v gnuplot >/dev/null; then
	contains "$(cat profile/plots/rate-ttft.svg)" "</svg>" "profile: the curve is drawn"
else
	skip "profile: the curve is drawn" "gnuplot is not installed"
fi
profile
is "$status $(cat "$OUT" "$ERR")" "0 " "profile: nothing to do"
# without gnuplot: every program but it
mkdir few
for name in sh sed awk env printenv stat ipf-report dirname basename mv rm cat mkdir column cksum printf; do ln -s "$(command -v $name)" few/; done
touch profile/results.zst
PATH=$PWD/few run "$(command -v make)" -f "$SHARE/profile.mk" URL=$VIRTUAL_URL MODEL=sim REQUESTS=1500 INPUT=32 OUTPUT=8 FOR=1s POINTS=3 REST=100ms BURST=16 COLLECT_OPTIONS="--itl request"
status_is 0 "profile: make ends with 0 without gnuplot"
contains "$(cat "$ERR")" "gnuplot is not installed: the plots in profile/plots are not drawn" "profile: make says that plots need gnuplot"
FIRE_OPTIONS="--param max_tokens=100000000" profile OUT=failing URL="$URL"
status_is 2 "profile: a server that answers nothing"
contains "$(cat "$ERR")" "no request of the burst was answered" "profile: make says that no request was answered"

# ---- capacity -------------------------------------------------------------------------------------------------------
# shellcheck disable=SC2120,SC2119 # compare and profile are like it
capacity() { run make -s -f "$SHARE/capacity.mk" URL=$VIRTUAL_URL $small SLO=p90:e2e=100ms TIME=60s "$@"; }
echo stage-2 >"$VIRTUAL/hold"
IPF_CALL="ipf capacity" setsid make -s -f "$SHARE/capacity.mk" URL=$VIRTUAL_URL $small SLO=p90:e2e=100ms TIME=60s >cut.out 2>&1 &
maker=$!
wait_for test -s capacity/stage-2.schedule
kill -TERM "$maker"
rm "$VIRTUAL/hold"
wait "$maker"
isnt $? 0 "capacity: killed after its first stage"
wait_for grep -q "to go on" cut.out
matches "$(cat cut.out)" "interrupted in stage 2; so far: at least 5 requests/s meet p90 E2E < 100 ms" "capacity: an interrupted search prints what is known so far"
contains "$(cat cut.out)" "to go on: ipf capacity" "capacity: an interrupted search prints the command that continues it"
cp capacity/stage-1.results.zst first
capacity
status_is 0 "capacity: goes on"
same capacity/stage-1.results.zst first "capacity: a continued search keeps its stages"
matches "$(cat "$OUT")" "^[0-9.]+ requests/s meet p90 E2E < 100 ms \(between [0-9.]+ and [0-9.]+, 95 %\); [0-9.]+/s do not" "capacity: a continued search prints the answer"
is "$(cat capacity/answer.txt)" "$(cat "$OUT")" "capacity: answer.txt has the answer"
is "$(head -1 capacity/stages.csv | cut -d , -f 1-3)" "n,stage,offered_per_s" "stages.csv has names"
is "$(($(wc -l <capacity/stages.csv) - 1))" "$(ls capacity/stage-*.results.zst | wc -l | tr -d ' ')" "a row for each stage"
capacity
is "$status $(cat "$OUT" "$ERR")" "0 " "capacity: nothing to do"
cksum capacity/stage-1.records.zst >first
capacity COLLECT_OPTIONS="--itl 'request'"
is "$status $(for results in capacity/stage-?.results.zst; do plain "$results" | head -1 | jq -c .itl; done | sort -u)" '0 "request"' \
	"capacity: other COLLECT_OPTIONS"
is "$(cksum capacity/stage-1.records.zst)" "$(cat first)" "begin with the first stage that was sent"
capacity OUT=users FIND=users HIGH=3
matches "$(cat "$OUT")" "^at least 3 users meet p90 E2E < 100 ms" "capacity: users of a closed loop"
capacity OUT=unknown FIND=people
status_is 2 "capacity: FIND=people is refused"

# ---- compare --------------------------------------------------------------------------------------------------------
first=$URL
server_start --step-base 20ms --step-per-seq 0
compare() { run make -s -f "$SHARE/compare.mk" URL_A=$VIRTUAL_URL URL_B=http://slower.test $small RATE=30 FOR=1s WARMUP=0 "$@"; }
compare -j4 OUT=real URL_A="$first" URL_B="$URL" SCRAPE_A="$first" SCRAPE_B="$URL"
is "$(jq -c .run.target real/a-2.report.json real/b-2.report.json | tr '\n' ' ')" \
	"\"$first/v1/chat/completions\" \"$URL/v1/chat/completions\" " "compare: each side is sent to its server"
is "$(jq -c '[.server.targets[].target]' real/a-2.report.json real/b-1.report.json | tr '\n' ' ')" "[\"${first#http://}\"] [\"${URL#http://}\"] " \
	"compare: each side's server is asked for its metrics"
virtual_server $VIRTUAL_URL step_base_ns=2000000 step_per_sequence_ns=0 most_sequences=8 step_jitter=0.05
virtual_server http://slower.test step_base_ns=20000000 step_per_sequence_ns=0 most_sequences=8 step_jitter=0.05
compare -j4
status_is 0 "compare: A and B"
is "$(sed -n 's,^compare/\(.*\).records.zst: .* requests .*,\1,p' "$ERR" | tr '\n' ' ')" "a-1 b-1 b-2 a-2 " "compare: A and B take turns in being first"
is "$(plain compare/a-1.records.zst | head -1 | jq -c .from)" "$(plain compare/b-1.records.zst | head -1 | jq -c .from)" "compare: both sides get the same load"
isnt "$(plain compare/round-1.schedule | head -1 | jq .trace.sha256)" "$(plain compare/round-2.schedule | head -1 | jq .trace.sha256)" "compare: rounds have different requests"
is "$(jq -c '.figures[] | select(.name == "tpot.p50") | .change > 1' compare/difference.json)" true "the slower one is recognized"
is "$(grep -c 'B to A' "$OUT") $(ls compare/comparison* 2>/dev/null)" "0 " "compare: one table has the comparison"
is "$(grep -c Verdict "$OUT")" 0 "compare: reports of single runs are not shown"
matches "$(cat "$OUT")" "^  TPOT p50, ms .* \+[0-9,]+ %" "compare: the change comes last"
contains "$(cat compare/difference.txt)" "2 runs, " "compare: the difference is over both rounds"
matches "$(cat compare/difference.html)" "^<!DOCTYPE html>" "compare: the difference has a page"
rm compare/difference.html
compare
is "$status $(cat "$OUT" "$ERR")" "0 " "compare: nothing to do"
compare COMPARE_OPTIONS="--fail-if 'tpot.p50 > +20% estimate'"
contains "$status $(cat "$OUT" "$ERR")" "2 " "compare: a condition fails"
contains "$(cat "$OUT")" "failed      tpot.p50 > +20% estimate" "compare: make fails by the condition"
contains "$(cat compare/difference.html)" "tpot.p50 &gt; +20% estimate" "compare: a failed condition leaves the page"
contains "$(cat compare/difference-failed.txt)" "failed      tpot.p50 > +20% estimate" "compare: a failed condition leaves the text"
matches "$(cat "$ERR")" "Error 4" "make says which status failed it"
compare ROUNDS=3
is "$status $(sent)" "0 2" "compare: another round: only that"
is "$(ls compare/*failed* 2>/dev/null)" "" "compare: files of an earlier failure are removed"
