#!/bin/bash
# The makefiles of share/ipf, with run.mk as the example: help, a run, nothing to do, other settings, interruption, inclusion.
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
	status_is 0 "$name: help"
	cp "$OUT" help
	# The variables that it reads, with their defaults unless these are computed, and the targets that it has.
	sed 's/(call ipf_get,[A-Z_]*,\$/(call ipf_get,/g' "$file" "$SHARE/common.mk" | grep -oE '\(call ipf_get,[A-Z_]+(,[^$()]+)?\)' |
		sed -E 's/.*ipf_get,([A-Z_]+),?([^)]*)\)/\1=\2/' | sort -u >variables
	is "$(while read -r variable; do grep -qE "(^|[ (;,])${variable//./\\.}" help || echo "$variable"; done <variables)" "" \
		"$name: help has every variable with its default"
	sed -n 's/.*call ipf_target,[a-z]*,\([a-z]*\).*/\1/p' "$file" >targets
	is "$(while read -r target; do grep -qE "^  ([a-z]*, )?$target\>" help || echo "$target"; done <targets)" "" "$name: help has every target"
	run make -f "$file"
	status_is 2 "$name: without a server"
	is "$(grep -c . "$ERR")" 1 "$name: is told in one line"
	matches "$(cat "$ERR")" "(URL|URL_A) is missing: .*http://localhost:8000|TWIN is missing: .*ipf-report export twin" "$name: what is missing"
	is "$(ls -d "$name" 2>/dev/null)" "" "$name: nothing is made"
done

# ---- a run ----------------------------------------------------------------------------------------------------------
mkdir "a folder"
cd "a folder" || exit
again() { run make -f "$SHARE/run.mk" URL="$URL" MODEL=sim REQUESTS=200 INPUT=32 OUTPUT=4 RATE="${RATE:-30}" FOR=1s WARMUP=0 "$@"; }
made() { sed -n 's/^\(ipf-[a-z]*\): .*/\1/p' "$ERR" | sort -u | tr '\n' ' '; }
again schedule
is "$status $(made)" "0 ipf-prep ipf-sched " "schedule sends nothing"
again
is "$status $(made)" "0 ipf-collect ipf-fire ipf-report " "a run"
contains "$(cat "$OUT")" Verdict "shows its report"
contains "$(head -c 400 run/report.html)" "<!DOCTYPE html>" "and leaves a page"
is "$(jq -c '[.total.requests.failed, (.total.requests.ok > 10)]' run/report.json)" "[0,true]" "of what was sent"
is "$(cd run && echo part.*)" "part.*" "no part of a file is left"
again
is "$status $(cat "$OUT") $(made)" "0 make: Nothing to be done for 'all'. " "a second time, nothing is to be done"
again -j4
is "$(cat "$OUT")" "make: Nothing to be done for 'all'." "nor with -j"
again show
contains "$(cat "$OUT")" Verdict "the report can be shown again"
again REPORT_OPTIONS="--slo 'ttft=1s'"
is "$(made)" "ipf-report " "other options of the report: only the reports"
again COLLECT_OPTIONS="-t approx" REPORT_OPTIONS="--slo 'ttft=1s'"
is "$(made)" "ipf-collect ipf-report " "other options of ipf-collect: nothing is sent"
store_for_uploads
python3 "$TESTS/helpers/push_target.py" pushed >push.port &
stop_at_exit $!
wait_for test -s push.port
rm run/report.html
again COLLECT_OPTIONS="-t approx" REPORT_OPTIONS="--slo 'ttft=1s'" UPLOAD="s3://plain/a b/" PUSH_REPORT="http://127.0.0.1:1/metrics"
is "$status $(ls run/*.html 2>/dev/null)" "2 " "a report that is not delivered is not made"
again COLLECT_OPTIONS="-t approx" REPORT_OPTIONS="--slo 'ttft=1s'" UPLOAD="s3://plain/a b/" PUSH_REPORT="http://127.0.0.1:$(cat push.port)/metrics"
is "$status $(made)" "0 ipf-report " "a report is delivered"
for file in report.html report.json results.zst; do same run/$file "store/objects/plain/a b/$file" "$file is uploaded"; done
is "$(cut -d ' ' -f 2 pushed)" /metrics/job/ipf-report/run/run "its figures are sent"
again
cp run/records.zst ../first
RATE=40
again -j4
is "$status $(made)" "0 ipf-collect ipf-fire ipf-report ipf-sched " "another rate, with -j: another run"
same run/earlier-1.records.zst ../first "the records of the earlier one are kept"
run make -f "$SHARE/run.mk" URL="$URL" STAGES="constant:rate=20,n=5 constant:rate=30,n=5" OUT="o u t" TRACE=run/trace.zst MODEL="a b" V=1 PAGE=0
is "$(ls "o u t"/*.html 2>/dev/null)" "" "PAGE=0: no page"
is "$status $(jq -c '[(.stages | length), .run.model]' "o u t/report.json")" '0 [2,"a b"]' "stages, a folder and a model with spaces, a trace that is there"
contains "$(cat "$ERR")" "+ ipf-sched constant:rate=20,n=5 constant:rate=30,n=5 -t run/trace.zst" "V=1 shows the commands"
loop() { # VARIABLE=VALUE…: the stages of a closed loop
	rm -rf loop
	make -s -f "$SHARE/run.mk" schedule OUT=loop TRACE=run/trace.zst USERS=8 "$@" 2>/dev/null
	head -1 loop/schedule | jq -c '[.stages[] | [.spec, .rampup_ns, .measured]]'
}
is "$(loop)" '[["closed:users=8,for=5s,rampup=5s,warmup",5000000000,false],["closed:users=8,for=60s",null,true]]' "USERS: a closed loop takes over the users of a warm-up in which they begin one after another"
is "$(loop WARMUP=2s FOR=9s)" '[["closed:users=8,for=2s,rampup=2s,warmup",2000000000,false],["closed:users=8,for=9s",null,true]]' "over the length of the warm-up"
is "$(loop WARMUP=0)" '[["closed:users=8,for=60s",null,true]]' "or at once without one"
printf '{"prompt":"how are you"}\n{"prompt":"and you"}\n' >"my data's.jsonl"
IPF_DATA="my data's.jsonl" run make -f "$SHARE/run.mk" DATA=wrong OUT=own URL="$URL" MODEL=sim STAGES=constant:rate=20,n=4
is "$status $(jq .total.requests.ok own/report.json)" "0 4" "data of one's own; IPF_DATA comes before DATA"
touch "my data's.jsonl"
IPF_DATA="my data's.jsonl" run make -f "$SHARE/run.mk" DATA=wrong OUT=own URL="$URL" MODEL=sim STAGES=constant:rate=20,n=4 -n trace
contains "$(cat "$OUT")" "ipf-prep" "newer data make a new trace"
cp -r "$SHARE" "../the share"
run make -f "../the share/run.mk" OUT=own2 URL="$URL" MODEL=sim TRACE=run/trace.zst STAGES=constant:rate=20,n=4
is "$status $(jq .total.requests.ok own2/report.json)" "0 4" "the makefile's own folder may have spaces"

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
yes_if "there are no records" test ! -e cut/records.zst
again OUT=cut STAGES=$long FIRE_OPTIONS="--stop-on errors=1" schedule
is "$status $(made)" "0 " "after an interruption, trace and schedule are not made again"
again OUT=cut STAGES=constant:rate=40,n=10
is "$status $(made)" "0 ipf-collect ipf-fire ipf-report ipf-sched " "the run is"
yes_if "what the interrupted one had recorded is kept" test -s cut/interrupted-1.records.zst

# ---- a failure ------------------------------------------------------------------------------------------------------
run make -f "$SHARE/run.mk" OUT=gone URL=http://127.0.0.1:9 MODEL=sim TRACE=run/trace.zst
isnt "$status" 0 "without a server it fails"
yes_if "and leaves no records" test ! -e gone/records.zst

# ---- in a makefile of one's own -------------------------------------------------------------------------------------
cat >Makefile <<END
RATE = 25
include $SHARE/run.mk
OUT = first
RATE = 35
MODEL := sim
include $SHARE/replay.mk
OUT = other
first:
	@echo 'first \$(RATE) \$(OUT)'
help:
	@echo own help
both: ipf-run ipf-compare
URL_B := \$(IPF_URL)
include $SHARE/compare.mk
END
run make
is "$status $(cat "$OUT" "$ERR")" "0 first 35 other" "included, it changes neither the default target nor variables"
run make help
is "$(cat "$OUT")" "own help" "nor targets"
run make ipf-run-help
contains "$(cat "$OUT")" "One run at a given load" "its own begin with ipf-"
run make -j4 both IPF_URL="$URL" IPF_MODEL=sim IPF_STAGES=constant:rate=40,n=8 IPF_REQUESTS=100 IPF_INPUT=16 IPF_OUTPUT=2 ROUNDS=1
is "$status $(jq .total.requests.ok run/report.json other/a-1.report.json other/b-1.report.json | tr '\n' ' ')" "0 8 8 8 " "two included ones, side by side"
run make ipf-run
is "$status $(grep -c 'URL is missing' "$ERR")" "2 1" "without a server"
