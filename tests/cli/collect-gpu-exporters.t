#!/bin/bash
# Samples of accelerators from exporters (--gpu dcgm:URL, amd:URL), which the simulated server also plays: the energy of its devices, and
# exporters that fail in every way: the run goes on.
. "$TESTS/tap.sh"
GPU_SIM="--gpus 2 --gpu-power 100:100"
. "$TESTS/gpu.sh"

"$BIN/ipf-sched" -q rest:for=1s constant:rate=20,for=3s -t t.trace -o t.sched
"$BIN/ipf-sched" -q burst:n=5 -t t.trace -o short.sched

collect_without_gaps both t.sched -- --every 100ms --gpu "dcgm:$URL/dcgm/metrics" --gpu "amd:$URL/amd/metrics"
status_is 0 "the run ends well"
stderr_is "" "without notes"
is "$(gpus both '[.[] | [.source, .host, .index, .valid, .reasons]]')" \
	'[["dcgm","sim-0",0,true,[]],["dcgm","sim-0",1,true,[]],["amd","sim-0",0,true,[]],["amd","sim-0",1,true,[]]]' "two devices by each exporter"
for i in 0 1 2 3; do
	for figure in energy_counter_j energy_integral_j; do
		between "$(gpus both ".[$i] | .$figure / (.to_ns - .from_ns) * 1e9")" 99 101 "100 W all the time: $figure of entry $i"
	done
done
is "$(plain both.results | grep '^{"sample":"gpu"' | grep '"dcgm"' | tail -1 | jq -c '[.index, .model, .power_w, .memory_total_bytes, .memory_clock_hz]')" \
	'[1,"NVIDIA H200",100,150754820096,3201000000]' "a line has what the exporter says"

# ---- exporters that fail ----

while IFS='|' read -r name url expected; do
	collect "$name" short.sched -- --gpu "$url"
	is "$status $(gpus "$name" '[length, .[0].valid, .[0].failed > 0]')" '0 [1,false,true]' "$name: the run goes on"
	contains "$(gpus "$name" '.[0].last_error')" "$expected" "$name: $expected"
	is "$(jq -s 'map(select(.n != null)) | length' <(body "$name.results"))" 5 "$name: and all rows are there"
done <<END
refused|dcgm:http://127.0.0.1:1|onnect
missing|dcgm:$URL/nothing|404
other|amd:$URL/dcgm/metrics|no devices
text|dcgm:$URL/v1/models|dcgm: http
secret|dcgm:http://me:pw@127.0.0.1:1/|onnect
END
is "$(cat secret.gpus "$ERR" <(plain secret.results) | grep -c me:pw)" 0 "a password is never shown"

# One that accepts and says nothing, and one that says too much.
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
is "$(jq -s 'map(select(.n != null)) | length' <(body silent.results))" 5 "and all rows are there"
collect much short.sched -- --gpu "dcgm:http://127.0.0.1:$much/"
contains "$(gpus much '.[0].last_error')" "more than 4 MiB" "an exporter that says too much is cut"

for wrong in dcgm dcgm: amd: dcgm:ftp://x/ nvml:http://x/; do
	run "$BIN/ipf-collect" --gpu "$wrong" both.results
	status_is 2 "--gpu $wrong is misuse"
done
