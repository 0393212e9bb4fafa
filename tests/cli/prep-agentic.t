#!/bin/bash
# Traces of agents and of blocks by hash: hashes keep their 64 bits, and the trace equals an independent reading of the data.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
prep=$BIN/ipf-prep

# ---- hashes: jq would bend numbers above 2^53, Python does not ----
cat >hashes.jsonl <<'E'
{"timestamp":0,"input_length":2048,"output_length":1,"hash_ids":[9007199254740992,9007199254740993,9223372036854775807,9223372036854775808]}
{"timestamp":1,"input_length":2048,"output_length":1,"hash_ids":[9223372036854775809,18446744073709551614,18446744073709551615,-3]}
{"timestamp":2,"input_length":2048,"output_length":1,"hash_ids":["20000000000000","0x20000000000001","8000000000000000","FFFFFFFFFFFFFFFe"]}
{"timestamp":3,"input_length":1024,"output_length":1,"hash_ids":["00112233445566778899aabbccddeeff","00112233445566778899aabbccddeefe"]}
E
ids() { python3 -c 'import json, sys
for line in sys.stdin: print(*json.loads(line)["blocks"]["ids"])'; }
run "$prep" auto hashes.jsonl --prompt none -o hashes.trace
status_is 0 "hashes of 64 bits, numbers and hexadecimal digits, are read"
is "$(body hashes.trace | ids | head -3)" "9007199254740992 9007199254740993 9223372036854775807 9223372036854775808
9223372036854775809 18446744073709551614 18446744073709551615 18446744073709551613
9007199254740992 9007199254740993 9223372036854775808 18446744073709551614" "a hash keeps its value, whatever its spelling"
body hashes.trace | ids | tail -1 >long
is "$(tr ' ' '\n' <long | sort -u | wc -l)" 2 "hashes of 128 bits that differ in the last one stay different"
"$prep" trace hashes.trace --prompt none -q -o again.trace
is "$(body again.trace | ids)" "$(body hashes.trace | ids)" "a trace that is read again has the same"
is "$("$prep" stat hashes.trace -f json | jq -c '.sharing | [.blocks, .distinct]')" '[14,10]' "a trace that is read again has as many different blocks"
for id in 18446744073709551616 -9223372036854775809 1e30 0.5 '""' '"0x"' '"12g"' "\"$(printf '%0129d' 0)\"" null '[1]'; do
	run "$prep" mooncake - --prompt none -o wrong.trace <<<'{"timestamp":0,"input_length":5,"output_length":1,"hash_ids":['"$id]}"
	status_is 3 "a hash of ${id:0:30} is refused"
	stderr_contains 'standard input:1: hash_ids: expected 64-bit integers or hexadecimal digits, got' "ipf-prep names the value of a wrong hash"
done

# ---- AIPerf's rows: the members of the goldens, and auto on each form by itself ----
data=$TESTS/data/prep
while read -r line; do
	run "$prep" auto - --prompt none -q -o one.trace <<<"$line"
	is "$status $(head -1 one.trace | jq -r .source)" "0 mooncake" "auto detects mooncake: ${line:0:60}"
done <<'E'
{"session_id":"s","input_length":3,"output_length":4}
{"timestamp":1,"input_length":3,"output_length":4}
{"timestamp":1,"text_input":"a","output_length":4}
{"timestamp":1,"messages":[{"role":"user","content":"a"}],"output_length":4}
{"session_id":"s","messages":[{"role":"user","content":"a"}],"output_length":4}
{"session_id":"s","payload":{"messages":[{"role":"user","content":"a"}]}}
{"created_time":1,"input_tokens":3,"output_tokens":4,"hash_ids":[1]}
{"timestamp_ms":1790000000000,"input_length":3,"output_length":4,"hash_ids":["a1"],"messages":"[{\"role\":\"user\",\"content\":\"a\"}]"}
E
run "$prep" mooncake - --prompt none -o extra.trace <<<'{"timestamp":1,"input_length":3,"output_length":4,"extra":{"max_tokens":9,"model":"m","seed":1}}'
is "$(body extra.trace | jq -c '[.output_tokens, .model]')" '[9,"m"]' "members for the body count for rows of lengths too"
stderr_is "" "members for the body are not left out"
size() { # BLOCKS ROW…: how many tokens the blocks have
	local expected=$1
	shift
	printf '%s\n' "$@" >size.jsonl
	"$prep" mooncake size.jsonl --prompt none -q -o size.trace
	is "$(body size.trace | jq -s -c 'map(.blocks.tokens)')" "$expected" "blocks of ${expected} tokens"
}
row() { printf '{"timestamp":0,"input_length":%s,"output_length":1,"hash_ids":%s%s}\n' "$1" "$2" "${3:-}"; }
size '[512,512]' "$(row 5 '[1]')" "$(row 513 '[1,2]')"
size '[64,64]' "$(row 100 '[1,2]')" "$(row 5 '[1]')"
size '[16,512,16]' "$(row 40 '[1,2,3]')" "$(row 513 '[1,2]' ',"block_size":512')" "$(row 5 '[1]')"
run "$prep" mooncake - -o wrong.trace < <(row 100 '[1,2]'; row 600 '[1,2]')
stderr_contains 'standard input:2: hash_ids: expected length 10 for input_length 600, got 2' "a later row that does not fit is refused"

# ---- requests waiting for others: when each begins, by the rules of the data and by those of the trace ----
cat >starts.py <<'E'
import json, random, sys

def rows(path):
    return [r for r in map(json.loads, open(path)) if "request_id" in r]

def of_data(rows, took):  # request_id: start
    start = {}
    by_id = {r["request_id"]: r for r in rows}
    waits = {r["request_id"]: [(d["request_id"], d["trigger"], d["delay_ms"]) for d in r.get("dependencies", [])] for r in rows}
    for r in rows:
        for other in r.get("wait_for", []):
            waits[r["request_id"]].append((other, "completion", r.get("delay", 0) + r.get("tool_wait_ms", 0)))
    while len(start) < len(rows):
        for id, w in waits.items():
            if id not in start and all(o in start for o, _, _ in w):
                at = by_id[id].get("not_before_ms", by_id[id].get("timestamp", 0))
                start[id] = max([start[o] + (took[o] if t == "completion" else 0) + d for o, t, d in w], default=at)
    return start

def of_trace(path, took):
    start = {}
    for r in map(json.loads, open(path)):
        if "id" in r:
            p = r.get("parents", [])
            start[r["id"]] = max(start[o] + took[o] for o in p) + r.get("wait_ns", 0) / 1e6 if p else r["at_ns"] / 1e6
    return start

if sys.argv[1] == "make":  # chains of agents with sub-agents, as a converter writes them: DAG, seed
    random.seed(int(sys.argv[2]))
    for s in range(20):
        done, t, n = [], random.random() * 1e4, 0
        for turn in range(6):
            r = {"request_id": f"{s}/{turn}", "session_id": f"s{s}", "input_length": 64 * (turn + 1), "output_length": 3,
                 "hash_ids": [s * 100 + k for k in range(turn + 1)], "prefix_reset": turn == 0, "timestamp": t + 1e4 * turn}
            if turn:
                r |= {"wait_for": done, "delay": random.randrange(900), "tool_wait_ms": random.randrange(5)}
            print(json.dumps(r))
            done = [r["request_id"]]
            for k in range(random.randrange(3)):
                n += 1
                child = {"request_id": f"{s}/c{n}", "session_id": f"c{s}/{n}", "input_length": 70, "output_length": 2, "hash_ids": [7, 9000 + n],
                         "timestamp": t + 1e4 * turn + 5e3, "wait_for": [r["request_id"]], "delay": random.randrange(99)}
                print(json.dumps(child))
                done.append(child["request_id"])
else:
    data = rows(sys.argv[1])
    took = {r["request_id"]: r.get("recorded_api_time_ms", random.randrange(5000)) for r in data}
    a, b = of_data(data, took), of_trace(sys.argv[2], took)
    print(len(a), sorted(a) == sorted(b), [id for id in a if abs(a[id] - b[id]) > 1e-6])
E
python3 starts.py make 5 >made.jsonl
run "$prep" auto made.jsonl --prompt none -o made.trace
status_is 0 "twenty agents with sub-agents are read"
stderr_is "" "a trace can hold all of an agent's calls"
is "$(python3 starts.py made.jsonl made.trace)" "$(wc -l <made.jsonl) True []" "requests of agents arrive as the data says, however long answers take"
run "$BIN/ipf-sched" replay -t made.trace -o made.sched
status_is 0 "a trace of agents can be scheduled"
is "$(body made.trace | jq -s -c '[length, (map(.input_tokens) | add), (map(.blocks.ids) | add | unique | length), (map(.session) | unique | length)]')" \
	"$(jq -s -c '[length, (map(.input_length) | add), (map(.hash_ids) | add | unique | length), 20]' made.jsonl)" "requests, tokens, different blocks, agents"
run "$prep" agentic-mooncake made.jsonl --sub-agents drop --prompt none -o alone.trace
is "$(body alone.trace | jq -r .id)" "$(body made.trace | jq -r .id | grep -v c)" "--sub-agents drop leaves out the requests of sub-agents"
is "$(body alone.trace | jq -s -c 'map(select(.turn > 0) | .parents | length) | unique')" '[1]' "the turns remain, each after the one before it"
run "$prep" auto "$data/agentic-mooncake-2.jsonl" --prompt none -q -o two.trace
is "$(python3 starts.py "$data/agentic-mooncake-2.jsonl" two.trace)" "7 True ['p:1', 'p:2', 'p:3', 'p:4']" "typed dependencies: only what was reported, and what waits for it, differs"
tac made.jsonl >back.jsonl
"$prep" agentic-mooncake back.jsonl --prompt none -q -o back.trace
is "$(body back.trace | jq -c 'del(.turn, .blocks.tokens) | .parents |= (. // [] | sort)' | sort)" "$(body made.trace | jq -c 'del(.turn, .blocks.tokens) | .parents |= (. // [] | sort)' | sort)" "the order of the rows does not matter"

# ---- nested sub-agents: requests, tokens and blocks of all levels ----
cat >nested.py <<'E'
import json, sys

def walk(entries, depth=0):
    for e in entries:
        if e.get("type") == "subagent":
            yield from walk(e["requests"], depth + 1)
        else:
            yield depth, e["in"], e["out"], e.get("hash_ids", [])

for line in open(sys.argv[1]):
    d = json.loads(line)
    if not d["id"].startswith("bad"):
        r = list(walk(d["requests"]))
        print(json.dumps([d["id"], len(r), sum(x[1] for x in r), sum(x[2] for x in r), len({h for x in r for h in x[3]}), sum(x[0] > 0 for x in r)], separators=(",", ":")))
E
run "$prep" weka "$data/weka-nested.jsonl" --prompt none -q -o nested.trace
is "$(body nested.trace | jq -s -c 'group_by(.session) | reverse[] | [.[0].session, length, (map(.input_tokens) | add), (map(.output_tokens) | add), (map(.blocks.ids[]) | unique | length),
	(map(select(.tags.agent)) | length)]')" "$(python3 nested.py "$data/weka-nested.jsonl")" "weka: as many requests, tokens, different blocks and requests of sub-agents"
is "$(body nested.trace | jq -c 'select(.session == "v7") | [.turn, .tags.agent, (.parents // [])[]]' | paste -sd ' ')" \
	'[0,null] [1,0,"v7/0"] [2,0,"v7/1"] [3,1,"v7/0"] [4,2,"v7/3"] [5,1,"v7/4"] [6,null,"v7/5"] [7,null]' "no request waits for background work"
if [ -e "${SHARED:-}/data/traces/weka_kv_cache_tester/sessions_200.jsonl.zst" ]; then
	run "$prep" weka "$SHARED/data/traces/weka_kv_cache_tester/sessions_200.jsonl.zst" --prompt none -q -o shared.trace
	zstd -dcq "$SHARED/data/traces/weka_kv_cache_tester/sessions_200.jsonl.zst" >sessions.jsonl
	is "$(body shared.trace | jq -s -c 'length, (map(.input_tokens) | add), (map(select(.tags.agent)) | length)' | paste -sd ' ')" \
		"$(python3 nested.py sessions.jsonl | jq -s -r '[(map(.[1]) | add), (map(.[2]) | add), (map(.[5]) | add)] | join(" ")')" "published conversations: requests, tokens, requests of sub-agents"
fi

# ---- rollouts: the prompt of each turn has all before it ----
cat >rollout.py <<'E'
import json, sys
for line in open(sys.argv[1]):
    r = json.loads(line)
    tokens = r["prompt_len"]
    for i, out in enumerate(r["out_lens"]):
        print(f'{r["group"]}/{r["stream"]}', i, tokens, out)
        tokens += out + (r["obs_lens"][i] if i < len(r.get("obs_lens", [])) else 0)
E
head -2 "$data/rl-rollout.jsonl" >rollout.jsonl
run "$prep" auto rollout.jsonl --prompt none -o rollout.trace
is "$(body rollout.trace | jq -r '"\(.session) \(.turn) \(.input_tokens) \(.output_tokens)"')" "$(python3 rollout.py rollout.jsonl)" "rollouts: lengths of all turns"
is "$(body rollout.trace | jq -s -c 'map(.blocks.ids[0]) | unique | length')" 1 "the group shares its prompt"
python3 -c 'import json; print(json.dumps({"group": 0, "prompt_len": 1, "out_lens": [1] * 1001}))' >long.jsonl
run "$prep" rl-rollout long.jsonl -o long.trace
stderr_contains 'long.jsonl:1: out_lens: expected at most 1000 turns, got 1001' "a trajectory of too many turns is refused"
run "$prep" mooncake-delta - --prompt none -o delta.trace < <(for ((i = 0; i < 1003; i++)); do echo '{"session_id":"s","input_length":1,"output_length":1}'; done)
stderr_contains ':1001: session_id: expected at most 1000 turns' "a session of mooncake-delta of too many turns is refused"
is "$(tail -1 delta.trace | jq -c '.end | [.lines, .bad]')" "[1000,3]" "turns beyond 1000 count as bad"

# ---- requests and tokens of Bailian's traces, whole and of agents ----
for file in qwen.jsonl qwen-agents.jsonl; do
	run "$prep" auto "$data/$file" --prompt none -q -o qwen.trace
	is "$(body qwen.trace | jq -c '[.at_ns / 1e9, .input_tokens, .output_tokens, (.blocks.ids // [] | length), (.wait_ns // 0) / 1e9]' | sort)" \
		"$(python3 -c 'import json, sys
for line in list(open(sys.argv[1]))[:int(sys.argv[2])]:
    r = json.loads(line)
    print(json.dumps([r["timestamp"], r["input_length"], r["output_length"], len(r["hash_ids"]), r.get("time_to_parent_chat", 0)], separators=(",", ":")).replace(".0", ""))' \
			"$data/$file" "$(body qwen.trace | wc -l)" | sort)" "$file: arrivals, lengths, blocks, waits"
done

# ---- Baseten's columns ----
run "$prep" auto "$data/baseten.jsonl" --prompt none -q -o baseten.trace
is "$(body baseten.trace | jq -c '[.at_ns / 1e6, .input_tokens, .output_tokens, .session]')" '[0,12,5,"a"]
[1000,100,7,null]
[1500,13,3,"18446744073709551615"]
[2000,0,7,null]' "baseten: arrivals, lengths, sessions"

# ---- branching conversations ----
cat >dag.py <<'E'
import json, sys
lines = {}
for line in open(sys.argv[1]):
    d = json.loads(line)
    lines.setdefault(d["session_id"], d)

def walk(id, context, agent):  # prompts in order, as AIPerf would make them without answers
    for i, turn in enumerate(lines[id]["turns"]):
        context = context + [m["content"] for m in turn["messages"]]
        print(json.dumps([agent and id, turn.get("extra", {}).get("max_tokens", turn.get("max_tokens", 128)), "|".join(context)], separators=(",", ":")))
        for f in turn.get("forks", []):
            walk(f["child"] if isinstance(f, dict) else f, context, True)
        for s in turn.get("spawns", []):
            for child in s["children"] if isinstance(s, dict) else [s]:
                if child in lines:
                    walk(child, [], True)

walk("root", [], None)
E
run "$prep" aiperf-dag "$data/aiperf-dag.jsonl" -q -o dag.trace
is "$(body dag.trace | jq -c 'select(.session == "root") | [.tags.agent, .output_tokens, ([.messages[].content] | join("|"))]')" "$(python3 dag.py "$data/aiperf-dag.jsonl")" \
	"a tree: the prompts of all its conversations"
is "$(body dag.trace | jq -c 'select(.session == "root" and (.parents | length) > 1) | [.turn, .wait_ns, .parents[]]')" '[6,250000000,"root/0","root/2"]
[9,null,"root/7","root/3"]' "the turns that wait for sub-agents"
run "$BIN/ipf-sched" constant:rate=1 -t dag.trace -o dag.sched
status_is 0 "a trace of branches can be scheduled"
python3 -c 'import json
for i in range(40):
    print(json.dumps({"session_id": f"d{i}", "turns": [{"messages": [{"role": "user", "content": "x"}], "spawns": [f"d{i + 1}", f"d{i + 1}"]}]}))' >doubling.jsonl
run "$prep" aiperf-dag doubling.jsonl -v -o doubling.trace
status_is 3 "forty conversations that each start the next one twice"
contains "$(cat "$ERR")" "left out: 1 (a session of more than 200000 messages in all)" "conversations of too many messages are left out in bounded time and memory"

# ---- TensorRT-LLM's scaffolding ----
run "$prep" scaffolding "$data/scaffolding.jsonl" --prompt none -q -o scaffolding.trace
is "$(body scaffolding.trace | jq -s -c 'length, (map(.input_tokens) | add), (map(.output_tokens) | add)' | paste -sd ' ')" "$(python3 -c 'import json, sys
def walk(events):
    for e in events:
        yield from walk(e.get("children", []))
        if e.get("role") == "assistant":
            yield e
r = [e for line in list(open(sys.argv[1]))[:3] for e in walk(json.loads(line)["events"])]
print(len(r), sum(e["prompt_tokens"] for e in r), sum(e["completion_tokens"] for e in r))' "$data/scaffolding.jsonl")" "scaffolding: requests and tokens"
is "$(body scaffolding.trace | jq -c 'select(.session == "t1") | [.turn, .wait_ns, .parents[]?]' | paste -sd ' ')" \
	'[0,null] [1,200000000,"t1/0"] [2,0,"t1/1"] [3,0,"t1/1"] [4,40000000,"t1/2"] [5,0,"t1/1","t1/3","t1/4"] [6,0,"t1/5"] [7,0,"t1/5"] [8,500000000,"t1/6","t1/7"]' \
	"branches, events at the same time, tools"
run "$BIN/ipf-sched" constant:rate=1 -t scaffolding.trace -o scaffolding.sched
status_is 0 "a trace of scaffolding can be scheduled"

# qwen-bailian: at most 4096 rows wait for their parent.
awk -v row='{"chat_id": %d, "parent_chat_id": %d, "timestamp": %d, "input_length": 16, "output_length": 4, "hash_ids": [1]}\n' 'BEGIN {
	for (i = 0; i < 5000; i++) printf row, i, i < 200 ? 9001 : 10000 + i, i
	for (i = 5000; i < 5002; i++) printf row, i, i - 4200, i
	printf row, 9001, -1, 6000
}' >many.jsonl
run "$BIN/ipf-prep" qwen-bailian many.jsonl --prompt none
status_is 0 "rows whose parents are missing are read"
is "$(body "$OUT" | jq -s -c '[length, (map(.id) | unique | length), (map(.session) | unique | length)]')" "[5003,5003,5001]" \
	"rows are in the trace once, beyond 4096 waiting rows too"
is "$(body "$OUT" | jq -s -c 'map(select(.session == "800" or .session == "801") | .session) | sort')" '["800","800","801","801"]' \
	"a row that no longer waits has its children in its session"
