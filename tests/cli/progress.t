#!/bin/bash
# Progress on a terminal: one program of a pipe shows it, in the terminal's width, with whole figures. Raw records do not go there.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
command -v python3 >/dev/null || skip_all "no python3"

# Runs a command on a terminal of this width, which changes to THEN when something has been shown; its output is in $OUT.
terminal() { # WIDTH [-THEN] COMMAND
	local then=0 width=$1
	shift
	case $1 in -*) then=${1#-} && shift ;; esac
	status=0
	# the line; view.t has the screen
	TERM=dumb python3 "$TESTS/terminal.py" lines 24 "$width" "$then" "$1" >"$OUT" || status=$?
}
drawn() { # the lines drawn, one a line
	tr '\r' '\n' <"$OUT" | sed 's/\x1b\[K//g' | grep -v '^$'
}
longest() {
	drawn | LC_ALL=C.UTF-8 awk '{ if (length($0) > n) n = length($0) } END { print n + 0 }'
}

# A schedule whose end comes when the terminal has shown a line like ERE: no run is over before it was shown.
SHOWN=$PWD/shown
has_shown() { tr '\r' '\n' <"$SHOWN" | sed 's/\x1b\[K//g' | grep -aqE "$1"; }
feed() { # SCHEDULE [ERE]
	head -8 "$1"
	until has_shown "${2:-^[0-9]+ s }"; do sleep 0.05; done
	tail -n +9 "$1"
}
# The same when the terminal has changed its width, and two lines more were drawn: of one, the width was perhaps read before.
drawings() { tr -cd '\r' <"$SHOWN" | wc -c; }
feed_resized() { # SCHEDULE
	head -8 "$1"
	until [ -e "$SHOWN.resized" ]; do sleep 0.05; done
	local before
	before=$(drawings)
	until [ "$(drawings)" -ge $((before + 2)) ]; do sleep 0.05; done
	tail -n +9 "$1"
}
export SHOWN
export -f has_shown feed drawings feed_resized

server_start -m sim --step-base 2ms
dead=http://127.0.0.1:1
ipf-prep sharegpt "$ROOT/examples/chat.json" -o t.trace
ipf-sched -q constant:rate=40,for=600ms -t t.trace -o t.sched
fire="ipf-fire -u $URL -m sim -t t.trace t.sched"
fed="feed t.sched | ipf-fire -u $URL -m sim -t t.trace"

# ---- raw records ----
terminal 80 "$fire"
is "$status" 2 "ipf-fire writes no records to a terminal"
is "$(wc -l <"$OUT")" 1 "ipf-fire writes one line instead of records"
contains "$(cat "$OUT")" "ipf-fire: raw records are not printed on a terminal: use -o FILE" "ipf-fire says that records need -o"
terminal 80 "$fire -o - 2>/dev/null | head -1"
contains "$(cat "$OUT")" '{"ipf":"records"' "a pipe gets them"
terminal 80 "$fire -q -o -"
contains "$(cat "$OUT")" '{"ipf":"records"' "-o - prints them"
terminal 80 "ipf-fire -u $URL -m sim -t t.trace --probe"
is "$status" 0 "--probe shows the exchange"
is "$(grep -c '"ipf":"records"' "$OUT") $(grep -c '< status 200' "$OUT")" "0 1" "--probe does not print its record"
terminal 80 "ipf-fire --list-apis | head -1"
is "$status" 0 "lists are no records"

# ---- width ----
for width in 132 80 60 40 20; do
	terminal $width "$fed -o records"
	is "$status" 0 "$width columns: a run"
	between "$(longest)" 1 $((width - 1)) "$width columns: the line fits"
	is "$(drawn | grep -vcE '^[0-9]+ s(  started [0-9]+/24(  in flight [0-9]+(  done [0-9]+(  failed [0-9]+(  [0-9.]+ req/s(  [0-9.]+ MB/s(  lag p99 [0-9.]+ [mun]?s)?)?)?)?)?)?)?$')" 0 \
		"$width columns: the figures are whole" || drawn
done
terminal 130 -30 "feed_resized t.sched | ipf-fire -u $URL -m sim -t t.trace -o records"
between "$(drawn | tail -1 | wc -c)" 2 30 "a terminal that became narrow"
COLUMNS=45 terminal 0 "export COLUMNS=45; $fed -o records"
between "$(longest)" 1 44 "COLUMNS, where the terminal does not know its width"

# ---- one program of a pipe ----
terminal 200 "feed t.sched ' 0 failed .*TTFT' | ipf-fire -u $URL -m sim -t t.trace | ipf-collect -o results"
is "$status" 0 "a pipe on a terminal"
is "$(drawn | grep -c 'in flight')" 0 "ipf-fire leaves it to the last"
matches "$(drawn)" '^[0-9]+ requests  0 failed  [0-9.]+k? tokens/s  TTFT [0-9.]+ [mu]?s \(mean\)$' "ipf-collect shows tokens/s, TTFT and failures"
terminal 200 "$fed --progress | ipf-collect -q -o results"
matches "$(drawn)" 'in flight' "--progress shows it nevertheless"
terminal 80 "$fire --no-progress -o records"
is "$status $(drawn)" "0 " "--no-progress shows none on a terminal"
terminal 80 "$fed --no-progress --progress -o records"
matches "$(drawn)" 'in flight' "--progress after --no-progress shows progress"
terminal 200 "feed t.sched '^[0-9]+ requests' | ipf-fire -u $URL -m sim -t t.trace | ipf-collect | ipf-report >report"
matches "$(drawn)" '^[0-9]+ requests' "ipf-collect shows it in the middle of a pipe, too"
ipf-sched -q constant:rate=40,for=600ms -t t.trace -o dead.sched
terminal 200 "$fire -H 'X-Nothing: x' -o records; feed dead.sched 'failed [0-9]+ .http-status' | ipf-fire -u $URL/nowhere -m sim -t t.trace -o records"
matches "$(drawn)" 'failed [0-9]+ \(http-status [0-9]+\)' "failures by kind"
terminal 200 "feed dead.sched '[0-9]+ failed .http.status' | ipf-fire -u $URL/nowhere -m sim -t t.trace | ipf-collect -o results"
matches "$(drawn)" '[0-9]+ failed \(http_status [0-9]+\)|[0-9]+ failed \(http-status [0-9]+\)' "failures of results are shown by kind"
run ipf-fire -q -u "$dead" -m sim -t t.trace t.sched -o records
isnt "$status" 0 "a server that is not there"
