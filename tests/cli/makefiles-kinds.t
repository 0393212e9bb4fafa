#!/bin/bash
# The makefiles for kinds of load: replay, record, observe, cache, lora, autoscale. Each once, and again with nothing to do.
. "$TESTS/tap.sh"
SHARE=$(cd "$TESTS/../share/ipf" && pwd)
PATH=$BIN:$PATH
export PATH XDG_RUNTIME_DIR=$PWD
unset MAKEFLAGS MAKELEVEL MODEL DATA V
server_start --step-base 1ms --step-per-seq 0 -m base -m lora-a -m lora-b
small="REQUESTS=400 INPUT=256 OUTPUT=4"
again() { # MAKEFILE VARIABLE…
	name=$1
	shift
	# shellcheck disable=SC2086 # several words
	run make -f "$SHARE/$name.mk" URL="$URL" $small "$@"
}
idle() { # the same arguments
	again "$@"
	is "$status $(cat "$OUT" "$ERR")" "0 " "$1: nothing to do"
}

# ---- replay ---------------------------------------------------------------------------------------------------------
set -- replay MODEL=base DATA="$TESTS/../examples/arrivals.csv" SPEED=20 FROM=10s TO=50s WINDOW=1
again "$@"
status_is 0 "replay: a recorded trace"
is "$(plain replay/schedule | head -1 | jq -r '.stages[].spec')" "replay:speed=20,from=10s,to=50s" "a part of it, faster"
is "$(jq .total.requests.failed replay/report.json)" 0 "replay: no request fails"
contains "$(head -c 400 replay/report.html)" "<!DOCTYPE html>" "replay: the report has a page"
at_least "$(wc -l <replay/plots/timeline.tsv)" 3 "replay: the time line has its windows"
is "$(awk -F '\t' 'NR > 1 { started += $3; done += $4 } END { print started, done }' replay/plots/timeline.tsv)" \
	"$(jq -r '.total.requests | "\(.started) \(.ok)"' replay/report.json)" "replay: the time line has every request"
idle "$@"
again replay MODEL=base
is "$status $(grep -c 'DATA is missing' "$ERR")" "2 1" "replay: DATA is required"
# An interrupted replay goes on where it stopped; with CONTINUE=0, and with another load, it begins anew.
set -- replay MODEL=base DATA="$TESTS/../examples/arrivals.csv" SPEED=4 FROM=10s TO=50s OUT=gone-on
interrupt() { # PARTS and the same arguments: the call, before which the run has so many parts, is ended after some answers
	local before=$1 name=$2
	shift 2
	# shellcheck disable=SC2086
	setsid make -f "$SHARE/$name.mk" URL="$URL" $small "$@" >/dev/null 2>interrupted.err &
	local maker=$!
	recorded() { [ "$(find gone-on -name 'cut-*.records.zst' 2>/dev/null | wc -l)" -eq "$before" ] && [ "$(plain gone-on/part.records.zst 2>/dev/null | grep -c '^{"n":')" -ge 3 ]; }
	wait_for recorded
	kill -TERM $maker
	wait $maker
}
interrupt 0 "$@"
contains "$(cat interrupted.err)" "the same call again sends the rest" "replay: an interrupted run says what the next call does"
interrupt 1 "$@"
again "$@"
status_is 0 "replay: the same call goes on"
contains "$(cat "$ERR")" "gone-on/records.zst: continues an interrupted run; CONTINUE=0 measures anew" "replay: make says that it continues a run"
is "$(jq -c '[.total.requests.ok, .total.requests.failed, .run.incomplete, (.run.continued | length)]' gone-on/report.json)" \
	"[$(plain gone-on/schedule | head -1 | jq '.stages[0].arrivals'),0,null,2]" "replay: all parts are one run"
contains "$(cat gone-on/report.txt)" "Continued     at " "replay: the report names the gaps"
idle "$@"
again "$@" SPEED=40
is "$status $(jq -c '.run.continued' gone-on/report.json)" "0 null" "replay: another load begins anew"
yes_if "replay: another load keeps the parts of the run before" test -e gone-on/earlier-cut-1.records.zst -a -e gone-on/earlier-cut-2.records.zst
interrupt 0 "$@" SPEED=4
again "$@" SPEED=4 CONTINUE=0
is "$status $(jq -c '.run.continued' gone-on/report.json) $(ls gone-on/cut-* 2>/dev/null)" "0 null " "replay: CONTINUE=0 begins anew"

# ---- record ---------------------------------------------------------------------------------------------------------
cp "$TESTS/data/prep/envoy-tap/"*.json . && mkdir "a tap" && mv request_*.json "a tap"
set -- record MODEL=base LOG="a tap" SPEED=10 ANONYMIZE_OPTIONS="--jitter 100ms"
URL="" again "$@" trace shared model schedule
is "$status $(cd record && echo *)" "0 model.json run.set schedule shared.jsonl.zst shared.set shared.txt trace.set trace.svg trace.txt trace.zst" \
	"record: trace, statistics, what can be shared and a model, without a server"
is "$(plain record/trace.zst | head -1 | jq -r .source)" envoy-tap "record: its format is found out"
contains "$(cat record/shared.txt)" "up to 100 ms" "record: options of ipf-prep anonymize"
is "$(plain record/shared.jsonl.zst | grep -c 'First?')" 0 "record: the shared file has no texts"
is "$(ipf-prep synthetic --like record/model.json -n 5 -q | jq -r 'select(.id != null).id' | wc -l)" 5 "record: more like it"
again "$@"
status_is 0 "record: the recorded trace is replayed"
is "$(jq -c '[.total.requests.ok, .total.requests.failed, .fidelity.requests]' record/report.json)" "[3,0,3]" "record: all of it"
is "$(plain record/schedule | jq -c 'select(.n != null) | .at_ns')" "$(printf '0\n139043500\n189043500\n')" "record: at its times, faster"
idle "$@"
again record LOG=
is "$status $(grep -c 'LOG is missing' "$ERR")" "2 1" "record: LOG is required"
again record LOG="$TESTS/data/prep/nginx.jsonl" OUT=bad
is "$status $(grep -c 'nginx.jsonl:6: request_time: missing' "$ERR") $(ls bad)" "2 1 trace.set" "record: a bad line is named"

# ---- observe --------------------------------------------------------------------------------------------------------
python3 "$TESTS/helpers/packets.py" mixed mixed.pcap
set -- observe CAPTURE=mixed.pcap
again "$@" shared
is "$status $(cd observe && echo *)" "0 shared.jsonl.zst shared.set shared.txt" "observe: an anonymized trace alone, and nothing beside it"
again "$@"
status_is 0 "observe: a capture is reported on"
is "$(jq -c '[.verdict.observed, .total.requests.ok]' observe/report.json)" "[true,3]" "observe: the report has its requests"
is "$(plain observe/trace.zst | head -1 | jq -r .source)" capture "observe: a trace to replay is beside it"
idle "$@"
again observe CAPTURE=
is "$status $(grep -c 'CAPTURE is missing' "$ERR")" "2 1" "observe: CAPTURE is required"

# ---- cache ----------------------------------------------------------------------------------------------------------
set -- cache MODEL=base HIT_RATES="0 0.6" RATE=100 FOR=2s
again "$@" -j4
status_is 0 "cache: two hit rates"
is "$(cut -d, -f 1 cache/cache.csv | tr '\n' ' ')" '"hit_rate" 0 0.6 ' "a row for each"
is "$(awk -F , '$1 == "0" { print $2 }' cache/cache.csv)" 0 "cache: nothing is found if nothing is shared"
between "$(awk -F , '$1 == 0.6 { print $2 }' cache/cache.csv)" 0.5 0.7 "cache: the hit rate is near the requested one"
between "$(awk -F , '$1 == 0.6 { print $3 }' cache/cache.csv)" 0.5 0.7 "cache: the possible hit rate is near the requested one"
idle "$@"
again "$@" HIT_RATES="0 0.6 0.3"
is "$status $(sed -n 's/: .* requests .*//p' "$ERR")" "0 cache/hit-0.3.records.zst" "cache: another hit rate runs only that"

# ---- lora -----------------------------------------------------------------------------------------------------------
set -- lora MODELS=base=0.5,lora-a=0.3,lora-b=0.2 RATE=100 FOR=1s WARMUP=500ms
again "$@"
status_is 0 "lora: three models"
is "$(jq -c '[.total.requests.failed, (.total.by_model | map(.name) | sort)]' lora/report.json)" '[0,["base","lora-a","lora-b"]]' "a row for each"
idle "$@"
again lora
is "$status $(grep -c 'MODELS is missing' "$ERR")" "2 1" "lora: MODELS is required"

# ---- autoscale ------------------------------------------------------------------------------------------------------
set -- autoscale MODEL=lora-a BASE=5 PEAK=60 CALM=1s SPIKE=1s RAMP=1s WINDOW=0.5
again "$@"
status_is 0 "autoscale: a spike and a ramp"
is "$(jq -r '.stages[].name' autoscale/report.json | tr '\n' ' ')" "base-1 spike base-2 ramp base-3 " "autoscale: stages are calm between spike and ramp"
is "$(awk -F '\t' 'NR > 1 && $2 > most { most = $2; at = $1 } END { print (at == 1 || at == 1.5) }' autoscale/plots/timeline.tsv)" 1 "the time line has its peak in the spike"
if command -v gnuplot >/dev/null; then
	contains "$(cat autoscale/plots/timeline.svg)" "</svg>" "autoscale: the time line is drawn"
else
	skip "autoscale: the time line is drawn" "gnuplot is not installed"
fi
idle "$@"
