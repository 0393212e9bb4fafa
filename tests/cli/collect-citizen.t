#!/bin/bash
# ipf-collect among other programs: cut input, full disks, closed pipes, live pipes, signals, wrong usage.
# shellcheck source=tests/tap.sh
. "$TESTS/tap.sh"

records=$TESTS/data/collect/awkward.records

is_whole() { # FILE: its trailer counts and signs its lines
	[ "$(tail -1 "$1" | jq -r .end.lines)" = "$(body "$1" | wc -l)" ] &&
		[ "$(tail -1 "$1" | jq -r .end.sha256)" = "$(body "$1" | sha256sum | cut -d' ' -f1)" ]
}

# ---- cut input
head -n 5 "$records" >cut.records
run "$BIN/ipf-collect" cut.records
status_is 3 "records without a trailer: status 3"
complains ipf-collect "cut.records: cut after 4 good lines" "ipf-collect says after how many good lines records are cut"
is "$(jq -r 'select(.n != null) | .n' "$OUT" | xargs)" "0 1 2" "cut records give their rows"
yes_if "the results of cut records are sealed" is_whole "$OUT"
contains "$(tail -1 "$OUT" | jq -r .end.incomplete)" "cut after 4 good lines" "the trailer says what is missing"
head -n 5 "$records" | "$BIN/ipf-collect" >piped 2>/dev/null
same piped "$OUT" "cut records from a pipe give the same bytes"

bad=0
size=$(wc -c <"$records")
for ((at = 0; at < size; at += 397)); do
	head -c "$at" "$records" >cut.records
	status=0
	"$BIN/ipf-collect" cut.records >out 2>err || status=$?
	[ $status = 3 ] && [ "$(wc -l <err)" = 1 ] || bad=$((bad + 1))
	[ ! -s out ] || is_whole out || bad=$((bad + 1))
done
is $bad 0 "cut anywhere: status 3, one line, a whole stream where there is one"

zstd -q "$records" -o packed.zst
head -c 2000 packed.zst >cut.zst
run "$BIN/ipf-collect" cut.zst
status_is 3 "compressed records, cut: status 3"

sed '4s/"stage":1/"stage":2/' "$records" >changed
run "$BIN/ipf-collect" changed
status_is 3 "records that were changed: status 3"
complains ipf-collect "SHA-256" "ipf-collect says that the digest is wrong"
yes_if "the results of changed records are sealed" is_whole "$OUT"

sed '4s/"n":1/"n":"one"/' "$records" >damaged
run "$BIN/ipf-collect" damaged
status_is 3 "a line that makes no sense: status 3"
complains ipf-collect 'damaged:4: n: expected' "a senseless line is named with file, line and field"
is "$(jq -r 'select(.n != null) | .n' "$OUT" | xargs)" "0" "rows before a senseless line are there"
yes_if "the results before a senseless line are sealed" is_whole "$OUT"

# ---- no input, other input
run "$BIN/ipf-collect" /dev/null
status_is 3 "empty input: status 3"
complains ipf-collect "empty" "empty input is reported in one line"
run "$BIN/ipf-collect" <&-
status_is 1 "closed standard input: status 1"
complains ipf-collect "standard input" "closed standard input is reported in one line"
run "$BIN/ipf-collect" nowhere
status_is 1 "a file that is not there: status 1"
complains ipf-collect "nowhere" "a missing file is reported in one line"
run "$BIN/ipf-collect" "$TESTS/data/collect/awkward.results"
status_is 3 "results for records: status 3"
complains ipf-collect 'expected an ipf records stream, got "results"' "results for records are reported in one line"
seal <(head -1 "$records" | jq -c 'del(.api)') /dev/null >without
run "$BIN/ipf-collect" without
status_is 3 "records without a descriptor: status 3"
complains ipf-collect "api" "records without a descriptor are reported in one line"
run "$BIN/ipf-collect" --api openai-chat without
status_is 0 "--api names the descriptor that records lack"
seal <(head -1 "$records" | jq -c '.api.response.text = 5') /dev/null >strange
run "$BIN/ipf-collect" strange
status_is 3 "a descriptor that makes no sense: status 3"
complains ipf-collect "response.text: expected" "the error of a descriptor names the member"
seal <(head -1 "$records" | jq -c '.api.response.of_tomorrow = []') /dev/null >strange
run "$BIN/ipf-collect" strange
status_is 0 "a member that nobody knows may be of a later version"

sed '1s/"begin_ns":0/"begin_ns":"soon"/' "$records" >strange
run "$BIN/ipf-collect" strange -o none
status_is 3 "a schedule in the header that makes no sense: status 3"
complains ipf-collect "stages[0].begin_ns: expected an integer" "the error of a schedule in the header names the member"
yes_if "ipf-collect writes nothing if the schedule in the header is wrong" test ! -e none

# ---- usage
for arguments in "--itl gaps" "--api openai-chatt" "-t hf://" "--stall 5" "--stall -1ms" "--evnts"; do
	# shellcheck disable=SC2086 # two words each
	run "$BIN/ipf-collect" $arguments "$records"
	status_is 2 "$arguments: status 2"
done

# ---- failing outputs
run "$BIN/ipf-collect" "$records" -o /dev/full
status_is 1 "/dev/full: status 1"
complains ipf-collect "/dev/full" "/dev/full is reported in one line"
status=0
"$BIN/ipf-collect" "$records" >/dev/full 2>"$ERR" || status=$?
status_is 1 "standard output that is full: status 1"
complains ipf-collect "standard output" "full standard output is reported in one line"

for ((i = 0; i < 300; i++)); do body "$records"; done >lines
seal "$records" lines >many
"$BIN/ipf-collect" many 2>err | head -1 >first
status=${PIPESTATUS[0]}
status_is 0 "| head -1: status 0"
is "$(cat err)" "" "ipf-collect | head -1 has no messages"
is "$(wc -l <first)" 1 "ipf-collect | head -1 writes one line"

# ---- live: each row comes out as soon as its record went in
mkfifo in.pipe out.pipe
"$BIN/ipf-collect" <in.pipe >out.pipe 2>err &
collect=$!
stop_at_exit $collect
exec 8>in.pipe 9<out.pipe
head -2 "$records" >&8
row=
read -r -t 120 -u 9 header && read -r -t 120 -u 9 row
contains "$header" '"ipf":"results"' "live: the header comes while the input is open"
contains "$row" '"n":0,' "live: the first row comes"
sed -n 3p "$records" >&8
read -r -t 120 -u 9 row
contains "$row" '{"sample":"client",' "live: the line about the client comes"
sed -n 4p "$records" >&8
read -r -t 120 -u 9 row
contains "$row" '"n":1,' "live: the second row comes"

# ---- signals: the first two are for who writes our input, the third one for us
# No signal is pending and every thread sleeps: a handler has not only begun, it has returned.
signal_taken() {
	grep -q '^ShdPnd:.0*$' "/proc/$collect/status" && ! cat "/proc/$collect"/task/*/status | grep -qE '^State:.[^S]|^SigPnd:.*[1-9a-f]'
}
kill -TERM $collect
yes_if "the first signal is taken" wait_for signal_taken
sleep 0.15 # within 100 ms of the one before, a signal is part of it
kill -HUP $collect
yes_if "the second signal is taken" wait_for signal_taken
sed -n 5p "$records" >&8
read -r -t 120 -u 9 row
contains "$row" '"n":2,' "ipf-collect reads on after two signals"
sleep 0.15
kill -TERM $collect
cat <&9 >rest &
reader=$!
exec 9<&-
status=0
wait $collect || status=$?
status_is 3 "the third one ends the reading: status 3"
contains "$(cat err)" "interrupted after 4 good lines" "ipf-collect says that it was interrupted"
wait $reader
contains "$(tail -1 rest)" '"incomplete":"interrupted' "interrupted results are sealed"
exec 8>&-

# ---- memory does not grow with the run
if [ -n "$SANITIZE" ]; then
	skip "100 MB of records in 64 MB of memory" "sanitizers reserve memory of their own"
else
	for ((i = 0; i < 40; i++)); do body many; done >lines
	seal "$records" lines >long
	between "$(wc -c <long)" 90000000 200000000 "the records have about 100 MB"
	run bash -c 'ulimit -v 65536; exec "$0" long -o /dev/null' "$BIN/ipf-collect"
	status_is 0 "ipf-collect reads 100 MB of records in 64 MB of memory"
fi
