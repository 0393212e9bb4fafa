#!/usr/bin/env bash
# Measures a server on a Slurm cluster: submit.sh [SETTINGS]. Call it where sbatch works; it returns at once and prints the folder of the run.
#
# Three jobs: the clients, an array waiting on cheap nodes; the server, for which GPUs are allocated when all clients run; and the report when
# the clients have ended. The number of the array names the run.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
settings=$(realpath "${1:-$here/settings.sh}")
# shellcheck source=examples/slurm/settings.sh
. "$settings"

# If a job is refused, those before it are cancelled: a held array would stay for good.
jobs=()
finish() {
	[ ${#jobs[@]} -eq 0 ] || { echo "submit.sh: not submitted; cancelling ${jobs[*]}" >&2; scancel "${jobs[@]}"; } || :
}
trap finish EXIT

mkdir -p "$RUNS"
runs=$(realpath "$RUNS")
# held, so its folder is there before it begins
run=$(sbatch --parsable --hold --job-name=ipf-shards --array="1-$SHARDS" --output="$runs/%A/shard-%a.log" "${CLIENT_JOB[@]}" \
	"$here/ipf.sbatch" "$here" shard "$runs")
run=${run%%;*}
jobs+=("$run")
folder=$runs/$run
mkdir "$folder"
cp "$settings" "$folder/settings.sh"
server=$(sbatch --parsable --job-name="ipf-server-$run" --dependency="after:$run" --output="$folder/server.log" "${SERVER_JOB[@]}" \
	"$here/ipf.sbatch" "$here" serve "$folder")
server=${server%%;*}
jobs+=("$server")
sbatch --parsable --job-name="ipf-report-$run" --dependency="afterany:$run" --output="$folder/report.log" "${REPORT_JOB[@]}" \
	"$here/ipf.sbatch" "$here" report "$folder" "$server" >"$folder/report.job"
report=$(cat "$folder/report.job")
jobs+=("${report%%;*}")
scontrol release "$run"
jobs=()
echo "$folder"
