#!/bin/bash
# How good are the answers of searches and sweeps? Twenty seeds each (thirty of a search in a given time), against a server whose capacity is known: as queue_model.sh has it,
# in no time and the same on every machine, and then as queue_server.sh has it, through ipf-fire and ipf-collect in real time, SEARCH_AT_ONCE
# (20) seeds at a time, each with a server of its own.
set -eu

seeds=${SEARCH_SEEDS:-20}
timed=${SEARCH_TIMED_SEEDS:-30}
timed_search=${SEARCH_TIMED:-search:slo=p99:ttft=150ms,time=5m}
. "$TESTS/tap.sh"
# shellcheck source=tests/queue_model.sh
. "$TESTS/queue_model.sh"
# shellcheck source=tests/queue_server.sh
. "$TESTS/queue_server.sh"
rate_search=search:slo=p90:ttft=150ms,low=10,high=1000,for=4s,most=40
users_search=search:slo=p75:ttft=150ms,users,low=2,high=200,for=4s,most=40

row() { # WHAT GOOD OF
	awk -v OFS='\t' -v what="$1" -v good="$2" -v of="$3" 'BEGIN { print what, good " of " of, "-", "-", ">= 19 of 20", (good >= of * 0.95) ? "met" : "missed" }'
}

# How many lines of a file of "SEED VALUE LEAST MOST STAGES" are so; only found ones count.
near() { # FILE TRUTH SHARE: values within this share of it
	awk -v t="$2" -v s="$3" '$2 >= t / (1 + s) && $2 <= t * (1 + s) { n++ } END { print n + 0 }' "$1"
}
covering() { # FILE TRUTH: intervals holding it
	awk -v t="$2" 'NF >= 4 && $3 <= t && t <= $4 { n++ } END { print n + 0 }' "$1"
}
mean_stages() { # FILE
	awk 'NF == 5 { sum += $5; n++ } END { printf "%.0f", n ? sum / n : 0 }' "$1"
}

search_rows() { # FILE WHERE TRUTH UNIT COUNT
	sed "s/^/search$2, seed /; s|\$| (answer, least, most, stages); true is $3$4|" "$1" >&2
	row "search$2: within 5 % of $3$4, $(mean_stages "$1") stages on average" "$(near "$1" "$3" 0.05)" "$5"
	row "search$2: its interval holds it" "$(covering "$1" "$3")" "$5"
}

# COMMAND SEED ARGUMENTS… for each seed, several at once; each output is a line of FILE, behind its seed. All is stopped on every way out.
each_seed() { # FILE COUNT COMMAND [ARGUMENT…]
	local file=$1 count=$2 seed
	shift 2
	for ((seed = 1; seed <= count; seed++)); do
		while [ "$(jobs -rp | wc -l)" -ge "${SEARCH_AT_ONCE:-20}" ]; do wait -n || true; done
		one_seed $seed "$@" >"seed$seed.line" &
	done
	wait
	cat seed?.line seed??.line >"$file" 2>/dev/null || true
	rm -f seed*.line
}
one_seed() { # SEED COMMAND [ARGUMENT…]
	local seed=$1 command=$2
	shift 2
	trap '[ -z "${QUEUE_PID:-}" ] || kill "$QUEUE_PID" 2>/dev/null' EXIT
	trap 'exit 143' TERM
	mkdir "seed$seed" && cd "seed$seed" && ln -s ../queue.trace . && queue_start || exit
	echo "$seed $("$command" "$seed" "$@")"
	cd .. && rm -r "seed$seed"
}
stop_all() {
	local pid
	for pid in $(jobs -rp); do kill "$pid"; done
	wait
}
trap stop_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

truth=$(queue_truth)
for ((seed = 1; seed <= seeds; seed++)); do echo "$seed $(queue_search $seed "$rate_search")"; done >search
search_rows search "" "$truth" /s "$seeds"
for stage in poisson:rate=150,for=10s burst:n=1000; do
	for ((seed = 1; seed <= seeds; seed++)); do echo "$seed $(queue_sustained $seed "$stage")"; done >sweep
	row "sweep of $stage: within 3 % of $QUEUE_CAPACITY/s" "$(near sweep $QUEUE_CAPACITY 0.03)" "$seeds"
done

queue_trace
for stage in poisson:rate=150,for=10s burst:n=1000; do
	each_seed sweep "$seeds" queue_run_sustained "$stage"
	sed "s|^|sweep of $stage through ipf-fire, seed |; s|\$| (rate, least, most); true is $QUEUE_CAPACITY/s|" sweep >&2
	row "sweep of $stage through ipf-fire: within 3 % of $QUEUE_CAPACITY/s" "$(near sweep $QUEUE_CAPACITY 0.03)" "$seeds"
done
some=$(((seeds + 3) / 4))
# Ten users keep ten slots busy.
each_seed sweep $some queue_run_knee closed:users=1..40,steps=4,for=4s
sed "s|^|knee of closed:users=1..40 through ipf-fire, seed |; s|\$| users; true is 10|" sweep >&2
row "knee of closed:users=1..40 through ipf-fire: within 5 % of 10 users" "$(near sweep 10 0.05)" $some
each_seed search "$seeds" queue_run_search "$rate_search"
search_rows search " through ipf-fire" "$truth" /s "$seeds"
each_seed search $some queue_run_search "$users_search"
search_rows search " over users through ipf-fire" "$(queue_users_truth)" " users" $some

# Within a given time, as ipf capacity asks: does the interval hold the rate the server carries for an hour? The answer
# of a search; nothing if it took more than five minutes.
run_timed() { # SEED SEARCH
	local begin answer
	begin=$(date +%s)
	answer=$(queue_run_search "$1" "$2")
	[ $(($(date +%s) - begin)) -le 300 ] && echo "$answer"
}
timed_rows() { # WHERE
	row "$timed_search$1: its interval holds $truth/s, $(mean_stages search) stages on average" "$(covering search "$truth")" "$timed"
	row "$timed_search$1: ends in time" "$(awk 'NF > 1' search | wc -l)" "$timed"
}
truth=$(queue_steady_truth 0.99 150)
for ((seed = 1; seed <= timed; seed++)); do echo "$seed $(queue_search $seed "$timed_search")"; done >search
timed_rows ""
each_seed search "$timed" run_timed "$timed_search"
sed "s/^/search in time, seed /" search >&2
timed_rows " through ipf-fire"
