#!/bin/bash
# A small file decompressing to gigabytes, a line without end, a window too large: refused soon, in little memory.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
command -v zstd >/dev/null || skip_all "zstd is not installed"

small_run 4
if [ -n "${SANITIZE:-}" ]; then
	limit() { "$@"; } # sanitizers take address space of their own
else
	limit() { (ulimit -v 450000 && exec "$@"); }
fi
repeat() { # TEXT BYTES
	yes "$1" | tr -d '\n' | head -c "$2"
}
readers="trace|ipf-prep stat
trace|ipf-sched burst:n=1 -t
trace|ipf-fire -u http://127.0.0.1:1 --probe -t
schedule|ipf-sched stat
schedule|ipf-fire -q -m sim -u $URL -o /dev/null -t chat.trace
records|ipf-collect -o /dev/null
records|ipf-collect --explain -o /dev/null
results|ipf-report -o /dev/null"
refused() { # PART FILE COMMAND…
	local part=$1 file=$2
	shift 2
	run limit timeout 120 "$@" "$file"
	status_is 3 "$* refuses $file"
	complains "$1" "$part" "$1 says why it refuses $file"
}

head -c 1G /dev/zero | zstd -q -1 >zeros.zst
{ printf '{"ipf":"'; repeat abcdefgh 64M; } | zstd -q -1 >header.zst
while IFS='|' read -r kind reader; do
	refused 'does not begin with "{"' zeros.zst $reader
	refused 'the line is longer than 16 MiB' header.zst $reader
done <<<"$readers"
for stream in trace sched records results; do
	plain chat.$stream | head -1 >first
	{ cat first; head -c 1G /dev/zero; } | zstd -q -1 >damaged.$stream.zst
	{ cat first; repeat '{"ipf":' 64M; } | zstd -q -1 >long.$stream.zst
done
while IFS='|' read -r kind reader; do
	[ $kind != schedule ] || kind=sched
	refused 'damaged after 0 good lines: expected "{"' damaged.$kind.zst $reader
	case $reader in
	*' stat') limited="$reader --max-line 32MiB" ;;
	*) limited="${reader/ / --max-line 32MiB }" ;;
	esac
	refused 'the line is longer than 32 MiB, after 0 good lines' long.$kind.zst $limited
done <<<"${readers//trace|ipf-fire*probe -t/trace|ipf-prep stat}"

# Both are found wherever they are.
plain chat.records | head -3 >two
{ cat two; repeat x 5000; } >damaged
whole_lines=$(sed 1d two | grep -c '"n"')
run ipf-collect damaged
status_is 3 "damage after whole lines"
complains ipf-collect 'damaged:4: damaged after 2 good lines: expected "{", got "xxxxxxxx"' "ipf-collect reports the line of the damage"
is "$(body "$OUT" | grep -c '"n"')" "$whole_lines" "ipf-collect uses the lines before the damage"
printf '%s\nxx' "$(head -1 chat.sched)" >cut.sched
run ipf-sched stat cut.sched
complains ipf-sched "cut after 0 good lines" "a few bytes without an end are a cut line"

# The trailer is a tree in memory, as the header is.
{ head -1 two; printf '{"end":{"x":['; repeat '0,' 20M; printf '0]}}\n'; } >trailer
refused "the line is longer than 16 MiB" trailer ipf-collect

# --max-line allows more, up to the limit of JSON texts.
{ head -1 two | sed 's/^{/{"x":"'"$(repeat x 100000)"'",/'; sed 1d <(plain chat.records); } >large
run ipf-collect --max-line 64KiB large
status_is 3 "--max-line is for the header as well"
complains ipf-collect "large:1: the line is longer than 0 MiB" "ipf-collect says that the header is longer than --max-line"
run ipf-collect --max-line 1MiB large
status_is 0 "a longer line is allowed"
for wrong in 1KiB 5GiB -1 many; do
	run ipf-report --max-line=$wrong chat.results
	status_is 2 "ipf-report refuses --max-line $wrong"
done

# Windows: 128 MiB, as of zstd itself.
plain chat.results | zstd -q --long=28 >window.zst
run ipf-report window.zst
status_is 3 "a window of 256 MiB is refused"
complains ipf-report "window.zst: compressed with a window of more than 128 MiB; --max-window allows larger ones" "the refusal of a large window names --max-window"
run ipf-report --max-window 256MiB window.zst
status_is 0 "--max-window allows it"
run ipf-report --max-window 3GiB window.zst
status_is 2 "--max-window refuses more than zstd can"

# Data sets: the same, for every way of compression.
head -c 700M /dev/zero | gzip -1 >zeros.gz
printf '[{"id":"a","conversations":[{"from":"human","value":"%s' x >begin.json
{ cat begin.json; repeat x 64M; } >long.json
gzip -1 <long.json >long.json.gz
bzip2 -1 <long.json >long.json.bz2 2>/dev/null || cp long.json long.json.bz2
xz -0 <long.json >long.json.xz 2>/dev/null || cp long.json long.json.xz
for file in zeros.gz zeros.zst; do
	for source in sharegpt azure sonnet auto jsonl burstgpt; do
		run limit timeout 120 ipf-prep $source $file -o /dev/null
		status_is 3 "ipf-prep $source refuses $file"
		is "$(grep -c . "$ERR")" 1 "ipf-prep refuses $file in one line"
	done
done
for file in long.json.gz long.json.bz2 long.json.xz long.json; do
	run limit timeout 120 ipf-prep sharegpt --max-line 8MiB $file -o /dev/null
	status_is 3 "a record without an end in $file"
	complains ipf-prep "a record of more than 8 MiB" "ipf-prep says how long the record is"
done
repeat '1 ' 64M >rates
run limit timeout 120 ipf-sched rates:file=rates
status_is 3 "a file of rates without lines is refused"
complains ipf-sched "rates:1: expected a time and a rate, got a line of more than" "ipf-sched says that the file of rates is one long line"
