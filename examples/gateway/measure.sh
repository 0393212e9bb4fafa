#!/bin/sh
# The time that a gateway adds: captures a run in front of it and behind it, on one host.
#
#     sudo examples/gateway/measure.sh FOLDER FRONT-URL BACK-PORT [STAGE]     sudo … measure.sh nginx http://127.0.0.1:8080 8000 poisson:rate=10,n=600
#
# FOLDER gets the packets, records and results of both sides, and report.txt, .json and .html. Needs tcpdump, and ipf's programs in PATH.
# PROMPT and OUTPUT are tokens of a request; MODEL is its model; INTERFACE the interface of both sides; FIRE more options of ipf-fire.
set -eu
[ $# -ge 3 ] || { sed -n '2,8s/^# *//p' "$0" >&2; exit 2; }
folder=$1 url=$2 back=$3 stage=${4:-poisson:rate=10,n=600}
front=$(printf %s "$url" | sed 's,.*:\([0-9]*\).*,\1,')
mkdir -p "$folder"
cd "$folder"

ipf-prep synthetic -n 2000 --input-tokens "${PROMPT:-50}" --output-tokens "${OUTPUT:-20}" -q -o load.trace.zst
ipf-sched "$stage" -t load.trace.zst -q -o load.sched

tcpdump -i "${INTERFACE:-lo}" -B 65536 -U -w packets.pcap "tcp port $front or tcp port $back" 2>tcpdump.txt &
dump=$!
trap 'kill $dump 2>/dev/null || true' EXIT
until grep -qs 'listening on' tcpdump.txt; do sleep 0.1; done
# shellcheck disable=SC2086
ipf-fire -q --force -u "$url" -m "${MODEL:-sim}" -t load.trace.zst load.sched -o fire.records.zst ${FIRE:-}
sleep 2
kill $dump 2>/dev/null || true
wait $dump || true

side() { # NAME PORT
	ipf-prep capture -q --port "$2" packets.pcap --records "$1.records.zst"
	ipf-collect -q --events "$1.records.zst" -o "$1.results.zst"
}
side front "$front"
side back "$back"
for format in txt json html; do
	ipf-report gateway -o report.$format front.results.zst -- back.results.zst
done
cat report.txt
