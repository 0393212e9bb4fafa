#!/bin/bash
# Samples of accelerators while a run lasts, by NVIDIA's library (--gpu nvml), which is faked: their energy against the library's log. When devices fail, vanish or hang, the run goes on.
. "$TESTS/tap.sh"
. "$TESTS/gpu.sh"

"$BIN/ipf-sched" -q rest:for=500ms constant:rate=20,for=2500ms -t t.trace -o t.sched
"$BIN/ipf-sched" -q rest:for=500ms constant:rate=6,for=8s -t t.trace -o long.sched
"$BIN/ipf-sched" -q burst:n=5 -t t.trace -o short.sched
"$BIN/ipf-sched" -q rest:for=500ms constant:rate=20,for=500ms -t t.trace -o second.sched

nvml=LD_LIBRARY_PATH=$BUILD/tests/nvml

# The run begins when the library was asked four times for each device: it is idle then.
asked() { # LOG
	[ "$(wc -l <"$1")" -ge 8 ]
}
for curve in constant sine step; do
	GPU_BEFORE="asked $curve.log"
	begin $curve long.sched "$nvml" FAKE_NVML_CURVE=$curve FAKE_NVML_LOG=$PWD/$curve.log FAKE_NVML_DEVICES=2 -- --gpu nvml
done
GPU_BEFORE=
for curve in constant sine step; do
	ended $curve
	status_is 0 "$curve power: the run ends well"
	stderr_is "" "$curve power: ipf-collect has no messages"
	is "$(gpus $curve '[.[] | [.source, .index, .device, .model, .failed, .mig]]')" \
		'[["nvml",0,"GPU-00000000-0000-0000-0000-000000000000","Fake H200",0,null],["nvml",1,"GPU-00000000-0000-0000-0000-000000000001","Fake H200",0,null]]' \
		"$curve power: two devices"
	for index in 0 1; do
		run python3 "$TESTS/helpers/gpu_truth.py" $curve.log $curve.gpus $index "$(head -1 $curve.records | jq .t0_clock_ns)"
		is "$status $(cat "$OUT")" "0 " "$curve power: energy and its validity follow from when the library was asked: device $index, $(cat "$ERR")"
	done
	is "$(gpus $curve '[.[0].stages[] | [.stage, .name]]')" '[[1,"constant"]]' "$curve power: the measured stage"
done
is "$(gpus constant '[.[] | .energy_integral_j / (.to_ns - .from_ns) * 1e9 - 300 | fabs < 1e-3] | unique')" "[true]" "constant power: the integral is the power times the time"
between "$(gpus constant '.[0].idle_power_w')" 299.999 300.001 "idle power is known" # exact: power is constant
at_least "$(samples constant | wc -l)" 4 "every device has at least two lines"
is "$(samples constant | jq -s 'group_by(.index) | map(.[:-1] | map((.t_ns + 50000000) / 1000000000 | floor) | length == (unique | length)) | all')" true \
	"a device has at most one line a second, and one at the end"
is "$(samples constant | sed -n 2p | jq -c '[.source, .index, .utilization, .memory_used_bytes, .memory_total_bytes, .memory_bandwidth,
	.sm_clock_hz, .memory_clock_hz, .temperature_c, (.power_w | round), (.host | type), (.energy_j | type), (.t_ns | type)]')" \
	'["nvml",1,0.8,34359738368,150754820096,0.4,1980000000,3201000000,61,300,"string","number","number"]' "a line has what the library knows"
"$BIN/ipf-collect" -q -o offline.results constant.records
is "$(plain offline.results | grep -c '"sample":"gpu"')" 0 "results without --gpu have no sample"
samples constant >gpu.lines
is "$(body constant.results | grep -vF -f gpu.lines | cksum)" "$(body offline.results | cksum)" "results without --gpu have all other lines"

# ---- incomplete NVML ----

# All at once, because they take the devices' time.
begin lost t.sched "$nvml" FAKE_NVML_FAULT=lost FAKE_NVML_AFTER=1 FAKE_NVML_DEVICES=2 -- --gpu nvml
begin hang t.sched "$nvml" FAKE_NVML_FAULT=hang FAKE_NVML_AFTER=1 -- --gpu nvml
for fault in silent mig driver denied; do begin $fault short.sched "$nvml" FAKE_NVML_FAULT=$fault -- --gpu nvml; done
collect plain second.sched "$nvml" FAKE_NVML_FAULT=plain -- --gpu nvml
is "$(gpus plain '[.[0].energy_counter_j, (.[0].energy_integral_j | type)]')" '[null,"number"]' "the integral gives the energy if there is no counter"
ended silent
is "$(gpus silent '[.[0].valid, .[0].reasons, .[0].energy_j]')" '[false,["not_reported"],null]' "a device without power and energy says why it has none"
ended mig
is "$(gpus mig '.[0].mig') $(samples mig | head -1 | jq -c '[.mig, .utilization]')" 'true [true,null]' "a divided device is marked"
ended lost
status_is 0 "a device that is lost does not end the run"
is "$(gpus lost '[(.[0].reasons | index("vanished") != null), .[1].valid, (.[1].reasons | index("vanished") != null)]')" '[false,false,true]' \
	"a device that is lost has vanished and has no valid energy, the other has not vanished"
complains ipf-collect 'GPU-00000000-0000-0000-0000-000000000001: GPU is lost' "a lost device is named once"
for fault in driver:'Driver Not Loaded' denied:'no devices: Insufficient Permissions'; do
	ended "${fault%%:*}"
	is "$status $(gpus "${fault%%:*}" '[.[] | [.source, .valid, .reasons, .last_error]]')" \
		"0 [[\"nvml\",false,[\"no_samples\"],\"nvml: ${fault#*:}\"]]" "${fault%%:*}: named in the trailer"
	complains ipf-collect "${fault#*:}" "${fault%%:*}: named once on standard error"
done
ended hang
is "$status $(gpus hang '.[0].last_error')" '0 "does not answer"' "a library that hangs does not hang the run"
is "$(jq -s 'map(select(.n != null)) | length' <(body hang.results))" 50 "rows are complete beside a library that hangs"

# ---- the command line ----

run "$BIN/ipf-collect" --gpu nonsense constant.records
status_is 2 "an unknown source is misuse"
complains ipf-collect '--gpu: expected auto, nvml, nvidia-smi, amd-smi, dcgm:URL or amd:URL, got "nonsense"' "an unknown source is named"
run "$BIN/ipf-collect" --gpu nvml constant.records
status_is 2 "a file of records is no run that lasts"
complains ipf-collect "--gpu: devices can only be sampled while the run lasts, but constant.records is complete" "ipf-collect says that a complete file cannot be sampled"
