#!/bin/bash
# Samples of accelerators by NVIDIA's and AMD's tools (--gpu nvidia-smi, amd-smi, auto), which are faked. When they fail, hang or print
# garbage, the run goes on.
. "$TESTS/tap.sh"
. "$TESTS/gpu.sh"

"$BIN/ipf-sched" -q burst:n=5 -t t.trace -o short.sched
"$BIN/ipf-sched" -q constant:rate=4,for=2500ms -t t.trace -o long.sched

mkdir bin
tool() { # NAME: a script from standard input
	cat >"bin/$1" && chmod +x "bin/$1"
}
tools=PATH=$PWD/bin:$PATH
tool nvidia-smi <<END
#!/bin/sh
echo "\$*" >smi.arguments
cat "$TESTS/data/gpu/nvidia-smi.csv"
END
collect smi long.sched "$tools" -- --gpu nvidia-smi
is "$(cat smi.arguments)" "--query-gpu=index,uuid,utilization.gpu,utilization.memory,memory.used,memory.total,power.draw,clocks.sm,clocks.mem,temperature.gpu,mig.mode.current,name --format=csv,noheader,nounits" \
	"nvidia-smi is asked for what it is read for"
is "$(gpus smi '[.[] | [.source, .device, .model, .valid, (.reasons | index("too_few_samples") != null)]]')" \
	'[["nvidia-smi","GPU-7f1e9a52-0c2b-4f0e-9d9c-5b8a6f3b1c11","NVIDIA H200",false,true],["nvidia-smi","GPU-02d3b5c8-9f41-47a6-8a53-6e0f1d2c3b4a","NVIDIA H200",false,true]]' \
	"nvidia-smi has its devices, and too few samples for so short a run"
is "$(samples smi | head -2 | jq -c '[.power_w, .utilization]' | tr -d '\n')" '[512.3,0.87][76.12,0]' "samples of nvidia-smi have its values"
tool amd-smi <<END
#!/bin/sh
case "\$1" in
list) cat "$TESTS/data/gpu/amd-smi-list.json" ;;
static) cat "$TESTS/data/gpu/amd-smi-asic.json" ;;
metric) cat "$TESTS/data/gpu/amd-smi-metric-7.json" ;;
esac
END
collect amd long.sched "$tools" -- --gpu amd-smi
is "$(gpus amd '[.[] | [.source, .device, .model]]')" \
	'[["amd-smi","48ff74a1-0000-1000-807f-0c9f1e2d3b4a","AMD Instinct MI300X"],["amd-smi","b9ff74a1-0000-1000-80f2-1d2c3b4a5968","AMD Instinct MI300X"]]' \
	"amd-smi: the devices and their names"
is "$(samples amd | head -1 | jq -c '[.power_w, .energy_j, .utilization]')" '[641,20909145.914,0.93]' "amd-smi: the values of its devices"

collect auto short.sched "$tools" "LD_LIBRARY_PATH=$BUILD/tests/nvml" -- --gpu auto
is "$(gpus auto '[.[].source]')" '["nvml","amd-smi","amd-smi"]' "auto takes the library before the tool, and both makers"
is "$(cat "$ERR")" "ipf-collect: --gpu auto: 1 device by nvml: Fake H200
ipf-collect: --gpu auto: 2 devices by amd-smi: AMD Instinct MI300X" "--gpu auto says which sources it took"
rm bin/amd-smi
collect auto2 short.sched "$tools" -- --gpu auto
is "$(gpus auto2 '[.[].source]')" '["nvidia-smi","nvidia-smi"]' "auto takes the tool if there is no library"
rm bin/nvidia-smi
collect auto3 short.sched -- --gpu auto
is "$status $(gpus auto3 '[.[] | [.source, .valid]]')" '0 [["auto",false],["auto",false]]' "auto without devices says so, and the run goes on"

while IFS='|' read -r name expected script; do
	tool nvidia-smi <<<"#!/bin/sh
$script"
	[ "$name" = hangs ] && GPU_HOLD="test -s hanging.pids" || GPU_HOLD=
	collect "$name" short.sched "$tools" -- --gpu nvidia-smi
	is "$status $(gpus "$name" '[length, .[0].valid, .[0].failed > 0]')" '0 [1,false,true]' "$name: the run goes on"
	contains "$(gpus "$name" '.[0].last_error')" "$expected" "$name: $expected"
	is "$(jq -s 'map(select(.n != null)) | length' <(body "$name.results"))" 5 "$name: every row is there"
done <<'END'
exits|ended with status 9: NVIDIA-SMI has failed|echo NVIDIA-SMI has failed because; exit 9
garbage|expected a line of 12 values, got|head -c 3000 /dev/urandom | tr -d '\000\n'
much|printed more than|yes 0123456789 | head -c 100000000
hangs|nvidia-smi: |echo $$ >>hanging.pids; exec sleep 1000
control|expected a line of 12 values, got \"\\x1b|printf '\033[2J\n'
END
yes_if "a tool that hangs was started" test -s hanging.pids
for pid in $(cat hanging.pids); do
	yes_if "a tool that hangs does not outlive the run" tap_gone "$pid"
done

