# shellcheck shell=bash
# Part of benchmarks: the memory of a program.

wait_peak() { # PID: its peak memory in MB, read until it ends
	local peak=0 now
	while now=$(awk '/VmHWM/ { print int($2 / 1000) }' "/proc/$1/status" 2>/dev/null) && [ -n "$now" ]; do
		peak=$now
		sleep 0.1
	done
	wait "$1" && echo "$peak"
}
