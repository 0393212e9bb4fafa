#!/usr/bin/env bash
# The simulated devices as a scraper sees them: the cost of a run follows from its steps.
. "$TESTS/tap.sh"

scrape() { curl -sS -m 120 -o scraped -w '%{http_code}' "$URL$1"; }
value() { # METRIC DEVICE of a host
	sed -n "s/^$1{.*gpu=\"$2\",.*} //p;s/^$1{.*gpu_id=\"$2\",.*} //p" scraped
}
energy_mj() { scrape /dcgm/metrics >/dev/null && value DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION 0; }
ask() { curl -sS -m 3600 -o "$OUT" "$URL/v1/completions" -d "{\"prompt\":\"x\",\"max_tokens\":$1}"; }

# ---- energy: 20 steps of 10 ms at 600 W, and nothing between them ----
server_start --gpus 2 --gpu-power 0:600 --step-base 10ms --step-per-seq 0 --prefill-rate 1000M
is "$(scrape /dcgm/metrics)" 200 "the devices are reported"
before=$(energy_mj)
is "$before" 1000000000 "an energy counter begins at 1 MJ"
ask 20
is "$(($(energy_mj) - before))" 120000 "20 steps of 10 ms at 600 W are 120 J"
is "$(value DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION 1)" 1000120000 "the other device has used as much"
ask 5 &
first=$!
ask 5 &
wait $first $!
between "$(($(energy_mj) - before))" 150000 180000 "requests that share steps share their energy"
idle() { scrape /dcgm/metrics && [ "$(value DCGM_FI_DEV_GPU_UTIL 0) $(value DCGM_FI_DEV_POWER_USAGE 0)" = "0 0.000000" ]; }
yes_if "devices without requests become idle" wait_for idle
is "$(value DCGM_FI_DEV_SM_CLOCK 0)" 345 "idle devices have a low clock"
ask 3000 &
stop_at_exit $!
busy() {
	scrape /dcgm/metrics
	[ "$(value DCGM_FI_DEV_GPU_UTIL 1) $(value DCGM_FI_DEV_POWER_USAGE 1) $(value DCGM_FI_PROF_GR_ENGINE_ACTIVE 1)" = "100 600.000000 1.000000" ]
}
yes_if "devices with a request are busy" wait_for busy
is "$(value DCGM_FI_PROF_DRAM_ACTIVE 0)" 0.800000 "busy devices use their memory"
is "$(($(value DCGM_FI_DEV_FB_FREE 0) + $(value DCGM_FI_DEV_FB_USED 0) + $(value DCGM_FI_DEV_FB_RESERVED 0)))" 143771 "the parts of the memory are the whole"

# ---- the form ----
is "$(grep -vcE '^(# (HELP|TYPE) DCGM_FI_[A-Z_]+ .*|DCGM_FI_[A-Z_]+\{gpu="[01]",UUID="GPU-[0-9a-f-]{36}",pci_bus_id="[0-9A-F]{8}:[0-9A-F]{2}:00\.0",device="nvidia[01]",modelName="NVIDIA H200",hostname="sim-0",DCGM_FI_DRIVER_VERSION="[0-9.]+"\} [0-9.]+)$' scraped)" 0 "every line is one of dcgm-exporter's"
is "$(scrape /amd/metrics)" 200 "AMD's exporter has them too"
yes_if "AMD's exporter has energy in microjoules" test "$(value gpu_energy_consumed 1)" -gt 1000120000000
is "$(grep -vcE '^(# (HELP|TYPE) gpu_[a-z_]+ .*|gpu_[a-z_]+\{([a-z_]+="[^"]*",?)+\} [0-9]+)$' scraped)" 0 "every line is one of its"

# ---- time: a device drawing 100 W whatever it does ----
server_start --gpus 1 --gpu-power 100:100
t0=$(date +%s%N) # exact: the reading lies between
first=$(energy_mj)
t1=$(date +%s%N) # exact: the reading lies between
ask 10
t2=$(date +%s%N) # exact: the reading lies between
last=$(energy_mj)
t3=$(date +%s%N) # exact: the reading lies between
between "$((last - first))" "$(((t2 - t1) / 10000 - 1))" "$(((t3 - t0) / 10000 + 1))" "100 W are 100 mJ in each millisecond"

# ---- none ----
server_start
is "$(scrape /dcgm/metrics) $(scrape /amd/metrics)" "404 404" "a server without --gpus has no exporters"
for wrong in "--gpus 65" "--gpus x" "--gpu-power 80" "--gpu-power 600:80"; do
	# shellcheck disable=SC2086 # two words
	run "$BIN/ipf-sim" $wrong
	status_is 2 "$wrong is refused"
done
