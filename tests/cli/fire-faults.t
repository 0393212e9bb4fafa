#!/bin/bash
# Whatever servers and networks do, every request is accounted for, under its kind.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 12 -n 10 -q -o chat.trace
ipf-sched burst:n=6 -t chat.trace -q -o chat.sched

fire() { # ARGUMENTS OF ipf-fire…: rows
	run ipf-fire -m sim -t chat.trace chat.sched "$@"
	status_is 0 "ipf-fire $* ends with 0"
	yes_if "ipf-fire $* writes whole records" whole "$OUT"
	requests "$OUT" >rows
	is "$(jq -s -c 'map(.n) | sort' rows)" "[0,1,2,3,4,5]" "every request is recorded once"
}
all() { # FILTER EXPECTED TEXT: of each row
	is "$(jq -c "$1" rows | sort -u)" "$2" "$3"
}

# ---- useless servers ----
awkward() { # MODE: $URL
	peer_start "$TESTS/awkward.py" "$1"
	URL=$PEER_URL
}
if command -v python3 >/dev/null; then
	awkward silent
	for connections in reuse fresh 2 session; do
		fire -u "$URL" --timeout 2s --connections $connections
		all '[.error.kind, .status, .sent_ns != null, .first_byte_ns]' '["timeout",null,true,null]' "a server that never answers ($connections)"
	done
	fire -u "$URL" --first-token-timeout 200ms
	all '[.error.kind, .error.text]' '["timeout","no first token within 200 ms"]' "a server that never answers gives no first token"
	fire -u "$URL" --cancel 100%@100ms
	all '[.error.kind, .status]' '["hung-up",null]' "--cancel disconnects from a silent server"
	fire -u "${URL/http:/https:}" --connect-timeout 3s
	all '[.error.kind, .connect_ns != null, .sent_ns]' '["tls",false,null]' "a TLS handshake that nobody answers"
	fire -u "$URL" --http 2-prior --timeout 300ms
	all '[.error.kind, .status]' '["timeout",null]' "HTTP/2 to a silent server ends with a timeout"
	peer_stop
	awkward full
	fire -u "$URL"
	all .status 200 "a full listen queue: all are answered"
	late=$(jq -s '[.[] | select(.connect_ns - .start_ns >= 9e8)] | length' rows)
	between "$late" 3 6 "a full listen queue: most connections take a second, until a SYN is sent again" # exact: the server counts the connections
	is "$(body "$OUT" | jq -s '[.[] | .client.syn_retransmits | values] | last')" "$late" "the SYNs that were sent again are counted"
	ipf-collect -q "$OUT" -o full.results
	matches "$(ipf-report full.results)" "$late connections took a second or more, until a SYN was" "the report counts late connections"
	peer_stop
	awkward deaf
	jq -n -c '{id: "big", messages: [{role: "user", content: ("many words " * 900000)}], output_tokens: 4}' >line
	trace_of line >big.trace
	ipf-sched burst:n=1 -t big.trace -q -o big.sched
	run ipf-fire -m sim -t big.trace big.sched -u "$URL" --timeout 400ms
	is "$(body "$OUT" |
		jq -c 'select(.n != null) | [.error.kind, .sent_ns, .connected_ns]')" '["timeout",null,null]' "a server that does not read: it was never sent whole"
	peer_stop
	awkward reset
	fire -u "$URL"
	all '[.error.kind, .status, .error.stale]' '["reset",null,null]' "a reset in place of an answer"
	fire -u "$URL" --connections 1
	all '.error.kind' '"reset"' "a reset in place of an answer is recorded with one connection"
	fire -u "$URL" --http 2-prior
	is "$(jq -r .error.kind rows | sort -u | grep -v -e reset -e cut)" "" "a reset in place of an answer is recorded with HTTP/2"
	peer_stop
	awkward close
	fire -u "$URL"
	is "$(jq -r .error.kind rows | sort -u |
		grep -v -e cut -e reset)" "" "a connection that is closed in place of an answer"
	all '.status' null "a closed connection in place of an answer gives no status"
	peer_stop
	awkward unbound
	fire -u "$URL" --timeout 120s
	all '[.error.kind, .body]' '["too-large",null]' "an answer whose head never ends"
	peer_stop
else
	skip "servers that are no use" "python3 is not installed"
fi

# ---- the wrong door ----
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost >/dev/null 2>&1
openssl s_server -accept 127.0.0.1:0 -cert cert.pem -key key.pem </dev/null >heard 2>&1 &
stop_at_exit $!
port() { sed -n 's/^ACCEPT .*:\([0-9]*\)$/\1/p' heard | head -1 | grep .; }
if wait_for port; then
	fire -u "http://127.0.0.1:$(port)" --timeout 120s
	is "$(jq -r .error.kind rows | sort -u |
		grep -v -e malformed -e reset -e cut -e connect)" "" "HTTP to a server that speaks TLS is an error"
	all '.status' null "HTTP to a server that speaks TLS has no status"
else
	skip "HTTP to a server that speaks TLS" "openssl s_server does not tell its port"
fi
if command -v python3 >/dev/null; then
	# ---- servers breaking connections with requests on them; faults/network.tsv has more ----
	cat cert.pem key.pem >own.pem
	printf '%s\n' $'-\tcrash\traw h2 ; h2request ; head ; data $EVENT ; close' \
		$'-\talert\traw tls own ; request ; say $HEAD ; chunk $EVENT ; alert ; close' >scripts
	scripts_start
	fire -u "$(script_url crash)" --http 2-prior
	all '[.error.stale, .connection.stale_idle_ns]' '[null,null]' "HTTP/2: a new connection that breaks with requests on it had not been kept idle"
	ipf-collect -q "$OUT" -o crash.results
	ipf-report -f json crash.results >crash.json
	is "$(jq -c '[.total.requests.failed, (.verdict.checks[] | select(.name == "server_answers") | .failed)]' crash.json)" '[6,6]' "requests on a broken HTTP/2 connection are failures of the server"
	fire -u "$(script_url alert | sed 's,http://127.0.0.1,https://localhost,')" --cacert cert.pem
	all '[.error.kind, .status, (.body | length > 0)]' '["reset",200,true]' "TLS that breaks within an answer is no failed handshake"
fi
server_start
fire -u "${URL/http:/https:}" --connect-timeout 5s
all '[.error.kind, .status]' '["tls",null]' "TLS to a server that speaks none"
fire -u "$URL" --http 2-prior --timeout 2s
is "$(jq -r .error.kind rows | sort -u |
	grep -v -e malformed -e reset -e cut -e timeout)" "" "HTTP/2 to a server that speaks none is an error"
all '.status' null "HTTP/2 to a server without it has no status"

# ---- one of two goes away ----
first=$URL FIRST=$SERVER
server_start
ipf-sched constant:rate=60,n=90 -t chat.trace -q -o long.sched
mkfifo held
ipf-fire -q -m sim -t chat.trace - -u "$first" -u "$URL" -o two.records <held &
fire=$!
stop_at_exit $fire
# Two thirds of the schedule come when the first server is gone.
exec 8>held
head -31 long.sched >&8
answered() { plain two.records | grep -q '"status":200'; }
wait_for answered
kill -9 "$FIRST"
tail -n +32 long.sched >&8
exec 8>&-
wait $fire
status=$?
status_is 0 "the run goes on when one of two servers has gone"
requests two.records >rows
is "$(wc -l <rows)" 90 "every request is recorded"
is "$(jq -c 'select(.target == 1) | .error' rows | sort -u)" null "requests to the other server are answered"
is "$(jq -s '[.[] | select(.target == 0 and .error.kind == "connect")] | length > 5' rows)" true "requests to the missing server fail"
server_stop

# ---- lookups of names taking longer than a connection may ----
if [ -n "${SANITIZE:-}" ]; then
	skip "lookups that take long" "sanitizers are loaded first"
else
	server_start
	LOOKUP="127.0.0.1 stuck" LD_PRELOAD=$BUILD/tests/lookup.so fire -u "http://model.test:${URL##*:}" --dns each --connections fresh --connect-timeout 200ms
	all '[.error.kind, .status]' '["connect",null]' "a lookup that never ends is given up after --connect-timeout, and the run ends without it"
	server_stop
fi

# ---- fewer files than connections ----
server_start --step-base 20ms --step-per-seq 0
ipf-sched closed:users=200,n=300 -t chat.trace -q -o users.sched
ipf-sched constant:rate=2000,n=300 -t chat.trace -q -o open.sched
few() { # ARGUMENTS OF ipf-fire…: 100 files leave 36 connections
	run bash -c 'ulimit -n 100 && exec "$0" "$@"' "$BIN/ipf-fire" -m sim -t chat.trace -u "$URL" "$@"
}
few users.sched
status_is 1 "a closed loop of more users than files"
complains ipf-fire "stage closed needs 200 concurrent connections, but the limit of open files allows only 36: raise ulimit -n, or limit the connections with users= of the stage" \
	"ipf-fire says how many connections the closed loop needs"
few users.sched --connections 37
complains ipf-fire "stage closed needs 37 concurrent connections, but the limit of open files allows only 36" "ipf-fire refuses a pool larger than the limit of files"
for pool in 36 12; do
	few users.sched --connections $pool
	status_is 0 "a pool of $pool goes on with them"
	is "$(body "$OUT" | jq -c 'select(.n != null) | .error' | sort | uniq -c |
		tr -s ' ')" " 300 null" "requests through a pool of $pool are answered"
done
few open.sched
status_is 0 "an open loop may need them or not"
stderr_contains "requests could not be sent: out of open files (raise ulimit -n)" "ipf-fire says that requests could not be sent for lack of files"
cp "$OUT" few.records
ipf-collect -q few.records -o few.results
ipf-report -f json few.results >report.json
is "$(jq -c '[.total.requests | .scheduled, .started, .ok + .failed, .failed == .errors.connect, .ok > 20]' report.json)" '[300,300,300,true,true]' "requests without a file are recorded"
is "$(jq -r '.verdict.checks[] | select(.name == "client_headroom") | .status' report.json)" INVALID "requests without a file are a fault of the client" # exact: by the count of unsent requests

# All due at one time have to be sent at once, however they came to be.
sent() { jq -s -c 'map(.error) | [length, (map(select(. != null)) | length)]' <<<"$(requests "$OUT")"; }
refused() { # TEXT ARGUMENTS OF ipf-fire…
	few "${@:2}"
	status_is 1 "ipf-fire refuses $1"
	complains ipf-fire "needs 40 concurrent connections, but the limit of open files allows only 36: raise ulimit -n, or limit the connections with slots= of the stage or --connections N" \
		"ipf-fire says how many connections it needs: $1"
}
goes() { # TEXT COUNT ARGUMENTS OF ipf-fire…
	few "${@:3}"
	status_is 0 "ipf-fire ends with 0: $1"
	is "$(sent)" "[$2,0]" "requests succeed: $1"
}
ipf-sched burst:n=40 -t chat.trace -q -o forty.sched
refused "a burst of more requests than files" forty.sched
refused "a burst of more requests than files, standard input from a file" - <forty.sched
refused "a burst of more requests than files, header from a pipe" <(cat forty.sched)
zstd -q -c forty.sched >forty.sched.zst
refused "a burst of more requests than files, compressed" forty.sched.zst
ipf-sched poisson:rate=100,n=9 burst:n=40 -t chat.trace -q -o later.sched
refused "a burst of more requests than files, in a later stage" later.sched
refused "a burst of more requests than files, after --warm" later.sched --warm 2
is "$(head -c 100000 "$OUT" | wc -c)" 0 "ipf-fire writes nothing if it refuses the burst"
sed '1s/"kind":"burst"/"kind":"mine"/' forty.sched >mine.sched
refused "arrivals of any kind that are due at one nanosecond" mine.sched
goes "a pool is enough for it" 40 forty.sched --connections 36
ipf-sched burst:n=40,slots=36 -t chat.trace -q -o slots.sched
goes "slots that are enough for the burst" 40 slots.sched
ipf-sched burst:n=36 -t chat.trace -q -o fits.sched
goes "a burst of as many requests as files" 36 fits.sched
few forty.sched --http 2-prior --streams 2
status_is 0 "requests that share connections need fewer"
few forty.sched --http 2-prior --streams 1
status_is 1 "HTTP/2 with one stream a connection needs a file a request"
few forty.sched --http 2-prior --connections fresh
status_is 1 "fresh HTTP/2 connections need a file a request"

# Later turns come later; whether there are any, the header does not say, but the arrivals and the trace do.
ipf-prep sharegpt "$ROOT/examples/chat.json" --turns all --output-tokens 4 -q -o talk.trace
ipf-sched burst:n=30 -t talk.trace -q -o talk.sched
talks=$(body talk.sched | grep -c '"n"')
between "$talks" 37 1000 "sessions of many turns"
talk() { run bash -c 'ulimit -n 100 && exec "$0" "$@"' "$BIN/ipf-fire" -m sim -t talk.trace -u "$URL" "$@"; }
talk talk.sched
stderr_is "" "thirty sessions at once are thirty requests"
is "$(sent)" "[$talks,0]" "sessions within the limit of files succeed"
talk <(cat talk.sched)
stderr_contains "stage burst may need $talks concurrent connections, but the limit of open files allows only 36" "ipf-fire warns of too few files for a schedule from a pipe"
is "$(sent)" "[$talks,0]" "requests of a schedule from a pipe succeed"
ipf-sched "closed:users=60,n=30" -t talk.trace -q -o talk.sched
talk talk.sched
is "$(sent)" "[$(body talk.sched | grep -c '"n"'),0]" "more users than there are sessions for do not count"
# Those who come one after another, or think, need not be there all at once.
ipf-sched closed:users=60,for=1s,rampup=900ms,think=800ms -t chat.trace -q -o ramp.sched
few ramp.sched
status_is 0 "users who come over some time and think may be answered by few connections"
stderr_contains "stage closed may need 60 concurrent connections, but the limit of open files allows only 36: raise ulimit -n" "ipf-fire warns that users may need more connections than files"
ipf-sched closed:users=60,for=1s,rampup=900ms -t chat.trace -q -o ramp.sched
few ramp.sched
status_is 1 "ipf-fire refuses users who never pause and need too many files"
server_stop

# ---- everything at once, and an end coming early ----
server_start --fail reset:share=0.1 --fail cut:share=0.1 --fail status:share=0.1 --fail never:share=0.1 --fail garbage:share=0.05 --fail error-inband:share=0.1 \
	--fail malformed:share=0.05
ipf-sched poisson:rate=200,n=600 -t chat.trace -q -o long.sched
ipf-fire -v -m sim -t chat.trace long.sched -u "$URL" --timeout 1s --grace 200ms --cancel 10%@30ms --connections 20 -o all.records 2>said &
fire=$!
stop_at_exit $fire
many() { [ "$(plain all.records 2>/dev/null | wc -l)" -gt 200 ]; }
wait_for many
kill -INT $fire
wait $fire
status=$?
status_is 0 "a run of many kinds of failures, and interrupted, ends in order"
yes_if "records of an interrupted run with failures are whole" whole all.records
requests all.records >rows
is "$(jq -s 'map(.n) | length == (unique | length)' rows)" true "no request of an interrupted run is recorded twice"
is "$(sed -n 's/.* \([0-9]*\) requests started.*/\1/p' said)" "$(wc -l <rows)" "ipf-fire counts as many started requests as rows"
ipf-collect -q all.records -o all.results
ipf-report -f json all.results >report.json
is "$(jq -c '.total.requests | [.scheduled, .started == .ok + .failed + .hung_up, .hung_up > 0]' report.json)" '[600,true,true]' \
	"scheduled = answered + failed + hung up + not started"
is "$(jq '.total.requests | .failed - ([.errors[]] | add)' report.json)" 0 "every failure is of one kind"
between "$(jq -r '.total.requests.errors | keys | length' report.json)" 5 11 "failures are of many kinds"
