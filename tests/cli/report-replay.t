#!/bin/bash
# A run observed in a capture beside a replay of its trace (ipf-report compare), in virtual time: a predicted run is made an observed one.
. "$TESTS/tap.sh"
PATH=$BIN:$PATH
rounds=5
[ -z "${IPF_LONG:-}" ] || rounds=100

twin as.twin model=sim step_base_ns=10000000 step_per_sequence_ns=500000 prefill_tokens_per_s=20000 step_jitter=0.2
observe() { # SEED [LEFT-OUT]: prod.results, and prod.trace
	ipf-prep synthetic -n 400 --input-tokens uniform:50-400 --output-tokens uniform:8-24 --seed "$1" --reproducible -q -o p.trace
	ipf-sched poisson:rate=8,n=400 --seed "$1" -t p.trace --reproducible -q -o p.sched
	ipf-twin predict as.twin -t p.trace p.sched --seed $(($1 + 1000)) -q -o p.records
	python3 "$TESTS/helpers/observed_stream.py" p.records p.trace prod.records prod.trace "${@:2}"
	ipf-collect -q prod.records -o prod.results
}
replay() { # SEED [TRACE [STAGE [PREDICT-OPTIONS…]]]: next.results
	ipf-sched "${3:-replay}" -t "${2:-prod.trace}" --reproducible -q -o next.sched
	ipf-twin predict as.twin -t "${2:-prod.trace}" next.sched --seed $(($1 + 2000)) -q -o next.records "${@:4}"
	ipf-collect -q next.records -o next.results
}
compared() { # JQ
	ipf-report compare -f json prod.results -- next.results | jq -c "$1"
}
slower=(--assume step_base_ns=x1.1 --assume step_per_sequence_ns=x1.1 --assume prefill_tokens_per_s=x0.909)
any='[.figures[].finding | select(. == "slower" or . == "faster" or . == "more" or . == "fewer")] | length > 0'

# ---- the same server, and a slower one ----
equal=0 found=0 paired=0
for seed in $(seq 1 $rounds); do
	observe "$seed"
	replay "$seed"
	[ "$(compared .paired)" != true ] || paired=$((paired + 1))
	[ "$(compared "$any")" != false ] || equal=$((equal + 1))
	replay "$seed" prod.trace replay "${slower[@]}"
	[ "$(compared .outcome)" != '"slower"' ] || found=$((found + 1))
done
is $paired $rounds "an observed run and a replay of its trace are partners"
at_least $((equal * 100)) $((rounds * 95)) "an identical server differs in nothing, in 95 of 100 comparisons"
at_least $((found * 100)) $((rounds * 95)) "a server that is slower by a tenth is found, in 95 of 100 comparisons"
is "$(compared '[.replays_capture, (.figures[] | select(.name == "requests") | .base == .new)]')" '[true,true]' "both sides have the same window, so the same rate"
said=$(ipf-report compare prod.results -- next.results)
contains "$(tr -s ' \n' ' ' <<<"$said")" "a side replays the captured trace of the other" "the text says that the sides are a capture and its replay"
is "$(grep -c '^  load  *not the same' <<<"$said")" 0 "the load is not called another"
is "$(ipf-report compare -f json next.results -- prod.results | jq -c '[.paired, .outcome]')" '[true,"faster"]' "the replay may be the base"
replay 7
cp next.results other.results
replay 8
is "$(ipf-report compare -f json prod.results -- other.results next.results | jq -c '[.paired, .new.runs]')" '[true,2]' "several replays of one capture"

# ---- no partners ----
apart() { # TEXT
	is "$(compared '[.paired, has("replays_capture")]')" '[false,false]' "$1"
}
replay 1 prod.trace replay:speed=2
apart "a replay at twice the speed is no partner"
replay 1 prod.trace replay:rate=4,by=thin
apart "a replay of some arrivals is no partner"
replay 1 prod.trace replay:rate=16,by=copies
apart "a replay with copies is no partner"
replay 1 prod.trace poisson:rate=8,n=400
apart "other arrivals of the same trace are no partner"
replay 1 p.trace poisson:rate=8,n=400
apart "a run of another trace is no partner"
body prod.trace >lines
{
	plain prod.trace | head -1 | jq -c '.observed.t0_unix_ns += 1'
	cat lines
	trailer lines
} >later.trace
replay 1 later.trace
apart "a replay of another capture is no partner"
observe 1 10
replay 1
is "$(compared .paired)" true "a trace without a few of the captured requests is a partner"
observe 1 40
replay 1
apart "a trace without a tenth of the captured requests is no partner"

# ---- the header of a trace of packets ----
python3 - <<'END'
import struct

def packet(source, target, seq, ack, flags, payload=b""):
    tcp = struct.pack(">HHIIBBHHH", source, target, seq, ack, 0x50, flags, 65535, 0, 0)
    ends = [bytes([10, 0, 0, 1 if port == 5000 else 2]) for port in (source, target)]
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + len(payload), 0, 0, 64, 6, 0, *ends)
    return ip + tcp + payload

body = b'{"model":"m","messages":[{"role":"user","content":"hello there"}],"max_tokens":3}'
ask = b"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
text = b'{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":2,"completion_tokens":1}}'
answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(text) + text
packets = [packet(5000, 8000, 100, 0, 2), packet(8000, 5000, 200, 101, 18), packet(5000, 8000, 101, 201, 16),
           packet(5000, 8000, 101, 201, 24, ask), packet(8000, 5000, 201, 101 + len(ask), 24, answer),
           packet(5000, 8000, 101 + len(ask), 201 + len(answer), 17), packet(8000, 5000, 201 + len(answer), 102 + len(ask), 17)]
with open("a.pcap", "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 101))
    for i, data in enumerate(packets):
        file.write(struct.pack("<IIII", 1700000000 + i, 123456789, len(data), len(data)) + data)
END
run ipf-prep capture a.pcap --records a.records -o a.trace
status_is 0 "packets become a trace and records"
is "$(plain a.trace | head -1 | jq .observed.t0_unix_ns)" 1700000000123456789 "the trace's header has the time of the first packet"
is "$(plain a.records | head -1 | jq .t0_unix_ns)" 1700000000123456789 "the records have the same"
is "$(body a.trace | jq -c .id)" "$(body a.records | jq -c .id)" "requests have one id in both"
run ipf-prep capture a.pcap --records b.records
status_is 0 "records without a trace"
