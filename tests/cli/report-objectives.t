#!/bin/bash
# --strict with objectives on percentiles, percentiles with failures as infinite, and MLPerf's early-stopping estimates, which a script
# computes again from their definition.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
export IPF_REPORT_FULL=1 # all sections of the text
report=$BIN/ipf-report
made() { python3 "$TESTS/helpers/queue_results.py" "$@"; }
made 20:10 40:20 >good.results
made --fail 0.05 --spread 40:30 60:20 >failing.results
made 40:20 >one.results
made --fail 0.03 --spread 40:30 >refused.results

# ---- --strict ----
run "$report" --strict --slo p99:e2e=100s,ttft=1us one.results
status_is 0 "--strict: a percentile that is met; an objective of each request is no percentile"
run "$report" --strict --slo p99:e2e=100s,p50:e2e=1ms one.results
status_is 4 "a percentile that is missed"
complains ipf-report "p50:e2e=1ms: missed: 100 ms (--strict)" "--strict names the missed percentile and its value"
contains "$(cat "$OUT")" "missed: 100 ms" "below a whole report"
run "$report" --slo p50:e2e=1ms one.results
status_is 0 "a missed percentile without --strict ends with 0"
run "$report" --strict --slo p99:e2e=100s --errors-as-inf refused.results
status_is 4 "a percentile among the failed requests"
complains ipf-report "p99:e2e=100s: missed: inf ms" "a percentile among failures is infinite"

# ---- failures as infinite, beside ----
"$report" failing.results >failing.txt
is "$(grep -B9 'with failures' failing.txt | awk '/^  [A-Z]/ { name = $1 } /with failures/ { print name }' | tr '\n' ' ')" "TTFT TTFA TPOT E2E " "TTFT, TTFA, TPOT and E2E with failures"
matches "$(grep 'with failures' failing.txt | tail -1)" ' inf +inf$' "p99 and maximum with failures are infinite"
is "$("$report" good.results | grep -c 'with failures')" 0 "the text without failures has no rows of them"
is "$("$report" --errors-as-inf failing.results | grep -c 'with failures')" 0 "--errors-as-inf has no rows of failures"
is "$(sed -E 's/…|▁|▂|▃|▄|▅|▆|▇|█/./g' failing.txt | awk '{ gsub(/[^ -~]/, "?") } length > 80')" "" "rows of failures fit into 80 columns"
"$report" -f json failing.results >failing.json
"$report" -f json --errors-as-inf failing.results >as_inf.json
is "$(jq -cS '.total.latency_with_failures | [.ttft_ms, .tpot_ms, .e2e_ms]' failing.json)" \
	"$(jq -cS '.total.latency | [.ttft_ms.from_due, .tpot_ms, .e2e_ms.from_due]' as_inf.json)" "JSON: the same as --errors-as-inf computes"
is "$(jq -c '[.stages[].latency_with_failures.e2e_ms.n]' failing.json)" "$(jq -c '[.stages[].requests | .ok + .failed]' failing.json)" "stages have latencies with failures"
is "$("$report" -f json good.results | jq -c '[.. | objects | select(has("latency_with_failures"))]')" "[]" "absent without failures"

# ---- early stopping ----
"$report" -f json --early-stopping failing.results >early.json
cat >early.py <<'END'
import json
import math
import sys
from fractions import Fraction

def discard(n, p):
    """The largest t such that P[Binomial(n, 1 - p) <= t] < 0.01, by exact fractions."""
    above, total, t = 1 - p, Fraction(0), 0
    for k in range(n + 1):
        total += math.comb(n, k) * above**k * p ** (n - k)
        if total >= Fraction(1, 100):
            return t
        t = k
    return t

rows = [json.loads(line) for line in open(sys.argv[1])][1:-1]
answer = {}
for metric in ("ttft", "tpot", "e2e"):
    values = sorted(row.get(metric + "_ns", 0) + (row["lag_ns"] if metric != "tpot" else 0) if row["ok"] else math.inf for row in rows)
    answer[metric + "_ms"] = one = {}
    for name in ("90", "95", "97", "99", "99.9"):
        t = discard(len(values), Fraction(name) / 100)
        if t > 0:
            value = values[len(values) - t]
            one["p" + name] = "inf" if math.isinf(value) else round(value / 1e6, 6)
print(json.dumps(answer, sort_keys=True))
END
head -301 failing.results >part # fewer rows: exact fractions take their time
head -1 part >header
sed 1d part >body
seal header body >part.results
"$report" -f json --early-stopping part.results | jq -cS '.total.early_stopping | {ttft_ms, tpot_ms, e2e_ms}' >ours
python3 early.py part.results | jq -cS . >theirs
same ours theirs "early stopping, by exact fractions"
is "$(jq -c '.e2e_ms | keys' ours)" '["p90","p95","p97"]' "300 requests say nothing of p99"
is "$(jq -c '.total.early_stopping.e2e_ms | has("p99")' early.json)" true "2,400 requests are enough for p99"
run "$report" --early-stopping failing.results
matches "$(cat "$OUT")" '^Early stopping, ms +p90 +p95 +p97 +p99 +p99.9$' "text has a table"
is "$(sed -E 's/…|▁|▂|▃|▄|▅|▆|▇|█/./g' "$OUT" | awk '{ gsub(/[^ -~]/, "?") } length > 80')" "" "the table of early stopping fits into 80 columns"
is "$("$report" -f json good.results | jq -c '[.. | objects | select(has("early_stopping"))]')" "[]" "JSON has early stopping only if asked for"

# ---- latencies answering do not have ----
made 20:2 | jq -c 'if .n == 0 then del(.ttft_ns, .ttfa_ns, .tpot_ns, .output_tokens)
	elif .n == 1 then del(.ttfa_ns)
	elif .n == 2 then del(.tpot_ns) | .output_tokens = 1 else . end' >lacking.results
lacking() { "$report" "$@" lacking.results 2>/dev/null; }
is "$(lacking -f json --slo ttft=1h,ttfa=1h,tpot=1h,e2e=1h | jq -c '.total.goodput | [.good, .of, (.of as $of | .objectives | map([(.share * $of | round), .absent]))]')" \
	'[35,37,[[36,1],[35,2],[36,1],[37,null]]]' "an empty answer has no TTFT and TPOT, reasoning no TTFA, one token needs no TPOT"
is "$(lacking -f json --slo p50:ttft=1h,p99:ttft=1h | jq -c '.total.goodput.objectives | map([.met, .absent])')" '[[true,1],[false,1]]' "a latency that never came is infinite in a percentile"
matches "$(lacking --slo ttft=1h)" '1 successful request without ttft: not met' "the report says how many"
matches "$(lacking --slo p99:ttfa=1h)" 'missed: among the requests without one' "the report says that a percentile lies among absent latencies"
