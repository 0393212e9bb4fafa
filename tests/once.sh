# Makes each call of a command fail, for each in turn (preload/fail_once.c): source it after tap.sh and fixture.sh.
#
#     once_inputs
#     once 0 ipf-sched stat "$PWD/chat.sched"    # 0: the status when nothing fails
#
# Kinds of calls: IPF_KINDS, by default all. One of every IPF_STEP calls (1: all), beginning with IPF_FROM (1);
# allocations are many, so one of every IPF_STEP * IPF_STEP_MEMORY (1); IPF_PLACES=2: only the first two by the same functions in the same order.
# IPF_PART=2/4: the second quarter of the commands. IPF_DONE=FILE: a list of what has been tried, with the counts; a run with the same list goes on.
# shellcheck shell=bash

once_library=$BUILD/tests/fail_once.so
[ -e "$once_library" ] || skip_all "$once_library is not built"
once_kinds=${IPF_KINDS:-allocation memory read write open access sync name close stat thread wait random interrupt short}
[ -z "${SANITIZE:-}" ] || once_kinds=${once_kinds/memory /} # the sanitizer itself ends where it gets no memory
once_step=${IPF_STEP:-1}
once_memory=${IPF_STEP_MEMORY:-1}
once_part=${IPF_PART:-1/1} once_number=0
once_parts=${once_part#*/} once_part=${once_part%/*}
once_done=${IPF_DONE:-/dev/null}
once_places=${IPF_PLACES:-}
echo "# IPF_KINDS='$once_kinds' IPF_STEP=$once_step IPF_FROM=${IPF_FROM:-1} IPF_STEP_MEMORY=$once_memory IPF_PLACES=$once_places"
export TZ=UTC
# Leaks are none of a failure's business; the library comes before that of the sanitizer; a small process forks sooner.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0:verify_asan_link_order=0:log_path=stderr:exitcode=99:allocator_may_return_null=1:quarantine_size_mb=4"
FAIL_KIND=wait LD_PRELOAD=$once_library "$BIN/ipf-sched" --version >report 2>&1
[ $? != 77 ] || once_kinds=allocation # the kernel refuses to hand over system calls, as in some containers
once_allocates=yes
case " $once_kinds " in *" allocation "*)
	calls=$(FAIL_FROM=1000000000 LD_PRELOAD=$once_library "$BIN/ipf-sched" --version </dev/null 2>/dev/null | tail -1)
	case $calls in
	"0 calls, "*)
		skip "failing allocations" "the programs have a malloc() of their own, as clang's sanitizer has: build with gcc"
		once_allocates=
		;;
	esac
	;;
esac

# A single call fails, or with rest=1 all further ones, too. Failures in lines matching once_known are others' to mend.
once_known='^$'
once_sanitizer='AddressSanitizer: CHECK failed: sanitizer_' # it starts no thread without memory, and ends the program
once_kind() { # KIND REST STATUS COMMAND…
	local step=$once_step places='' kind=$1 rest=$2 expected=$3 wrong total key
	shift 3
	[ "$kind" != allocation ] || [ -n "$once_allocates" ] || return 0
	[ "$kind" != allocation ] || step=$((step * once_memory)) places=$once_places
	key="$kind"$'\t'"$rest"$'\t'"${IPF_FROM:-1}/$step${places:+ $places}"$'\t'"${*//"$PWD"\//}"
	key=$(sed -E 's,127\.0\.0\.1:[0-9]+,SERVER,g' <<<"$key")
	total=$([ ! -e "$once_done" ] || awk -F '\t' -v key="$key" 'index($0, key "\t") == 1 { print $NF; exit }' "$once_done")
	[ -z "$total" ] || { once_said="$once_said $kind${rest#0}=${total%% *}" && return; }
	FAIL_KIND=$kind FAIL_FROM=${IPF_FROM:-1} FAIL_STEP=$step FAIL_PLACES=${places:-0} FAIL_REST=$rest LD_PRELOAD=$once_library "$@" >report 2>&1 </dev/null
	wrong=$(grep -aE '^[0-9]+: ' report | grep -avE "$once_known|$once_sanitizer" | head -20)
	total=$(tail -1 report)
	case $total in
	*" calls, "*"; status $expected")
		if [ -z "$wrong" ]; then
			once_said="$once_said $kind${rest#0}=${total%% *}"
			printf '%s\t%s\n' "$key" "$total" >>"$once_done"
			return
		fi
		;;
	esac
	not_ok "$kind (rest: $rest): $*" "$wrong" "$total"
}

once() { # STATUS COMMAND…
	local kind before=$tap_failed
	once_number=$((once_number + 1))
	[ $((once_number % once_parts)) = $((once_part % once_parts)) ] || return 0
	once_said=
	tap_failed=0
	for kind in $once_kinds; do
		once_kind "$kind" 0 "$@"
		case $kind in allocation | memory | write | open) once_kind "$kind" 1 "$@" ;; esac
	done
	[ $tap_failed != 0 ] || ok "$*:$once_said"
	[ "$before" = 0 ] || tap_failed=1
}

# A run of three requests, and small inputs of several kinds.
once_inputs() {
	local i
	small_run 3
	printf '{"id":"a","prompt":"say \\"hi\\"","output_tokens":3,"session":"s","tags":{"k":"v"}}\n{"id":"b","prompt":"more","output_tokens":4}\n' >some.jsonl
	printf 'id,prompt,output_tokens\na,"say ""hi""",3\nb,more,4\n' >some.csv
	for i in 0 1 2 3; do
		echo "{\"timestamp\": $i, \"input_length\": 700, \"output_length\": $((i / 2)), \"hash_ids\": [1, $i], \"session_id\": \"s\"}"
	done >blocks.jsonl
	# Two requests at once, whose answers are short: a run takes a tenth of a second.
	ipf-prep synthetic -q -n 2 --input-tokens 10 --output-tokens 2 -o short.trace
	ipf-sched burst:n=2 -q -t short.trace -o short.sched
	printf 'the salt of this test' >salt
	printf 'first line\nsecond\n' >texts
	zstd -q chat.records
	gzip -k some.jsonl
	xz -k some.jsonl
	python3 -m zipfile -c some.zip some.jsonl
}
