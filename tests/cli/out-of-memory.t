#!/bin/bash
# Each allocation of a short run of each program fails in turn: status 1 and one line, nothing blamed, no output that looks whole.
# Of every IPF_ALLOCATIONS allocations one (7; 1: all), beginning with IPF_ALLOCATION (1).
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
[ -z "${SANITIZE:-}" ] || skip_all "sanitizers have their own allocator"
preload=$BUILD/tests/fail_allocation.so
[ -e "$preload" ] || skip_all "$preload is not built"

step=${IPF_ALLOCATIONS:-7}
from=${IPF_ALLOCATION:-1}
echo "# IPF_ALLOCATIONS=$step, from $from"
export TZ=UTC

# Both when a single allocation fails and when all further ones do.
each() { # STATUS COMMAND…
	local expected=$1 rest
	shift
	for rest in 0 1; do
		FAIL_FROM=$from FAIL_STEP=$step FAIL_REST=$rest timeout 100 env LD_PRELOAD="$preload" "$@" >report 2>&1 </dev/null
		if [ $? = 0 ] && tail -1 report | grep -Eq "^[0-9]+ allocations, [1-9].* 0 wrong; status $expected$"; then
			ok "$* (rest: $rest): $(tail -1 report)"
		else
			not_ok "$* (rest: $rest)" "$(head -20 report)" "$(tail -1 report)"
		fi
	done
}

# The same, but some failures crash libarchive and liblzma themselves, which is theirs to mend.
each_unpacked() { # COMMAND…
	local rest wrong
	for rest in 0 1; do
		FAIL_FROM=$from FAIL_STEP=$step FAIL_REST=$rest timeout 100 env LD_PRELOAD="$preload" "$@" >report 2>&1 </dev/null
		wrong=$(grep -E '^[0-9]+: ' report | grep -vE ': signal 11, no trailer, at [^ ]*/lib(archive|lzma)\.so')
		is "$wrong" "" "$* (rest: $rest): $(tail -1 report)"
		matches "$(tail -1 report)" "^[0-9]+ allocations, [1-9].* wrong; status 0$" "was tried"
	done
}

small_run 3
printf '{"id":"a","prompt":"say \\"hi\\"","output_tokens":3,"session":"s","tags":{"k":"v"}}\n{"id":"b","prompt":"more","output_tokens":4}\n' >some.jsonl
printf 'id,prompt,output_tokens\na,"say ""hi""",3\nb,more,4\n' >some.csv
for i in 0 1 2 3; do
	echo "{\"timestamp\": $i, \"input_length\": 700, \"output_length\": $((i / 2)), \"hash_ids\": [1, $i], \"session_id\": \"s\"}"
done >blocks.jsonl
zstd -q chat.records
each 0 ipf-sched --reproducible poisson:rate=40,n=3 ramp:from=1,to=9,for=1s -t chat.trace
each 0 ipf-sched stat chat.sched
each 2 ipf-sched --seed 3 poisson:rate=5,n=2 "constant:rate=4,nn=3"
each 3 ipf-sched stat chat.trace
each 0 ipf-prep sharegpt --reproducible -q -n 3 "$ROOT/examples/chat.json"
each 0 ipf-prep jsonl --reproducible -q some.jsonl
each 0 ipf-prep csv --reproducible -q --field prompt=/prompt some.csv
XDG_CACHE_HOME=$PWD/cache each 0 ipf-prep jsonl --reproducible -q -t "$TESTS/data/tokenizer/gpt2.json" some.jsonl
step=1 each 0 ipf-sched --reproducible burst:n=3 -q -o out.zst # compressed: what abandons it must not compress without a buffer
printf 'the salt of this test' >salt
each 0 ipf-prep anonymize trace chat.trace -q --salt-file salt
each 0 ipf-prep anonymize mooncake blocks.jsonl -q --salt-file salt --jitter 1s --k 2
gzip -k some.jsonl
xz -k some.jsonl
python3 -m zipfile -c some.zip some.jsonl
for packed in some.jsonl.gz some.jsonl.xz some.zip; do
	each_unpacked ipf-prep jsonl --reproducible -q $packed
done
each 0 ipf-prep stat chat.trace
each 3 ipf-prep stat chat.sched
each 0 ipf-collect --reproducible chat.records.zst
each 0 ipf-collect --explain chat.records
each 0 ipf-report --by model chat.results
each 0 ipf-report -f json chat.results
each 0 ipf-report -f csv chat.results
# Threads and connections: the allocations are others each time, and a run takes a second, so that a few must do.
FAIL_LOOSE=1
step=$((step * 87))
export FAIL_LOOSE
each 0 ipf-fire -q -m sim -u "$URL" -t chat.trace chat.sched
