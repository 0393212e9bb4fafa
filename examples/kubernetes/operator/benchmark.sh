#!/bin/sh
# The script in a pod of a Benchmark; the image has it in /usr/local/share/ipf. The load is in variables as of run.mk, and RUN is the name of
# the run's folder on the volume. With SHARDS, it is a pod of shards.sh, of which the first one reports.
#
# In the end, the status for the operator becomes the termination message: JSON of at most 4096 bytes, which Kubernetes keeps with the pod.
# The report goes to the bucket UPLOAD, into the folder RUN, and to the Pushgateways PUSH_REPORT, as the run PUSH_AS. With BASELINE, the
# folder of an earlier run, and FAIL_IF, conditions a line each, the runs are compared; see ipf-report(1).
set -u
here=$(dirname "$0")
work=${WORK:-/work}
folder=$work/$RUN

# The run gets this shell's signals, and has the time to end in good order.
attend() { # COMMAND…
	"$@" &
	pid=$!
	trap 'kill -TERM $pid' TERM INT
	while :; do
		wait $pid
		ended=$?
		kill -0 $pid 2>/dev/null || break
	done
	trap - TERM INT
	return $ended
}

# It is delivered in the end, by this shell: figures of a run stay figures if a bucket refuses them.
upload=${UPLOAD:-} push=${PUSH_REPORT:-}
unset UPLOAD PUSH_REPORT
status=0
if [ "${SHARDS:-1}" -gt 1 ]; then
	attend sh "$here/shards.sh" || status=$?
	[ "$JOB_COMPLETION_INDEX" = 0 ] || exit "$status"
	[ "$status" -ne 4 ] || status=0 # INVALID, which is a result
else
	OUT=$folder attend make -f "$here/run.mk" || status=$?
fi
[ -s "$folder/report.json" ] || exit "$status"
problem=
[ "$status" -eq 0 ] || problem="the run did not end well: see the log of its pod"

# A step after the run: its failure is the problem the status shows. 4: a condition holds.
step() { # TITLE COMMAND…
	what=$1 errors=${TMPDIR:-/tmp}/step.err result=0
	shift
	attend "$@" 2>"$errors" || result=$?
	cat "$errors" >&2
	[ $result -eq 0 ] || [ $result -eq 4 ] || { problem="$what: $(tail -n 1 "$errors")"; status=1; }
	return $result
}

if [ -n "$upload$push" ]; then
	set --
	[ -z "$upload" ] || set -- --upload "${upload%/}/$RUN/report.html" --upload-file "$folder/report.json" --upload-file "$folder/results.zst"
	for url in $push; do
		case $url in
		*/job/*) ;; # it says which figures these replace
		*) url=${url%/} url=${url%/metrics}/metrics/job/ipf-report/run/$PUSH_AS ;;
		esac
		set -- "$@" --push "$url"
	done
	step "not delivered" ipf-report -q -f html -o "$folder/report.html" "$@" "$folder/results.zst"
fi

regression=null
if [ -n "${BASELINE:-}" ] && [ ! -s "$work/$BASELINE/results.zst" ]; then
	echo "there is nothing to compare with: $work/$BASELINE/results.zst is missing"
elif [ -n "${BASELINE:-}" ]; then
	set --
	while IFS= read -r condition; do set -- "$@" --fail-if "$condition"; done <<END
$FAIL_IF
END
	unset IPF_REPORT_SLO # a comparison has no objectives
	step "not compared" ipf-report compare -q "$@" -f json -o "$folder/comparison.json" "$work/$BASELINE/results.zst" \
		-- "$folder/results.zst"
	case $? in
	0) regression='""' ;;
	4) regression=$(jq -c '[.fail_if[] | select(.failed) | "\(.condition): \(.detail)"] | join("; ")' "$folder/comparison.json") ;;
	esac
fi

# Absent numbers are left out. Texts have a length each, so all of it has less than 4096 bytes.
jq -c --arg folder "$RUN" --argjson regression "$regression" --arg problem "$problem" '
	def known: with_entries(select(.value != null));
	.total as $t | {
		verdict: .verdict.status,
		reason: ([.verdict.checks[] | select(.status != "OK") | "\(.name): \(.detail)"] | join("; ") | .[:400]),
		folder: $folder,
		problem: (if $problem == "" then null else $problem[:400] end),
		regression: (if $regression == null then null else $regression[:400] end),
		objectives: (if .objectives then .objectives | .met != null and .missed == null else [$t.goodput.objectives[]? | .met | select(. != null)] | if length == 0 then null else all end end),
		figures: ({
			requests: $t.requests.ok, failed: $t.requests.failed,
			requestsPerSecond: $t.throughput.requests_per_s, outputTokensPerSecond: $t.throughput.output_tokens_per_s,
			ttftP50Ms: $t.latency.ttft_ms.from_start.p50, ttftP99Ms: $t.latency.ttft_ms.from_start.p99,
			tpotP50Ms: $t.latency.tpot_ms.p50, tpotP99Ms: $t.latency.tpot_ms.p99,
			e2eP50Ms: $t.latency.e2e_ms.from_start.p50, e2eP99Ms: $t.latency.e2e_ms.from_start.p99
		} | known)
	} | known' "$folder/report.json" >"${MESSAGE:-/dev/termination-log}"
exit "$status"
