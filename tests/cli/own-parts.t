#!/bin/bash
# Headers and body members of single requests ("headers" and "body" of ipf-trace(5)): their arrival at a server keeping them, over HTTP/1.1 and 2, of
# later turns too; and refusals.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/nginx.sh"
PATH=$PATH:/usr/sbin

# A trace with members added to its lines by a jq program.
remake() { # FROM TO PROGRAM
	body "$1" | jq -c "$3" >lines
	seal "$1" lines >"$2"
}

ipf-prep sharegpt "$ROOT/examples/chat.json" --turns all --output-tokens 3 -n 20 -q -o plain.trace
# shellcheck disable=SC2016 # jq's variables
remake plain.trace own.trace '. + {headers: {"X-Tenant": .id, "x-empty": "", "User-Agent": "mine"}, body: {priority: (.id | length), temperature: 0.5, nested: {a: [1, null]}}}'

# ---- requests ----------------------------------------------------------------------------------------------------

mkdir kept
peer_start "$TESTS/helpers/body_keeper.py" kept
URL=$PEER_URL PORT=${PEER_URL##*:}
ipf-sched burst:n=20 -t plain.trace -q -o plain.sched
ipf-sched burst:n=20 -t own.trace -q -o own.sched
# shellcheck disable=SC2016 # the program's variable
send() { run ipf-fire -q -u "$URL" -m sim --no-stream -H 'X-Request-Id: $id' "$@"; }
send -t plain.trace plain.sched -o plain.records
mv kept plain.kept
mkdir kept
held() { # TEXT
	wrong=
	for file in plain.kept/*; do
		name=${file##*/}
		case $name in *.headers) continue ;; esac
		id=$(printf '%s' "$name" | tr _ /)
		cmp -s <(jq -S . "kept/$name") <(jq -S --arg id "$id" '. + {priority: ($id | length), temperature: 0.5, nested: {a: [1, null]}}' "$file") || wrong="$wrong $name"
		is_own='[.[] | select(.[0] | IN("x-tenant", "x-empty", "user-agent"))] | sort'
		[ "$(jq -c "$is_own" "kept/$name.headers")" = "$(jq -nc --arg id "$id" '[["user-agent", "mine"], ["x-empty", ""], ["x-tenant", $id]] | sort')" ] ||
			wrong="$wrong $name.headers"
	done
	is "$wrong" "" "$1: each request has its own members and headers, and nothing else changes"
	is "$(jq -c '[.[][0]] | (length == (unique | length))' kept/*.headers | sort -u)" true "$1: no header is sent twice"
}
send -t own.trace own.sched -o own.records
status_is 0 "a trace with headers and bodies"
held "HTTP/1.1"
is "$(cat plain.kept/*.headers | grep -c x-tenant)" 0 "a trace without them sends none"
is "$(requests own.records | jq -c '[.status, .headers, .tags]' | sort -u)" '[200,null,null]' "records do not have them"

rm -f kept/*
send -t own.trace own.sched --param temperature=1 -H "X-Tenant: all" -o param.records
held "beside --param and --header of the same names"

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem 2>openssl.said
if nginx_start "$PORT"; then
	rm -f kept/*
	URL=http://localhost:$H2C
	send -t own.trace own.sched --http 2-prior -o h2.records
	# nginx adds Host and Connection of its own, and leaves out an empty header
	wrong=$(for file in kept/*.headers; do jq -c '[.[] | select(.[0] == "x-tenant")] | length' "$file"; done | sort -u)
	is "$wrong" 1 "HTTP/2: the headers arrive"
	is "$(cat kept/*.headers | jq -r '.[] | select(.[0] == "x-tenant") | .[1]' | sort)" "$(body own.trace | jq -r .id | sort)" "HTTP/2: those of each request"
	nginx_stop
else
	skip "HTTP/2: the headers arrive" "there is no nginx here"
	skip "HTTP/2: those of each request" "there is no nginx here"
fi
URL=http://127.0.0.1:$PORT

# Later turns are rendered when the turn before has ended.
rm -f kept/*
ipf-sched closed:users=2,n=3 -t own.trace -q -o talk.sched
send -t own.trace talk.sched --history live -o talk.records
is "$(requests talk.records | jq -c .status | sort -u)" 200 "every request of sessions with live answers succeeds"
for file in kept/*; do
	case $file in *.headers) ;; *) jq -c '[.priority, .temperature]' "$file" ;; esac
done | sort -u >priorities
is "$(jq -c '.[1]' priorities | sort -u)" 0.5 "later turns have their own members, too"
run ipf-fire -u "$URL" -m sim -t own.trace --probe -o /dev/null
contains "$(cat "$ERR")" "X-Tenant: [redacted]" "a probe names the headers"

# ---- refusals -------------------------------------------------------------------------------------------------

refused() { # JQ MESSAGE
	remake plain.trace bad.trace "$1"
	run ipf-sched burst:n=2 -t bad.trace
	complains ipf-sched "bad.trace:2: $2" "ipf-sched refuses: $2"
	status_is 3 "wrong headers and members end with 3: $2"
}
refused '. + {headers: {"Host": "evil"}}' "headers: Host: a request of the trace cannot set this header"
refused '. + {headers: {"content-length": "0"}}' "headers: content-length: a request of the trace cannot set this header"
refused '. + {headers: {"Proxy-Anything": "x"}}' "headers: Proxy-Anything: a request of the trace cannot set this header"
refused '. + {headers: {"Authorization": "Bearer x"}}' "headers: Authorization: a trace has no credentials; use ipf-fire --key-env or --header"
refused '. + {headers: {"cookie": "x"}}' "headers: cookie: a trace has no credentials"
refused '. + {headers: {"X-A": "b\r\nHost: evil"}}' "headers: X-A: expected a value of one line without control characters"
refused '. + {headers: {"X-A": "b\u0000c"}}' "headers: X-A: expected a value of one line without control characters"
refused '. + {headers: {"X A": "b"}}' 'headers: expected names of headers, got "X A"'
refused '. + {headers: {"X-A: b\r\nX-B": "c"}}' 'headers: expected names of headers, got "X-A: b\r\nX-B"'
refused '. + {headers: {"": "b"}}' 'headers: expected names of headers, got ""'
refused '. + {headers: {"X-A": 1}}' "headers: X-A: expected a text"
refused '. + {body: {"stream": false}}' "body: stream: a request of the trace cannot set it"
refused '. + {body: {"": false}}' 'body: expected names of members, got ""'
refused '. + {body: []}' "body: expected"
remake plain.trace bad.trace '. + {body: {"messages": []}}'
ipf-sched burst:n=2 -t bad.trace -q -o bad.sched
send -t bad.trace bad.sched -o bad.records
stderr_contains 'body: "messages": other members of the request set it' "a member that the API takes from the request is refused"
body bad.trace | sed 's/"body":{"messages"/"body":{"messag\\u0065s"/' >lines
seal plain.trace lines >escaped.trace
ipf-sched burst:n=2 -t escaped.trace -q -o bad.sched
send -t escaped.trace bad.sched -o bad.records
stderr_contains 'body: "messages": other members of the request set it' "however it is written"
yes_if "the escaped trace has the escaped name" grep -q 'messag\\u0065s' escaped.trace

# ---- their traces --------------------------------------------------------------------------------------------

run ipf-prep anonymize own.trace -o anonymous.trace
status_is 0 "ipf-prep anonymize ends with 0 for requests with headers"
is "$(plain anonymous.trace | grep -c 'x-empty\|priority\|X-Tenant')" 0 "leaves them out"
