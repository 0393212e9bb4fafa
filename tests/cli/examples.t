#!/bin/bash
# The examples: the demo, with its stages shortened, and the Makefile of a repeatable run.
. "$TESTS/tap.sh"
ROOT=$TESTS/..
PATH=$BIN:$PATH

# ---- data -----------------------------------------------------------------------------------------------------------
is "$(jq 'map(select((.conversations | length) % 2 == 0 and ([.conversations[].from] | unique) == ["gpt", "human"])) | length' \
	"$ROOT/examples/chat.json")" 70 "chat.json has 70 conversations of questions and answers"
is "$(head -1 "$ROOT/examples/arrivals.csv")" TIMESTAMP,ContextTokens,GeneratedTokens "arrivals.csv has the columns of the Azure traces"
is "$(wc -l <"$ROOT/examples/arrivals.csv" | tr -d ' ')" 201 "arrivals.csv has 200 requests"

# ---- demo -----------------------------------------------------------------------------------------------------------
mkdir examples
cp "$ROOT"/examples/chat.json "$ROOT"/examples/arrivals.csv examples
sed -e 's/for=[0-9]*s/for=1s/g' -e 's/speed=6/speed=60/' -e 's/^server=\$!$/&; echo "$server" >server.pid/' "$ROOT/examples/demo.sh" \
	>examples/demo.sh
chmod +x examples/demo.sh
run examples/demo.sh
status_is 0 "the demo works"
is "$(grep -c '^Verdict' "$OUT")" 2 "the demo shows two reports"
contains "$(cat "$OUT")" 'ipf-sched constant:rate=2,for=1s,warmup poisson' "the demo shows every command"
contains "$(cat "$OUT")" "in demo/" "the demo names its folder"
for file in chat.trace.zst chat.sched chat.records.zst chat.results.zst chat.report.txt chat.report.json arrivals.trace.zst arrivals.sched \
	arrivals.records arrivals.results arrivals.report.txt; do
	yes_if "the demo keeps $file" test -s demo/$file
done
is "$(jq '.stages | map(select(.measured)) | length' demo/chat.report.json)" 2 "two stages are measured"
is "$(jq '.total.requests.failed' demo/chat.report.json)" 0 "no request of the demo failed"
is "$(zstd -dcq demo/arrivals.trace.zst | sed -e 1d -e '$d' | wc -l |
	tr -d ' ')" 200 "the recorded arrivals are all there"
yes_if "the demo has a server" test -s server.pid
yes_if "the server ends with the demo" wait_for tap_gone "$(cat server.pid)"

# ---- Makefile -------------------------------------------------------------------------------------------------------
unset MAKEFLAGS MAKELEVEL
export XDG_RUNTIME_DIR=$PWD
mkdir repeat
cp "$ROOT/examples/Makefile" "$ROOT/examples/chat.json" repeat
cd repeat || exit 1
server_start --step-base 1ms
again() { run make --no-print-directory IPF="$ROOT/share/ipf" URL="$URL" MODEL=sim STAGES="${STAGES:-constant:rate=20,for=1s}" "$@"; }
made() { sed -nE 's/^(set -f; )?(env -S ")?(ipf-[a-z]+).*/\3/p; s/^exec sh .*measure\.sh .*/ipf-fire/p' "$OUT" | tr '\n' ' '; } # by which programs

again schedule
status_is 0 "make schedule works"
is "$(made)" "ipf-prep ipf-sched " "make schedule sends nothing"
again
status_is 0 "make ends with 0"
is "$(made)" "ipf-fire ipf-collect ipf-report ipf-report ipf-report " "make makes the missing files"
contains "$(cat "$OUT")" Verdict "make shows the report"
again
is "$(made)" "" "the second time nothing is made"
again COLLECT_OPTIONS="-t approx"
is "$(made)" "ipf-collect ipf-report ipf-report ipf-report " "other definitions: results and reports, nothing is sent"
body run/schedule >before
STAGES=constant:rate=40,n=10
again
is "$(made)" "ipf-sched ipf-fire ipf-collect ipf-report ipf-report ipf-report " "another load makes the schedule and all that follows"
STAGES=
again
body run/schedule >after
same before after "the first load again: the same schedule"
touch chat.json
again
is "$(made)" "ipf-prep ipf-sched ipf-fire ipf-collect ipf-report ipf-report ipf-report " "newer data: everything"
again compare ROUNDS=1 STAGES=constant:rate=20,n=5
status_is 0 "make compare works"
server_stop
again MODEL=other
isnt "$status" 0 "make fails without a server"
yes_if "make keeps earlier records if it fails" test -s run/earlier-3.records.zst
