#!/bin/bash
# Effects of the way between client and server on a run, in the trailer of the results: each cause is provoked, and a clean run has
# none.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text
. "$TESTS/fixture.sh"
. "$TESTS/helpers/grpc.sh"

ipf-prep synthetic -n 60 --input-tokens 40 --output-tokens 40 -q -o forty.trace

# Findings of a stream of records, and the verdict on the server.
found() { # RECORDS
	ipf-collect -q "$1" -o found.results && tail -1 found.results >trailer &&
		jq -c '[.end.transport[]?.finding]' trailer
}
finding() { jq -c --arg kind "$1" '.end.transport[] | select(.finding == $kind) | '"$2" trailer; }
says() { jq -r '.end.verdict.checks[] | select(.name == "server_answers").detail' trailer; }

# ---- clean runs ----

run_of() { # SEED NAME SCHEDULE ARGUMENTS OF ipf-fire…: NAME-SEED.records, in the background
	ipf-sched -q --seed "$1" "$3" -t forty.trace -o "$2-$1.sched"
	(trap - EXIT && ipf-fire -q -m sim -u "$URL" "${@:4}" -t forty.trace "$2-$1.sched" -o "$2-$1.records") &
	running+=($!)
}
ended() { # those begun
	wait "${running[@]}"
	running=()
}
running=()
# In virtual time, since the delays of a busy machine have findings of their own; long/transport.t has real runs.
nothing() { # TEXT STEP-NS PREFILL-PER-S SCHEDULE
	local seed
	twin clean.twin step_base_ns="$2" step_per_sequence_ns=0 prefill_tokens_per_s="$3"
	for seed in 1 2; do
		ipf-sched -q --seed $seed "$4" -t forty.trace -o clean.sched
		ipf-twin predict -q --force clean.twin -t forty.trace clean.sched -o clean.records
		is "$(found clean.records)" "[]" "$1, seed $seed: no finding"
	done
}
nothing "an open loop" 6000000 1000000 poisson:rate=60,n=60
nothing "a closed loop" 6000000 1000000 closed:users=6,n=24
nothing "steps of 40 ms" 40000000 1000000 burst:n=8
nothing "steps that prompts make longer" 20000000 20000 poisson:rate=30,n=30
is "$(jq -c '.end | has("transport")' trailer)" false "the trailer of a run without findings has no member for them"

# ---- a buffering proxy ----

server_start --step-base 5ms
through() { # NAME OF THE RECORDS, BYTES OF THE BUFFER: in the background
	python_server python3 "$TESTS/helpers/buffering_proxy.py" "${URL##*:}" "${@:2}"
	(trap - EXIT && ipf-fire -q -m sim -u "http://127.0.0.1:$(cat "$SAID")" -t forty.trace proxy.sched -o "$1") &
	running+=($!)
}
ipf-sched -q poisson:rate=40,n=40 -t forty.trace -o proxy.sched
if command -v python3 >/dev/null; then
	through held.records
	through sizes.records 1024
	ended
	contains "$(found held.records)" '"buffering"' "a proxy that sends responses on when they are complete"
	is "$(finding buffering '[.share > 0.9, .of, .unit, .doubt, .evidence.ttft_ms > 0.9 * .evidence.e2e_ms]')" \
		'[true,40,"responses",true,true]' "the proxy holds nearly all responses back"
	contains "$(says)" "came all at once at their end: their TTFT is nearly the time of the whole response" "the verdict says it"
	is "$(ipf-report -f json found.results | jq -c '.verdict.checks[] | select(.name == "server_answers") | [.status, (.detail | test("all at once"))]')" \
		'["DOUBTFUL",true]' "the report doubts a proxy that holds responses back"
	contains "$(found sizes.records)" '"read-sizes"' "a proxy forwarding full buffers"
	is "$(finding read-sizes .evidence.bytes)" 1024 "a proxy's buffer of 1024 bytes is recognised"
else
	skip "a proxy that buffers" "no python3 here"
fi

# ---- bursts, connections, replicas ----

server_start --step-base 5ms --fail coalesce:events=5
run_of 1 bursts closed:users=5,n=20
server_start --step-base 5ms --fail close
run_of 1 close closed:users=6,n=60
server_start --step-base 4ms
FAST=$URL
server_start --step-base 25ms
run_of 1 two closed:users=6,n=60 -u "$FAST" --balance least
ended
contains "$(found bursts-1.records)" '"bursts"' "five events in a write"
is "$(finding bursts '[.evidence.events_per_read >= 4, .evidence.period_ms > 15]')" "[true,true]" "every so many milliseconds"

contains "$(found close-1.records)" '"reconnects"' "a server that closes each connection"
is "$(finding reconnects '[.evidence.opened, .evidence.requests, .evidence.needed >= 6, .evidence.connect_ms > 0, .affected > 40]')" \
	"[60,60,true,true,true]" "the finding has the connections that were needed"

contains "$(found two-1.records)" '"imbalance"' "two targets of which one is slow"
is "$(finding imbalance '[.evidence.by, (.evidence.replicas | length, (map(.requests) | add)), .evidence.cv > 0.2]')" \
	'["target",2,60,true]' "the finding has the requests of every target"
is "$(finding imbalance '.evidence.replicas | sort_by(.requests)[1].name' | grep -cF "${FAST#http://}")" 1 "the fast one has more"

# ---- records made for the purpose ----

# A stream of records of which jq makes the lines; $n requests, of which `reads` is a list of [milliseconds, events].
made() { # FILE JQ-FILTER-OF-n [HEADER]
	head -1 close-1.records | jq -c '.connections = "reuse"'"${3:-}" >header
	jq -nc 'def event: "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n";
			def done: "data: [DONE]\n\n";
			def answer($start; $reads): ($reads | map([$start + .[0] * 1000000, (event | length) * .[1], $start + .[0] * 1000000])) as $r
				| {start_ns: $start, first_byte_ns: $r[0][0], end_ns: $r[-1][0], status: 200, streamed: true,
				   reads: ($r | .[-1][1] += (done | length)), body: (([$reads[][1]] | add) as $k | event * $k + done)};
			range(60) as $n | {n: $n, req: $n, stage: 0} + ('"$2"')' >lines
	seal header lines >"$1"
}
made fresh.records 'answer($n * 1000000000; [range(40) as $i | [100 + 10 * $i, 1]]) + {connection: {id: $n, reused: false}}' ' | .connections = "fresh"'
is "$(found fresh.records)" "[]" "a connection for each request, on purpose, is no finding"
made closes.records 'answer($n * 1000000000; [range(40) as $i | [100 + 10 * $i, 1]]) + {connection: {id: $n, reused: false}}'
is "$(found closes.records)" '["reconnects"]' "a connection for each request, without purpose, is the only finding"
made sizes.records 'answer($n * 1000000000; [range(40) as $i | [100 + 10 * $i, 1]]) | .start_ns as $start | (.body | length) as $bytes
	| .reads = [range(0; $bytes; 1024) as $from | ($start + 100000000 + $from * 100000) as $t | [$t, ([1024, $bytes - $from] | min), $t]] | .end_ns = .reads[-1][0]'
contains "$(found sizes.records)" '"read-sizes"' "reads of one size are a finding"
is "$(finding read-sizes '[.evidence.bytes, .share > 0.8]')" "[1024,true]" "reads of one size have 1024 bytes, nearly all of them"
made whole.records 'answer($n * 1000000000; [[500, 40]])'
is "$(found whole.records)" '["buffering"]' "answers that come at once at their end are the only finding"
# steps of 10 ms; every tenth is held for 40 ms with the later ones
made ack.records 'answer($n * 1000000000; [range(40) as $i | [100 + 10 * $i + 30 * ($i / 10 | floor), (if $i > 0 and $i % 10 == 0 then 4 else 1 end)]])'
is "$(found ack.records)" '["delayed-ack"]' "gaps of 40 ms among gaps of 10"
is "$(finding delayed-ack '[.affected, .of, .evidence.gaps, .evidence.events_per_read, .evidence.median_gap_ms]')" "[60,60,180,4,10]" "the finding of delayed acknowledgements has the number of gaps"
contains "$(says)" "of the gaps between reads are 38 to 44 ms long" "the verdict says it"
made steps.records 'answer($n * 1000000000; [range(40) as $i | [100 + 20 * $i + 20 * ($i / 10 | floor), 1]])'
is "$(found steps.records)" "[]" "a step that takes twice as long as others is the server's own"
made loss.records 'answer($n * 2000000000; [range(40) as $i | [100 + 10 * $i + 190 * ($i / 20 | floor), 1]])'
is "$(found loss.records)" '["retransmission"]' "gaps of 200 ms"
made refused.records 'answer($n * 10000000; [[20, 1], [30, 1]]) + {connection: {id: ($n % 2), reused: ($n > 1), http: 2, stream_resets: (if $n % 5 == 0 then 2 else 0 end)}}'
is "$(found refused.records)" '["stream-resets"]' "streams of HTTP/2 that were refused"
is "$(finding stream-resets '[.affected, .of, .evidence.refusals, .doubt]')" "[12,60,24,true]" "refused streams affect a fifth of the requests"
made stale.records 'if $n == 59 then {start_ns: 8000000000, end_ns: 8001000000, connection: {id: 0, reused: true}, error: {kind: "reset", text: "closed", stale: true}}
	else answer($n * 50000000; [[20, 1], [30, 1]]) + {connection: {id: 0, reused: ($n > 0)}} end'
is "$(found stale.records)" '["stale-connections"]' "a connection that the server had closed"
is "$(finding stale-connections '.evidence')" '{"closed_idle_ms":5070,"worked_idle_ms":20}' "the finding of stale connections has the idle times"
made pods.records 'answer($n * 100000000; [[20, 1], [30, 1]]) + {headers: {"x-pod-name": (if $n % 6 == 0 then "pod-b" else "pod-a" end)}}'
is "$(found pods.records)" '["imbalance"]' "pods that a header names"
is "$(finding imbalance '[.evidence.by, [.evidence.replicas[] | [.name, .requests]], .evidence.cv]')" '["x-pod-name",[["pod-b",10],["pod-a",50]],0.666667]' \
	"the finding has the requests of every pod"
jq -c '.end.transport[0].detail = "\u001b[31mred\u202e", .end.transport[0].doubt = true' trailer >hostile
{ sed '$d' found.results; tail -1 hostile; } >hostile.results
is "$(ipf-report hostile.results | grep -c "$(printf '\033\[31m')")" 0 "the report escapes hostile text of a trailer"

# ---- in the report ----

ipf-collect -q refused.records -o doubt.results
ipf-collect -q pods.records -o replicas.results
ipf-report -q doubt.results >doubt.txt
is "$(sed -n '/^Transport/,/^$/p' doubt.txt | sed 1d | head -2 | sed 's/  */ /g')" " stream-resets see the verdict
 possible cause: a lower limit of concurrent streams at the server" "a doubt is stated once, with its possible cause"
contains "$(sed -n '/^Transport/,/^$/p' doubt.txt)" "advice: " "a doubt comes with advice"
ipf-report -q replicas.results >replicas.txt
matches "$(cat replicas.txt)" "^  imbalance   .*requests" "the report has a sentence on imbalance"
is "$(awk 'length > 80' doubt.txt replicas.txt)" "" "findings fit into 80 columns"
is "$(ipf-report -q -f json doubt.results | jq -c '[.transport[] | [.finding, .doubt, .affected, .part]]')" '[["stream-resets",true,12,null]]' "JSON has them"
is "$(ipf-report -q -f json doubt.results replicas.results | jq -c '[.transport[] | [.finding, .part]]')" \
	'[["stream-resets","doubt.results"],["imbalance","replicas.results"]]' "JSON names the part of every finding"
