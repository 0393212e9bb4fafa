#!/usr/bin/env bash
# The same in an allocation you have, with the report on the terminal: interactive.sh [SETTINGS].
#
#   salloc --nodes=5 examples/slurm/interactive.sh my-settings.sh                  the server on the first node, clients on the others
#   salloc --nodes=1 --gres=gpu:8 : --nodes=4 examples/slurm/interactive.sh …     GPUs for the server only
#
# If there is only one node, server and clients share it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
settings=$(realpath "${1:-$here/settings.sh}")
# shellcheck source=examples/slurm/settings.sh
. "$settings"
: "${SLURM_JOB_ID:?is not set: call this in an allocation, as in salloc --nodes=5 $0}"

folder=$RUNS/$SLURM_JOB_ID
mkdir -p "$RUNS"
mkdir "$folder"
cp "$settings" "$folder/settings.sh"
if [ -n "${SLURM_HET_SIZE:-}" ]; then
	on_server=(--het-group=0 --nodes=1) on_clients=(--het-group=1)
elif [ "$SLURM_JOB_NUM_NODES" -gt 1 ]; then
	on_server=(--nodes=1 --relative=0) on_clients=(--nodes=$((SLURM_JOB_NUM_NODES - 1)) --relative=1)
else
	on_server=(--nodes=1) on_clients=(--nodes=1)
fi

srun "${on_server[@]}" --ntasks=1 --overlap --output="$folder/server.log" bash "$here/serve.sh" "$folder" &
server=$!
trap 'kill $server 2>/dev/null || :; wait $server 2>/dev/null || :' EXIT
# A node failing ends only its own clients.
srun "${on_clients[@]}" --ntasks="$SHARDS" --overlap --no-kill --kill-on-bad-exit=0 --output="$folder/shard-%t.log" bash "$here/shard.sh" "$folder" || :
bash "$here/report.sh" "$folder"
