# How the three programs are run for a row of faults/*.tsv, and the actions on them meanwhile. Each function leaves r.records, r.results,
# report.text and each program's output in PROGRAM.said, and sets $statuses, "FIRE COLLECT REPORT", and `cut`, if streams may lack their
# end; 1: not here, for the reason in `cannot`.
# shellcheck shell=bash disable=SC2034,SC2154 # $statuses and $cut are for, and $fire is the command line, of matrix.t

after_fire() { # STATUS OF ipf-fire
	local collect report
	ipf-collect -o r.results r.records 2>collect.said
	collect=$?
	ipf-report r.results >report.text 2>report.said
	report=$?
	statuses="$1 $collect $report"
}

act_-() {
	"${fire[@]}" -o r.records 2>fire.said
	after_fire $?
}

# With a limit of the shell on one program; the others go without.
act_limit() { # PROGRAM OPTION-OF-ulimit VALUE
	local status collect report
	[ -z "${SANITIZE:-}" ] || [ "$2" != -v ] || { echo "sanitizers need address space" >cannot; return 1; }
	limited() { # PROGRAM COMMAND…
		[ "$1" = "$program" ] || { "${@:2}"; return; }
		(trap '' XFSZ && ulimit "$option" "$value" && exec "${@:2}")
	}
	local program=$1 option=$2 value=$3
	limited fire "${fire[@]}" -o r.records 2>fire.said
	status=$?
	limited collect ipf-collect -o r.results r.records 2>collect.said
	collect=$?
	limited report ipf-report -o report.text r.results 2>report.said
	report=$?
	statuses="$status $collect $report"
	[ "$option" != -f ] || cut=yes
}

# PROGRAM writes to a disk that is full after so many KiB.
act_disk() { # PROGRAM KIB
	local status
	mkdir -p full
	mount -t tmpfs -o "size=$2k" none full 2>mount.said || { echo "no file system can be mounted here" >cannot; return 1; }
	case $1 in
	fire)
		"${fire[@]}" -o full/r.records 2>fire.said
		status=$?
		cp full/r.records r.records
		after_fire $status
		;;
	collect)
		"${fire[@]}" -o r.records 2>fire.said
		ipf-collect -o full/r.results r.records 2>collect.said
		status=$?
		cp full/r.results r.results
		ipf-report r.results >report.text 2>report.said
		statuses="0 $status $?"
		;;
	report)
		act_-
		ipf-report -o full/report.html r.results 2>report.said
		statuses="${statuses% *} $?"
		;;
	esac
	umount full
	cut=yes
}

# The output of PROGRAM is closed after some bytes.
act_closed() { # PROGRAM BYTES
	local status
	case $1 in
	fire)
		"${fire[@]}" 2>fire.said | head -c "$2" >r.records
		status=${PIPESTATUS[0]}
		after_fire "$status"
		;;
	collect)
		"${fire[@]}" -o r.records 2>fire.said
		ipf-collect r.records 2>collect.said | head -c "$2" >r.results
		status=${PIPESTATUS[0]}
		ipf-report r.results >report.text 2>report.said
		statuses="0 $status $?"
		;;
	report)
		act_-
		ipf-report r.results 2>report.said | head -c "$2" >report.text
		statuses="${statuses% *} ${PIPESTATUS[0]}"
		;;
	esac
	cut=yes
}

# The three in a pipe, each known by its pid: $pid_fire, $pid_collect, $pid_report. Watched by nothing but end_pipe.
begin_pipe() {
	rm -f pipe.1 pipe.2 pipe.3 pipe.4
	mkfifo pipe.1 pipe.2 pipe.3 pipe.4
	"${fire[@]:4}" >pipe.1 2>fire.said & # without timeout(1)
	pid_fire=$!
	tee r.records <pipe.1 >pipe.2 2>/dev/null &
	ipf-collect <pipe.2 >pipe.3 2>collect.said &
	pid_collect=$!
	tee r.results <pipe.3 >pipe.4 2>/dev/null &
	ipf-report <pipe.4 >report.text 2>report.said &
	pid_report=$!
	for pid in $pid_fire $pid_collect $pid_report; do stop_at_exit "$pid"; done
}

end_pipe() {
	local pid all=()
	for pid in $pid_fire $pid_collect $pid_report; do
		wait_for tap_gone "$pid" || { kill -9 "$pid"; not_ok "$name: ends in time"; }
		status=0
		wait "$pid" || status=$?
		all+=("$status")
	done
	statuses=${all[*]}
}

pid_of() { # PROGRAM, or server
	case $1 in fire) echo "$pid_fire" ;; collect) echo "$pid_collect" ;; report) echo "$pid_report" ;; server) echo "$SERVER" ;; esac
}

nap() { # LEAST MOST: milliseconds, at random
	sleep "$(awk -v ms=$(($1 + RANDOM % ($2 - $1))) 'BEGIN { print ms / 1000 }')"
}

act_pipe() {
	begin_pipe
	end_pipe
}

act_signal() { # PROGRAM SIGNAL…
	local signal
	begin_pipe
	nap 100 800
	for signal in "${@:2}"; do
		kill "-$signal" "$(pid_of "$1")"
		sleep 0.15 # signals within a tenth of a second count as one
	done 2>/dev/null
	end_pipe
	cut=yes
}

act_pause() { # PROGRAM MS
	begin_pipe
	nap 100 300
	kill -STOP "$(pid_of "$1")"
	nap "$2" $(($2 + 1))
	kill -CONT "$(pid_of "$1")"
	end_pipe
}

# The reader of ipf-fire's records does nothing for so long.
act_slow() { # MS
	"${fire[@]}" 2>fire.said | { nap "$1" $(($1 + 1)); cat; } >r.records
	after_fire "${PIPESTATUS[0]}"
}

# The server is killed and, after so long, another one has its port.
act_restart() { # MS
	"${fire[@]}" -o r.records 2>fire.said &
	pid_fire=$!
	stop_at_exit $pid_fire
	nap 200 400
	kill -9 "$SERVER"
	nap "$1" $(($1 + 1))
	server_start --port "$PORT" --step-base 2ms
	wait $pid_fire
	after_fire $?
}

# With lookups of names as the words say.
act_lookup() { # WORD…
	[ -z "${SANITIZE:-}" ] || { echo "sanitizers are loaded first" >cannot; return 1; }
	LOOKUP="$*" LD_PRELOAD=$BUILD/tests/lookup.so "${fire[@]}" -o r.records 2>fire.said
	after_fire $?
}

# The wall clock jumps in the middle of the run.
act_clock() { # AFTER-MS BY-MS
	[ -z "${SANITIZE:-}" ] || { echo "sanitizers are loaded first" >cannot; return 1; }
	WALL_CLOCK_AFTER_MS=$1 WALL_CLOCK_OFFSET_MS=$2 LD_PRELOAD=$BUILD/tests/wall_clock.so "${fire[@]}" -o r.records 2>fire.said
	after_fire $?
}

# In a network namespace whose loopback loses, delays or reorders packets. The server runs there as well, on port 8000.
act_netem() { # ARGUMENT OF tc qdisc add dev lo root netem…
	unshare -n sh -c 'ip link set lo up && tc qdisc add dev lo root netem "$@"' - "$@" 2>cannot || { tr -s '\n' ' ' <cannot >why && mv why cannot; return 1; }
	# shellcheck disable=SC2016 # for the shell within
	unshare -n bash -c 'ip link set lo up && tc qdisc add dev lo root netem $0 && { ipf-sim --die-with-parent --port 8000 --step-base 2ms & sleep 0.5; "$@"; }' \
		"$*" "${fire[@]//$URL/http://127.0.0.1:8000}" -o r.records >netem.said 2>fire.said
	after_fire $?
}
