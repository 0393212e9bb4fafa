#!/bin/bash
# Samples of accelerators from exporters (--gpu dcgm:URL, amd:URL), which the simulated server also plays: the energy of its devices, and
# exporters failing in every way: the run goes on.
. "$TESTS/tap.sh"
GPU_SIM="--gpus 2 --gpu-power 100:100"
. "$TESTS/gpu.sh"

"$BIN/ipf-sched" -q rest:for=2s constant:rate=20,for=3s -t t.trace -o t.sched
"$BIN/ipf-sched" -q burst:n=5 -t t.trace -o short.sched

collect both t.sched -- --every 100ms --gpu "dcgm:$URL/dcgm/metrics" --gpu "amd:$URL/amd/metrics"
status_is 0 "the run ends well"
stderr_is "" "a run with exporters has no messages"
is "$(gpus both '[.[] | [.source, .host, .index]]')" '[["dcgm","sim-0",0],["dcgm","sim-0",1],["amd","sim-0",0],["amd","sim-0",1]]' "two devices by each exporter"
is "$(gpus both '[.[] | .energy_integral_j / (.to_ns - .from_ns) * 1e9 - 100 | fabs < 1e-3] | unique')" "[true]" "100 W all the time: the integral is the power times the time"
# Whenever the exporter was asked: nearly every reading has a line, and the counter only rises. The lines around both ends of the span are bounds.
samples both | jq -s -c --slurpfile all both.gpus '. as $lines | $all[0][] | . as $d
	| [$lines[] | select(.source == $d.source and .index == $d.index)] as $own | ([$own[].t_ns] | sort) as $times
	| def after($t): [$own[] | select(.t_ns >= $t)][0].energy_j;
	def before($t): [$own[] | select(.t_ns <= $t)][-1].energy_j;
	([range(1; $times | length) | select($times[.] >= $d.from_ns and $times[. - 1] <= $d.to_ns) | $times[.] - $times[. - 1]] | max) as $gap
	| {bounds: (before($d.to_ns) - after($d.from_ns) <= $d.energy_counter_j + 1e-3 and $d.energy_counter_j <= after($d.to_ns) - before($d.from_ns) + 1e-3),
		valid: ($d.valid == ($d.reasons == [])), coverage: (($d.coverage < 0.99) == ($d.reasons | any(. == "coverage"))),
		explained: ($d.reasons - ["gap", "coverage", "too_few_samples", "counter_mismatch"] == []),
		dense: ($gap > 0.05 * ($d.to_ns - $d.from_ns) or $d.valid)}' >truth
is "$(jq -s -c 'map(.bounds)' truth)" "[true,true,true,true]" "the counter's energy is that of the lines around the span"
is "$(jq -s -c 'map(.valid and .coverage and .explained)' truth)" "[true,true,true,true]" "energy is valid, or the reason is that readings were far apart"
is "$(jq -s -c 'map(.dense)' truth)" "[true,true,true,true]" "energy is valid if readings were close together"
is "$(plain both.results | grep '^{"sample":"gpu"' | grep '"dcgm"' | tail -1 | jq -c '[.index, .model, .power_w, .memory_total_bytes, .memory_clock_hz]')" \
	'[1,"NVIDIA H200",100,150754820096,3201000000]' "a line has what the exporter says"

# ---- failing exporters ----

while IFS='|' read -r name url expected; do
	collect "$name" short.sched -- --gpu "$url"
	is "$status $(gpus "$name" '[length, .[0].valid, .[0].failed > 0]')" '0 [1,false,true]' "$name: the run goes on"
	contains "$(gpus "$name" '.[0].last_error')" "$expected" "$name: $expected"
	is "$(jq -s 'map(select(.n != null)) | length' <(body "$name.results"))" 5 "$name: every row is there"
done <<END
refused|dcgm:http://127.0.0.1:1|onnect
missing|dcgm:$URL/nothing|404
other|amd:$URL/dcgm/metrics|no devices
text|dcgm:$URL/v1/models|dcgm: http
secret|dcgm:http://me:pw@127.0.0.1:1/|onnect
END
is "$(cat secret.gpus "$ERR" <(plain secret.results) | grep -c me:pw)" 0 "a password is never shown"

# One accepting and saying nothing, and one saying too much.
python3 - >ports <<'END' &
import socket, threading
def serve(answer):
    s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(8)
    def go():
        held = []
        while True:
            c, _ = s.accept(); held.append(c)
            try:
                answer(c)
            except OSError:
                pass
    threading.Thread(target=go, daemon=True).start()
    return s.getsockname()[1]
def much(c):
    c.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    for _ in range(200):
        c.sendall(b"DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 1\n" * 20000)
print(serve(lambda c: None), serve(much), flush=True)
threading.Event().wait()
END
stop_at_exit $!
wait_for grep -q ' ' ports
read -r silent much <ports
collect silent short.sched -- --gpu "dcgm:http://127.0.0.1:$silent/"
is "$status $(gpus silent '[.[0].valid]')" '0 [false]' "an exporter that is silent delays only the end"
is "$(jq -s 'map(select(.n != null)) | length' <(body silent.results))" 5 "rows are complete beside a silent exporter"
collect much short.sched -- --gpu "dcgm:http://127.0.0.1:$much/"
contains "$(gpus much '.[0].last_error')" "more than 4 MiB" "an exporter that says too much is cut"

for wrong in dcgm dcgm: amd: dcgm:ftp://x/ nvml:http://x/; do
	run "$BIN/ipf-collect" --gpu "$wrong" both.results
	status_is 2 "--gpu $wrong is misuse"
done
