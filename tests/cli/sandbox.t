#!/bin/bash
# --sandbox of ipf-fire and ipf-collect: the output is the same, and the kernel refuses all calls they do not need.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/nginx.sh"
export TESTS BIN

# To look for leaks, the sanitizer starts a process that traces the program, which --sandbox refuses.
if [ -n "${SANITIZE:-}" ]; then
	export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
	skip "leaks are looked for" "they cannot be looked for within a sandbox"
fi

sandboxed() { ipf-fire --sandbox "$@"; }
mkdir out elsewhere
cp "$ROOT/examples/chat.json" elsewhere/secret
echo ours >elsewhere/victim
server_start --step-base 500us
small_run 12
PORT=${URL##*:}
run ipf-fire --sandbox -u "$URL" -m sim -t chat.trace chat.sched -o first.records
if [ "$status" = 1 ] && grep -q "no filter of system calls\|no filters of system calls" "$ERR"; then
	complains ipf-fire "--sandbox: " "a machine that cannot is told so"
	skip_all "the machine has no filters of system calls"
fi
status_is 0 "a run ends well"

# ---- the same results ----
rows() { # RECORDS: the rows without times
	body "$1" | jq -c 'select(.n != null) | [.n, .req, .stage, .status, .error.kind, .connection.http, .body]' |
		sed 's/chatcmpl[^"]*//g; s/"created[^,]*//g' | sort
}
both() { # TEXT ARGUMENTS OF ipf-fire…
	local text=$1
	shift
	run ipf-fire -m sim -t chat.trace chat.sched "$@" -o without.records
	status_is 0 "$text: ends well without"
	run ipf-fire -m sim -t chat.trace chat.sched "$@" --sandbox -o with.records
	status_is 0 "$text: ends well with --sandbox"
	stderr_is "" "$text: nothing is said"
	rows without.records >without.rows
	rows with.records >with.rows
	is "$(body with.records | jq -s -c '[.[] | select(.n != null).status] | unique')" "[200]" "$text: all are answered"
	same without.rows with.rows "$text: rows are the same with --sandbox"
	yes_if "$text: the records are whole" whole with.records
	is "$(jq -c 'keys' < <(plain with.records | tail -1))" "$(jq -c 'keys' < <(plain without.records | tail -1))" "$text: nothing is missing at the end"
}
both "plain" -u "$URL"
is "$(head -1 with.records | jq -c .argv)" "$(head -1 without.records | jq -c .argv)" "the header does not depend on it"
both "names looked up each time" -u "http://localhost:$PORT" --dns each --connections fresh
both "local addresses, two threads" -u "$URL" --bind 127.0.0.1 --threads 2 --warm 2 --wait-ready 10m --history live
peer_start "$TESTS/proxy.py" proxy.log
both "a proxy that looks names up" -u "http://localhost:$PORT" --proxy "socks5h://localhost:${PEER_URL##*:}"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem 2>openssl.said
if nginx_start "$PORT"; then
	both "TLS" -u "https://localhost:$TLS1" --cacert cert.pem --connections fresh
	both "HTTP/2 over TLS" -u "https://localhost:$TLS" --cacert cert.pem --http 2
	both "a Unix socket" -u http://sim --unix-socket nginx.sock
	SSL_CERT_FILE=$PWD/cert.pem both "certificates of the system" -u "https://localhost:$TLS1"
	nginx_stop
else
	skip "TLS, HTTP/2 and Unix sockets" "there is no nginx"
fi
run ipf-fire -u "$URL" -t chat.trace -m sim --probe --sandbox -o probe.records
status_is 0 "--probe works in a sandbox"

collect() { # TEXT ARGUMENTS OF ipf-collect…: the same bytes
	local text=$1
	shift
	run ipf-collect "$@" chat.records
	cp "$OUT" without.out
	run ipf-collect "$@" --sandbox chat.records
	status_is 0 "ipf-collect, $text: ends well"
	same without.out "$OUT" "ipf-collect, $text: the same bytes"
}
collect "plain"
collect "a tokenizer" -t "$TESTS/data/tokenizer/gpt2.json" --events
collect "--explain" --explain
collect "--check" --check
ipf-collect --sandbox chat.records -o out/new.results.zst && ipf-collect chat.records -o out/old.results.zst
same out/old.results.zst out/new.results.zst "into a file, compressed"
sandboxed -u "$URL" -m sim -t chat.trace chat.sched -o - | ipf-collect --sandbox --listen :0 --scrape "sim=$URL" -o live.results 2>live.err
is "${PIPESTATUS[*]}" "0 0" "a pipeline that is served and scrapes: ends well"
is "$(body live.results | jq -c 'select(.n != null) | .ok' | sort | uniq -c | tr -s ' ')" " 12 true" "a live pipeline in a sandbox has all rows"
is "$(tail -1 live.results | jq -c '.end | [.server.targets[0].failed, (.server.targets[0].scrapes > 0), (.publish | length)]')" "[0,true,1]" "a live pipeline in a sandbox has all scrapes"

# ---- the process from outside ----
mkfifo pipe
ipf-collect --sandbox --listen :0 <pipe >held.results 2>held.err &
COLLECT=$!
stop_at_exit $COLLECT
exec 5>pipe
sed '$d' chat.records >&5
wait_for grep -q '"n":' held.results
field() { sed -n "s/^$1:[[:space:]]*//p" /proc/$COLLECT/task/*/status | sort -u; }
is "$(field Seccomp) $(field NoNewPrivs)" "2 1" "every thread is filtered, and gains no privileges"
[ "$(id -u)" != 0 ] || is "$(($(printf '%d' "0x$(field CapEff)") >> 25 & 1))" 0 "root can no longer set the clock"
AT=$(grep -o 'http://[^/]*' held.err)
matches "$(curl -s "$AT/metrics")" "^ipf_requests_total" "ipf-collect in a sandbox serves its figures"
sed -n '$p' chat.records >&5
exec 5>&-
status=0
wait $COLLECT || status=$?
status_is 0 "ipf-collect in a sandbox ends with 0"

# ---- refusals, and their messages ----
misused() { # PROGRAM TEXT PART ARGUMENTS…
	run "$1" --sandbox "${@:4}" </dev/null
	status_is 2 "$2 is a wrong usage"
	complains "$1" "$3" "$1 names both options: $2"
}
misused ipf-fire "--calibrate" "--sandbox cannot be combined with --calibrate" --calibrate
misused ipf-collect "a tool for accelerators" "--sandbox cannot be combined with --gpu nvidia-smi" --gpu nvidia-smi
misused ipf-collect "a command for the token" "--sandbox cannot be combined with --scrape-bearer !COMMAND" --scrape "$URL" --scrape-bearer '!true'
misused ipf-collect "a command for Prometheus" "--sandbox cannot be combined with --prometheus-bearer !COMMAND" --prometheus "$URL" --prometheus-bearer '!true'
if [ -n "${SANITIZE:-}" ]; then
	skip "kernels that lack a part, and trespassing" "sanitizers are loaded first"
	exit
fi
lacks() { run python3 "$TESTS/helpers/without_calls.py" "$@"; } # PART COMMAND…
lacks landlock ipf-collect --sandbox chat.records -o out/old-kernel.results
status_is 0 "a kernel without landlock ends with 0"
complains ipf-collect "warning: --sandbox: this kernel has no landlock: which files can be read" "ipf-collect warns of files that are not limited"
lacks landlock ipf-collect -q --sandbox chat.records -o out/old-kernel.results
stderr_is "" "-q suppresses the warning of landlock"
lacks seccomp ipf-collect --sandbox chat.records -o out/none.results
status_is 1 "a kernel without filters of system calls ends with 1"
complains ipf-collect "--sandbox: this kernel has no filters of system calls" "ipf-collect says that the kernel has no filters"
yes_if "ipf-collect writes nothing without filters" test ! -e out/none.results

# ---- an intruder in the process ----
trespass() { # COMMAND…: the outcome of each attempt, in all threads
	run env LD_PRELOAD="$BUILD/tests/trespass.so" TRESPASS_FOLDER="$PWD/elsewhere" TRESPASS_PORT=1 "$@"
	status_is 0 "${1##*/} with an intruder ends well"
	sed -n 's/^trespass: //p' "$ERR" | sort -u
}
files="create here: EPERM
create: EPERM
executable memory: EPERM
fork: EPERM"
others="mode: EPERM
multipath TCP: EPERM
owner: EPERM
packets: EPERM
ping: EPERM
priority: EPERM
read: EACCES
remove: EPERM
rename: EPERM
signal: EPERM
write to /etc/passwd: EPERM
write: EPERM"
lacks landlock true && [ "$status" = 0 ] && python3 - <<'END' || files=
import ctypes, sys
sys.exit(ctypes.CDLL(None).syscall(444, 0, 0, 1) < 4)
END
if [ -z "$files" ]; then
	skip "an intruder" "this kernel has no landlock, or one that is older than Linux 6.7"
	exit
fi
ln -s ../elsewhere/new out/link
run ipf-collect --sandbox chat.records -o out/link
status_is 1 "an output in a folder that is not the one of its name"
complains ipf-collect "out/link: cannot open for writing: Permission denied: --sandbox may have refused it" "the error says why"
trespass ipf-fire --sandbox -u "$URL" -m sim -t chat.trace chat.sched -o out/t.records >said
is "$(grep -v '^ok\|^not ok' said)" "connect: EACCES
$files
listen: EACCES
$others" "ipf-fire: every thread is refused files, programs and other ports"
is "$(grep -c '^trespass: fork' "$ERR")" 4 "ipf-fire: the threads that read, send and record, and the first one"
trespass ipf-collect --sandbox chat.records -o out/t.results >said
is "$(grep -v '^ok\|^not ok' said)" "connect: EPERM
$files
listen: EPERM
$others" "ipf-collect: any connection is refused without an option that needs it"
trespass ipf-collect --sandbox --listen :0 --push "pushgateway=$URL/x" chat.records -o out/t.results >said
is "$(grep -v '^ok\|^not ok' said)" "connect: EACCES
$files
listen: EPERM
$others" "ipf-collect --listen --push: other ports"
is "$(cat elsewhere/victim; ls elsewhere)" "ours
secret
victim" "intruders change no file"
dies() { # CALL COMMAND…
	# shellcheck disable=SC2016 # for the shell saying how it ended
	run bash -c 'TRESPASS=$0 LD_PRELOAD=$BUILD/tests/trespass.so "$@"; exit $?' "$@"
	status_is 159 "$1 ends $2 by SIGSYS"
}
for call in execve ptrace process_vm_readv bpf; do dies $call ipf-collect --sandbox chat.records; done
dies execve ipf-fire --sandbox -u "$URL" -m sim -t chat.trace chat.sched
