# A small whole run for the tests needing streams of all four kinds: source it after tap.sh.
# shellcheck shell=sh

ROOT=$TESTS/..
PATH=$BIN:$PATH

# chat.trace, chat.sched, chat.records, chat.results: twelve requests (or COUNT) in half a second. Starts a server where there is
# none.
small_run() { # [COUNT]
	small_count=${1:-12}
	[ -n "${URL:-}" ] || server_start
	small_run_steps || {
		not_ok "a small run to test with" "exit status $?" "$(cat "$ERR")"
		exit 1
	}
}

small_run_steps() {
	run ipf-prep sharegpt "$ROOT/examples/chat.json" -o chat.trace && [ "${status:-}" = 0 ] &&
		run ipf-sched "constant:rate=$((small_count * 2)),n=$small_count" -t chat.trace -o chat.sched &&
			[ "$status" = 0 ] &&
		run ipf-fire -u "$URL" -m sim -t chat.trace chat.sched -o chat.records && [ "$status" = 0 ] &&
		run ipf-collect chat.records -o chat.results && [ "$status" = 0 ]
}

# Plays the scripts of the file `scripts` (faults/fault_server.py), each at an address of its own.
scripts_start() {
	peer_start "$TESTS/faults/fault_server.py" scripts .
	wait_for grep -q '^end' "$PEER_SAID"
}
script_url() { # NAME
	awk -v name="$1" '$2 == name { print "http://127.0.0.1:" $1 }' "$PEER_SAID"
}

# Is the stream whole: a trailer that counts its lines right and has their digest?
whole() { # FILE
	plain "$1" >whole.plain || return 1
	[ "$(tail -1 whole.plain | jq -r .end.lines)" = "$(($(wc -l <whole.plain) - 2))" ] || return 1
	[ "$(tail -1 whole.plain | jq -r .end.sha256)" = "$(sed -e 1d -e '$d' whole.plain | openssl dgst -sha256 -r |
		cut -d ' ' -f 1)" ]
}
