#!/bin/bash
# ipf-prep anonymize: a recorded trace becomes one without text, which is filled again. The parts to keep are compared by other
# means (anonymous_trace.py), and no 8 bytes of the input may be in the output.
. "$TESTS/tap.sh"
prep=$BIN/ipf-prep
check() { python3 "$TESTS/helpers/anonymous_trace.py" "$@" 2>&1; }
byte_level=$TESTS/data/tokenizer/bytelevel.json

printf 'a salt for these tests, of 35 bytes' >salt
printf 'quite another salt for these tests' >other
chmod 600 salt other

# System prompts, tools, sessions and names that must not leak, in several scripts; "session" and "id" say who it was.
python3 - >log.jsonl <<'X'
import json, random
random.seed(4)
words = "Vertrag Klägerin Überprüfung 契約書を確認 договор аренды עורך דין contract clause liability 🙂🙃 naïve façade".split()
systems = ["Sie sind der Assistent der Kanzlei Müller & Söhne. " + " ".join(random.choice(words) for _ in range(n)) for n in (40, 140)]
tools = [{"type": "function", "function": {"name": "lookup_client_record", "description": "Finds a client of Müller & Söhne",
          "parameters": {"type": "object", "properties": {"passport_number": {"type": "string"}}}}}]
history = {}
for n in range(40):
    user = "erika.mustermann%d@example.org" % (n % 5) if n % 4 else None
    text = " ".join(random.choice(words) for _ in range(random.randint(3, 90)))
    known = history.get(user) or [{"role": "system", "content": systems[n % 2]}]
    messages = known + [{"role": "user", "content": text if n % 7 else [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgoAAAANS%d" % n}}]}]
    answer = " ".join(random.choice(words) for _ in range(random.randint(1, 30)))
    record = {"ref": "case-2024-%05d" % n, "who": user, "at": 1700000000.25 + n * 1.000000125, "messages": messages, "reply": answer, "model": "mueller-legal-lora-%d" % (n % 2)}
    if not user:
        del record["who"]
    if n % 3 == 0:
        record["tools"] = tools
    if n % 5 == 0:
        record["response_format"] = {"type": "json_schema", "json_schema": {"name": "verdict_of_the_court", "schema": {"type": "object"}}}
    if user:
        history[user] = messages + [{"role": "assistant", "content": answer}]
    print(json.dumps(record, ensure_ascii=n % 2 == 0))
X
grep '"who"' log.jsonl >sessions.jsonl
grep -v '"who"' log.jsonl >lone.jsonl
fields="--field messages=messages --field output=reply --field id=ref --field at=at --field model=model --field tools=tools --field response_format=response_format"

round_trip() { # NAME BLOCK TOKENIZER SOURCE FILE… [-- OPTIONS of ipf-prep alone]
	local name=$1 block=$2 tokenizer=$3
	shift 3
	"$prep" "$@" $turns -q -t "$tokenizer" -o in.trace.zst
	run "$prep" anonymize "$@" -q -t "$tokenizer" --salt-file salt --block-tokens "$block" -o out.jsonl
	status_is 0 "$name: it is anonymized"
	stderr_is "" "$name: anonymize has no messages"
	run "$prep" mooncake out.jsonl -q -t "$tokenizer" -o full.trace.zst
	status_is 0 "$name: the anonymous trace is filled"
	matches "$(check same in.trace.zst out.jsonl full.trace.zst "$block" "$prep" "$tokenizer")" "^ok: [1-9]" \
		"$name: lengths, arrivals, sessions and sharing are the same"
	run "$prep" anonymize trace in.trace.zst -q -t "$tokenizer" --salt-file salt --block-tokens "$block" -o again.jsonl
	same again.jsonl out.jsonl "$name: the trace that ipf-prep makes of it gives the same"
}

# ---- there and back ----
turns=
for tokenizer in approx "$byte_level"; do
	# shellcheck disable=SC2086 # words
	{
		round_trip "lone requests, ${tokenizer##*/}" 16 "$tokenizer" jsonl lone.jsonl $fields
		round_trip "sessions, ${tokenizer##*/}" 64 "$tokenizer" jsonl sessions.jsonl $fields --field session=who
	}
	is "$(check leaks out.jsonl log.jsonl)" "ok: none of many" "no text of the input is in the output, ${tokenizer##*/}"
done
contains "$(check same in.trace.zst out.jsonl full.trace.zst 64 "$prep" "$byte_level")" "of them again" "some blocks occur again"
sed 's/"hash_ids": \[\([0-9]*\)/"hash_ids": [1\1/' out.jsonl >wrong.jsonl
matches "$(check same in.trace.zst wrong.jsonl full.trace.zst 64 "$prep" "$byte_level")" "wrong$" "the comparison sees hashes that do not fit"
{ cat out.jsonl; echo '"Müller & Söhne"'; } >wrong.jsonl
matches "$(check leaks wrong.jsonl log.jsonl)" "wrong$" "the check finds a name that leaks"

# Conversations, with only the new part of each turn in the trace.
cat >chats.json <<'X'
[{"id": "one", "conversations": [{"from": "human", "value": "Who drafted the agreement between the two parties, and when was it signed?"},
  {"from": "gpt", "value": "It was drafted by the notary, and signed in March."}, {"from": "human", "value": "Where is it kept?"},
  {"from": "gpt", "value": "In the archive."}, {"from": "human", "value": "Thanks"}, {"from": "gpt", "value": "Not at all."}]},
 {"id": "two", "conversations": [{"from": "human", "value": "Who drafted the agreement between the two parties, and when was it signed?"},
  {"from": "gpt", "value": "It was drafted by the notary, and signed in May."}, {"from": "human", "value": "Are you sure?"},
  {"from": "gpt", "value": "Yes."}]}]
X
turns="--turns all"
round_trip conversations 4 approx sharegpt chats.json
is "$(check leaks out.jsonl chats.json)" "ok: none of many" "no text of the conversations is in the output"
is "$(jq -s -c 'map(.session_id) | unique | length' out.jsonl)" 2 "turns of conversations are in two sessions"
is "$(jq -c '[.timestamp, .delay]' out.jsonl | sort | uniq -c | tr -s ' ')" " 2 [0,null]
 3 [null,0]" "first turns without arrivals come at 0, later ones follow"
run "$prep" anonymize sharegpt chats.json -o out.jsonl
stderr_contains "the input has no arrivals" "anonymize says that the input has no arrivals"
turns=

# A trace estimated gets the tokenizer's lengths.
# shellcheck disable=SC2086 # words
{
	"$prep" jsonl lone.jsonl $fields -q -o estimated.trace
	"$prep" anonymize trace estimated.trace -q -t "$byte_level" --salt-file salt -o out.jsonl
	"$prep" anonymize jsonl lone.jsonl $fields -q -t "$byte_level" --salt-file salt -o again.jsonl
}
is "$(jq -c '[.input_length, .hash_ids]' out.jsonl)" "$(jq -c '[.input_length, .hash_ids]' again.jsonl)" "a trace that was estimated is counted"

# A trace of other order than it needs: a turn's common part with the one before cannot be known.
"$prep" sharegpt chats.json --turns all -q | grep '"turn":1' >turn
trace_of turn >turns.trace
run "$prep" anonymize trace turns.trace
stderr_contains "2 turns do not follow the turn before them" "turns without the turn before are counted"

echo '{"id":"a","messages":[{"role":"user","content":""}],"input_tokens":0,"output_tokens":1}' >none
trace_of none >none.trace
run "$prep" anonymize trace none.trace
status_is 0 "a prompt without text"
stderr_contains "1 prompts have no token" "prompts without text are counted"

# Recorded blocks of any size; only lengths.
for source in "mooncake $TESTS/data/prep/mooncake.jsonl" "qwen-bailian $TESTS/data/prep/qwen.jsonl" "weka $TESTS/data/prep/weka.jsonl"; do
	file=${source#* }
	[ -e "$file" ] || continue
	"$prep" ${source%% *} "$file" -q --prompt none -o in.trace
	"$prep" anonymize ${source%% *} "$file" -q --salt-file salt --block-tokens 16 -o out.jsonl
	"$prep" mooncake out.jsonl --prompt none -q -o back.trace
	of() { "$prep" stat -f json "$1" | jq -c '[.requests, (.arrivals | if (.span_s // 0) == 0 then 0 else . end), .input_tokens, .output_tokens]'; }
	is "$(of back.trace)" "$(of in.trace)" "${source%% *}: lengths and arrivals are those of the input"
	"$prep" anonymize auto out.jsonl -q --block-tokens 16 -o twice.jsonl
	is "$("$prep" mooncake twice.jsonl --prompt none -q | "$prep" stat -f json - | jq -c .sharing)" \
		"$("$prep" stat -f json back.trace | jq -c .sharing)" "${source%% *}: shared parts survive a second time"
done
cat >m.jsonl <<'X'
{"timestamp": 5000, "input_length": 1024, "output_length": 10, "hash_ids": [1, 2]}
{"timestamp": 6000.000001, "input_length": 1100, "output_length": 20, "hash_ids": [1, 2, 3]}
{"timestamp": 6500, "input_length": 700, "output_length": 30, "hash_ids": [2, 1]}
X
run "$prep" anonymize mooncake m.jsonl -q
is "$(jq -c '[.timestamp, .input_length, .output_length]' "$OUT")" '[0,1024,10]
[1000.000001,1100,20]
[1500,700,30]' "arrivals count from the first, to the nanosecond"
grep -o '\[.*\]' "$OUT" | tr -d '[],' >ids
read -r a b <ids
is "$(sed -n 2p ids | cut -d ' ' -f 1,2)" "$a $b" "the second prompt begins like the first"
is "$(sed -n 3p ids | tr ' ' '\n' | grep -cxF -e "$a" -e "$b")" 0 "a block after another beginning has another hash"
is "$(jq -c .timestamp <("$prep" anonymize mooncake m.jsonl -q --times exact) | tr '\n' ' ')" "5000 6000.000001 6500 " \
	"--times exact: from where the input counts"

# ---- salt ----
made() { # OPTIONS: the hashes and keyed names, a line each
	# shellcheck disable=SC2086 # words
	"$prep" anonymize jsonl log.jsonl $fields --field session=who -q --block-tokens 16 "$@" | jq -r '.hash_ids[], .session_id, .model'
}
sed -i 's/"at": /"who": "x", "at": /' lone.jsonl
cat lone.jsonl sessions.jsonl >log.jsonl
made --salt-file salt | sort -u >one
made --salt-file salt | sort -u >two
same one two "the same salt gives the same hashes and names"
made --salt-file other | sort -u >two
is "$(comm -12 one two)" "" "another salt gives other hashes and names"
made | sort -u >two
made | sort -u >three
is "$(comm -12 one two)$(comm -12 two three)" "" "a new salt is made each time"
made --salt-file salt --model-names keep | grep -c mueller-legal >kept
is "$(cat kept)" 40 "--model-names keep: the models by their names"
is "$(made --salt-file salt --model-names drop | grep -cx null)" 40 "--model-names drop: none"

refused() { # STATUS PART TEXT OPTIONS…
	local wanted=$1 part=$2 text=$3
	shift 3
	run "$prep" anonymize mooncake m.jsonl "$@"
	status_is "$wanted" "$text: exit status"
	contains "$(head -1 "$ERR")" "$part" "$text: the reason"
	is "$(wc -c <"$OUT")" 0 "$text: no output"
}
refused 1 "ipf-prep: nowhere: cannot open" "a salt that is not there" --salt-file nowhere
refused 1 "ipf-prep: .: cannot read" "a folder as salt" --salt-file .
: >empty
refused 3 "ipf-prep: empty: --salt-file: expected 16 to 4096 bytes, got 0: head" "an empty salt" --salt-file empty
printf 'fifteen bytes..' >short
refused 3 "expected 16 to 4096 bytes, got 15" "a short salt" --salt-file short
head -c 32 /dev/zero >noughts
refused 3 "expected random bytes, got byte 0x00 32 times" "a salt of one byte" --salt-file noughts
refused 3 "expected 16 to 4096 bytes, got more" "an endless salt" --salt-file /dev/urandom
if [ "$(id -u)" != 0 ]; then
	chmod 0 other
	refused 1 "ipf-prep: other: cannot open" "a salt that we cannot read" --salt-file other
else
	skip "a salt that we cannot read" "root reads every file"
fi
chmod 644 salt
run "$prep" anonymize mooncake m.jsonl --salt-file salt
status_is 0 "a salt that others can read is used"
stderr_contains "ipf-prep: salt: others can read this salt, and check guesses with it: chmod 600" "anonymize warns of a salt that others can read"
run "$prep" anonymize mooncake m.jsonl --salt-file salt -q
stderr_is "" "-q suppresses the warning of the salt"
chmod 600 salt

# ---- options ----
refused 2 "--block-tokens: expected 1 to 1048576, got 0" "no block" --block-tokens 0
refused 2 "--block-tokens: expected 1 to 1048576, got 1G" "an absurd block" --block-tokens 1G
refused 2 "--k: expected 2 to 1000000, got 1" "a group of one" --k 1
refused 2 "--jitter: expected more than 0 and at most 24h, got 2d" "two days of jitter" --jitter 2d
refused 2 "--jitter: expected a duration" "jitter without a unit" --jitter 5
refused 2 "--times: expected shift or exact" "times of another kind" --times never
run "$prep" anonymize synthetic
status_is 2 "a source that makes its requests"
complains "ipf-prep anonymize" "synthetic: its requests are made, and there is nothing to anonymize" "anonymize refuses synthetic"
run "$prep" anonymize m.jsonl
status_is 2 "a file in the place of the source"
complains "ipf-prep anonymize" '"m.jsonl" is not a source: the source comes first; try auto: ipf-prep anonymize auto m.jsonl' "anonymize says that the source comes first"
run "$prep" anonymize trace in.trace --field at=x
status_is 2 "a field of a trace"
complains "ipf-prep anonymize" "--field: format trace has fixed fields; use jsonl or csv" "anonymize refuses --field for a trace"
run "$prep" anonymize trace in.trace in.trace -q
is "$(jq -s 'length, (map(.session_id) | unique | length)' "$OUT" | tr '\n' ' ')" "14 4 " "two traces are read as one, with sessions of their own"
refused 2 "--keep-tag: the format of Mooncake has no tags: add -f trace" "a tag for Mooncake" --keep-tag agent
run "$prep" anonymize mooncake m.jsonl --report /nowhere/report
status_is 1 "a report that cannot be written"
complains ipf-prep "/nowhere/report: cannot open for writing" "anonymize names a report that it cannot write"
run "$prep" anonymize mooncake m.jsonl -o /dev/full
status_is 1 "a full disk"
echo "{\"timestamp\": 1, \"input_length\": 20000000, \"output_length\": 10, \"hash_ids\": [$(seq -s , 39063)]}" >long.jsonl
run "$prep" anonymize mooncake long.jsonl
status_is 3 "a prompt of 20 million tokens"
contains "$(cat "$ERR")" "input_tokens: expected at most 16777216 tokens, got 20000000" "a prompt of 20 million tokens is refused with the limit"
head -c 700 in.trace >cut.trace
run "$prep" anonymize trace cut.trace -q
status_is 3 "a cut trace is used as far as it goes"
run "$prep" anonymize auto in.trace -q --salt-file salt -o auto.jsonl
status_is 0 "auto sees that it is a trace"
echo '{"timestamp": 1, "input_length": 20, "output_length": 10, "hash_ids": [1], "block_size": 0}' >size.jsonl
run "$prep" mooncake size.jsonl
contains "$(cat "$ERR")" "block_size: expected 1 to 1048576 tokens, got 0" "a block of nothing is refused when it is read"

# ---- jitter and rare lengths ----
awk 'BEGIN { srand(5); for (i = 0; i < 3000; i++) printf "{\"timestamp\": %d, \"input_length\": %d, \"output_length\": %d, \"hash_ids\": [7%s], \"session_id\": \"%s\"}\n", i * 2500,
	n = 512 + int(exp(rand() * 8)), 1 + int(rand() * 300), more(n), i % 3 ? "s" i % 200 : "r" i } function more(n, s, k) { for (k = 1; k * 512 < n; k++) s = s "," i * 100 + k; return s }' >many.jsonl
run "$prep" anonymize mooncake many.jsonl --jitter 7s --k 10 --salt-file salt
status_is 0 "jitter and rare lengths"
cp "$OUT" rare.jsonl
cp "$ERR" said
matches "$(check groups rare.jsonl 10)" "^ok: [1-9]" "--k: ten requests or more have the same hour and lengths"
matches "$(check groups many.jsonl 10)" "wrong$" "the input does not satisfy k = 10"
contains "$(cat said)" "0 of 3,000 requests are alone with their model, hour and lengths, 0 are fewer than 10 together" "the report says how many requests are alone"
contains "$(cat said)" "moved by up to 7 s at random; turns of a session keep their distances" "the report says how far arrivals move"
sed 's/, "session_id": "[^"]*"//' many.jsonl >lone.jsonl
"$prep" anonymize mooncake lone.jsonl --jitter 7s -q >moved.jsonl
yes_if "requests are in the order of their new arrivals" sh -c "jq .timestamp moved.jsonl | sort -g -c"
is "$(jq -s 'map(select((.input_length / 512 | ceil) != (.hash_ids | length))) | length' rare.jsonl)" 0 "a prompt has a hash for every block after --k"
tokens() { jq -s 'map(.input_length) | add' "$1"; }
between "$(tokens rare.jsonl)" "$(($(tokens many.jsonl) * 99 / 100))" "$(($(tokens many.jsonl) * 101 / 100))" "--k changes the sum of tokens by at most 1 %"
"$prep" anonymize mooncake many.jsonl --jitter 7s -q --salt-file salt -o moved.jsonl
"$prep" anonymize mooncake many.jsonl -q --salt-file salt -o still.jsonl
jq -r '[.session_id, .timestamp, .hash_ids[-1]] | @tsv' still.jsonl | sort -k 3 >before
jq -r '[.session_id, .timestamp, .hash_ids[-1]] | @tsv' moved.jsonl | sort -k 3 >after
is "$(paste before after | awk '{ d = $5 - $2; if (d < 0 || d >= 7000) wrong++; if ($1 in by && (by[$1] - d > 1e-6 || d - by[$1] > 1e-6)) wrong++; by[$1] = d; sum += d }
	END { print wrong + 0, (sum / NR > 3000 && sum / NR < 4000) }')" "0 1" "a session moves by one time of up to 7 s, 3.5 s on average"

# ---- our own trace ----
"$prep" weka "$TESTS/data/prep/weka.jsonl" --prompt none -q -o in.trace 2>/dev/null
run "$prep" anonymize trace in.trace -f trace --keep-tag agent --keep-tag failed --salt-file salt -o out.trace
status_is 0 "anonymize -f trace ends with 0"
stderr_contains "tags      as they are, read them: agent, failed" "the tags that are kept are named"
stderr_contains "left out  texts; ids of requests are keyed; the tags of" "anonymize says which tags it left out"
body() { grep -av -e '^{"ipf"' -e '^{"end"' "$1"; }
shape='. as $all | (map(.id) | to_entries | map({key: .value, value: .key}) | from_entries) as $at | (map(.session) | unique) as $s |
	map([.input_tokens, .output_tokens, .at_ns, .turn, .wait_ns, ((.parents // ["none"]) | map($at[.])), (.tags | {agent, failed})])'
is "$(body out.trace | jq -s -c "$shape")" "$(body in.trace | jq -s -c "$shape")" "lengths, turns, waits, parents and these tags are as they were"
is "$(head -1 out.trace | jq -c 'keys')" '["ipf","prompts","source","tokenizer","tool","version"]' "the header says neither which files nor when"
is "$(body out.trace | grep -c 'c1\|think\|"m"')" 0 "no name of the input is in the trace"
run "$prep" trace out.trace -q -o full.trace
status_is 0 "an anonymous trace is filled again"
is "$("$prep" stat -f json full.trace | jq -c '[.requests, .input_tokens, .output_tokens, .sessions]')" "$("$prep" stat -f json in.trace | jq -c '[.requests, .input_tokens, .output_tokens, .sessions]')" "a filled trace has the same lengths and sessions"
"$prep" anonymize trace in.trace -q --salt-file salt --block-tokens 4 -o out.jsonl
"$prep" anonymize trace in.trace -q -f trace --salt-file salt --block-tokens 4 -o out.trace
is "$(body out.trace | jq -c .blocks.ids)" "$(jq -c .hash_ids out.jsonl)" "both formats have the same hashes"

echo '{"id":"a","messages":[{"role":"user","content":"Hi"}],"input_tokens":1,"output_tokens":9,"hang_up_ns":1500000000}' >hung
echo '{"id":"b","prompt":"Hi","input_tokens":1,"output_tokens":9,"recorded_ttft_ns":250000001,"recorded_e2e_ns":1500000003}' >>hung
trace_of hung >hung.trace
run "$prep" anonymize trace hung.trace
stderr_contains "the times of hanging up of 1 requests" "Mooncake has no place for a client that left"
stderr_contains "the recorded latencies of 1 requests" "Mooncake has no place for recorded latencies"
is "$("$prep" anonymize trace hung.trace -f trace -q | sed -n 2p | jq .hang_up_ns)" 1500000000 "a trace has"
run "$prep" anonymize trace hung.trace -f trace --jitter 5s
is "$(sed -n 3p "$OUT" | jq -c '[.recorded_ttft_ns, .recorded_e2e_ns]')" '[250000001,1500000003]' "an anonymous trace keeps recorded latencies, with jitter too"
stderr_contains "latencies as recorded, of 1 requests" "the report says that latencies are left in the trace"

# Sessions stay together when they move, and close up when --k leaves requests out.
"$prep" mooncake many.jsonl --prompt none -q -o many.trace
run "$prep" anonymize trace many.trace -f trace --jitter 7s --k 10 -q -o moved.trace
status_is 0 "-f trace with jitter and rare lengths"
is "$(body moved.trace | jq -r .session | uniq | sort | uniq -d)" "" "the requests of a session stay together"
yes_if "sessions are in the order of their new arrivals" sh -c "grep -v -e '^{\"ipf' -e '^{\"end' moved.trace | jq 'select(.turn == 0) | .at_ns' | sort -n -c"
awk 'BEGIN { for (i = 0; i < 40; i++)
	printf "{\"id\":\"%d\",\"input_tokens\":9,\"output_tokens\":1,\"session\":\"s%d\",\"turn\":%d,\"parents\":[%s],\"model\":\"%s\"}\n", i, i / 4, i % 4,
		i % 4 == 2 ? "\"" i - 1 "\"" : i % 4 ? "\"" i - 1 "\",\"" int(i / 4) * 4 "\"" : "", i == 1 || i == 6 ? "rare" : "usual" }' >gaps
trace_of gaps | sed '1s/}$/,"prompts":"none"}/' >gaps.trace
"$prep" anonymize trace gaps.trace -f trace --k 10 -o closed.trace -q 2>/dev/null
is "$(body closed.trace | jq -s -c "$shape"' | map(.[3, 5]) | .[:12]')" '[0,[],1,[null],2,[1,0],0,[],1,[3,3],2,[3]]' "requests that waited for a removed one wait for the others"

# ---- report ----
run "$prep" anonymize mooncake many.jsonl --report report -q -o out.jsonl
stderr_is "" "--report: nothing on standard error"
contains "$(cat report)" "ipf-prep anonymize: 3,000 requests; still in them:" "the report is in the file"
run "$prep" anonymize mooncake many.jsonl --report - -q -o out.jsonl
grep -v "salt" report >report.known
is "$(grep -v "salt" "$OUT")" "$(cat report.known)" "--report - writes to standard output"
run "$prep" anonymize mooncake many.jsonl --report /dev/full -q -o out.jsonl
status_is 1 "a report on a full disk"
complains ipf-prep "/dev/full: cannot write: No space left on device" "anonymize names /dev/full for a report"
run "$prep" anonymize mooncake many.jsonl --report -
status_is 2 "report and trace on standard output"
stderr_contains "--report -: standard output is the output already: add -o FILE" "anonymize refuses report and trace on standard output"
# shellcheck disable=SC2086 # words
run "$prep" anonymize jsonl log.jsonl $fields --field session=who --model-names keep
for part in "made for this run and forgotten" "40 arrivals over 39 s, 40 of them different: exact, counted from the first" \
	"2, with their names, which may name a customer" "the tools of 14 requests" "the response formats of 8 requests" "estimated, one for 4 bytes"; do
	stderr_contains "$part" "the report says: $part"
done

# ---- real data ----
turns=
if [ -n "${SHARED:-}" ] && [ -d "$SHARED/data/traces/lmcache_agent" ]; then
	round_trip "agents of LMCache" 64 "$TESTS/data/tokenizer/llama.json" lmcache "$SHARED"/data/traces/lmcache_agent/miniswe/*.jsonl
	is "$(check leaks out.jsonl "$SHARED"/data/traces/lmcache_agent/miniswe/*.jsonl)" "ok: none of many" "no text of the agents is in the output"
else
	skip "agents of LMCache" "no folder of sample data"
fi
if [ -n "${SHARED:-}" ] && [ -e "$SHARED/data/traces/mlperf_endpoints/agentic_coding_2.5h.jsonl.zst" ]; then
	turns=
	round_trip "coding agents of MLPerf" 512 approx mlperf-agentic "$SHARED/data/traces/mlperf_endpoints/agentic_coding_2.5h.jsonl.zst"
	is "$(check leaks out.jsonl "$SHARED/data/traces/mlperf_endpoints/agentic_coding_2.5h.jsonl.zst")" "ok: none of many" "no text of MLPerf's agents is in the output, tools included"
else
	skip "coding agents of MLPerf" "no folder of sample data"
fi
