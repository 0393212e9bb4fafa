# Common to the benchmarks of ipf-fire: the raw server and the bare client, each on separate cores. Source it after tap.sh.
#
#     raw_start --events 100             # $URL, $PORT; on the core $server_core
#     bare -c 64 --for 3s >>bare         # a line of JSON, on the client's cores
#     fire closed:users=64,for=3s >>fire # the same members: requests_s, events_s, cpu_us_request, …
#     median requests_s fire
#
# Clients get one core where BENCH_CORES does not say they get more; never the server's, nor its sibling.
# shellcheck shell=bash
: "${BENCH:?is the folder of the benchmarks}"
RAW=$BUILD/bench/rawserver

cores_of() { # LIST: 0-2,5 as words
	local part
	for part in ${1//,/ }; do seq "${part%-*}" "${part#*-}"; done
}

mapfile -t cores < <(cores_of "$(sed -n 's/^Cpus_allowed_list:\s*//p' /proc/self/status)")
server_core=${cores[0]}
# Not the server's sibling, which shares its units.
mapfile -t others < <(comm -13 <(cores_of "$(cat "/sys/devices/system/cpu/cpu$server_core/topology/thread_siblings_list" 2>/dev/null || echo "$server_core")" | sort) \
	<(printf '%s\n' "${cores[@]}" | sort) | sort -n)
[ ${#others[@]} -gt 0 ] || others=("$server_core")
client_cores=$(IFS=,; echo "${others[*]:0:${BENCH_CORES:-1}}")
# shellcheck disable=SC2034 # for those sourcing this
rounds=${BENCH_ROUNDS:-3}
ulimit -n "$(ulimit -Hn)"

on_client() { # COMMAND…
	taskset -c "$client_cores" "$@"
}

raw_start() { # ARGUMENTS OF rawserver…
	rm -f raw.said
	taskset -c "$server_core" "$RAW" "$@" >raw.said &
	SERVER=$!
	stop_at_exit $SERVER
	wait_for grep -q listening raw.said
	URL=$(sed 's/.* //' raw.said)
	PORT=${URL##*:}
}

# cert.pem and key.pem, for `raw_start --cert cert.pem --key key.pem`; ipf-fire needs --insecure.
raw_certificate() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=127.0.0.1 2>openssl.said ||
		{ cat openssl.said >&2; return 1; }
}

# Others on the same port, each on a core; all of them have --share.
raw_more() { # CORE… -- ARGUMENTS OF rawserver…
	local on=()
	while [ "$1" != -- ]; do on+=("$1") && shift; done
	shift
	local core
	for core in "${on[@]}"; do
		taskset -c "$core" "$RAW" --share --port "$PORT" "$@" >raw.said.more &
		stop_at_exit $!
	done
	wait_for grep -q listening raw.said.more
}

bare() { # ARGUMENTS OF bareclient…
	on_client "$BUILD/bench/bareclient" --port "$PORT" "$@"
}

# A trace of one request, which schedules ask for again and again.
printf '{"id":"r","messages":[{"role":"user","content":"Tell me."}],"output_tokens":1}\n' >raw.lines
trace_of raw.lines >raw.trace

# Runs a schedule and prints the outcome. The last client line has the totals.
fire() { # STAGE [ARGUMENTS OF ipf-fire…]: $EVENTS in each answer; the records stay in raw.records.zst
	local stage=$1 TIMEFORMAT='%U %S'
	shift
	ipf-sched -q "$stage" -t raw.trace -o raw.sched
	{ time on_client ipf-fire -q --force -u "$URL" -m raw -t raw.trace -o raw.records.zst "$@" raw.sched 2>fire.said; } 2>fire.time || cat fire.said >&2
	zstd -dcq raw.records.zst | tail -c 1000000 | grep '^{"client"' | tail -n 1 | # a line before it may be too long for grep
		jq -c --argjson events "${EVENTS:-1}" --argjson cpu "$(awk '{ print $1 + $2 }' fire.time)" '.client | (.t_ns / 1e9) as $seconds | (.done - .failed) as $answers
			| {requests: .done, failed, events: ($answers * $events), reads, seconds: $seconds, cpu_s: $cpu, requests_s: ($answers / $seconds),
			   events_s: ($answers * $events / $seconds), cpu_us_request: ($cpu / $answers * 1e6), cpu_us_event: ($cpu / ($answers * $events) * 1e6),
			   send_us_request: (.cpu.send / $answers * 1e6), send_us_event: (.cpu.send / ($answers * $events) * 1e6)}'
}

# How late the requests of some records started, as bareclient says it.
lag_of() { # RECORDS
	ipf-collect -q "$1" -o raw.results.zst
	ipf-report -f json raw.results.zst |
		jq -c '.total | {requests: .requests.started, lag_us: (.client_lag_ms | {p50, p99, "p99.9", max} | map_values(. * 1000))}'
}

median() { # MEMBER FILE
	jq -s --arg member "$1" 'map(getpath($member / ".")) | sort | .[length / 2 | floor]' "$2"
}

# The six columns; a goal is a least (> 0.85) or a most (< 100) of the ratio, or of the measured number if given.
row() { # WHAT MEASURED BASELINE RATIO GOAL [NUMBER]
	local is
	is=$(awk -v n="${6:-$4}" -v goal="$5" 'BEGIN { split(goal, g, " "); print goal == "-" ? "-" : (g[1] ~ ">" ? n + 0 >= g[2] + 0 : n + 0 <= g[2] + 0) ? "met" : "missed" }')
	printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5" "$is"
}

ratio() { # A B
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'
}

rounded() { # NUMBER [DIGITS]
	awk -v n="$1" -v d="${2:-0}" 'BEGIN { printf "%.*f", d, n }'
}
