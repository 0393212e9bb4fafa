#!/bin/bash
# Wrong usage and bad input, one after another: one line with the fault and the place, the documented status, and the good
# part is there and whole.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

small_run

wrong() { # STATUS PART COMMAND…
	local expected=$1 part=$2
	shift 2
	run "$@"
	status_is "$expected" "$*: ends with $expected"
	complains "$1" "$part" "$*: says …$part…"
}

# Unknown sources and stages, wrong units, rates of nothing.
wrong 2 sharegtp ipf-prep sharegtp x.json
contains "$(cat "$ERR")" sharegpt "ipf-prep suggests a source"
wrong 2 poison ipf-sched poison:rate=5,for=1s -t chat.trace
contains "$(cat "$ERR")" poisson "ipf-sched suggests a stage"
wrong 2 '"10"' ipf-sched poisson:rate=5,for=10 -t chat.trace
wrong 2 '"5x"' ipf-sched poisson:rate=5x,for=10s -t chat.trace
wrong 2 rate ipf-sched constant:rate=0,for=10s -t chat.trace
wrong 2 rate ipf-sched poisson:rate=-1,for=10s -t chat.trace
wrong 2 colour ipf-sched poisson:rate=5,colour=red,for=1s -t chat.trace
wrong 2 STAGE ipf-sched
wrong 2 SOURCE ipf-prep
wrong 2 many ipf-prep sharegpt "$ROOT/examples/chat.json" -n many
wrong 2 soon ipf-fire -u "$URL" -t chat.trace chat.sched --timeout soon
wrong 2 '"3"' ipf-fire -u "$URL" -t chat.trace chat.sched --timeout 3
wrong 2 ttft ipf-report chat.results --slo ttft=fast
wrong 2 yaml ipf-report chat.results -f yaml
wrong 2 token-ish ipf-collect chat.records --itl token-ish
wrong 2 no-such-api ipf-fire -u "$URL" -t chat.trace chat.sched --api no-such-api

# An empty trace: sealed, but without a request; and an empty file.
printf '[]' >empty.json
run ipf-prep sharegpt empty.json -o empty.trace
isnt "$status" 1 "an empty dataset is no failure of the system"
if [ -s empty.trace ]; then
	wrong 3 "empty.trace" ipf-sched constant:rate=5,n=2 -t empty.trace
else
	not_ok "an empty dataset gives a whole trace"
fi

# A schedule for another trace.
ipf-prep sharegpt "$ROOT/examples/chat.json" -n 5 -q -o other.trace
wrong 3 trace ipf-fire -u "$URL" -m sim -t other.trace chat.sched
is "$(curl -s "$URL/metrics" |
	awk '/^vllm:request_success_total/ { n += $NF } END { print n + 0 }')" 12 "no request is sent with another trace"

# A file not in UTF-8; an array cut in the middle; a file of something else.
printf '[{"id":"a","conversations":[{"from":"human","value":"hello there my friend"},{"from":"gpt","value":"good day to you, how are you"}]},\n' >start
{ cat start; \
	printf '{"id":"b","conversations":[{"from":"human","value":"caf\351 or tea, my dear friend"},{"from":"gpt","value":"tea if you please, thanks"}]}]\n'; } >latin1.json
wrong 3 UTF-8 ipf-prep sharegpt latin1.json -o latin1.trace
yes_if "the trace of what came before is whole" whole latin1.trace
is "$(body latin1.trace | wc -l)" 1 "the trace before bad UTF-8 has the good request"
{ cat start; printf '{"id":"b","conver'; } >cut.json
wrong 3 cut.json ipf-prep sharegpt cut.json -o cut.trace
yes_if "the trace of an array that was cut is whole" whole cut.trace
is "$(body cut.trace | wc -l)" 1 "the trace of a cut array has the good request"
head -c 3000 "$ROOT/examples/chat.json" | zstd -q | head -c 900 >cut.json.zst
wrong 3 cut.json.zst ipf-prep sharegpt cut.json.zst -o cut.trace
yes_if "the trace of a compressed array that was cut is whole" whole cut.trace
noise 1 5000 >noise
wrong 3 noise ipf-prep sharegpt noise -o noise.trace
wrong 3 noise ipf-prep azure noise -o noise.trace
wrong 3 noise ipf-sched constant:rate=5,n=2 -t noise
wrong 1 nowhere.json ipf-prep sharegpt nowhere.json -o nowhere.trace

# A wrong field in the middle of a trace: file, line, field and value.
sed '3s/"output_tokens":[0-9]*/"output_tokens":"many"/' chat.trace >many.trace
wrong 3 'many.trace:3: output_tokens: expected a number of tokens from 0 to 2^40, got "many"' ipf-sched constant:rate=5,n=2 -t many.trace

# Whom to send to: a URL of another kind or none is wrong usage, one that leads nowhere is the network's failure.
wrong 2 '"ftp://127.0.0.1/"' ipf-fire -u ftp://127.0.0.1/ -m sim -t chat.trace chat.sched
wrong 2 --url ipf-fire -m sim -t chat.trace chat.sched
wrong 1 no-such-host.invalid ipf-fire -u http://no-such-host.invalid:8000 -m sim -t chat.trace chat.sched -o dead.records
wrong 1 "Connection refused" ipf-fire -u http://127.0.0.1:9 -m sim -t chat.trace chat.sched -o dead.records
yes_if "runs that could not begin leave nothing behind" test ! -e dead.records

# In a pipe the program failing says why; those after it end with 3, and say nothing more.
pipe() { # COMMAND STATUSES MESSAGE
	bash -c "$1"'
		echo "${PIPESTATUS[*]}" >statuses' >pipe.out 2>pipe.err
	is "$(cat statuses)" "$2" "$1: ${2// /, }"
	is "$(wc -l <pipe.err)" 1 "$1: one message"
	contains "$(cat pipe.err)" "$3" "$1: the message of the first program"
	is "$(wc -c <pipe.out)" 0 "$1: no output"
}
dead="ipf-fire -u http://127.0.0.1:9 -m sim -t chat.trace"
pipe "$dead chat.sched | ipf-collect" "1 3" "ipf-fire: http://127.0.0.1:9"
pipe "$dead chat.sched | ipf-collect | ipf-report" "1 3 3" "ipf-fire: http://127.0.0.1:9"
pipe "ipf-sched constant:rate=5,n=2 -t nowhere.trace | $dead | ipf-collect | ipf-report" "1 3 3 3" "ipf-sched: nowhere.trace"
pipe "ipf-prep sharegpt nowhere.json | ipf-sched constant:rate=5,n=2 -t -" "1 3" "ipf-prep: nowhere.json"
pipe "ipf-collect nowhere.records | ipf-report" "1 3" "ipf-collect: nowhere.records"
pipe "ipf-collect nowhere.records | ipf-report -f json" "1 3" "ipf-collect: nowhere.records"
pipe "ipf-collect nowhere.records | ipf-report compare - chat.results" "1 3" "ipf-collect: nowhere.records"
pipe "$dead chat.sched | ipf-collect --explain" "1 3" "ipf-fire: http://127.0.0.1:9"
: >empty
wrong 3 "standard input: empty" ipf-collect <empty
wrong 3 "empty: empty" ipf-collect empty

# A server going away in the middle is no failure of ours: the run ends, and every request is told of. The rest of the schedule comes when the
# server has gone.
server_start --log gone.log
ipf-sched constant:rate=20,for=3s -t chat.trace -q -o gone.sched
mkfifo rest
ipf-fire -q -u "$URL" -m sim -t chat.trace rest -o gone.records >"$OUT" 2>"$ERR" &
fire=$!
stop_at_exit $fire
exec 7>rest
head -20 gone.sched >&7
wait_for test -s gone.log
server_stop
tail -n +21 gone.sched >&7
exec 7>&-
wait $fire
status=$?
status_is 0 "a run whose server goes away ends with 0"
yes_if "records are whole although the server went away" whole gone.records
run ipf-collect -q gone.records -o gone.results
run ipf-report -f json gone.results
is "$(jq -c '.total.requests | [.started, .ok + .failed]' "$OUT")" "[60,60]" "the report counts all requests although the server went away"
contains "$(jq -c .total.requests.errors "$OUT")" '"connect"' "the report has the kind of error"
run ipf-report --strict gone.results
status_is 4 "ipf-report --strict calls it invalid"
