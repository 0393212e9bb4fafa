#!/bin/sh
# What a pod of a Benchmark runs; the image has it in /usr/local/share/ipf. The load is in variables as of run.mk, and RUN is the name of
# the run's folder on the volume. With SHARDS, it is a pod of shards.sh, of which the first one reports.
#
# In the end, what the operator shows as status is written as the termination message: JSON of at most 4096 bytes, which Kubernetes keeps
# with the pod. With BASELINE, the folder of an earlier run, and FAIL_IF, conditions a line each, the runs are compared; see ipf-report(1).
set -u
here=$(dirname "$0")
work=${WORK:-/work}
folder=$work/$RUN

# The run gets the signals that this shell gets, and has the time to end in good order.
attend() { # COMMAND…
	"$@" &
	pid=$!
	trap 'kill -TERM $pid' TERM INT
	while kill -0 $pid 2>/dev/null; do
		wait $pid
		status=$?
	done
	trap - TERM INT
	return $status
}

if [ "${SHARDS:-1}" -gt 1 ]; then
	attend sh "$here/shards.sh" || exit
	[ "$JOB_COMPLETION_INDEX" = 0 ] || exit 0
else
	IPF_OUT=$folder attend make -f "$here/run.mk" || exit
fi

regression=null
if [ -n "${BASELINE:-}" ]; then
	if [ -s "$work/$BASELINE/results.zst" ]; then
		set --
		while IFS= read -r condition; do set -- "$@" --fail-if "$condition"; done <<END
$FAIL_IF
END
		# it has no objectives
		unset IPF_REPORT_SLO
		ipf-report --compare "$@" -f json -o "$folder/comparison.json" "$work/$BASELINE/results.zst" -- "$folder/results.zst"
		case $? in
		0) regression='""' ;;
		4) regression=$(jq -c '[.fail_if[] | select(.failed) | "\(.condition): \(.detail)"] | join("; ")' "$folder/comparison.json") ;;
		*) exit 1 ;;
		esac
	else
		echo "there is nothing to compare with: $work/$BASELINE/results.zst is missing"
	fi
fi

# Numbers that do not exist are left out. Texts have a length each, so that all of it has less than 4096 bytes.
jq -c --arg folder "$RUN" --argjson regression "$regression" '
	def known: with_entries(select(.value != null));
	.total as $t | {
		verdict: .verdict.status,
		reason: ([.verdict.checks[] | select(.status != "OK") | "\(.name): \(.detail)"] | join("; ") | .[:400]),
		folder: $folder,
		regression: (if $regression == null then null else $regression[:400] end),
		objectives: ([$t.goodput.objectives[]? | .met | select(. != null)] | if length == 0 then null else all end),
		figures: ({
			requests: $t.requests.ok, failed: $t.requests.failed,
			requestsPerSecond: $t.throughput.requests_per_s, outputTokensPerSecond: $t.throughput.output_tokens_per_s,
			ttftP50Ms: $t.latency.ttft_ms.from_start.p50, ttftP99Ms: $t.latency.ttft_ms.from_start.p99,
			tpotP50Ms: $t.latency.tpot_ms.p50, tpotP99Ms: $t.latency.tpot_ms.p99,
			e2eP50Ms: $t.latency.e2e_ms.from_start.p50, e2eP99Ms: $t.latency.e2e_ms.from_start.p99
		} | known)
	} | known' "$folder/report.json" >"${MESSAGE:-/dev/termination-log}"
