# The server of queue_model.sh for real: ipf-sim with the same rules, asked by ipf-fire, understood by ipf-collect. Its runs take as long as
# they say, and have this machine's own noise. Source it after tap.sh in the folder to work in, with the programs in PATH.
# shellcheck shell=sh

# A thousand requests for answers of ten tokens, each with a prompt of its own: queue.trace.
queue_trace() {
	awk 'BEGIN { for (i = 0; i < 1000; i++) printf "{\"id\":\"r%d\",\"messages\":[{\"role\":\"user\",\"content\":\"Question %d of a thousand.\"}],\"output_tokens\":10}\n", i, i }' >queue.lines
	trace_of queue.lines >queue.trace
	rm queue.lines
}

# Starts one, which ends with the shell starting it, and in any case after ten minutes: $QUEUE_PID, $QUEUE_URL.
queue_start() {
	ipf-sim --die-with-parent --max-time 10m --step-base 10ms --step-per-seq 0 --prefill-rate 1000M --max-batch 10 >queue.said &
	# shellcheck disable=SC2034 # for those who source it
	QUEUE_PID=$!
	queue_tries=0
	until grep -qs listening queue.said; do
		queue_tries=$((queue_tries + 1))
		[ $queue_tries -lt 200 ] || return 1
		sleep 0.05
	done
	QUEUE_URL=$(sed 's/.* //' queue.said)
}

queue_run() { # SCHEDULE RESULTS
	ipf-fire -q -u "$QUEUE_URL" -m sim -t queue.trace "$1" | ipf-collect -q -o "$2"
}

# A whole search, as in ipf-sched(1): prints "ANSWER LEAST MOST STAGES". It gives up after 40 stages.
queue_run_search() { # SEED SEARCH
	queue_stages=0
	set -- "$2" --seed "$1" --new-prompts
	while ipf-sched "$@" -t queue.trace -q -o next.sched >answer; do
		queue_stages=$((queue_stages + 1))
		[ $queue_stages -le 40 ] && queue_run next.sched "run$queue_stages.results" || return 1
		set -- "$@" -r "run$queue_stages.results"
	done
	sed -n "s/^\([0-9.]*\).* meet .*between \([0-9.]*\)[^,]* and \([0-9.]*\).*/\1 \2 \3 $queue_stages/p" answer
}

# A sweep's result in a run asking for more than the server can do: "RATE LEAST MOST".
queue_run_sustained() { # SEED STAGE
	ipf-sched "$2" --seed "$1" -t queue.trace -o burst.sched && queue_run burst.sched burst.results &&
		ipf-sched sweep:from=burst.results,for=1s -o /dev/null 2>&1 |
			sed -n 's|.*: sustained \([0-9.]*\)/s, \([0-9.]*\) to \([0-9.]*\)/s.*|\1 \2 \3|p'
}

# Where a sweep over users finds the knee, in stages of users of which the last keep the server busy.
queue_run_knee() { # SEED STAGE
	ipf-sched "$2" --seed "$1" -t queue.trace -q -o users.sched && queue_run users.sched users.results &&
		ipf-sched sweep:from=users.results,closed,for=1s -t queue.trace -o /dev/null 2>&1 |
			sed -n 's|.*: the knee is at \([0-9.]*\) users.*|\1|p'
}
