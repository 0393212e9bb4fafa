#!/usr/bin/env bash
# The report: report.sh FOLDER [JOB-OF-SERVER]. Merges the records of all clients, and names the nodes whose client did not end well.
set -uo pipefail
folder=$1
# shellcheck source=examples/slurm/settings.sh
. "$folder/settings.sh"
[ -z "${2:-}" ] || scancel --quiet "$2" # a node failing leaves the server waiting for its client
run=$(basename "$folder")

# The states Slurm has for the tasks of an array: NODE_FAIL, TIMEOUT, … Nothing if it has forgotten them.
squeue --noheader --states=all --jobs="$run" --array --format='%K %T' >"$folder/states" 2>/dev/null || :
failed=''
for shard in $(seq "$SHARDS"); do
	name=$folder/shard-$shard
	node=$(cat "$name.node" 2>/dev/null || echo "a node that did not begin")
	status=$(cat "$name.status" 2>/dev/null || awk -v k="$shard" '$1 == k { print $2 }' "$folder/states")
	[ "$status" = 0 ] || failed="$failed${failed:+; }shard $shard on $node: ${status:-did not end}"
done
notes=(--meta "slurm_job=$run")
[ -z "$failed" ] || notes+=(--meta "failed=$failed")
[ ! -s "$folder/stop" ] || notes+=(--meta "stopped=$(cat "$folder/stop")")
[ ! -s "$folder/server.ended" ] || notes+=(--meta "server=$(cat "$folder/server.ended")")
echo "${failed:-all clients ended well}"

records=("$folder"/shard-*.records.zst)
[ -e "${records[0]}" ] || { echo "no client has sent anything: $(cat "$folder/stop" 2>/dev/null || echo "see $folder/shard-*.log")"; exit 1; }
# Status 3: some of the records were cut; the report says which.
ipf-collect -q "${COLLECT[@]}" "${records[@]}" -o "$folder/results.zst" || [ $? = 3 ] || exit 1
ipf-report "${REPORT[@]}" "${notes[@]}" -f json -o "$folder/report.json" "$folder/results.zst"
ipf-report "${REPORT[@]}" "${notes[@]}" -f html -o "$folder/report.html" "$folder/results.zst"
ipf-report --strict "${REPORT[@]}" "${notes[@]}" -o "$folder/report.txt" "$folder/results.zst"
status=$?
cat "$folder/report.txt"
exit $status
