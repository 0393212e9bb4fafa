#!/bin/bash
# Every read is bounded: a file without an end, or one that decompresses without an end, is refused soon, with its name and the
# limit, in memory of a small multiple of the limit. The last part walks the options of all programs.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/every_option.sh"

[ -z "${SANITIZE:-}" ] || skip_all "sanitizers reserve more memory than this test allows"
server_start --step-base 200us
small_run
every_option_files

# TEXT PART COMMAND…: it ends with 3 and one message that has PART, within MEMORY kilobytes.
MEMORY=1000000
bounded() {
	local text=$1 part=$2 got
	shift 2
	(ulimit -v "$MEMORY" && exec timeout 120 "$@") >"$OUT" 2>"$ERR" </dev/null
	got=$?
	if [ "$got" = 3 ] && grep -qF -- "$part" "$ERR"; then ok "$text"; else not_ok "$text" "status $got" "$(head -c 300 "$ERR")"; fi
}
letters() { # COUNT
	head -c "$1" /dev/zero | tr '\0' a
}

# ---- small files of large contents ---------------------------------------------------------------------------------

{ printf '{"prompt":"' && letters 600000000 && printf '"}'; } | zstd -q -1 -o long.json.zst
for format in vllm sglang aiperf guidellm inference-perf genai-perf; do
	bounded "$format: a text beyond --max-line is refused" "long.json.zst:1: " ipf-report --from $format --max-line 16MiB long.json.zst
done
bounded "the limit of a text is named" "a text is longer than 16 MiB; --max-line allows longer ones" \
	ipf-report --from vllm --max-line 16MiB long.json.zst
MEMORY=300000 bounded "a text below the limit is skipped in constant memory" "cut: the JSON ends in the middle" \
	bash -c 'zstd -qdc long.json.zst | head -c 550000000 | zstd -q -1 >cut.json.zst; exec ipf-report --from vllm cut.json.zst'
{ printf '{"ipf":"report","version":1,"x":"' && letters 600000000 && printf '"}'; } | zstd -q -1 -o report.json.zst
bounded "a saved report has a limit" "report.json.zst: expected a JSON report of at most 64 MiB; --max-line allows longer ones" \
	ipf-report report.json.zst
bounded "--max-line is the limit of a saved report" "at most 16 MiB" ipf-report --max-line 16MiB report.json.zst
bounded "a saved report of a comparison has a limit" "report.json.zst:1: the line is longer than 16 MiB" \
	ipf-report compare report.json.zst report.json.zst
{ printf '{"ipf":"report","version":1,"x":[' && yes 1 | head -100000000 | tr '\n' , && printf '1]}'; } | zstd -q -1 -o list.json.zst
bounded "a list in a saved report has a limit" "list.json.zst: expected a JSON report of at most 64 MiB" ipf-report list.json.zst
yes 'a,' | head -60000000 | tr -d '\n' | gzip -1 >columns.csv.gz
bounded "a CSV header has a limit" "columns.csv.gz:1: a header of more than 16 MiB" ipf-prep csv columns.csv.gz -o new
yes 'a,' | head -60000000 | tr -d '\n' | zstd -q -1 -o columns.csv.zst
bounded "a CSV header has a limit, in another compression" "columns.csv.zst:1: a header of more than 16 MiB" ipf-prep csv columns.csv.zst -o new

# ---- files read whole: sparse, pipes -------------------------------------------------------------------------------

truncate -s 20G sparse.json
bounded "a sparse model is refused" "sparse.json: expected a model of ipf-prep fit" ipf-prep synthetic -n 2 --like sparse.json -o new
bounded "a sparse tokenizer is refused" "sparse.json: expected a tokenizer" ipf-prep tokenize -t ./sparse.json words.txt
bounded "a pipe without an end is refused" "expected a text, got a file of more than 256 MiB" \
	bash -c 'exec ipf-prep synthetic -n 2 --content <(exec cat /dev/zero) -o new'
bounded "a histogram without an end is refused" "/dev/zero: expected a histogram, got a file of more than 16 MiB" \
	ipf-prep synthetic --input-tokens histogram:/dev/zero -o new
bounded "rates without an end are refused" "/dev/zero:1: expected a time and a rate" ipf-sched rates:file=/dev/zero
bounded "rates on one line are refused" "expected" bash -c 'exec ipf-sched rates:file=<(exec tr "\0" 1 </dev/zero)'

# ---- every option, every operand -----------------------------------------------------------------------------------

unbounded=
# JSON with little text for much memory, on descriptor 9
endless() { printf '{"ipf":"report","version":1,"x":['; yes '[],' | tr -d '\n'; }
ends() { # COMMAND…: any status but a signal's, without running out of memory
	(ulimit -v 2500000 && exec timeout 120 "$@") >"$OUT" 2>"$ERR" </dev/null 9< <(endless 2>/dev/null)
	local got=$?
	[ $got -lt 124 ] && ! grep -q "out of memory\|Cannot allocate" "$ERR" || unbounded+=" $*: $got;"
}
reads_to_a_limit() { # OPTION ARGUMENT
	case $1 in --output | --records | --report | --plots | --media) return ;; esac
	takes_file "$1" "$2" || return
	ends "${command[@]}" "${words[@]}" "$1=/dev/zero"
	ends "${command[@]}" "${words[@]}" "$1=/dev/fd/9"
}
each_option reads_to_a_limit
at_least "$options_tried" 200 "the options of all programs are tried"
is "$unbounded" "" "every option's file is read up to a limit"

unbounded=
for source in $(ipf-prep --list | awk '$1 ~ /^[a-z]/ { print $1 }'); do
	ends ipf-prep "$source" /dev/zero
	[ -z "${IPF_LONG:-}" ] || ends ipf-prep "$source" /dev/fd/9 # minutes
done
for command in "ipf-prep stat" "ipf-prep fit trace" "ipf-prep tokenize -t approx" "ipf-prep anonymize trace" "ipf-sched stat" ipf-fire \
	ipf-collect ipf-report "ipf-report compare" "ipf-report export csv" "ipf-report certificate" "ipf-twin fit" "ipf-twin predict"; do
	read -ra words <<<"$command"
	ends "${words[@]}" /dev/zero
	[ -z "${IPF_LONG:-}" ] || ends "${words[@]}" /dev/fd/9
done
is "$unbounded" "" "every operand is read up to a limit"
