# Runs whose accelerators are sampled: source it after tap.sh, in bash. It starts a server with ARGUMENTS OF ipf-sim in $GPU_SIM, and makes
# t.trace, 200 requests of nine tokens.
#
#     begin one t.sched NAME=VALUE… -- --gpu nvml     # in the background, beside others
#     ended one                                       # $status of ipf-collect, its messages in $ERR; one.records, one.results
#     collect two short.sched -- --gpu nvml           # both
#     gpus two '.[0].energy_j'                        # of the trailer's "accelerators"
# shellcheck shell=bash disable=SC1091,SC2034,SC2086 # for the tests


# shellcheck disable=SC2086 # several words
server_start --step-base 1ms ${GPU_SIM:-}
for i in $(seq 200); do printf '{"id":"%s","prompt":"Hi","input_tokens":1,"output_tokens":9}\n' "$i"; done >lines
printf '{"ipf":"trace","version":1,"tool":"by hand"}\n' >header
seal header lines >t.trace

declare -A gpu_runs

# A schedule is sent when the command in $GPU_BEFORE succeeds, and the end of the records when that in $GPU_HOLD does.
held() { # NAME
	if [ -z "${GPU_HOLD:-}" ]; then
		cat
	else
		sed -u -n -e "\$w $1.last" -e '$!p'
		wait_for $GPU_HOLD >&2
		cat "$1.last"
	fi
}

begin() { # NAME SCHEDULE [VARIABLE=VALUE…] -- ARGUMENTS OF ipf-collect…
	local name=$1 schedule=$2 variables=()
	shift 2
	while [ "$1" != -- ]; do variables+=("$1") && shift; done
	shift
	(
		trap - EXIT
		{
			[ -z "${GPU_BEFORE:-}" ] || wait_for $GPU_BEFORE >&2
			cat "$schedule"
		} | "$BIN/ipf-fire" -q -u "$URL" -m sim -t t.trace | tee "$name.records" | held "$name" |
			env "${variables[@]}" "$BIN/ipf-collect" -o "$name.results" "$@" 2>"$name.err"
	) &
	gpu_runs[$name]=$!
}
ended() { # NAME
	status=0
	wait "${gpu_runs[$1]}" || status=$?
	cp "$1.err" "$ERR"
	plain "$1.results" | tail -1 | jq -c '.end.accelerators' >"$1.gpus"
}
collect() { # as begin
	begin "$@"
	ended "$1"
}
gpus() { # NAME FILTER
	jq -c "$2" "$1.gpus"
}
samples() { # NAME
	plain "$1.results" | grep '^{"sample":"gpu"'
}
