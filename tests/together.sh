# Requests that reach the simulated server at the same time, whatever the machine does meanwhile. Source it after tap.sh.
#
#     hold
#     for i in 1 2 3; do curl -s "$URL/v1/completions" … & done
#     release 3
#
# shellcheck shell=sh

# Stops the server started last. The system keeps the clients' bytes to it.
hold() { kill -STOP "$SERVER"; }

# Lets it go on when COUNT requests wait for it: it then reads all of them before the next step.
release() { # COUNT
	wait_for together_wait "$1" || not_ok "$1 requests wait for the server that is held" "$(cat /proc/net/tcp)"
	kill -CONT "$SERVER"
}

# Connections to the server that are open and have unread bytes.
together_wait() { # COUNT
	together_port=$(printf '%04X' "${URL##*:}")
	[ "$(awk -v port=":$together_port" 'index($2, port) && $4 == "01" && $5 !~ /:0*$/ { n++ } END { print n + 0 }' /proc/net/tcp)" -ge "$1" ]
}
