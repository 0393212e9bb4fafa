#!/bin/bash
# The view of a live run on a terminal: drawn in place, within the terminal's size, and left behind at the end.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
command -v python3 >/dev/null || skip_all "no python3"

# Runs a command on a terminal of this size, in which there is a line already; $OUT is the screen at the end, $ERR the output.
terminal() { # ROWS COLUMNS [-THEN] COMMAND
	local then=0 rows=$1 columns=$2
	shift 2
	case $1 in -*) then=${1#-} && shift ;; esac
	status=0
	TERM=xterm LC_ALL=C.UTF-8 PYTHONIOENCODING=utf-8 python3 "$TESTS/terminal.py" screen "$rows" "$columns" "$then" "echo before; $1" >"$OUT" 2>"$ERR" || status=$?
}
label() { # NAME: the line with this label
	grep "^$1 " "$OUT"
}

# Records whose rest comes when the view has shown ERE.
SHOWN=$PWD/shown
pause() { # FILE LINES ERE: the rest comes after so many lines, when a picture has had it
	head -n "$2" "$1"
	until grep -aqE -e "$3" "$SHOWN"; do sleep 0.05; done
	tail -n +$(($2 + 1)) "$1"
}
drawings() { grep -ac $'\x1b\\[J' "$SHOWN"; }
pause_resized() { # FILE LINES: the terminal has changed its width, and two pictures more were drawn: of one, the width was perhaps read before
	head -n "$2" "$1"
	until [ -e "$SHOWN.resized" ]; do sleep 0.05; done
	local before
	before=$(drawings)
	until [ "$(drawings)" -ge $((before + 2)) ]; do
		tail -n +$(($2 + 1)) "$1" | head -1 # it draws when a line comes
		set -- "$1" $(($2 + 1))
		sleep 0.3
	done
	tail -n +$(($2 + 1)) "$1"
}
export SHOWN
export -f pause drawings pause_resized

server_start -m sim --step-base 2ms
ipf-prep sharegpt "$ROOT/examples/chat.json" -o t.trace
ipf-sched -q constant:rate=80,for=700ms -t t.trace -o t.sched
fire="ipf-fire -u $URL -m sim -t t.trace t.sched"
live="$fire | ipf-collect -o results"
# the same from records, which end when there has been a picture
again="pause records 30 '^.*requests ' | ipf-collect -o results"

terminal 24 80 "$live"
is "$status" 0 "a live run on a terminal"
contains "$(sed -n 2p "$OUT")" "stage 1/1: constant:rate=80,for=700ms" "the second line has the stage"
is "$(head -1 "$OUT")" before "the view keeps the lines before it"
is "$(tail -n +2 "$OUT" | grep -vc '^$')" 6 "six lines are left behind" || cat "$OUT"
rows=$(zstd -dc results 2>/dev/null | cat - results | grep -c '"ok":true')
matches "$(label requests)" "  $rows ended  0 in flight" "every request has ended at the end of the view"
matches "$(label requests)" "[▁▂▃▄▅▆▇█]" "requests have their course"
matches "$(label TTFT)" "  p50 [0-9.]+ [mu]?s  p99 [0-9.]+ [mu]?s  max [0-9.]+ [mu]?s" "the view has TTFT"
matches "$(label ITL)" "  p50 [0-9.]+ [mu]?s" "the view has ITL"
matches "$(label tokens)" "output tokens/s" "the view has output tokens per second"
matches "$(label verdict)" "^verdict   (OK|DOUBTFUL|INVALID)" "the verdict is below the figures" # exact: any verdict will do
between "$(sed -n 's/^longest \([0-9]*\).*/\1/p' "$ERR")" 40 79 "lines fit into 80 columns"

terminal 24 80 "$fire -o records; pause records 40 '^.*requests ' | ipf-collect -o viewed"
at_least "$(sed -n 's/.*pictures //p' "$ERR")" 2 "the view is drawn during the run and at its end"
run ipf-collect -q records -o unseen
same() { sed 's/^{"ipf".*//' "$1" | grep -v '^{"end"'; sed -n '/^{"end"/s/.*"verdict"/"verdict"/p' "$1"; }
is "$(same viewed | sha256sum)" "$(same unseen | sha256sum)" "the view changes nothing in the results"

for columns in 60 40 20; do
	terminal 24 $columns "$again"
	is "$status" 0 "$columns columns: a run"
	between "$(sed -n 's/^longest \([0-9]*\).*/\1/p' "$ERR")" 1 $((columns - 1)) "$columns columns: lines fit"
	is "$(head -1 "$OUT")" before "$columns columns: drawn in place"
done
terminal 3 80 "$again"
is "$(tail -n +2 "$OUT" | grep -vc '^$')" 3 "three rows have three lines"
terminal 24 120 -40 "pause_resized records 20 | ipf-collect -o results"
is "$status" 0 "a terminal that becomes narrower"
between "$(sed -n 's/.*last \([0-9]*\) .*/\1/p' "$ERR")" 20 39 "lines fit into the narrower terminal"

# Failures, with ipf-fire's message: it waits until the view has been drawn for the last time.
nowhere="ipf-fire -u $URL/nowhere -m sim -t t.trace"
terminal 24 80 "$nowhere -v t.sched | ipf-collect -o results"
matches "$(label failed)" "http-status [0-9]+" "failures by kind"
matches "$(sed -n '/^failed /{n;p}' "$OUT")" "^ +404 ×56: no such path$" "the most frequent one, with its status and text"
matches "$(sed -n '/^failed /{n;n;p}' "$OUT")" "^ +check the path of --url, and --api$" "the view says how to mend the failures"
matches "$(label verdict)" "^verdict   INVALID: " "a run that failed is INVALID" # exact: nothing was answered
is "$(tail -n +2 "$OUT" | cut -c 1-10 | grep -c '^\(0:0\|requests\|tokens\|failed\|verdict\)')" 5 "every line of the view is there once" || cat "$OUT"
is "$(sed -n '/^verdict/,$p' "$OUT" | cut -d' ' -f 1 | tr '\n' ' ')" "verdict ipf-collect: ipf-fire: " "messages are below the view"
contains "$(cat "$OUT")" "all 56 requests failed (56 http-status): 404 ×56: no such path (check the path of --url, and --api)" "ipf-collect says why requests failed"
is "$(grep -c '^ipf-.*requests failed' "$OUT")" 1 "ipf-collect says it once"
run ipf-fire -q -u "$URL/nowhere" -m sim -t t.trace t.sched -o dead.live
python3 "$TESTS/helpers/calm.py" dead.live >dead.records
terminal 24 80 "cat dead.records | ipf-collect -o results"
matches "$(label verdict)" "^verdict   INVALID: server_answers: " "the verdict names the question that fails, if the client was in time" # exact: times that are written
terminal 24 80 "$nowhere -v --stop-on errors=5 t.sched | ipf-collect -o results"
matches "$(tail -1 "$OUT")$(tail -2 "$OUT" | head -1)" "ipf-fire: stopped: " "an error that ends the run is seen, too"
is "$(grep -c '^verdict' "$OUT")" 1 "below a view that is whole"
terminal 24 200 "ipf-fire -u $URL/nowhere -m sim -t t.trace t.sched -q | ipf-collect -o results | ipf-report -q"
is "$(grep -n '^ipf-collect: all 56' "$OUT" | cut -d: -f1)" "$(($(grep -n '^verdict' "$OUT" | cut -d: -f1) + 1))" "messages come before the report"

# How much is done, and how long the rest takes.
seen() { # COMMAND: all that was drawn, the lines beginning with the time
	TERM=xterm LC_ALL=C.UTF-8 python3 "$TESTS/terminal.py" lines 24 120 0 "$1" | tr '\r' '\n' | grep -aE '[0-9]+:[0-9]{2} .*stage' >heads
}
# A hundred seconds, of which the first one is enough: a percent is a second.
twin server.twin step_base_ns=2000000 step_per_sequence_ns=0
ipf-sched -q constant:rate=1,for=100s -t t.trace -o timed.sched
ipf-twin predict -q server.twin -t t.trace timed.sched -o timed.records
seen "pause timed.records 3 ' [1-9][0-9]? %  [0-9]+:[0-9]{2} left .*stage 1/1' | ipf-collect -o results"
sed -nE 's/.* ([0-9]+) %  ([0-9]+):([0-9]{2}) left .*/\1 \2 \3/p' heads | awk '{ sum = $1 + 60 * $2 + $3; if (sum < 99 || sum > 100) print }' >wrong
is "$(cat wrong)" "" "percents and the time that is left are those of the schedule's time"
matches "$(cat heads)" ' [1-9][0-9]? %  [0-9]+:[0-9]{2} left .*stage 1/1' "the head has percents, the time that is left, and the stage"
matches "$(tail -1 heads)" '[0-9]+:[0-9]{2} +100 %  .*stage 1/1' "the end has 100 % of the schedule"
ipf-sched -q closed:users=2,n=30 -t t.trace -o counted.sched
seen "ipf-fire -u $URL -m sim -t t.trace counted.sched -o counted.records; pause counted.records 20 ' (5[0-9]|6[0-9]) %  ' | ipf-collect -o results"
matches "$(cat heads)" ' (5[0-9]|6[0-9]) %  ' "percents are those of ended requests"
matches "$(tail -1 heads)" ' 100 %  ' "the end has 100 % of the requests"

# In a warm-up nothing is measured yet: that is not an answer of the server.
ipf-sched -q constant:rate=80,for=700ms,warmup constant:rate=80,for=300ms -t t.trace -o warm.sched
run ipf-fire -q -u "$URL" -m sim -t t.trace warm.sched -o warm.records
TERM=xterm LC_ALL=C.UTF-8 python3 "$TESTS/terminal.py" lines 24 80 0 "pause warm.records 30 'nothing measured yet' | ipf-collect -o results" >"$OUT" 2>"$ERR"
contains "$(cat "$OUT")" "so far    nothing measured yet" "a warm-up has nothing measured yet"
is "$(grep -ac 'no requests were sent' "$OUT")" 0 "a warm-up is not called INVALID"

terminal 24 80 "cat records | ipf-collect -o results -q"
is "$(cat "$OUT")" before "-q: no view"
sed '1s/{/{"predicted":{"twin":"m.twin"},/' records >predicted.records
terminal 24 80 "pause predicted.records 30 '^.*requests ' | ipf-collect -o results"
matches "$(label verdict)" "^verdict   PREDICTED, (OK|DOUBTFUL|INVALID)" "a run that a twin predicted is called so" # exact: any verdict will do
terminal 24 80 "ipf-collect records -o results"
is "$(grep -c '^verdict' "$OUT")" 0 "records in a file: no view"
TERM=dumb python3 "$TESTS/terminal.py" screen 24 80 0 "cat records | ipf-collect -o results" >"$OUT" 2>"$ERR"
is "$(grep -c '^verdict' "$OUT")" 0 "a terminal that cannot redraw: no view"
TERM=xterm LC_ALL=C python3 "$TESTS/terminal.py" screen 24 80 0 "$again" >"$OUT" 2>"$ERR"
is "$(LC_ALL=C grep -c '[^ -~]' "$OUT")" 0 "the view is ASCII if there is no UTF-8"
matches "$(label requests)" "[_.:=+*#-]" "the course is ASCII if there is no UTF-8"
run ipf-collect --progress -o results records
isnt "$(cat "$ERR")" "" "--progress without a terminal: lines"
is "$(grep -c "$(printf '\033')" "$ERR")" 0 "--progress in a file has no control sequences"
