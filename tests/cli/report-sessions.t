#!/bin/bash
# Sessions as a whole: their time, divided along the critical path into model, think, waiting and client; made-up sessions with branches,
# which a script follows again, and a real run of conversations.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text
report=$BIN/ipf-report

# One session by hand, in ms: 0 is due at 0, starts at 30 (20 for a slot, 10 by the client) and ends at 100. Two branches follow after 50
# and 20 of thinking; the one that ends at 400 is waited for by the last, which is due at 450 and ends at 600.
jq -c '.stages = [{"name":"agents","kind":"constant","spec":"x","begin_ns":0,"end_ns":10000000000,"arrivals":4,"first_n":0,"measured":true}]
	| .from[0].from[0].stages = .stages' <(head -1 "$TESTS/data/report/one.results") >header
row() { # N DUE START END CLIENT-LAG SESSION
	jq -nc --argjson n "$1" --argjson due "$2" --argjson start "$3" --argjson until "$4" --argjson client "$5" --arg session "$6" '
		{n: $n, req: $n, stage: 0, session: $session, ok: true, due_ns: ($due * 1e6), ready_ns: ($due * 1e6), start_ns: ($start * 1e6),
		end_ns: ($until * 1e6), lag_ns: (($start - $due) * 1e6), client_lag_ns: ($client * 1e6), e2e_ns: (($until - $start) * 1e6), output_tokens: 5}'
}
{ row 0 0 30 100 10 a && row 1 120 120 200 0 a && row 2 150 150 400 0 a && row 3 450 460 600 10 a; } >body
seal header body >one.results
"$report" -f json one.results >one.json
is "$(jq -c '.sessions | [.sessions, .complete, .requests, .requests_each.max, .requests_on_path.max, .time_s.max]' one.json)" '[1,1,4,4,3,0.6]' \
	"four requests, three of them on the path, 600 ms"
is "$(jq -c '.sessions | [.model_s.max, .think_s.max, .waiting_s.max, .client_s.max]' one.json)" '[0.46,0.1,0.02,0.02]' "model, think, waiting, client"
is "$(jq -c '.sessions.share | [.model, .think, .waiting, .client] | add | . * 1e5 | round' one.json)" 100000 "shares of the path add up to the whole time"
is "$(jq -c '.sessions.complete_per_hour * 10 | round' one.json)" 63158 "an hour has 6,316 times 570 ms"
{ head -3 body && sed -n 4p body | sed 's/"ok":true/"ok":false,"error":{"kind":"cut"}/'; row 4 700 700 800 0 b; } >failed
seal header failed >failed.results
is "$("$report" -f json failed.results | jq -c '.sessions | [.sessions, .complete, .time_s.n]')" '[2,1,1]' "a session with a failure is not complete"
# A session of which requests are missing is cut: it is not complete, and no figure is of it.
jq -c 'if .n == 0 then .session_requests = 4 else . end' body >whole
seal header whole >whole.results
is "$("$report" -f json whole.results | jq -c '.sessions | [.sessions, .complete, .cut, .failed]')" "[1,1,0,0]" "a session with all requests is complete"
{ head -3 whole && row 4 700 700 800 0 b | jq -c '.session_requests = 3' && row 5 700 700 800 0 c; } >some
seal header some >cut.results
is "$("$report" -f json cut.results | jq -c '.sessions | [.sessions, .complete, .cut, .failed, .time_s.n]')" "[3,1,2,0,1]" \
	"three of four and one of three requests are two sessions that were cut"
contains "$("$report" cut.results)" "1 of 3 sessions, 2 cut before the last turn" "the text counts the sessions that were cut"
{ head -2 whole && sed -n 3p whole | jq -c '.ok = false | .error = {kind: "cancelled"}'; row 4 700 700 800 0 b; } >both
seal header both >both.results
is "$("$report" -f json both.results | jq -c '.sessions | [.complete, .cut, .failed]')" "[1,1,0]" "a session that was interrupted in a request is cut"
is "$("$report" -f json --slo e2e=1s both.results | jq -c '.sessions | [.good, .of]')" "[1,1]" "objectives are not judged by a session that was cut"
jq -c '.session = "s\(.n)"' body >alone
seal header alone >alone.results
is "$("$report" -f json alone.results | jq -c .sessions)" null "sessions of one request each are none"
is "$("$report" alone.results | grep -c '^Sessions')" 0 "text of single requests has no sessions"

# Random sessions: a request waits for one or more earlier ones, and thinks.
python3 - >body <<'END'
import json
import random

rng = random.Random(5)
rows = []
for session in range(60):
    ends = []
    begin = rng.randrange(8000)
    for k in range(rng.randrange(1, 9)):
        after = rng.sample(ends, rng.randrange(1, min(3, len(ends)) + 1)) if ends else [begin]
        due = max(after) + rng.randrange(1, 300)
        client = rng.choice([0, 0, 3])
        start = due + rng.choice([0, 0, 40]) + client
        end = start + rng.randrange(20, 900)
        ends.append(end)
        rows.append((end, {"stage": 0, "session": "s%d" % session, "ok": True, "due_ns": due * 10**6, "ready_ns": due * 10**6,
                           "start_ns": start * 10**6, "end_ns": end * 10**6, "lag_ns": (start - due) * 10**6,
                           "client_lag_ns": client * 10**6, "e2e_ns": (end - start) * 10**6, "output_tokens": 5}))
for n, (_, row) in enumerate(sorted(rows, key=lambda item: item[0])):
    print(json.dumps({"n": n, "req": n, **row}))
END
seal header body >random.results
cat >paths.py <<'END'
import json
import statistics

rows = [json.loads(line) for line in open("random.results")][1:-1]
sums = {"model": [], "think": [], "waiting": [], "client": [], "time": []}
for session in {row["session"] for row in rows}:
    own = [row for row in rows if row["session"] == session]
    at = max(own, key=lambda row: (row["end_ns"], row["n"]))
    last = at["end_ns"]
    parts = dict.fromkeys(sums, 0)
    while at:
        parts["model"] += at["end_ns"] - at["start_ns"]
        parts["client"] += at["client_lag_ns"]
        parts["waiting"] += at["start_ns"] - at["due_ns"] - at["client_lag_ns"]
        parts["time"] = last - at["due_ns"]
        earlier = [row for row in own if row["end_ns"] <= at["due_ns"]]
        before = max(earlier, key=lambda row: (row["end_ns"], row["n"])) if earlier else None
        if before:
            parts["think"] += at["due_ns"] - before["end_ns"]
        at = before
    assert parts["time"] == sum(parts[name] for name in ("model", "think", "waiting", "client"))
    for name, values in sums.items():
        values.append(parts[name] / 1e9)
print(json.dumps({name + "_s": [round(statistics.mean(values), 6), round(statistics.median(values), 6)] for name, values in sums.items()},
                 sort_keys=True))
END
"$report" -f json random.results | jq -cS '.sessions | {model_s, think_s, waiting_s, client_s, time_s} | map_values([.mean, .p50] | map(. * 1e6 | round / 1e6))' >ours
python3 paths.py | jq -cS . >theirs
same ours theirs "the parts of sixty sessions, followed by a script"
"$report" --slo e2e=500ms random.results >random.txt
matches "$(cat random.txt)" '^  good        [0-9]+ of 60, [0-9.]+ %, met all objectives$' "text says how many were complete"
is "$(sed -E 's/…|▁|▂|▃|▄|▅|▆|▇|█/./g' random.txt | awk '{ gsub(/[^ -~]/, "?") } length > 80')" "" "the section on sessions fits into 80 columns"

# Conversations, for real: turns with pauses.
server_start --step-base 2ms
"$BIN/ipf-prep" synthetic -q -n 18 --turns 3 --wait 50ms --input-tokens 20 --output-tokens 5 -o t.trace || not_ok "a trace of conversations"
"$BIN/ipf-sched" -q -t t.trace constant:rate=20,n=6 | "$BIN/ipf-fire" -q -u "$URL" -m sim -t t.trace | "$BIN/ipf-collect" -q -o run.results
"$report" -f json run.results >run.json
is "$(jq -c '.sessions | [.sessions, .complete, .requests_each.max]' run.json)" '[6,6,3]' "six conversations of three turns"
is "$(jq -c '.sessions.share | [.model, .think, .waiting, .client] | add | . * 1e5 | round' run.json)" 100000 "shares of a run add up to the whole time"
at_least "$(jq '.sessions.think_s.min' run.json)" 0.0999 "two pauses of 50 ms are not shorter at a server"
twin server.twin step_base_ns=2000000 step_per_sequence_ns=0
"$BIN/ipf-sched" -q -t t.trace constant:rate=20,n=6 | "$BIN/ipf-twin" predict -q server.twin -t t.trace | "$BIN/ipf-collect" -q -o virtual.results
is "$("$report" -f json virtual.results | jq -c '.sessions | [.complete, .cut]')" "[6,0]" "sessions of virtual time are complete"
is "$("$report" -f json virtual.results | jq -c '.sessions.think_s | [.min, .max]')" "[0.1,0.1]" "two pauses of 50 ms are as long in virtual time"

# The end of a stage cuts the sessions in progress, as does a warm-up before it.
"$BIN/ipf-prep" synthetic -q -n 60 --turns 3 --wait 500ms --input-tokens 20 --output-tokens 5 -o t.trace
for stages in closed:users=5,for=3s "closed:users=5,for=1s,warmup closed:users=5,for=3s"; do
	# shellcheck disable=SC2086
	"$BIN/ipf-sched" -q -t t.trace $stages | "$BIN/ipf-twin" predict -q server.twin -t t.trace -o cut.records
	"$BIN/ipf-collect" -q cut.records -o cut.results
	"$report" -f json cut.results >cut.json
	is "$(jq -c '.sessions | [.complete > 0, .cut, .failed, .complete + .cut == .sessions, .time_s.n == .complete]' cut.json)" "[true,5,0,true,true]" \
		"$stages: the five users' last sessions are cut"
	rm cut.records cut.results
done
