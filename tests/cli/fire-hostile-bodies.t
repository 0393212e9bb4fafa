#!/bin/bash
# Texts trying to leave their places in the body: for each API, requests with them have the shape of those with words, member by member.
# IPF_ROUNDS is the number of requests of a trace, SEED another draw.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
rounds=${IPF_ROUNDS:-8}
seed=${SEED:-1}
echo "# SEED=$seed IPF_ROUNDS=$rounds"

peer_start "$TESTS/helpers/body_keeper.py" kept
read -r port <"$PEER_SAID"
for kind in chats prompts inputs; do
	for texts in plain hostile; do
		python3 "$TESTS/helpers/hostile_bodies.py" make "$seed" "$rounds" $kind $texts >lines
		trace_of lines >$kind.$texts.trace
		ipf-sched -q burst:n="$rounds" -t $kind.$texts.trace -o $kind.$texts.sched
	done
done

apis=0
for api in $(ipf-fire --list-apis | awk '/^[a-z]/ { print $1 }'); do
	for kind in chats prompts inputs; do
		for texts in plain hostile; do
			rm -rf kept && mkdir kept
			run ipf-fire -q --force -u "http://127.0.0.1:$port" -m sim --api "$api" -H 'X-Request-Id: $id' --param 'stop="x"' -t $kind.$texts.trace $kind.$texts.sched -o x.records
			[ "$texts" = hostile ] || plain_status=$status
			rm -rf $texts && cp -r kept $texts
			[ -n "$(ls $texts)" ] || continue 2
		done
		apis=$((apis + 1))
		is "$status" "$plain_status" "$api, $kind: the run ends in the same way"
		python3 "$TESTS/helpers/hostile_bodies.py" compare plain hostile >compared
		is "$(tail -n 1 compared | sed 's/^[1-9][0-9]* bodies, //')" "0 wrong" "$api, $kind: no text leaves its place" "$(head -n 3 compared)"
	done
done
at_least "$apis" 20 "APIs are tried"
exit $tap_failed
