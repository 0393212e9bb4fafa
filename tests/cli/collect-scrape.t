#!/bin/sh
# Metrics of servers while a run lasts: what the server counted is what the client counted, and no server that misbehaves
# delays a row or ends the run.
. "$TESTS/tap.sh"

samples() { # RESULTS JQ-FILTER
	body "$1" | jq -c 'select(.sample == "server")' | jq -c "$2"
}

trailer() { # RESULTS JQ-FILTER
	plain "$1" | tail -1 | jq -c ".end.server | $2"
}

metrics_server() { # NAME MODE [FILE]: $METRICS is its URL
	python3 "$TESTS/metrics_server.py" "$2" ${3+"$3"} >"port.$1" 2>"err.$1" &
	stop_at_exit $!
	wait_for test -s "port.$1" || not_ok "the server $1 starts" "$(cat "err.$1")"
	METRICS=http://127.0.0.1:$(cat "port.$1")
}

# ---- a whole run against the simulated server -------------------------------------------------------------------------

# Latencies far from the bounds of buckets, so that a busy machine moves no quantile by two: ITL 35 ms in 25 to 50, TTFT up to 70 ms.
server_start --seed 3 --step-base 35ms --step-per-seq 0 --prefill-rate 1000M
"$BIN/ipf-prep" -n 60 synthetic --output-tokens uniform:8-24 -o t.trace
"$BIN/ipf-sched" --seed 3 poisson:rate=40,n=60 -o s.sched
"$BIN/ipf-fire" -q -u "$URL" -t t.trace s.sched | tee live.records |
	"$BIN/ipf-collect" --scrape sim="$URL" --every 200ms --metric 'vllm:iteration_*' -o live.results 2>collect.err ||
	not_ok "a run with scrapes" "$(cat collect.err)"
is "$(cat collect.err)" "" "a run with scrapes"
samples live.results . >sim.samples
for pair in "output_tokens output_tokens" "input_tokens input_tokens"; do
	set -- $pair
	is "$(jq ".counters.$1 // 0" sim.samples | jq -s add)" \
		"$(body live.results | jq -s "map(select(.n != null).$2) | add")" "$1: the server's are the client's"
done
is "$(jq '.counters.requests_ok // 0' sim.samples | jq -s add)" 60 "requests: the server's are the client's"
is "$(jq '.histograms.ttft_ns.count // 0' sim.samples | jq -s add)" 60 "a histogram has each request"
is "$(head -1 sim.samples | jq -c '[has("gauges"), has("counters"), has("interval_ns")]')" "[true,false,false]" \
	"the first scrape has gauges only"
is "$(jq -s --argjson first "$(body live.results | jq -s 'map(.end_ns | numbers) | min')" 'map(.t_ns) | . == sort and .[0] < $first' sim.samples)" true \
	"samples in order, the first before the first answer"
agree() { # a busy machine delays the client and not the simulated server: the best of some runs
python3 - "$1" >quantiles <<'PYTHON'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
rows = [line for line in lines if "n" in line]
itl = next(line for line in lines if line.get("histogram") == "itl_ns")
def low(i): return i if i < 512 else (512 + i % 512) << (i // 512 - 1)
clients = {"ttft_ns": sorted(row["ttft_ns"] for row in rows),
           "itl_ns": [low(i) for i, n in itl["buckets"] for _ in range(n)]}
for name, values in clients.items():
    buckets = {}
    for line in lines:
        if line.get("sample") == "server" and name in line.get("histograms", {}):
            for bound, n in line["histograms"][name]["buckets"]:
                buckets[float("inf") if bound is None else bound] = buckets.get(float("inf") if bound is None else bound, 0) + n
    bounds, total = sorted(buckets), sum(buckets.values())
    for q in (.5, .9):
        below = 0
        for place, bound in enumerate(bounds):
            below += buckets[bound]
            if below >= q * total:
                break
        lowest = bounds[place - 2] if place > 1 else 0
        highest = bounds[min(place + 1, len(bounds) - 1)]
        client = values[int(q * (len(values) - 1))]
        print("agrees" if lowest <= client <= highest else f"{name} {q}: {client} is not within {lowest} to {highest}")
PYTHON
	[ "$(sort -u quantiles)" = agrees ]
}
compared=live.results
for _ in 1 2 3 4; do
	agree "$compared" && break
	compared=again.results
	"$BIN/ipf-fire" -q -u "$URL" -t t.trace s.sched | "$BIN/ipf-collect" --scrape sim="$URL" -o again.results
done
is "$(sort -u quantiles)" agrees "p50 and p90 of TTFT and ITL: the client's are within a bucket of the server's"
is "$(trailer live.results '.targets[0] | [.target, .server, .failed, .scrapes > 2, (.missing | index("spec_drafts") != null)]')" \
	'["sim","vllm",0,true,true]' "the trailer lists the target and what it lacks"

# ---- the same bytes from a file, but for the samples -------------------------------------------------------------------

"$BIN/ipf-collect" --every 200ms -o file.results live.records
body live.results | grep -v '^{"sample":"server"' >live.rows
body file.results >file.rows
same live.rows file.rows "rows are the same without scrapes"

# ---- servers that misbehave ----------------------------------------------------------------------------------------------

set --
for mode in good head body dies garbage big endless bomb escapes redirect resets late; do
	metrics_server $mode $mode "$URL/metrics"
	set -- "$@" --scrape "$mode=$METRICS"
done
printf 'secret-of-the-test\n' >token
metrics_server bearer bearer token
"$BIN/ipf-sched" --seed 3 poisson:rate=30,n=60 -o s.sched
# The run ends when what must come to pass has: on a slow machine, so many megabytes of metrics take longer than the requests.
asked() {
	[ "$(grep -c request err.late)" -ge 3 ] && [ "$(grep -c request err.resets)" -ge 3 ]
}
ends_when_asked() {
	sed -u -n -e '$w last' -e '$!p'
	wait_for asked
	cat last
}
"$BIN/ipf-fire" -q -u "$URL" -t t.trace s.sched | ends_when_asked |
	"$BIN/ipf-collect" "$@" --scrape bearer="$METRICS" --scrape nothing=http://user:password@127.0.0.1:1 --every 200ms \
		--scrape-bearer token --scrape-timeout 3s --metric 'own*' -o bad.results 2>bad.err || not_ok "a run ends" "$(cat bad.err)"
is "$(cat bad.err)" "" "a run with servers that misbehave ends as any other"
is "$(body bad.results | jq -s 'map(select(.n != null and .ok)) | length')" 60 "it has all rows"
for expected in "head:time" "body:time" "dies:closed" "garbage:no metrics: line 1" "big:more than 8 MiB|timed out" \
	"endless:more than 8 MiB|timed out" "bomb:more than 8 MiB" "redirect:HTTP status 302" "nothing:connect" "late:time"; do
	matches "$(trailer bad.results ".targets[] | select(.target == \"${expected%%:*}\").last_error")" "${expected#*:}" \
		"the trailer names what is wrong with ${expected%%:*}"
done
for name in good escapes resets bearer; do
	is "$(trailer bad.results ".targets[] | select(.target == \"$name\") | [.failed, .server]")" '[0,"vllm"]' "$name is scraped"
done
is "$(samples bad.results 'select(.target == "good").counters.output_tokens // empty' | sort -u)" 1000 "each sample has the increase"
is "$(samples bad.results 'select(.target == "resets").counters.output_tokens // empty' | sort -u | xargs)" "10 1000" \
	"a counter that begins again"
matches "$(samples bad.results 'select(.target == "late" and .error)')" '"t_ns"' "a failure is a line of the results"
is "$(plain bad.results | grep -c "$(printf '\033')")" 0 "no escape sequence comes through"
is "$(plain bad.results | grep -c -e secret-of-the-test -e password)" 0 "no secret is in the results"

# ---- what is refused -------------------------------------------------------------------------------------------------------

run "$BIN/ipf-collect" --scrape "$URL" live.records
status_is 2 "records that are complete are refused"
complains ipf-collect "--scrape" "…in one line"
for wrong in ftp://h/x h:80 "a=" "http://"; do
	run "$BIN/ipf-collect" --scrape "$wrong" live.records
	status_is 2 "--scrape $wrong is refused"
	complains ipf-collect "expected [NAME=]URL with http or https, got" "…in one line"
done
run "$BIN/ipf-collect" --scrape http://h/a --scrape http://h/b live.records
complains ipf-collect '"h:80" twice' "two targets of one name are refused"
run "$BIN/ipf-collect" --scrape http://h/a --scrape-bearer missing live.records
complains ipf-collect "missing: cannot open" "a bearer file that is missing"
run "$BIN/ipf-collect" --scrape http://h/a --scrape-bearer '!echo two words' live.records
status_is 2 "a bearer of two words is refused"
run "$BIN/ipf-collect" --scrape http://h/a --scrape-bearer '!exit 7' live.records
complains ipf-collect "failed with status 7" "a command that fails"

# ---- the manual page -------------------------------------------------------------------------------------------------------

known=$(sed -n -e 's/.*NAME("\([^"]*\)").*/\1/p' -e 's/.*BY_POSITION(".*", "\(.*\)").*/\1/p' "$TESTS/../ipf-collect/scrape/server_metrics.c" | sort -u)
for name in $known; do
	grep -q "^\.Ql $name\( ,\)*$" "$TESTS/../ipf-collect/ipf-collect.1" || not_ok "the manual page has $name"
done
between "$(echo "$known" | wc -l)" 100 500 "the manual page has all known names"
