#!/bin/sh
# Data too large into --memory: the same trace through temporary files, a full disk, and nothing left behind.
. "$TESTS/tap.sh"

here=$PWD
mkdir folder
export TMPDIR="$here/folder"

# Each golden trace, with so little memory that every record goes into a file.
cd "$TESTS/data/prep" || exit 1
while IFS='|' read -r name wanted arguments _; do
	case $name in '' | '#'*) continue ;; esac
	# shellcheck disable=SC2086 # arguments are words
	run "$BIN/ipf-prep" --reproducible --memory 1kB $arguments
	status_is "$wanted" "$name: exit status"
	same "$OUT" "$name.out" "$name: the trace is the same in temporary files"
	[ ! -e "$name.err" ] || same "$ERR" "$name.err" "$name: the messages are the same"
done <cases
cd "$here" || exit 1

is "$(ls -A folder)" "" "nothing remains in TMPDIR"

# 20,000 requests in no order, a third of them in sessions, through several levels of files.
awk 'BEGIN { srand(3); for (i = 0; i < 20000; i++) {
	session = rand() < 0.3 ? sprintf(", \"session_id\": \"s%d\"", rand() * 2000) : ""
	printf "{\"timestamp\": %d, \"input_length\": %d, \"output_length\": 3%s}\n", rand() * 1e7, 1 + rand() * 900, session } }' >many.jsonl
"$BIN/ipf-prep" mooncake many.jsonl --prompt none --reproducible >in-memory
for options in '' '--shuffle' '--scale 1.5' '--dequantise' '--max-input 300' '--from 1000s --to 5000s' '-n 500' '--sessions 70'; do
	case $options in *shuffle*) format='jsonl --field input_tokens=/input_length --field output_tokens=/output_length' ;; *) format=mooncake ;; esac
	# shellcheck disable=SC2086 # words
	"$BIN/ipf-prep" $format many.jsonl --prompt none --reproducible $options >in-memory 2>said-in-memory
	# shellcheck disable=SC2086 # words
	"$BIN/ipf-prep" $format many.jsonl --prompt none --reproducible $options --memory 400kB >in-files 2>said
	same in-files in-memory "temporary files give the same trace: ${options:-no option}"
	same said said-in-memory "temporary files give the same messages: ${options:-no option}"
done
"$BIN/ipf-prep" jsonl many.jsonl --field input_tokens=/input_length --prompt none --reproducible --sample with -n 30000 >in-memory
"$BIN/ipf-prep" jsonl many.jsonl --field input_tokens=/input_length --prompt none --reproducible --sample with -n 30000 --memory 400kB >in-files
same in-files in-memory "temporary files give the same trace: --sample with"
"$BIN/ipf-prep" jsonl many.jsonl --field input_tokens=/input_length --prompt none --reproducible --sample without -n 900 >in-memory
"$BIN/ipf-prep" jsonl many.jsonl --field input_tokens=/input_length --prompt none --reproducible --sample without -n 900 --memory 40kB >in-files
same in-files in-memory "temporary files give the same trace: --sample without"
is "$(ls -A folder)" "" "nothing remains of larger data in TMPDIR"

# Options that cannot be kept in files are refused.
run "$BIN/ipf-prep" jsonl many.jsonl --field input_tokens=/input_length --prompt none --shuffle --memory 100kB
status_is 2 "a random order needs memory: status"
complains ipf-prep 'give --memory at least 1 MiB' "a random order needs memory: how much"

# A full disk.
run sh -c 'ulimit -f 20; exec "$0" "$@"' "$BIN/ipf-prep" mooncake many.jsonl --prompt none --memory 100kB -o full.trace
status_is 1 "a full disk is a system error"
complains ipf-prep "$here/folder: cannot write a temporary file (TMPDIR names another folder)" "a full disk: the folder and what to do"
is "$(ls -A folder)" "" "a full disk: nothing remains"
TMPDIR=$here/missing run "$BIN/ipf-prep" mooncake many.jsonl --prompt none --memory 100kB
status_is 1 "a folder that is missing is a system error"
complains ipf-prep "$here/missing: cannot create a temporary file" "a folder that is missing is named"

run "$BIN/ipf-prep" mooncake many.jsonl --memory 10
status_is 2 "--memory needs a size of some use"
complains ipf-prep 'memory: expected a size from 1kB to 64TB, got "10"' "--memory: the message says what it may be"

# Files without an end, or expanding ones.
endless() { # TEXT LIMIT ARGUMENTS…
	text=$1 limit=$2
	shift 2
	run "$BIN/ipf-prep" "$@"
	status_is 3 "$text without an end: status"
	complains ipf-prep "/dev/zero: expected $text, got a file of more than $limit MiB" "$text without an end: the file and the limit"
}
endless 'a histogram' 16 synthetic -n 2 --input-tokens histogram:/dev/zero
endless 'a model of ipf-prep fit' 64 synthetic --like /dev/zero
endless 'a tokenizer' 128 synthetic -n 2 -t /dev/zero
endless 'a text' 256 synthetic -n 2 --content /dev/zero
mkfifo pipe
yes '1 2' >pipe 2>yes.err &
run "$BIN/ipf-prep" synthetic -n 2 --input-tokens histogram:pipe
complains ipf-prep "pipe: expected a histogram, got a file of more than 16 MiB" "a pipe without an end"
wait $!

python3 - <<'END'
import gzip
with gzip.open('header.csv.gz', 'wb', 1) as f:
    for _ in range(9):
        f.write(b'a,' * (1 << 20))
with gzip.open('row.csv.gz', 'wb', 1) as f:
    f.write(b'prompt,x\nfirst,1\n' + b'a,' * (1 << 17) + b'\nlast,1\n')
END
run "$BIN/ipf-prep" csv header.csv.gz
status_is 3 "a header that expands: status"
complains ipf-prep 'header.csv.gz:1: a header of more than 16 MiB: this is no CSV' "a header that expands: its limit"
run "$BIN/ipf-prep" csv row.csv.gz
status_is 3 "a row that expands: status"
complains ipf-prep 'row.csv.gz:3: more than 65536 fields' "a row that expands: its limit"
is "$(body "$OUT" | wc -l)" 2 "a row that expands: the others are in the trace"
