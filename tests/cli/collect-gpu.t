#!/bin/bash
# Samples of accelerators while a run lasts, by NVIDIA's library (--gpu nvml), which is faked: their energy against the integral of the
# known power curve, and what happens when devices fail, vanish or hang: the run goes on.
. "$TESTS/tap.sh"
. "$TESTS/gpu.sh"

"$BIN/ipf-sched" -q rest:for=500ms constant:rate=20,for=2500ms -t t.trace -o t.sched
"$BIN/ipf-sched" -q burst:n=5 -t t.trace -o short.sched
"$BIN/ipf-sched" -q rest:for=500ms constant:rate=20,for=500ms -t t.trace -o second.sched

# Energy of the curves of the fake library between two times of a run.
expected() { # NAME CURVE FROM_NS TO_NS
	local zero
	zero=$(head -1 "$1.records" | jq .t0_clock_ns)
	jq -n --argjson z "$zero" --argjson a "$3" --argjson b "$4" --arg curve "$2" '
		def pi: 3.14159265358979323846;
		def at(t): if $curve == "sine" then 400 * t + 300 * 7 / (2 * pi) * (1 - (2 * pi * t / 7 | cos))
			elif $curve == "step" then (t / 8 | floor) as $n | (t - 8 * $n) as $r
				| $n * 3120 + 90 * ([$r, 4] | min) + 690 * ([$r - 4, 0] | max)
			else 300 * t end;
		at(($z + $b) / 1e9) - at(($z + $a) / 1e9)'
}

nvml=LD_LIBRARY_PATH=$BUILD/tests/nvml

for curve in constant sine step; do
	begin $curve t.sched "$nvml" FAKE_NVML_CURVE=$curve FAKE_NVML_DEVICES=2 -- --gpu nvml
done
for curve in constant sine step; do
	ended $curve
	! had_gaps $curve || collect_without_gaps $curve t.sched "$nvml" FAKE_NVML_CURVE=$curve FAKE_NVML_DEVICES=2 -- --gpu nvml
	status_is 0 "$curve power: the run ends well"
	stderr_is "" "$curve power: without notes"
	is "$(gpus $curve '[.[] | [.source, .index, .device, .model, .valid, .reasons, .failed, .mig]]')" \
		'[["nvml",0,"GPU-00000000-0000-0000-0000-000000000000","Fake H200",true,[],0,null],["nvml",1,"GPU-00000000-0000-0000-0000-000000000001","Fake H200",true,[],0,null]]' \
		"$curve power: two devices with valid energy"
	true_j=$(expected $curve $curve "$(gpus $curve '.[1].from_ns')" "$(gpus $curve '.[1].to_ns')")
	for figure in energy_counter_j energy_integral_j energy_j; do
		# the integral sees a step up to half a sample late or early
		share=0.01
		[ $curve.$figure != step.energy_integral_j ] || share=0.1
		between "$(gpus $curve ".[1].$figure / $true_j - 1")" -$share $share "$curve power: $figure"
	done
	is "$(gpus $curve '[.[0].stages[] | [.stage, .name, .valid]]')" '[[1,"constant",true]]' "$curve power: the measured stage"
done
between "$(gpus constant '.[0].idle_power_w')" 299 301 "idle power is known"
between "$(samples constant | wc -l)" 6 12 "about one line a second for each device"
is "$(samples constant | sed -n 2p | jq -c '[.source, .index, .utilization, .memory_used_bytes, .memory_total_bytes, .memory_bandwidth,
	.sm_clock_hz, .memory_clock_hz, .temperature_c, (.power_w | round), (.host | type), (.energy_j | type), (.t_ns | type)]')" \
	'["nvml",1,0.8,34359738368,150754820096,0.4,1980000000,3201000000,61,300,"string","number","number"]' "a line has what the library knows"
"$BIN/ipf-collect" -q -o offline.results constant.records
is "$(plain offline.results | grep -c '"sample":"gpu"')" 0 "without --gpu there is no sample"
samples constant >gpu.lines
is "$(body constant.results | grep -vF -f gpu.lines | cksum)" "$(body offline.results | cksum)" "and all other lines are the same"

# ---- NVML that does not do everything ----

# All at once, because their time is that of devices.
begin lost t.sched "$nvml" FAKE_NVML_FAULT=lost FAKE_NVML_AFTER=1 FAKE_NVML_DEVICES=2 -- --gpu nvml
begin hang t.sched "$nvml" FAKE_NVML_FAULT=hang FAKE_NVML_AFTER=1 -- --gpu nvml
for fault in silent mig driver denied; do begin $fault short.sched "$nvml" FAKE_NVML_FAULT=$fault -- --gpu nvml; done
collect plain second.sched "$nvml" FAKE_NVML_FAULT=plain -- --gpu nvml
is "$(gpus plain '[.[0].energy_counter_j, (.[0].energy_integral_j | type)]')" '[null,"number"]' "without a counter, energy is the integral"
ended silent
is "$(gpus silent '[.[0].valid, .[0].reasons, .[0].energy_j]')" '[false,["not_reported"],null]' "neither power nor energy: it says so"
ended mig
is "$(gpus mig '.[0].mig') $(samples mig | head -1 | jq -c '[.mig, .utilization]')" 'true [true,null]' "a divided device is marked"
ended lost
status_is 0 "a device that is lost does not end the run"
is "$(gpus lost '[.[0].valid, .[1].valid, (.[1].reasons | index("vanished") != null)]')" '[true,false,true]' "its energy is not valid, that of the other is"
complains ipf-collect 'GPU-00000000-0000-0000-0000-000000000001: GPU is lost' "and it is named once"
for fault in driver:'Driver Not Loaded' denied:'no devices: Insufficient Permissions'; do
	ended "${fault%%:*}"
	is "$status $(gpus "${fault%%:*}" '[.[] | [.source, .valid, .reasons, .last_error]]')" \
		"0 [[\"nvml\",false,[\"no_samples\"],\"nvml: ${fault#*:}\"]]" "${fault%%:*}: named in the trailer"
	complains ipf-collect "${fault#*:}" "${fault%%:*}: and once on standard error"
done
ended hang
is "$status $(gpus hang '.[0].last_error')" '0 "does not answer"' "a library that hangs does not hang the run"
is "$(jq -s 'map(select(.n != null)) | length' <(body hang.results))" 50 "and all rows are there"

# ---- the command line ----

run "$BIN/ipf-collect" --gpu nonsense constant.records
status_is 2 "an unknown source is misuse"
complains ipf-collect '--gpu: expected auto, nvml, nvidia-smi, amd-smi, dcgm:URL or amd:URL, got "nonsense"' "and named"
run "$BIN/ipf-collect" --gpu nvml constant.records
status_is 2 "a file of records is no run that lasts"
complains ipf-collect "--gpu: devices can only be sampled while the run lasts, but constant.records is complete" "and it says so"
