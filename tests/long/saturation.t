#!/bin/bash
# The capacity of the simulated server that sweeps in real time show, with twenty seeds. A run whose load was not delivered, or whose server had no core
# for long, says nothing of the capacity. cli/report-saturation.t has the same in virtual time.
. "$TESTS/tap.sh"
report=$BIN/ipf-report
answer='.saturation | [.status, .requests_per_s, .ci95[0], .ci95[1], .points_below, .points_above] | @tsv'
IPF_LONG=1

# ---- the simulated server: ten requests at a time, ten tokens of 10 ms ----
# The verdict says when the load was not delivered, and the server when it had no core for long. Such a run says nothing of the capacity,
# and is made again.
run_sweep() { # SEED STAGE…: sets said, its answer, or "unusable" and why
	server_start -v --step-base 10ms --step-per-seq 0 --prefill-rate 1000M --max-batch 10 --seed "$1"
	"$BIN/ipf-prep" synthetic -q -n 2000 --input-tokens 20 --output-tokens 10 --seed "$1" -o "$1.trace"
	"$BIN/ipf-sched" -q -t "$1.trace" --seed "$1" "${@:2}" | "$BIN/ipf-fire" -q -u "$URL" -m sim -t "$1.trace" |
		"$BIN/ipf-collect" -q -o "$1.results"
	server_stop
	"$report" -f json "$1.results" >"$1.json"
	invalid=$(jq -r '[.verdict.checks[]? | select(.name != "enough_samples" and .status == "INVALID")] | map(.name) | join(" ")' "$1.json")
	if ! grep -q "steps moved by 0" "$SERVER_ERR"; then
		said="unusable	the server had no core"
	elif [ "$invalid" ]; then
		said="unusable	$invalid"
	else
		said=$(jq -r "$answer" "$1.json")
	fi
}
tries=$([ -n "$IPF_LONG" ] && echo 5 || echo 1)
sweep_of() { # SEED STAGE…: the answer of the first usable run
	for try in $(seq "$tries"); do
		run_sweep "$@"
		case $said in unusable*) ;; *) break ;; esac
	done
	echo "$said" >"$1.answer"
	echo "# seed $1: $(tr '\t' ' ' <"$1.answer")$([ "$try" = 1 ] || echo " (run $try)")"
}
count=$([ -n "$IPF_LONG" ] && echo 20 || echo 2)
answers() { # STAGE…: a file for each seed; sets usable
	for seed in $(seq "$count"); do sweep_of "$seed" "$@"; done
	usable=$(cat ./*.answer | grep -vc '^unusable')
	[ "$usable" = "$count" ] || skip "$((count - usable)) of $count seeds" "this machine was too busy: $(grep -h '^unusable' ./*.answer | cut -f 2 | sort | uniq -c | tr -s ' \n' ' ')"
}
answers sweep:rates=40,80,130,160,for=1500ms,rest=200ms
good=$(awk -F '\t' '$1 == "saturated" && $2 >= 95 && $2 <= 105' ./*.answer | wc -l)
[ "$usable" = 0 ] || between "$good" $((usable * 19 / 20)) "$usable" "the simulated server's capacity within 5 %, for 19 of 20 seeds"
[ -n "$IPF_LONG" ] || { skip "a sweep below the capacity is not saturated, for twenty seeds" "IPF_LONG=1 runs them"; exit; }
answers sweep:rates=20,50,80,for=1500ms,rest=200ms
is "$(cat ./*.answer | grep -c '^not saturated')" "$usable" "a sweep below the capacity is not saturated, for each seed"
