# Servers of gRPC for the tests needing one: source it after tap.sh. bash.
# shellcheck shell=bash

# A python3 with grpcio and protoc; nothing where there is none.
grpc_python() {
	local python
	for python in python3 /usr/bin/python3; do
		"$python" -c 'import grpc, grpc_tools.protoc' 2>/dev/null && echo "$python" && return
	done
	return 1
}

# Runs a server in Python until the test ends; its first words are in the file $SAID.
python_server() { # PYTHON SCRIPT ARGUMENTS…
	local input
	tap_servers=$((tap_servers + 1))
	SAID=$PWD/tap.server.$tap_servers
	mkfifo "$SAID.input"
	"$@" <"$SAID.input" >"$SAID" 2>"$SAID.err" &
	SERVER=$!
	stop_at_exit "$SERVER"
	exec {input}>"$SAID.input"
	if ! wait_for tap_port_or_gone "$SAID" "$SERVER" || ! [ -s "$SAID" ]; then
		not_ok "$2 starts" "$(cat "$SAID.err")"
		exit 1
	fi
}

