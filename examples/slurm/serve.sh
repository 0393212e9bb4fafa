#!/usr/bin/env bash
# The server, and the start: serve.sh FOLDER. It starts the server, waits until it and all clients are ready, writes the time at which
# all clients start, and stops the server when they have ended.
set -uo pipefail
folder=$1
# shellcheck source=examples/slurm/settings.sh
. "$folder/settings.sh"

server='' probe=''
finish() {
	[ "$BASHPID" = $$ ] || return 0 # a child a signal ended before it became its program
	[ -s "$folder/start" ] || [ -s "$folder/stop" ] || stop "the server's job was ended before the start"
	[ -z "$probe" ] || kill "$probe" 2>/dev/null
	[ -z "$server" ] || kill -TERM -- "-$server" 2>/dev/null
	[ -z "$server" ] || wait "$server" 2>/dev/null
}
# Clients waiting for a start read why there is none.
stop() {
	echo "$1" | tee "$folder/stop.new" >&2
	mv "$folder/stop.new" "$folder/stop"
}
give_up() {
	stop "$1"
	exit 1
}
trap finish EXIT
trap 'exit 143' TERM
dead() { [ -n "$server" ] && ! kill -0 "$server" 2>/dev/null; }
count() { find "$folder" -maxdepth 1 -name "shard-*.$1" | wc -l; }

set -m # the server gets a process group, which is stopped with all it started
if [ -n "$SERVER" ]; then
	bash -c "$SERVER" &
	server=$!
fi
url=$(eval "echo \"$URL\"")
echo "$url" >"$folder/url"

# One request, which also shows the model answers.
ipf-prep synthetic -n 1 --input-tokens 16 --output-tokens 1 -q -o "$folder/probe.trace"
ipf-fire -q -u "$url" -m "$MODEL" "${FIRE[@]}" -t "$folder/probe.trace" --wait-ready "$READY" --probe -o "$folder/probe.records" --force &
probe=$!
while kill -0 $probe 2>/dev/null; do
	! dead || { kill $probe; give_up "the server ended before it was ready, see server.log"; }
	sleep 1
done
wait $probe || give_up "the server was not ready within $READY"

while [ "$(count ready)" -lt "$SHARDS" ]; do
	[ "$(count status)" -eq 0 ] || give_up "a client ended before the start, see shard-*.log"
	sleep 1
done
echo "@$(($(date +%s) + START_IN))" >"$folder/start.new"
mv "$folder/start.new" "$folder/start"

while [ "$(count status)" -lt "$SHARDS" ]; do
	! dead || { echo "the server ended during the run" | tee "$folder/server.ended" >&2; exit 1; }
	sleep 1
done
