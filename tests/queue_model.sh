# A server whose capacity is known, in no time at all: the same as ipf-sim with --step-base 10ms --step-per-seq 0 --max-batch 10, no cost but
# steps, and answers of ten tokens. A request waits for a slot, then for the next step, and gets a token with each step: 100 requests a
# second, and no more. Chance is only in the arrivals, so the same seeds give the same results on every machine. Source it after tap.sh in the
# folder to work in, with the programs in PATH.
# shellcheck shell=sh

# shellcheck disable=SC2034 # for those who source it
QUEUE_CAPACITY=100

# Both programs of awk below serve with this.
# shellcheck disable=SC2016
queue_serve='
function serve(at,    i, best, begin) { # ns: when its first token comes; `ends` is when its last does
	best = 0
	for (i = 1; i < 10; i++)
		if (free[i] < free[best])
			best = i
	if (at >= busy)
		tick = at # it had nothing to do: a step begins at once
	begin = at > free[best] ? at : free[best]
	begin = tick + int((begin - tick + 9999999) / 10000000) * 10000000
	free[best] = ends = begin + 100000000
	busy = ends > busy ? ends : busy
	return begin + 10000000
}
function open_up(    i) {
	for (i = 0; i < 10; i++)
		free[i] = 0
	busy = 0
}'

# The results of a schedule whose requests all have an at_ns.
queue_model() { # SCHEDULE RESULTS
	awk "$queue_serve"'
	function number(name,    at) {
		at = index($0, "\"" name "\":")
		return substr($0, at + length(name) + 3) + 0
	}
	NR == 1 {
		sub(/"ipf":"schedule"/, "\"ipf\":\"results\"")
		print
		open_up()
	}
	NR > 1 && !/^\{"end"/ {
		at = number("at_ns")
		first = serve(at)
		printf "{\"n\":%d,\"req\":%d,\"stage\":%d,\"ok\":true,\"due_ns\":%.0f,\"ready_ns\":%.0f,\"start_ns\":%.0f,\"end_ns\":%.0f,\"lag_ns\":0,\"ttft_ns\":%.0f,\"e2e_ns\":%.0f}\n",
			number("n"), number("req"), number("stage"), at, at, at, ends, first - at, ends - at
	}' "$1" >"$2.body" || return 1
	sed 1d "$2.body" >"$2.rows"
	seal "$2.body" "$2.rows" >"$2"
	rm -f "$2.body" "$2.rows"
}

# The rate at which a stage of four seconds of Poisson arrivals has 90 % of its first tokens within 150 ms in one of two cases: the
# search's goal, found by trying many at each rate.
queue_truth() {
	awk "$queue_serve"'
	function odds(rate,    stage, at, n, good, met) {
		for (stage = 0; stage < 300; stage++) {
			open_up()
			n = good = 0
			for (at = -log(1 - rand()) * 1e9 / rate; at < 4e9; at -= log(1 - rand()) * 1e9 / rate) {
				n++
				good += serve(at) - at <= 150e6
			}
			met += good >= 0.9 * n
		}
		return met / 300
	}
	BEGIN {
		srand(11)
		low = 80
		high = 125
		while (high / low > 1.005) {
			middle = sqrt(low * high)
			if (odds(middle) > 0.5)
				low = middle
			else
				high = middle
		}
		printf "%.2f\n", sqrt(low * high)
	}' </dev/null
}

# The rate at which this share of the first tokens comes within a limit, in an hour of Poisson arrivals.
queue_steady_truth() { # SHARE LIMIT_MS
	awk -v wanted="$1" -v limit="$2" "$queue_serve"'
	function share(rate,    at, n, good) {
		open_up()
		n = good = 0
		for (at = -log(1 - rand()) * 1e9 / rate; at < 3e12; at -= log(1 - rand()) * 1e9 / rate) {
			n++
			good += serve(at) - at <= limit * 1e6
		}
		return good / n
	}
	BEGIN {
		srand(11)
		low = 50
		high = 100
		while (high / low > 1.01) {
			middle = sqrt(low * high)
			if (share(middle) > wanted)
				low = middle
			else
				high = middle
		}
		printf "%.2f\n", sqrt(low * high)
	}' </dev/null
}

# The most users of whom three quarters have their first token within 150 ms, in four seconds. All begin at once, and send the next request
# less than a millisecond after an answer.
queue_users_truth() {
	awk "$queue_serve"'
	function share(users,    u, next_one, good, count) {
		open_up()
		good = count = 0
		for (u = 0; u < users; u++)
			at[u] = u * 20000
		for (;;) {
			next_one = 0
			for (u = 1; u < users; u++)
				if (at[u] < at[next_one])
					next_one = u
			if (at[next_one] >= 4e9)
				return good / count
			count++
			good += serve(at[next_one]) - at[next_one] <= 150e6
			at[next_one] = ends + 200000 + rand() * 700000
		}
	}
	BEGIN {
		srand(11)
		for (users = 10; share(users + 1) >= 0.75; users++)
			;
		print users
	}' </dev/null
}

# A whole search, as in ipf-sched(1): prints "ANSWER LEAST MOST STAGES".
queue_search() { # SEED SEARCH
	queue_stages=0
	set -- "$2" --seed "$1"
	while ipf-sched "$@" -q -o next.sched >answer; do
		queue_stages=$((queue_stages + 1))
		queue_model next.sched "run$queue_stages.results" || return 1
		set -- "$@" -r "run$queue_stages.results"
	done
	sed -n "s|^\([0-9.]*\) requests/s meet .*(between \([0-9.]*\) and \([0-9.]*\),.*|\1 \2 \3 $queue_stages|p" answer
}

# A sweep's result in a run asking for more than the server can do.
queue_sustained() { # SEED STAGE
	ipf-sched "$2" --seed "$1" -o burst.sched && queue_model burst.sched burst.results &&
		ipf-sched sweep:from=burst.results,for=1s -o /dev/null 2>&1 | sed -n 's|.*: sustained \([0-9.]*\)/s.*|\1|p'
}
