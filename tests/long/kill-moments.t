#!/bin/bash
# Each program is killed at random moments (KILLS in all, by default 1,000): every line that was flushed is read back by the next program, which
# says that the rest is missing.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
each=$((${KILLS:-1000} / 10))
RANDOM=${SEED:-1}

ipf-prep synthetic -q -n 40000 --input-tokens 60 --output-tokens 4 -o load.trace
ipf-sched -q constant:rate=2000,n=20000 -t load.trace -o load.sched
twin server.twin step_base_ns=2000000 step_per_sequence_ns=0
ipf-twin predict -q server.twin -t load.trace load.sched -o load.records
ipf-collect -q load.records -o load.results
server_start --step-base 1ms --step-per-seq 0

# The lines of a stream that was cut, without its header, its trailer and the line at which it was cut. (zstd gives up the last block that a frame
# without an end has; the programs read as much of it as there is.)
flushed() { # FILE
	{
		case $1 in *.zst) zstd -dcq "$1" 2>/dev/null ;; *) cat "$1" ;; esac
		echo cut # behind the part of a line, or as one of its own
	} | sed -e 1d -e '$d' | grep -v '^{"end"' | grep -cE "$body"
}

# How many lines the next program reads; its status.
read_trace() { ipf-prep stat "$out" -f json >got; local s=$?; jq .requests got; return $s; }
read_schedule() { ipf-sched stat "$out" >got; local s=$?; sed -n 's/^\([0-9,]*\) lines.*/\1/p' got | tr -d ,; return $s; }
read_records() { ipf-collect -q "$out" >got; local s=$?; grep -c '^{"n":.*"ok"' got; return $s; }
read_results() { ipf-report -q -f requests-jsonl "$out" >got; local s=$?; grep -c . got; return $s; }

killed() { # NAME OUTPUT BODY COUNT COMMAND…: COUNT prints how many lines the next program read from OUTPUT
	local name=$1 out=$2 body=$3 count=$4 i bad=0 cut=0 whole=0 lines longest
	shift 4
	longest=$(TIMEFORMAT=%R; { time timeout 20 "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print int($1 * 1000) + 1 }')
	for ((i = 0; i < each; i++)); do
		rm -f "$out"
		"$@" >/dev/null 2>&1 &
		sleep "$(awk -v r=$RANDOM -v l="$longest" 'BEGIN { printf "%.4f", r / 32768 * l / 1000 }')"
		kill -9 $! 2>/dev/null
		wait $! 2>/dev/null
		[ -s "$out" ] || continue
		lines=$(flushed "$out")
		read_back=$($count 2>said)
		status=$?
		case $status in
		0) whole=$((whole + 1)) ;;
		3) cut=$((cut + 1)) ;;
		esac
		if ! { [ $status = 0 ] || { [ $status = 3 ] && grep -qE 'cut|incomplete|empty|ends? (early|in)|missing' said; }; } || [ "${read_back:-0}" -lt "$lines" ]; then
			[ $bad -gt 2 ] || echo "# $name: status $status, $lines lines in the file, ${read_back:-0} read: $(head -1 said)"
			bad=$((bad + 1))
		fi
	done
	is "$bad" 0 "$name: all lines of $each killed runs are read back ($cut were cut, $whole whole)"
}

for out in killed.zst killed.jsonl; do
	killed "ipf-prep, $out" $out '"id"' read_trace ipf-prep synthetic -q -n 40000 --input-tokens 60 --output-tokens 4 -o $out
	killed "ipf-sched, $out" $out '^{"n"' read_schedule ipf-sched -q poisson:rate=20000,n=400000 -o $out
	killed "ipf-fire, $out" $out '"end_ns"' read_records ipf-fire -q --force -u "$URL" -m sim -t load.trace load.sched -o $out
	killed "ipf-twin, $out" $out '"end_ns"' read_records ipf-twin predict -q --force server.twin -t load.trace load.sched -o $out
	killed "ipf-collect, $out" $out '^{"n":.*"ok"' read_results ipf-collect -q load.records -o $out
done
