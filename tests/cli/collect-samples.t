#!/bin/bash
# ipf-collect --samples: samples of a live run survive when its records are collected again.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters

nvml=LD_LIBRARY_PATH=$BUILD/tests/nvml
server_start --seed 3
"$BIN/ipf-prep" -n 40 synthetic -o t.trace
"$BIN/ipf-sched" --seed 3 poisson:rate=60,n=40 -o s.sched
"$BIN/ipf-fire" -q -u "$URL" -t t.trace s.sched | tee live.records |
	env "$nvml" "$BIN/ipf-collect" --scrape sim="$URL" --gpu nvml --every 200ms -o live.results.zst 2>"$ERR" ||
	not_ok "a live run with samples" "$(cat "$ERR")"
again() { # ARGUMENTS…
	run "$BIN/ipf-collect" --every 200ms -o again.results "$@" live.records
}
end_of() { # RESULTS FILTER
	plain "$1" | tail -1 | jq -cS ".end | $2"
}

# ---- the same run -----------------------------------------------------------------------------------------------------

again --samples live.results.zst
status_is 0 "records are collected again with the samples of the live run"
stderr_is "" "--samples has no messages"
for kind in '"sample":"server"' '"sample":"gpu"'; do
	yes_if "the results have lines with $kind" grep -q "^{$kind" again.results
done
body live.results.zst | LC_ALL=C sort >live.lines
body again.results | LC_ALL=C sort >again.lines
same live.lines again.lines "rows, windows and samples are those of the live run"
for member in server accelerators verdict; do
	is "$(end_of again.results ".$member")" "$(end_of live.results.zst ".$member")" "the trailer has the same $member"
done
is "$(end_of again.results .samples)" \
	"$(end_of live.results.zst '{ipf: "results", lines, sha256}')" "the trailer says what the samples were read from"
"$BIN/ipf-report" -f json live.results.zst | jq -cS '[.servers, .accelerators, .series]' >live.json
"$BIN/ipf-report" -f json again.results | jq -cS '[.servers, .accelerators, .series]' >again.json
same live.json again.json "a report shows the same of servers and accelerators"

body again.results >once.lines
cp again.results once.results
again --samples once.results
body again.results >twice.lines
same once.lines twice.lines "samples that were taken over are taken over again, to the same lines"
again --samples - <live.results.zst
status_is 0 "RESULTS may be standard input"
body again.results | LC_ALL=C sort >again.lines
same live.lines again.lines "--samples from standard input gives the same samples"

# ---- faults of samples ------------------------------------------------------------------------------------------

plain live.results.zst >live.results
sed '$d' live.results >cut.results
again --samples cut.results
status_is 3 "results that are cut: status 3"
complains ipf-collect "cut.results" "results that are cut are reported in one line"
body again.results | LC_ALL=C sort >again.lines
same live.lines again.lines "results that are cut give their samples"
is "$(end_of again.results '[.server, .incomplete, (.samples | has("incomplete"))]')" '[null,null,true]' \
	"the trailer says that samples are incomplete, and has no member that they lack"

sed '/^{"sample":"server"/s/"target":"sim"/"target":"six"/' live.results >altered.results
again --samples altered.results
status_is 3 "results whose digest is another: status 3"
complains ipf-collect "altered.results" "another digest is reported in one line"

sed '$d; 1d; /^{"sample":"gpu"/s/}$/,"a":}/' live.results >lines
head -1 live.results >header
seal header lines >broken.results
again --samples broken.results
status_is 3 "a sample that is no JSON: status 3"
complains ipf-collect "broken.results:" "a sample that is no JSON is reported in one line"
is "$(grep -c '"a":}' again.results)" 0 "a sample that is no JSON is not taken over"
yes_if "rows are there beside a sample that is no JSON" test "$(body again.results | grep -c '^{"n":')" = 40

# ---- refusals --------------------------------------------------------------------------------------------------

refused() { # STATUS PART TEXT ARGUMENTS…
	local expected=$1 part=$2 text=$3
	shift 3
	rm -f again.results
	again "$@"
	status_is "$expected" "$text: status $expected"
	complains ipf-collect "$part" "$text: one message"
	yes_if "no results are written after a refusal" test ! -e again.results
}
"$BIN/ipf-fire" -q -u "$URL" -t t.trace s.sched | "$BIN/ipf-collect" --scrape sim="$URL" -o another.results
refused 3 'another.results:1: results of another run: they were not made from live.records' "results of another run" \
	--samples another.results
refused 3 'live.records' "records instead of results" --samples live.records
refused 3 's.sched' "a schedule instead of results" --samples s.sched
: >empty
refused 3 'empty' "an empty file" --samples empty
refused 1 'missing.results' "a file that is missing" --samples missing.results
sed '1s/"series":{[^}]*}/"series":{"every_ns":200000000,"t0_unix_ns":5}/' live.results >shard.results
refused 3 'shard.results:1: series.t0_unix_ns' "times that count from another start" --samples shard.results
refused 2 '--samples' "with --scrape" --samples live.results --scrape "$URL"
refused 2 '--samples' "with --gpu" --samples live.results --gpu nvml
run "$BIN/ipf-collect" --samples - <live.records
status_is 2 "records and samples both from standard input end with 2"
complains ipf-collect "--samples: expected a file" "both from standard input is reported in one line"
sed '1s/"t0_unix_ns":[0-9]*,//' live.records >undated.records
run "$BIN/ipf-collect" --samples live.results undated.records
status_is 3 "records without the time of their start: status 3"
complains ipf-collect "undated.records:1: t0_unix_ns: missing" "records without the time of their start are reported in one line"
