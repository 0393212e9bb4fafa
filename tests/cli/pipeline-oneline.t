#!/bin/bash
# All five programs in one pipe, with nothing but pipes and the trace, and live progress.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
set -o pipefail

server_start
head -40 "$ROOT/examples/arrivals.csv" >arrivals.csv

ipf-prep azure arrivals.csv 2>prep.err | tee azure.trace.zst | zstd -q >azure.trace
is "$?" 0 "ipf-prep works in a pipe"
ipf-prep azure arrivals.csv -o azure.trace.zst
ipf-sched replay:speed=8 -t azure.trace.zst 2>sched.err |
	ipf-fire -u "$URL" -m sim -t azure.trace.zst --progress 2>fire.err |
	ipf-collect --progress 2>collect.err |
	ipf-report >report 2>report.err
is "${PIPESTATUS[*]}" "0 0 0 0" "the pipe ends with 0 everywhere"
is "$(cat sched.err report.err)" "" "programs without progress have no messages"
matches "$(cat fire.err)" "[0-9]" "ipf-fire shows how far it is"
is "$(grep -vcE '^[0-9]+ s  started [0-9]+/39  in flight [0-9]+  done [0-9]+  failed 0  ' fire.err)" 0 "ipf-fire writes whole lines of progress if there is no terminal"
is "$(cut -d ' ' -f 1 fire.err | awk 'NR > 1 && $1 <= last { print } { last = $1 }')" "" "ipf-fire writes at most a line of progress a second"
matches "$(cat collect.err)" "[0-9]" "ipf-collect shows how far it is"
contains "$(head -1 report)" "Verdict" "the report begins with the verdict"
matches "$(cat report)" "39" "the report counts 39 requests"
is "$(sed -E 's/…|▁|▂|▃|▄|▅|▆|▇|█/./g' report | LC_ALL=C.UTF-8 awk 'length > 80')" "" "the report fits into 80 columns"

# Whoever reads has had enough: all of them end at once, quietly, though the schedule goes on for an hour.
ipf-sched -q constant:rate=20,for=1h -t azure.trace.zst 2>sched.err |
	timeout 120 ipf-fire -u "$URL" -m sim -t azure.trace.zst 2>fire.err |
	ipf-collect 2>collect.err | head -3 >first
is "${PIPESTATUS[*]}" "0 0 0 0" "| head -3 ends the run"
is "$(cat sched.err fire.err collect.err)" "" "ipf-report | head -3 has no messages"
is "$(wc -l <first | tr -d ' ')" 3 "ipf-report | head -3 writes three lines"

# On a terminal the progress is one updating line, and is gone when the run is over.
if command -v script >/dev/null; then
	ipf-sched constant:rate=20,n=30 -t azure.trace.zst -o short.sched
	script -qec "ipf-fire -u $URL -m sim -t azure.trace.zst short.sched -o tty.records" /dev/null >tty.out </dev/null
	contains "$(cat tty.out)" $'\r' "ipf-fire updates one line on a terminal"
	is "$(tr -cd '\n' <tty.out | wc -c | tr -d ' ')" 0 "progress on a terminal leaves no line behind"
else
	skip "progress on a terminal" "script(1) is not installed"
fi
