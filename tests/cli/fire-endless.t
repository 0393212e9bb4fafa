#!/bin/bash
# Answers without end: bytes in flight count against --memory, --max-answer bounds one of them, and both cut it and keep the bytes
# received.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

command -v python3 >/dev/null || skip_all "python3 is not installed"

printf '{"id":"r","messages":[{"role":"user","content":"Tell me."}],"output_tokens":40}\n' >lines
trace_of lines >t.trace

# Runs a command and writes the most memory it took, in KiB, to `peak`.
cat >peak.py <<'EOS'
import os, sys
pid = os.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
_, status, use = os.wait4(pid, 0)
open("peak", "w").write(str(use.ru_maxrss))
sys.exit(os.waitstatus_to_exitcode(status))
EOS

endless_start() { # [bytes]: $ENDLESS
	rm -f hold url
	mkfifo hold
	python3 "$TESTS/helpers/endless_server.py" "$@" <hold >url 2>server.err &
	stop_at_exit $!
	exec 9>hold
	wait_for grep -q http url
	ENDLESS=$(cat url)
}

# The rows of records to `rows`, with the lengths of bodies instead of the bodies: these are many megabytes.
cat >rows.py <<'EOS'
import json, sys
for line in sys.stdin.buffer:
    row = json.loads(line)
    if "n" not in row:
        continue
    row["reads"] = {"count": len(row["reads"]), "bytes": sum(read[1] for read in row["reads"])} if "reads" in row else None
    for body in "body", "body_base64":
        row[body + "_bytes"] = len(row.pop(body, "").encode())
    print(json.dumps(row))
EOS
rows_of() { # RECORDS
	body "$1" | python3 rows.py >rows
}

fire() { # HOW USERS REQUESTS OPTION…: rows of r.records to `rows`, $status, peak
	fire_how=$1
	run ipf-sched "closed:users=$2,n=$3" -t t.trace -o s.sched
	fire_count=$3
	shift 3
	run python3 peak.py ipf-fire -u "$ENDLESS/$fire_how" -m m -t t.trace s.sched -o r.records --timeout 600s "$@"
	whole r.records || not_ok "the records of $fire_how are whole"
	rows_of r.records
	is "$(wc -l <rows)" "$fire_count" "$fire_how $*: every request is recorded once"
}

kinds() { # the kinds of errors and their counts
	jq -rs 'map(.error.kind // "ok") | group_by(.) | map("\(.[0]) \(length)") | join(", ")' rows
}

# The program's own memory is measured, not assumed; a connection may have a megabyte more. Sanitizers have memory of their own.
least=
bounded() { # BYTES CONNECTIONS TEXT
	if [ -n "${SANITIZE:-}" ]; then
		skip "$3" "sanitizers take memory of their own"
	else
		between "$(cat peak)" 1 $((least + $1 / 1024 + $2 * 1024)) "$3: $(cat peak) KiB, of which $least by itself"
	fi
}

endless_start
fire short 1 5
least=$(cat peak)
is "$(kinds)" "ok 5" "an answer that ends is not cut"

# ---- one endless answer, and fifty ----

fire fast 1 3 --memory 24MB
status_is 0 "the run goes on after an endless answer"
is "$(kinds)" "too-large 3" "an endless answer is too large"
is "$(jq -r .error.text rows | sort -u)" "the largest answer in flight, cut because of --memory 24 MB" "the error of an endless answer names --memory"
is "$(jq -s 'all(.body_bytes > 10000000)' rows)" true "a cut answer keeps its bytes"
is "$(jq -s 'all(.reads.bytes == .body_bytes and .reads.count > 10)' rows)" true "a cut answer keeps the times of its reads"
is "$(jq -s 'map(.connection.id) | unique | length' rows)" 3 "the connection of a cut answer is closed"
bounded 24000000 1 "one connection keeps to --memory"

fire fast 50 60 --memory 24MB
is "$(kinds)" "too-large 60" "fifty at once are cut, one after another"
bounded 24000000 50 "fifty connections keep to --memory"
fire fast 20 40 --memory 24MB --threads 4
is "$(kinds)" "too-large 40" "endless answers of four threads are cut"
bounded 24000000 20 "four threads keep to --memory"

# when all of them wait for memory at once, the one with the largest must still cut it
for threads in 2 8; do
	fire fast 30 60 --memory 24MB --threads $threads
	is "$status $(kinds)" "0 too-large 60" "endless answers of $threads threads are cut to the last request"
	bounded 24000000 30 "$threads threads keep to --memory"
done

fire mixed 10 100 --memory 24MB
is "$(kinds)" "ok 90, too-large 10" "the largest are cut, and not those beside them"
bounded 24000000 10 "some of ten connections keep to --memory"

# an answer no longer growing is the largest all the same
fire quiet 6 6 --memory 16MB --threads 3 --timeout 20s
isnt "$(kinds)" "timeout 6" "a quiet answer is cut to save memory, whichever thread has it"
bounded 16000000 6 "quiet ones keep to --memory"

# ---- records read slowly ----

cat >stops.py <<'EOS'
import shutil, sys, time
sys.stdout.buffer.write(sys.stdin.buffer.read(10000))
time.sleep(2)
shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)
EOS
mkfifo slow
for threads in 1 4; do
	ipf-sched closed:users=8,n=16 -t t.trace -o s.sched
	python3 stops.py <slow >r.records &
	reader=$!
	stop_at_exit $reader
	status=0
	python3 peak.py ipf-fire -u "$ENDLESS/fast" -m m -t t.trace s.sched --memory 16MB --threads $threads >slow 2>"$ERR" || status=$?
	wait $reader
	rows_of r.records
	is "$status $(kinds)" "0 too-large 16" "a reader that stops for two seconds ends no run of $threads threads"
	bounded 16000000 8 "a slow reader keeps to --memory"
done

# ---- other bodies ----

fire whole 1 1 --memory 16MB
is "$(kinds)" "too-large 1" "a body without events"
bounded 16000000 1 "a body without events keeps to --memory"
fire nul 2 4 --memory 16MB
is "$(kinds)" "too-large 4" "a body of zeros"
is "$(jq -s 'all(.body_base64_bytes > 1000)' rows)" true "a body of zeros is recorded as base64"
bounded 16000000 2 "a body of zeros keeps to --memory although a zero is six bytes in JSON"
fire bomb 2 4 --memory 16MB
is "$(kinds)" "malformed 4" "a body that is packed, which no one asked for"
bounded 16000000 2 "a packed body keeps to --memory"
fire bytes 10 12 --memory 1MB --timeout 20s
bounded 1000000 10 "bodies that come a byte at a time keep to --memory"

# ---- bytes outside bodies ----

for how in headers interim trailers header; do
	fire $how 5 10 --memory 16MB --record-header '*'
	if [ $how = interim ]; then kind=malformed why="too many interim responses"; else kind=too-large why="headers exceed 256 KiB"; fi
	is "$(kinds)" "$kind 10" "$how without end"
	matches "$(jq -r .error.text rows | sort -u)" "$why" "$how without end: the error has the reason"
	bounded 16000000 5 "$how without end keep to --memory"
	[ $how != headers ] || is "$(jq -s 'map(.headers | length) | unique' -c rows)" "[256]" "the first headers are recorded"
done

# ---- --max-answer ----

fire fast 2 4 --max-answer 1MB
status_is 0 "an answer beyond --max-answer ends only its request"
is "$(kinds)" "too-large 4" "an answer beyond --max-answer is too large"
is "$(jq -r .error.text rows | sort -u)" "the answer exceeds 1 MB (--max-answer)" "the error of a large answer names --max-answer"
is "$(jq -s 'all(.body_bytes + 24 * .reads.count | . > 999900 and . <= 1000000)' rows)" true "a large answer keeps exactly --max-answer bytes"
fire bytes 2 2 --max-answer 10000
is "$(jq -s 'all(.body_bytes + 24 * .reads.count | . > 9950 and . <= 10000)' rows)" true "the time of each read counts"
fire short 1 1 --max-answer 181
is "$(kinds)" "ok 1" "an answer of just so many bytes, with the time of its read, is whole"
fire short 1 1 --max-answer 180
is "$(kinds)" "too-large 1" "an answer one byte beyond --max-answer is too large"
for bad in 0 401MB -1 x; do
	run ipf-fire -u "$ENDLESS" --max-answer "$bad" -t t.trace s.sched -o never
	status_is 2 "ipf-fire refuses --max-answer $bad"
	stderr_contains "--max-answer" "ipf-fire names --max-answer for $bad"
done

# ---- sessions, HTTP/2 ----

for t in 0 1 2; do
	printf '{"id":"s-%d","session":"s","turn":%d,"context":"session","messages":[{"role":"user","content":"More."}],"output_tokens":4}\n' $t $t
done >lines
trace_of lines >session.trace
run ipf-sched closed:users=1 -t session.trace -o session.sched
run python3 peak.py ipf-fire -u "$ENDLESS/fast" -m m -t session.trace session.sched -o r.records --history live --memory 16MB --timeout 600s
status_is 0 "sessions with endless answers as their history"
rows_of r.records
matches "$(kinds)" "^too-large 3$" "endless answers in a session are cut at each turn"
bounded 16000000 4 "sessions with endless answers keep to --memory"

for users in 1 50; do
	fire fast $users $((users + 3)) --memory 24MB --http 2-prior
	is "$(kinds)" "too-large $((users + 3))" "HTTP/2, $users streams"
	bounded 24000000 $users "$users streams keep to --memory"
done
exec 9>&-
endless_start bytes
fire bytes 1 2 --max-answer 10000 --http 2-prior
is "$(kinds)" "too-large 2" "HTTP/2 a byte at a time"

# ---- outcomes ----

fire bytes 1 2 --max-answer 100000
run ipf-collect r.records -o r.results
status_is 0 "ipf-collect reads records of cut answers"
is "$(body r.results | jq -c 'select(.n != null) | [.ok, .error.kind, .events > 0]' | sort -u)" '[false,"too-large",true]' "results of cut answers are too large and have events"
run ipf-report --format json r.results
contains "$(jq -r '.verdict.checks[] | select(.name == "server_answers") | .detail' "$OUT")" "2 too-large" "the verdict counts cut answers"

# a record near the bound: its reader takes a few times its line
python3 - <<'EOS'
import hashlib, json
head = open("r.records").readline()
n = 1000000
row = {"n": 0, "stage": 0, "due_ns": 0, "ready_ns": 0, "start_ns": 100, "end_ns": 10**12, "status": 200, "streamed": True,
       "error": {"kind": "too-large", "text": "x"}, "reads": [[10**8 + i * 1000, 1, 10**8 + i * 1000] for i in range(n)],
       "body": ('data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n' * (n // 50))[:n]}
line = json.dumps(row, separators=(",", ":")) + "\n"
digest = hashlib.sha256(line.encode()).hexdigest()
open("big.records", "w").write(head + line + json.dumps({"end": {"lines": 1, "sha256": digest}}) + "\n")
EOS
run python3 peak.py ipf-collect big.records -o big.results
status_is 0 "a record of a million reads is collected"
[ -n "${SANITIZE:-}" ] || between "$(cat peak)" 1 $((20000 + 6 * $(stat -c %s big.records) / 1024)) "a record of a million reads takes six times its line: $(cat peak) KiB"
