#!/bin/bash
# The makefiles of share/ipf, with run.mk as the example: help, a run, nothing to do, other settings, salts, interruption.
. "$TESTS/tap.sh"
. "$TESTS/s3.sh"
SHARE=$(cd "$TESTS/../share/ipf" && pwd)
PATH=$BIN:$PATH
export PATH
unset MAKEFLAGS MAKELEVEL MODEL DATA V
export XDG_RUNTIME_DIR=$PWD
server_start --step-base 1ms --step-per-seq 0

# ---- help -----------------------------------------------------------------------------------------------------------
for file in "$SHARE"/*.mk; do
	name=$(basename "$file" .mk)
	[ "$name" != common ] || continue
	run make -f "$file" help
	status_is 0 "$name: help ends with 0"
	cp "$OUT" help
	is "$(LC_ALL=C.UTF-8 awk 'length > 80' help)" "" "$name: help fits 80 columns"
	sed -nE 's/^([A-Z_]+) *\?= ?([^#$]*)#:.*/\1=\2/p' "$file" "$SHARE/common.mk" | awk -F = '!seen[$1]++' >variables
	is "$(while read -r variable; do grep -qF "  $variable" help || echo "$variable"; done <variables)" "" "$name: help has every variable with its default"
	is "$(sed -n 's/^\([a-z-]*\):\( .*\)*#:.*/\1/p' "$file" | while read -r target; do grep -qE "^  $target " help || echo "$target"; done)" "" \
		"$name: help has every target"
	is "$(sed -nE 's/^([A-Z_]+) *\?=.*/\1/p' "$file" | sort | uniq -d)" "" "$name: a variable has one default"
	run make -f "$file"
	status_is 2 "$name: make without a server ends with 2"
	is "$(grep -c . "$ERR")" 1 "$name: is told in one line"
	matches "$(cat "$ERR")" "(URL|URL_A|TWIN|CAPTURE) is missing; \"make -f .*$name.mk help\" describes it" "$name: the message names the missing variable"
	is "$(ls -d "$name" 2>/dev/null)" "" "$name: nothing is made"
done
is "$(grep -lE '^ *define|\$\((eval|call)' "$SHARE"/*.mk)" "" "no makefile has macros"
between "$(wc -l <"$SHARE/common.mk")" 1 70 "the shared part is short"
run make -f "$SHARE/run.mk" URL=http://a.test RAET=5
is "$status $(grep -c . "$ERR")" "2 1" "an unknown variable is refused, in one line"
matches "$(cat "$ERR")" "RAET: unknown variable; .*/run.mk has RATE USERS FOR " "make lists the variables next to an unknown one"
is "$(ls -d run 2>/dev/null)" "" "make refuses an unknown variable before it makes a file"
run make -f "$SHARE/study.mk" URL=http://a.test STAGE_few=5
matches "$(cat "$ERR")" "STAGE_few: unknown variable" "make refuses an unknown variable like a pattern"

# ---- a run ----------------------------------------------------------------------------------------------------------
mkdir "a folder"
cd "a folder" || exit
again() { run make -f "$SHARE/run.mk" URL="$URL" MODEL=sim REQUESTS=200 INPUT=32 OUTPUT=4 RATE="${RATE:-30}" FOR=1s WARMUP=0 "$@"; }
made() { sed -nE 's/^(set -f; )?(env -S ")?(ipf-[a-z]+).*/\3/p; s/^exec sh .*measure\.sh .*/ipf-fire/p' "$OUT" | sort -u | tr '\n' ' '; }
again schedule
is "$status $(made)" "0 ipf-prep ipf-sched " "schedule sends nothing"
again
is "$status $(made)" "0 ipf-collect ipf-fire ipf-report " "make measures a run"
contains "$(cat "$OUT")" Verdict "make shows the report"
contains "$(head -c 400 run/report.html)" "<!DOCTYPE html>" "a run leaves a page"
is "$(jq -c '[.total.requests.failed, (.total.requests.ok > 10)]' run/report.json)" "[0,true]" "the report has the requests of the run"
is "$(cd run && echo part.*)" "part.*" "a run leaves no part of a file"
again
is "$status $(cat "$OUT" "$ERR")" "0 " "make has nothing to do the second time"
again -j4
is "$(cat "$OUT" "$ERR")" "" "make -j4 has nothing to do the second time"
again show
contains "$(cat "$OUT")" Verdict "the report can be shown again"
again REPORT_OPTIONS="--slo 'ttft=1s'"
is "$(made)" "ipf-report " "other options of the report: only the reports"
again SLO=p50:e2e=1ns
is "$status $(made)" "2 ipf-report " "an objective that is missed ends with an error"
contains "$(cat "$ERR")" "p50:e2e=1ns: missed: " "make names the missed objective"
contains "$(head -c 400 run/report.html)" "<!DOCTYPE html>" "reports are made before a missed objective fails"
again OUT=wrong SLO=model=x:ttft=1s
is "$status $(ls wrong/*records.zst 2>/dev/null)" "2 " "wrong objectives are refused before anything is sent"
contains "$(cat "$ERR")" "the objectives of a class belong to the trace: ipf-prep --slo model=x:ttft=1s" "make says where objectives of a class belong"
# In the background of a script, the shell ignores the signal ending ipf-fire.
sh -c "trap '' INT; exec make -s -f '$SHARE/run.mk' URL='$URL' MODEL=sim REQUESTS=200 INPUT=32 OUTPUT=4 RATE=30 FOR=1m WARMUP=0 OUT=ignored" >ignored.out 2>&1 &
maker=$!
wait_for test -s ignored/part.records.zst
pkill -INT -f 'ipf-fire .*ignored/schedule'
wait $maker
is "$? $(ls ignored/records.zst 2>/dev/null)" "2 " "an interrupted run does not count as complete where the shell ignores the signal"
contains "$(cat ignored.out)" "requests are in ignored/part.records.zst" "make says where the interrupted requests are"
again COLLECT_OPTIONS="-t approx" REPORT_OPTIONS="--slo 'ttft=1s'"
is "$(made)" "ipf-collect ipf-report " "other options of ipf-collect: nothing is sent"
store_for_uploads
peer_start "$TESTS/helpers/push_target.py" pushed
rm run/report.html
again COLLECT_OPTIONS="-t approx" REPORT_OPTIONS="--slo 'ttft=1s'" UPLOAD="s3://plain/a b/" PUSH_REPORT="http://127.0.0.1:1/metrics"
is "$status $(ls run/*.html 2>/dev/null)" "2 " "a report that is not delivered is not made"
again COLLECT_OPTIONS="-t approx" REPORT_OPTIONS="--slo 'ttft=1s'" UPLOAD="s3://plain/a b/" PUSH_REPORT="$PEER_URL/metrics"
is "$status $(made)" "0 ipf-report " "a report is delivered"
for file in report.html report.json results.zst; do same run/$file "store/objects/plain/a b/$file" "$file is uploaded"; done
is "$(cut -d ' ' -f 2 pushed)" /metrics/job/ipf-report/run/run "figures of the report are sent"
again
cp run/records.zst ../first
cp run/trace.zst ../first.trace
RATE=40
again -j4
is "$status $(made)" "0 ipf-collect ipf-fire ipf-prep ipf-report ipf-sched " "another rate with -j makes another run"
isnt "$(body run/trace.zst | cksum)" "$(body ../first.trace | cksum)" "another rate has other prompts"
same run/earlier-1.records.zst ../first "the records of the earlier one are kept"
run make -f "$SHARE/run.mk" URL="$URL" STAGES="constant:rate=20,n=5 constant:rate=30,n=5" OUT=out TRACE=run/trace.zst MODEL="a b" PAGE=0
is "$(ls out/*.html 2>/dev/null)" "" "PAGE=0: no page"
is "$status $(jq -c '[(.stages | length), .run.model]' out/report.json)" '0 [2,"a b"]' "stages, a model with spaces, a trace that is there"
matches "$(cat "$OUT")" "^env -S \"ipf-sched .STAGES\" -t out/trace.zst" "make shows the commands"
contains "$(cat "$ERR")" "out/records.zst: 10 requests in 0 s to $URL" "a line tells how much is sent and how long before the run"
loop() { # VARIABLE=VALUE…: the stages of a closed loop
	rm -rf loop
	make -s -f "$SHARE/run.mk" schedule OUT=loop TRACE=run/trace.zst USERS=8 "$@" 2>/dev/null
	head -1 loop/schedule | jq -c '[.stages[] | [.spec, .rampup_ns, .measured]]'
}
is "$(loop)" '[["closed:users=8,for=5s,rampup=5s,warmup",5000000000,false],["closed:users=8,for=60s",null,true]]' "USERS: a closed loop takes over the users of a warm-up in which they begin one after another"
is "$(loop WARMUP=2s FOR=9s)" '[["closed:users=8,for=2s,rampup=2s,warmup",2000000000,false],["closed:users=8,for=9s",null,true]]' "users start over the length of the warm-up"
is "$(loop WARMUP=0)" '[["closed:users=8,for=60s",null,true]]' "users start at once without a warm-up"
for salt in one one two; do
	rm -rf salt
	make -s -f "$SHARE/run.mk" trace OUT=salt SALT=$salt REQUESTS=5 INPUT=8
	body salt/trace.zst | cksum
done >salts
is "$(sed -n 1p salts)" "$(sed -n 2p salts)" "SALT fixes the prompts"
isnt "$(sed -n 2p salts)" "$(sed -n 3p salts)" "another SALT changes the prompts"
printf '{"prompt":"how are you"}\n{"prompt":"and you"}\n' >"my data's.jsonl"
own() { run make -f "$SHARE/run.mk" DATA="my data's.jsonl" OUT=own URL="$URL" MODEL=sim STAGES=constant:rate=20,n=4 "$@"; }
own
is "$status $(jq .total.requests.ok own/report.json)" "0 4" "data of your own, in a file whose name has a space and a quote"
own
is "$status $(cat "$OUT" "$ERR")" "0 " "data of your own have nothing to do the second time"
own STAGES=constant:rate=30,n=4
is "$status $(made)" "0 ipf-collect ipf-fire ipf-report ipf-sched " "another load keeps the trace of your data"
touch -d 2020-01-01 "my data's.jsonl"
own trace
is "$status $(made)" "0 ipf-prep " "data of another time make a new trace"
cp run/trace.zst "a trace.zst"
run make -f "$SHARE/run.mk" TRACE="a trace.zst" OUT=linked schedule
status_is 0 "a trace whose name has a space"
run make -f "$SHARE/run.mk" TRACE="a trace.zst" OUT=linked schedule
is "$status $(made)" "0 " "a trace whose name has a space needs no new trace"
touch "a trace.zst"
run make -f "$SHARE/run.mk" TRACE="a trace.zst" OUT=linked schedule
is "$status $(made)" "0 ipf-sched " "a newer one makes a new schedule"
cp run/trace.zst kept
run make -s -f "$SHARE/run.mk" TRACE=run/trace.zst trace
same run/trace.zst kept "the trace of the folder itself stays"

# ---- interruption ---------------------------------------------------------------------------------------------------
again OUT=cut STAGES=constant:rate=40,n=10 trace
long=constant:rate=40,for=60s
setsid make -f "$SHARE/run.mk" URL="$URL" MODEL=sim REQUESTS=200 INPUT=32 OUTPUT=4 OUT=cut STAGES=$long >/dev/null 2>cut.err &
maker=$!
wait_for test -s cut/part.records.zst
again OUT=beside STAGES=constant:rate=40,n=4 schedule
(again OUT=beside STAGES=constant:rate=40,n=4; cp "$ERR" beside.err; echo "$status" >beside.status) &
beside=$!
yes_if "another run against this server waits" wait_for grep -q 'waiting for another run' "$ERR"
kill -TERM "$maker"
wait "$maker"
isnt $? 0 "a make that is killed fails"
wait "$beside"
is "$(cat beside.status)" 0 "the one that waited goes on then"
yes_if "an interrupted run has no records" test ! -e cut/records.zst
matches "$(cat cut.err)" '^interrupted after [0-9]+ s: [0-9]+ of 2400 requests are in cut/part.records.zst; `make -f .*/run.mk report OUT=cut` reports them, the same call again measures anew$' \
	"an interrupted run says what is there, and what comes next"
run make -s -f "$SHARE/run.mk" report OUT=cut
contains "$status $(cat "$OUT")" "Verdict" "make report shows the records of an interrupted run"
body cut/trace.zst | cksum >prompts
again OUT=cut STAGES=constant:rate=40,n=10
is "$status $(made)" "0 ipf-collect ipf-fire ipf-prep ipf-report ipf-sched " "the next call measures anew"
isnt "$(body cut/trace.zst | cksum)" "$(cat prompts)" "the next call has other prompts than the interrupted run"
yes_if "records of the interrupted run are kept" test -s cut/interrupted-1.records.zst
again OUT=cut STAGES=constant:rate=40,n=10
is "$status $(cat "$OUT" "$ERR")" "0 " "make has nothing to do after the next call"

# ---- a failure ------------------------------------------------------------------------------------------------------
run make -f "$SHARE/run.mk" OUT=gone URL=http://127.0.0.1:9 MODEL=sim TRACE=run/trace.zst
isnt "$status" 0 "make without a server fails"
yes_if "make without a server leaves no records" test ! -e gone/records.zst

# ---- from another makefile ------------------------------------------------------------------------------------------
cat >Makefile <<END
both:
	\$(MAKE) -s -f $SHARE/run.mk OUT=first STAGES=constant:rate=40,n=8 SHOW=0
	\$(MAKE) -s -f $SHARE/compare.mk URL_B="\$(URL)" ROUNDS=1 OUT=other STAGES=constant:rate=40,n=8
END
run make both OWN=1 URL="$URL" MODEL=sim REQUESTS=100 INPUT=16 OUTPUT=2
is "$status $(jq .total.requests.ok first/report.json other/a-1.report.json other/b-1.report.json | tr '\n' ' ')" "0 8 8 8 " "two kinds in one makefile, which has variables of its own"
cp "$SHARE/run.mk" load.mk
sed -i "s,^ipf *:=.*,ipf := $SHARE/," load.mk
run make -s -f load.mk URL="$URL" MODEL=sim STAGES=constant:rate=40,n=8 REQUESTS=100 INPUT=16 OUTPUT=2
is "$status $(jq .total.requests.ok load/report.json)" "0 8" "a copy elsewhere, with its own name for the folder"
