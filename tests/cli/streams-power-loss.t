#!/bin/bash
# A machine loses its power while a stream is written: the next program reads all before the first lost page, and says there was more.
# IPF_ROUNDS is the number of states of each file, SEED another draw.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
rounds=${IPF_ROUNDS:-12}
echo "# SEED=${SEED:-1} IPF_ROUNDS=$rounds"
for end in '' .zst; do
	ipf-prep synthetic -q -n 400 --input-tokens 60 --output-tokens 9 -o load.trace$end
	ipf-sched -q poisson:rate=100,n=400 -t load.trace$end -o load.schedule$end
	twin server.twin step_base_ns=2000000 step_per_sequence_ns=0
	ipf-twin predict -q server.twin -t load.trace$end load.schedule$end -o load.records$end
	ipf-collect -q --events load.records$end -o load.results$end
done
states() { # FILE PATTERN COMMAND…
	python3 "$TESTS/helpers/power_loss.py" "$rounds" "${SEED:-1}" "$@" >states
	is "$(tail -n 1 states)" "$rounds states, 0 wrong" "$1: what was kept is read, and the loss is said" "$(head -n 5 states)"
}
for kind in trace schedule records results; do
	for file in load.$kind load.$kind.zst; do
		case $kind in
		trace) states $file '"input_tokens":' ipf-prep stat -f json {} ;;
		schedule) states $file '"at_ns":' ipf-sched stat {} ;;
		records) states $file '"n":' ipf-collect -q {} ;;
		results) states $file '"n":' ipf-report -q -f requests-jsonl {} ;;
		esac
	done
done
exit $tap_failed
