#!/bin/sh
# ipf-sched among other programs: full disks, closed pipes, cut and empty input, wrong usage.
. "$TESTS/tap.sh"
DATA=$TESTS/data/sched
sched=$BIN/ipf-sched

for arguments in "constant:rate=1000,n=100000" "--list" "--help" "--version" "--completion"; do
	status=0
	# shellcheck disable=SC2086 # words
	$sched $arguments >/dev/full 2>"$ERR" || status=$?
	status_is 1 "$arguments > /dev/full ends with 1"
	complains ipf-sched "No space left" "ipf-sched $arguments > /dev/full says why"
done
run "$sched" constant:rate=1,n=1 -o /dev/full
status_is 1 "-o /dev/full ends with 1, though only the last write fails"
run "$sched" constant:rate=1,n=1 -o nowhere/file
status_is 1 "-o in a missing folder ends with 1"
complains ipf-sched "nowhere/file" "ipf-sched names the file in a missing folder"

{ "$sched" constant:rate=1000,n=1M 2>err; echo $? >rc; } | head -1 >first
is "$(cat rc)$(cat err)" 0 "| head -1 ends it quietly"
is "$(jq -r .ipf first)" schedule "ipf-sched | head -1 writes the header"

run "$sched" constant:rate=1,n=2 <&-
status_is 0 "a closed standard input does not matter"
"$sched" constant:rate=1,n=2 2>err >&- && status=0 || status=$?
status_is 1 "a closed standard output is an error"

lines=$(wc -l <"$DATA/five.trace")
sed '$d' "$DATA/five.trace" >no-trailer.trace
run "$sched" burst -t no-trailer.trace
status_is 3 "a trace without its trailer ends with 3"
complains ipf-sched "no-trailer.trace" "ipf-sched names the trace without a trailer"
is "$(body "$OUT" | wc -l | tr -d ' ')" $((lines - 2)) "the good lines are scheduled"
is "$(head -1 "$OUT" | jq -c ".trace | del(.file)")" "$("$sched" burst -t "$DATA/five.trace" | head -1 |
	jq -c '.trace | del(.file)')" "the schedule has the digest of the good lines"
is "$(tail -1 "$OUT" | jq '.end | has("incomplete")')" true "the schedule is sealed, and says that it is not all"
head -c 300 "$DATA/five.trace" >cut.trace
run "$sched" burst -t cut.trace
status_is 3 "a trace that was cut in a line ends with 3"
is "$(head -1 "$OUT" | jq .trace.requests)" 3 "the whole lines are scheduled"
zstd -q "$DATA/five.trace" -o five.trace.zst
run "$sched" burst -t five.trace.zst
status_is 0 "a compressed trace is read as it is"
head -c 150 five.trace.zst >cut.trace.zst
run "$sched" burst -t cut.trace.zst
status_is 3 "cut, it ends with 3"

sed '2,6d; s/"lines":5,"sha256":"[0-9a-f]*"/"lines":0,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"/' \
	"$DATA/five.trace" >empty.trace
run "$sched" burst -t empty.trace
status_is 3 "a trace without requests ends with 3"
complains ipf-sched "empty.trace: the trace has no requests" "ipf-sched says that the trace has no requests"
is "$(wc -c <"$OUT" | tr -d ' ')" 0 "a trace without requests gives no schedule"
run "$sched" burst -t /dev/null
status_is 3 "an empty file ends with 3"
run "$sched" burst -t - <"$DATA/five.trace"
status_is 0 "-t - reads standard input"
run "$sched" burst -t nothing.trace
status_is 1 "a trace that is not there ends with 1"
complains ipf-sched "nothing.trace" "ipf-sched names the missing trace"
"$sched" burst:n=1 >other
run "$sched" burst -t other
status_is 3 "a schedule in place of a trace ends with 3"
sed '3s/"id":"q1"/"id":1/' "$DATA/five.trace" >bad.trace
run "$sched" burst -t bad.trace
status_is 3 "a field of another type ends with 3"
complains ipf-sched "bad.trace:3: id: expected" "ipf-sched names line and field of a wrong type"

misuse() { # PART ARGUMENTS…
	part=$1
	shift
	fails_with 2 "$part" "$sched" "$@"
}
misuse "expected at least one STAGE"
misuse 'stage 1 (poisson): rate: expected a rate above 0, got "0"' poisson:rate=0
misuse 'stage 2 (ramp): to: expected a rate such as 5, 1.5k or 300/m, got "fast"' rest:for=1s ramp:from=1,to=fast,for=1m
misuse 'for: expected a duration such as 250ms or 2m, got "10"' poisson:rate=1,for=10
misuse 'unknown kind of stage "poison", did you mean "poisson"?' poison:rate=1
misuse 'unknown key "rat", did you mean "rate"?' poisson:rat=1
misuse 'is longer than 146 years' constant:rate=1/d,n=1M
misuse 'unknown option --url: ipf-fire -u names the server' poisson:rate=1,n=1 --url http://localhost
misuse 'unknown option --slo: ipf-report --slo judges objectives' poisson:rate=1,n=1 --slo ttft=1s
misuse '--seed' poisson:rate=1,n=1 --seed many
misuse 'stage 1 (constant): rate: expected one value, got a second one after the comma: "5"' constant:rate=1,5,for=1s
misuse 'stage 2 (search): for: a closed loop with for= requires a trace' rest:for=1s search:slo=p90:ttft=1s,users,low=1,high=9,for=1s
misuse 'stage 2 (search): expected one search' search:slo=p90:ttft=1s,low=1,high=9,for=1s search:slo=p90:tpot=1s,low=1,high=9,for=1s

# Every key of every kind, with values it cannot have: the stage, its kind and the key are named.
a_right() { # KIND: a spec that is right
	case $1 in
	constant | poisson | uniform) echo rate=5 for=1s ;;
	gamma | weibull) echo rate=5 cv=2 for=1s ;;
	ramp) echo from=1 to=2 for=1s ;;
	steps) echo rates=1,2 each=1s ;;
	sine) echo low=1 high=2 every=1s for=1s ;;
	spike) echo base=1 peak=2 every=1s width=10ms for=1s ;;
	onoff) echo peak=5 on=1s off=1s for=1s ;;
	rates) echo file=rates.csv ;;
	replay) echo from=0 ;;
	closed) echo users=3 n=5 ;;
	burst) echo n=5 ;;
	rest) echo for=1s ;;
	sweep) echo rates=1,2 for=1s ;;
	search) echo slo=p90:ttft=1s low=1 high=2 for=1s ;;
	esac
}
"$sched" --list |
	awk '/^[a-z]+:/ { kind = substr($1, 1, length($1) - 1) } /^  / { split($1, key, "="); print kind, key[1], $1 ~ /=/ ? "value" : "flag" }' >keys
between "$(wc -l <keys)" 150 300 "--list has $(wc -l <keys) keys"
while read -r kind key takes; do
	spec=
	for part in $(a_right "$kind"); do
		[ "${part%%=*}" = "$key" ] || spec=$spec$part,
	done
	case $takes$key in
	flag*) wrong="$key=yes $key,$key" ;;
	valuename | valuefile | valuefrom) wrong="$key $key=" ;;
	*) wrong="$key $key= $key=fast $key=-1 $key=1e999 $key=nan" ;;
	esac
	for value in $wrong; do
		run "$sched" constant:rate=1,n=1 "$kind:$spec$value" -t "$DATA/recorded.trace"
		case "$status $(cat "$ERR")" in
		"2 ipf-sched: stage 2 ($kind): $key: "*) [ "$(wc -l <"$ERR")" = 1 ] && continue ;;
		esac
		not_ok "$kind:$spec$value is wrong usage" "status $status" "$(cat "$ERR")"
	done
done <keys
ok "wrong values of any key are reported with stage, kind and key"
