#!/usr/bin/env bash
# A client: shard.sh FOLDER, as a task of an array (FOLDER has the runs) or of srun (FOLDER is the run's). It prepares its part of the
# load, waits for serve.sh's start, and sends.
set -uo pipefail
if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
	folder=$1/$SLURM_ARRAY_JOB_ID shard=$SLURM_ARRAY_TASK_ID
else
	folder=$1 shard=$((SLURM_PROCID + 1))
fi
# shellcheck source=examples/slurm/settings.sh
. "$folder/settings.sh"
name=$folder/shard-$shard
work=$(mktemp -d "${TMPDIR:-/tmp}/ipf-shard.XXXXXX") || exit 1

finish() {
	status=$?
	[ "$BASHPID" = $$ ] || return 0 # a child a signal ended before it became its program
	echo "$status" >"$name.status"
	rm -rf "$work"
	exit "$status"
}
trap finish EXIT
trap 'exit 143' TERM

echo "${SLURMD_NODENAME:-$(hostname)}" >"$name.node"
# Each client makes the same trace, byte for byte, and its own part of the schedule.
ipf-prep "${TRACE[@]}" -q -o "$work/trace.zst" || exit
ipf-sched "${STAGES[@]}" -t "$work/trace.zst" --shard "$shard/$SHARDS" -q -o "$work/schedule" || exit
touch "$name.ready"

# Listing a folder makes NFS look for new files.
while ls "$folder" >/dev/null && [ ! -s "$folder/start" ]; do
	[ ! -s "$folder/stop" ] || exit 1
	sleep 1
done
# A late client sends nothing, and says by how much it missed the start.
ipf-fire -q -u "$(cat "$folder/url")" -m "$MODEL" -t "$work/trace.zst" --start-at "$(cat "$folder/start")" "${FIRE[@]}" \
	-o "$name.records.zst" "$work/schedule" &
fire=$!
trap 'kill -TERM $fire' TERM
wait $fire
status=$?
# after a signal, until the requests in flight have ended
while kill -0 $fire 2>/dev/null; do
	wait $fire
	status=$?
done
exit $status
