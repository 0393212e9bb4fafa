# Servers of others told their port instead of finding a free one. Source it after tap.sh.
#
#     listen nghttpd --no-tls -a 127.0.0.1 -d htdocs PORT
#     … "http://127.0.0.1:$PORT" …
#     quit
#
# shellcheck shell=bash

# Starts a server stopped when the test ends. Sets $PORT and $SERVER; where the server does not start, the test ends.
listen() { # COMMAND…, in which PORT stands for the port, as in the file proxy.template, which becomes proxy.conf
	PORT=$(free_ports 1)
	[ ! -e proxy.template ] || sed "s/PORT/$PORT/g" proxy.template >proxy.conf
	"${@//PORT/$PORT}" >listen.said 2>&1 &
	SERVER=$!
	stop_at_exit $SERVER
	wait_for listens_or_gone
	kill -0 $SERVER 2>/dev/null && return 0
	not_ok "$1 starts" "$(cat listen.said)"
	exit 1
}
listens_or_gone() { (exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null || ! kill -0 $SERVER 2>/dev/null; }

# Stops the server started last.
quit() { kill $SERVER && wait $SERVER 2>/dev/null; rm -f proxy.template; }
