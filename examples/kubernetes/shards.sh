#!/bin/sh
# A pod of the Indexed Job in sharded/: shards.sh. The image has it in /usr/local/share/ipf.
#
# Index 0 waits until the server and all clients are ready, decides when they start, merges their records when they have ended, and
# reports. Index K from 1 to SHARDS is a client: it prepares part K of the schedule, waits for the start, and sends. They meet in the
# folder RUN of the volume at /work. The load is run.mk's, from the same variables.
#
#   SHARDS=          how many clients
#   RUN=             the folder, another one for each run
#   START_IN=20      seconds from when all are ready to the start: longer than it takes until all pods see a new file
#   READY=30m        how long the server may take to become ready
#   SILENCE=120      seconds after which a client whose records do not grow is given up
set -u
folder=/work/$RUN
mk=/usr/local/share/ipf/run.mk
url=$URL
mkdir -p "$folder" || exit 1

client() { # K
	out=$folder/shard-$1
	mkdir "$out" || exit 1
	trap 'status=$?; echo "$status" >"$out/status"; exit "$status"' EXIT
	trap 'exit 143' TERM
	echo "${NODE_NAME:-$(hostname)}" >"$out/node"
	# one trace for all, which SALT fixes
	export OUT="$out" SALT="${SALT:-$RUN}" IPF_SCHED_SHARD="$1/$SHARDS"
	make -f "$mk" schedule || exit
	touch "$out/ready"
	while [ ! -s "$folder/start" ]; do
		[ ! -s "$folder/stop" ] || { cat "$folder/stop" >&2; exit 1; }
		sleep 1
	done
	# After the start, ipf-fire refuses to send, and says by how much it is late.
	IPF_FIRE_START_AT=$(cat "$folder/start") make -f "$mk" "$out/records.zst" &
	pid=$!
	trap 'kill -TERM $pid' TERM
	while kill -0 $pid 2>/dev/null; do wait $pid; status=$?; done
	exit $status
}

count() { # FILE: how many clients have it
	find "$folder" -path "*/shard-*/$1" | wc -l
}

give_up() { # WHY
	echo "$1" >"$folder/stop.new"
	mv "$folder/stop.new" "$folder/stop"
	echo "$1" >&2
	exit 1
}

# Has every client ended, or has nothing come from it for SILENCE seconds?
all_ended() {
	for k in $(seq "$SHARDS"); do
		[ -e "$folder/shard-$k/status" ] || [ -z "$(find "$folder/shard-$k" -newer "$folder/pulse" -name '*records.zst')" ] || return 1
	done
}

lead() {
	[ ! -e "$folder/start" ] || give_up "the folder $RUN has a run already"
	trap 'give_up "the pod that decides the start was ended"' TERM
	# one request, which also shows the model answers
	ipf-prep synthetic -n 1 --input-tokens 16 --output-tokens 1 -q -o /tmp/probe.trace || exit
	ipf-fire -q -u "$url" ${MODEL:+-m "$MODEL"} ${API:+--api "$API"} -t /tmp/probe.trace --wait-ready "${READY:-30m}" \
		--probe -o /tmp/probe.records || give_up "the server at $url was not ready within ${READY:-30m}"
	while [ "$(count ready)" -lt "$SHARDS" ]; do
		[ "$(count status)" -eq 0 ] || give_up "a client ended before the start: see the logs of the pods"
		sleep 1
	done
	echo "@$(($(date +%s) + ${START_IN:-20}))" >"$folder/start.new"
	mv "$folder/start.new" "$folder/start"
	sleep "${START_IN:-20}"
	while :; do
		# lines older than this file are not printed
		touch -d "@$(($(date +%s) - ${SILENCE:-120}))" "$folder/pulse"
		[ "$(count status)" -lt "$SHARDS" ] || break
		[ "$(($(date +%s) - $(tr -d @ <"$folder/start")))" -lt "${SILENCE:-120}" ] || ! all_ended || break
		sleep 1
	done
	report
}

report() {
	failed=
	for k in $(seq "$SHARDS"); do
		status=$(cat "$folder/shard-$k/status" 2>/dev/null)
		[ "$status" = 0 ] || failed="$failed${failed:+; }shard $k on $(cat "$folder/shard-$k/node"): ${status:-did not end}"
	done
	[ -z "$failed" ] || set -- --meta "failed=$failed"
	echo "${failed:-all clients ended well}"
	push=
	for url in ${PUSH_REPORT:-}; do push="$push --push $url"; done
	# Status 3: some of the records were cut; the report says which.
	ipf-collect -q "$folder"/shard-*/*records.zst -o "$folder/results.zst" || [ $? = 3 ] || exit 1
	# shellcheck disable=SC2086 # URLs are words
	ipf-report "$@" -f json -o "$folder/report.json" "$folder/results.zst" &&
		ipf-report "$@" -f html -o "$folder/report.html" \
			${UPLOAD:+--upload "${UPLOAD%/}/$RUN/report.html" --upload-file "$folder/report.json" --upload-file "$folder/results.zst"} \
			$push "$folder/results.zst" &&
		ipf-report "$@" --strict "$folder/results.zst"
}

if [ "$JOB_COMPLETION_INDEX" = 0 ]; then lead; else client "$JOB_COMPLETION_INDEX"; fi
