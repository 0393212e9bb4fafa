# Helpers of the command-line tests: source it first. POSIX sh.
#
#     . "$TESTS/tap.sh"
#     server_start --seed 3                        # $URL, $SERVER
#     run "$BIN/ipf-fire" -u "$URL" -t t.trace s   # $status, files $OUT and $ERR
#     status_is 0 "a run ends with 0"
#     is "$(wc -l <"$OUT")" 12 "one line a request, a header and a trailer"
#
# A test's processes are stopped when it ends, also when it fails. `exit` gives 1 where anything was not ok.
# shellcheck shell=sh

: "${BUILD:?is the build folder}" "${TESTS:?is the tests folder}"
BIN=$BUILD/bin
OUT=$PWD/tap.stdout
ERR=$PWD/tap.stderr
status=
tap_failed=0
tap_pids=
tap_folders=
tap_servers=0

# A test's own questions of JSON: jq 1.6 takes 30 ms to start, gojq 2, which sorts the members of objects. A test needing their order begins with
# `unset -f jq`. Programs of tests, such as makefiles, have jq.
if command -v gojq >/dev/null; then
	jq() {
		case ${1:-} in
		-[!-]*S* | -S*) command jq "$@" ;;
		*) gojq "$@" ;;
		esac
	}
fi

manual_pages() { # the names of all pages, also of those a program completes
	find "$TESTS"/../ipf-* "$TESTS"/../libipf "$TESTS"/../lib "$BUILD/man" -name '*.[1357]'
}

# ---- saying how it went ---------------------------------------------------------------------------------------------

ok() { # TEXT
	printf 'ok - %s\n' "$1"
}

not_ok() { # TEXT [DETAIL…]
	printf 'not ok - %s\n' "$1"
	tap_failed=1
	shift
	for tap_detail; do printf '%s\n' "$tap_detail" | sed 's/^/#   /'; done
	return 0
}

skip() { # TEXT WHY
	printf 'ok - %s # skip %s\n' "$1" "$2"
}

skip_all() { # WHY: the whole file has nothing to do here
	skip "$(basename "$0")" "$1"
	exit 0
}

is() { # ACTUAL EXPECTED TEXT
	if [ "$1" = "$2" ]; then ok "$3"; else not_ok "$3" "got:      $1" "expected: $2"; fi
}

isnt() { # ACTUAL UNEXPECTED TEXT
	if [ "$1" != "$2" ]; then ok "$3"; else not_ok "$3" "got:      $1" "expected anything else"; fi
}

contains() { # TEXT PART DESCRIPTION
	case $1 in
	*"$2"*) ok "$3" ;;
	*) not_ok "$3" "got:      $1" "expected: …$2…" ;;
	esac
}

matches() { # TEXT ERE DESCRIPTION: some line of it does
	if printf '%s\n' "$1" | grep -Eq -e "$2"; then ok "$3"; else not_ok "$3" "got:      $1" "expected: /$2/"; fi
}

same() { # FILE FILE TEXT: the same bytes
	if cmp -s "$1" "$2"; then ok "$3"; else not_ok "$3" "$(cmp "$1" "$2" 2>&1)" "$(diff "$1" "$2" 2>&1 | cut -c 1-300 \
		| head -10)"; fi
}

yes_if() { # TEXT COMMAND…: ok where the command succeeds
	tap_text=$1
	shift
	if "$@" >"$PWD/tap.yes_if" 2>&1; \
		then ok "$tap_text"; else not_ok "$tap_text" "failed: $*" "$(head -20 "$PWD/tap.yes_if")"; fi
}

# The long options of a program's table, from which --help is made.
options_of() { # PROGRAM [COMMAND]
	"$BIN/$1" ${2:+"$2"} --help | sed -nE 's/^ {2}(-., | {4})(--[a-z][a-z0-9-]*).*/\2/p' | sort -u
}

# Is ACTUAL LOW or more? For times a busy machine can only stretch.
at_least() { # ACTUAL LOW TEXT
	between "$1" "$2" 1e300 "$3"
}

# Is ACTUAL within [LOW, HIGH]? Numbers as awk reads them.
between() { # ACTUAL LOW HIGH TEXT
	if [ -n "$1" ] && awk -v a="$1" -v l="$2" -v h="$3" 'BEGIN { exit !(a + 0 == a && a >= l && a <= h) }'; then
		ok "$4"
	else
		not_ok "$4" "got:      $1" "expected: $2 to $3"
	fi
}

# ---- chance that is the same each time --------------------------------------------------------------------------------

noise() { # SEED BYTES
	LC_ALL=C awk -v x="$1" -v n="$2" 'BEGIN { while (n-- > 0) { x = x * 16807 % 2147483647; printf "%c", int(x / 8192) % 256 } }'
}

# For tests of random input: $rounds, N or IPF_ROUNDS for a longer search, and $seed: SEED, else random for a longer search and always the same without one.
random_rounds() { # N
	# shellcheck disable=SC2034 # for the tests
	rounds=${IPF_ROUNDS:-$1}
	seed=1
	[ -z "${IPF_ROUNDS:-}" ] || seed=$(od -An -N2 -tu2 /dev/urandom | tr -d " ")
	seed=${SEED:-$seed}
	echo "# SEED=$seed"
}

# Runs SCRIPT of helpers with COUNT of WHAT for each of these rounds, beside our readers; its last line has to match.
random_against() { # SCRIPT COUNT WHAT PATTERN
	for seed in $(seq "$seed" $((seed + rounds - 1))); do
		run python3 "$TESTS/helpers/$1" "$seed" "$2" "$BUILD/tests/readers"
		matches "$(tail -1 "$OUT")" "$4" "seed $seed: $2 $3: $(tail -1 "$OUT")"
		[ "$status" = 0 ] && [ "$tap_failed" = 0 ] || {
			head -5 "$OUT" "$ERR" | cut -c 1-2000 | sed 's/^/# /'
			exit 1
		}
	done
}

# ---- running programs -----------------------------------------------------------------------------------------------

run() { # COMMAND…: $status, and its output in $OUT and $ERR
	status=0
	"$@" >"$OUT" 2>"$ERR" || status=$?
}

status_is() { # EXPECTED TEXT
	if [ "$status" = "$1" ]; then
		ok "$2"
	else
		not_ok "$2" "exit status $status, expected $1; standard error:" "$(head -20 "$ERR")"
	fi
}

stdout_is() { # EXPECTED TEXT
	is "$(cat "$OUT")" "$1" "$2"
}

stderr_is() { # EXPECTED TEXT
	is "$(cat "$ERR")" "$1" "$2"
}

stderr_contains() { # PART TEXT
	contains "$(cat "$ERR")" "$1" "$2"
}

# How every program says that something is wrong: one line, its name first.
complains() { # PROGRAM PART TEXT
	tap_lines=$(wc -l <"$ERR")
	if [ "$tap_lines" = 1 ] && head -1 "$ERR" | grep -q "^$1: " && head -1 "$ERR" | grep -qF -e "$2"; then
		ok "$3"
	else
		not_ok "$3" "standard error:" "$(cat "$ERR")" "expected one line: $1: …$2…"
	fi
}

# COMMAND ends with STATUS, says PART in the only line on standard error, and writes nothing to standard output.
fails_with() { # STATUS PART COMMAND…
	tap_expected=$1 tap_part=$2
	shift 2
	run "$@"
	tap_command=${1##*/}
	shift
	tap_text="$tap_command $*"
	status_is "$tap_expected" "$tap_text ends with $tap_expected"
	complains "$tap_command" "$tap_part" "$tap_text says: $tap_part"
	is "$(wc -c <"$OUT")" 0 "$tap_text writes nothing"
}

# Standard output is the file NAME in $data. IPF_UPDATE=1 writes it anew.
# shellcheck disable=SC2154 # tests set $data
golden() { # NAME TEXT
	[ -z "${IPF_UPDATE:-}" ] || cp "$OUT" "$data/$1"
	same "$OUT" "$data/$1" "$2"
}

# Polls until COMMAND succeeds. Use it for everything that has to happen, however long a busy machine takes: it gives up, with 1, only when the
# test hangs, which is after HANG seconds.
HANG=${HANG:-120}
wait_for() { # COMMAND…
	tap_poll "$HANG" "$@" && return 0
	echo "# waited $HANG s in vain for: $*"
	return 1
}

tap_poll() { # SECONDS COMMAND…: 1 if COMMAND has not succeeded by then
	tap_left=$(($1 * 20))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $tap_left -gt 0 ] || return 1
		tap_left=$((tap_left - 1))
		sleep 0.05
	done
}

# Sends SIGNAL, and returns when PID has read it and a further one counts as another wish (lib/cli/interrupt.c).
signal_and_wait() { # SIGNAL PID
	kill -"$1" "$2"
	wait_for tap_read_signals "$2"
	sleep 0.2
}

tap_read_signals() { # PID
	! grep -qE '^(SigPnd|ShdPnd):.*[1-9a-f]' "/proc/$1/status"
}

# Ports for servers that must be told theirs; no other test is given the same ones. Prefer servers that listen on port 0 and print their port.
free_ports() { # COUNT
	python3 "$TESTS/helpers/free_ports.py" "$1" "${PORTS:-$PWD}"
}

# Is PID to be stopped at the end.
stop_at_exit() { # PID
	tap_pids="$tap_pids $1"
}

# Is FOLDER, outside of the test's own, to be removed at the end, after the test's processes have stopped.
remove_at_exit() { # FOLDER
	tap_folders="$tap_folders $1"
}

# ---- streams --------------------------------------------------------------------------------------------------------

# Plain text of a stream, compressed or not.
plain() { # FILE
	zstd -dcfq <"$1"
}

# The body lines of a stream, without header and trailer.
body() { # FILE
	plain "$1" | sed -e 1d -e '$d'
}

# The rows of records or results, without other lines.
requests() { # FILE
	body "$1" | jq -c 'select(.n != null)'
}

# The trailer of a stream with these body lines, and with other MEMBERS.
trailer() { # LINES [MEMBERS]
	printf '{"end":{"lines":%s,"sha256":"%s"%s}}\n' "$(wc -l <"$1")" "$(sha256sum <"$1" | cut -d ' ' -f 1)" "${2:+,$2}"
}

# The first line of HEADER, these body lines, and their trailer.
seal() { # HEADER LINES
	sed 1q "$1" && cat "$2" && trailer "$2"
}

# A trace of these lines.
trace_of() { # LINES
	echo '{"ipf":"trace","version":1}'
	cat "$1"
	trailer "$1"
}

# The file of a twin with these parameters, model=NAME among them.
twin() { # FILE PARAMETER=VALUE…
	tap_twin=$1 tap_model='' tap_parameters=''
	shift
	for tap_one; do
		case $tap_one in
		model=*) tap_model=",\"model\":\"${tap_one#*=}\"" ;;
		*) tap_parameters="$tap_parameters,\"${tap_one%%=*}\":{\"value\":${tap_one#*=}}" ;;
		esac
	done
	printf '{"ipf":"twin","version":1%s,"parameters":{%s},"fit":{"requests":7,"steps":90}}\n' "$tap_model" "${tap_parameters#,}" >"$tap_twin"
}

# ---- the simulated server -------------------------------------------------------------------------------------------

# Starts one on a free port; $URL is where it listens, $SERVER its pid.
server_start() { # ARGUMENTS OF ipf-sim…
	tap_servers=$((tap_servers + 1))
	tap_said=$PWD/tap.server.$tap_servers
	"$BIN/ipf-sim" --die-with-parent "$@" >"$tap_said" 2>"$tap_said.err" &
	SERVER=$!
	stop_at_exit "$SERVER"
	if ! wait_for tap_port_or_gone "$tap_said" "$SERVER" || ! [ -s "$tap_said" ]; then
		not_ok "ipf-sim $* starts" "$(cat "$tap_said.err")"
		exit 1
	fi
	# The first line ends in the port, as a number or as the end of a URL.
	# shellcheck disable=SC2034 # for the tests
	URL=http://127.0.0.1:$(sed -n '1s/.*[^0-9]\([0-9]\{1,5\}\)[^0-9]*$/\1/;1s/^\([0-9]*\)$/\1/;1p' "$tap_said")
	# shellcheck disable=SC2034 # for the tests
	SERVER_ERR=$tap_said.err
}

# Starts a server in Python that prints its port when it is ready: $PEER is its pid, $PEER_SAID the file of its output, $PEER_URL its address.
peer_start() { # SCRIPT ARGUMENT…
	tap_servers=$((tap_servers + 1))
	PEER_SAID=$PWD/tap.server.$tap_servers
	python3 "$@" >"$PEER_SAID" 2>"$PEER_SAID.err" &
	PEER=$!
	stop_at_exit "$PEER"
	if ! wait_for tap_port_or_gone "$PEER_SAID" "$PEER" || ! [ -s "$PEER_SAID" ]; then
		not_ok "$1 starts" "$(cat "$PEER_SAID.err")"
		exit 1
	fi
	# shellcheck disable=SC2034 # for the tests
	PEER_URL=http://127.0.0.1:$(sed 1q "$PEER_SAID")
}

peer_stop() { # the last one
	kill "$PEER"
	wait "$PEER" 2>/dev/null || true
}

tap_port_or_gone() { # FILE PID
	grep -q '[0-9]' "$1" || ! kill -0 "$2"
}

server_stop() { # [PID]: the last one that was started
	tap_stop "${1:-$SERVER}" && return 0
	not_ok "the server ends without a complaint" "exit status $?" "$(cat "$PWD"/tap.server.*.err)"
}

tap_stop() { # PID: asks (again each second, since a signal can be lost before exec), then kills; 1 where it ended badly
	tap_tries=0
	while kill "$1" 2>/dev/null && ! tap_poll 1 tap_gone "$1"; do
		tap_tries=$((tap_tries + 1))
		if [ $tap_tries -eq 10 ]; then
			echo "# killed $1: it did not end when asked to"
			kill -9 "$1"
			break
		fi
	done
	tap_ended=0
	wait "$1" 2>/dev/null || tap_ended=$?
	[ $tap_ended -ne 99 ]
}

tap_gone() { # PID: ended, though perhaps not waited for
	! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

tap_exit() {
	tap_status=$?
	trap - EXIT
	for tap_pid in $tap_pids; do tap_stop "$tap_pid" || tap_failed=1; done
	for tap_folder in $tap_folders; do rm -rf "$tap_folder"; done
	[ "$tap_status" -ne 0 ] || tap_status=$tap_failed
	exit "$tap_status"
}
trap tap_exit EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
