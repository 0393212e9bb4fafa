#!/bin/bash
# The view of a live run on a terminal: drawn in place, within the terminal's size, and left behind at the end.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
command -v python3 >/dev/null || skip_all "no python3"

# Runs a command on a terminal of this size, in which there is a line already; $OUT is the screen at the end, $ERR what was drawn.
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

server_start -m sim --step-base 2ms
ipf-prep sharegpt "$ROOT/examples/chat.json" -o t.trace
ipf-sched -q constant:rate=80,for=700ms -t t.trace -o t.sched
fire="ipf-fire -u $URL -m sim -t t.trace t.sched"
live="$fire | ipf-collect -o results"
# the same from records, with a pause in which there is time for pictures
again="(head -n 30 records; sleep 0.3; tail -n +31 records) | ipf-collect -o results"

terminal 24 80 "$live"
is "$status" 0 "a live run on a terminal"
contains "$(sed -n 2p "$OUT")" "stage 1/1: constant:rate=80,for=700ms" "the stage"
is "$(head -1 "$OUT")" before "what was there before stays"
is "$(tail -n +2 "$OUT" | grep -vc '^$')" 6 "six lines are left behind" || cat "$OUT"
rows=$(zstd -dc results 2>/dev/null | cat - results | grep -c '"ok":true')
matches "$(label requests)" "  $rows ended  0 in flight" "all requests have ended at the end"
matches "$(label requests)" "[▁▂▃▄▅▆▇█]" "with their course"
matches "$(label TTFT)" "  p50 [0-9.]+ [mu]?s  p99 [0-9.]+ [mu]?s  max [0-9.]+ [mu]?s" "TTFT"
matches "$(label ITL)" "  p50 [0-9.]+ [mu]?s" "ITL"
matches "$(label tokens)" "output tokens/s" "tokens"
matches "$(label verdict)" "^verdict   (OK|DOUBTFUL|INVALID)" "the verdict"
between "$(sed -n 's/^longest \([0-9]*\).*/\1/p' "$ERR")" 40 79 "lines fit into 80 columns"
between "$(sed -n 's/.*pictures //p' "$ERR")" 2 100000 "drawn again and again"

terminal 24 80 "$fire -o records; (head -n 40 records; sleep 0.5; tail -n +41 records) | ipf-collect -o viewed"
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
terminal 24 120 -40 "$live"
is "$status" 0 "a terminal that becomes narrower"
between "$(sed -n 's/.*last \([0-9]*\) .*/\1/p' "$ERR")" 20 39 "its lines fit then"

terminal 24 80 "ipf-fire -u $URL/nowhere -m sim -t t.trace t.sched | ipf-collect -o results"
matches "$(label failed)" "http-status [0-9]+" "failures by kind"
matches "$(label verdict)" "^verdict   INVALID: server_answers: " "the question that fails"

# In a warm-up nothing is measured yet: that is not an answer of the server.
ipf-sched -q constant:rate=80,for=700ms,warmup constant:rate=80,for=300ms -t t.trace -o warm.sched
run ipf-fire -q -u "$URL" -m sim -t t.trace warm.sched -o warm.records
TERM=xterm LC_ALL=C.UTF-8 python3 "$TESTS/terminal.py" lines 24 80 0 "(head -n 30 warm.records; sleep 0.6; tail -n +31 warm.records) | ipf-collect -o results" >"$OUT" 2>"$ERR"
contains "$(cat "$OUT")" "so far    nothing measured yet" "a warm-up"
is "$(grep -ac 'no requests were sent' "$OUT")" 0 "is not INVALID"

terminal 24 80 "$again -q"
is "$(cat "$OUT")" before "-q: no view"
terminal 24 80 "ipf-collect records -o results"
is "$(grep -c '^verdict' "$OUT")" 0 "records in a file: no view"
TERM=dumb python3 "$TESTS/terminal.py" screen 24 80 0 "$again" >"$OUT" 2>"$ERR"
is "$(grep -c '^verdict' "$OUT")" 0 "a terminal that cannot redraw: no view"
TERM=xterm LC_ALL=C python3 "$TESTS/terminal.py" screen 24 80 0 "$again" >"$OUT" 2>"$ERR"
is "$(LC_ALL=C grep -c '[^ -~]' "$OUT")" 0 "without UTF-8, ASCII"
matches "$(label requests)" "[_.:=+*#-]" "with a course"
run ipf-collect --progress -o results records
isnt "$(cat "$ERR")" "" "--progress without a terminal: lines"
is "$(grep -c "$(printf '\033')" "$ERR")" 0 "without control sequences"
