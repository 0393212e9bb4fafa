# Runs whose servers are scraped before the first request: their counters then equal their logs. Source it after tap.sh.
# shellcheck shell=bash

# Asks for other metrics than those it counts.
scrapes_of() { # URL
	curl -s "$1/sglang/metrics" | awk '/^ipf_sim_scrapes_total/ { print $2 }'
}

scraped_after() { # SCRAPES URL
	[ "$(scrapes_of "$2")" -gt "$1" ]
}

scraped_options=(-q) # for ipf-collect

# Sends SCHEDULE when ipf-collect has scraped each server once: in the background, $scraped_run. Results go to FILE, records to FILE.records, messages to
# FILE.err.
scraped_begin() { # FILE SCHEDULE ARGUMENTS OF ipf-fire… -- [TARGET=]URL-TO-SCRAPE…
	local file=$1 schedule=$2 fire=() scrape=() before=() url
	shift 2
	while [ "$1" != -- ]; do fire+=("$1") && shift; done
	shift
	for url; do
		scrape+=(--scrape "$url/metrics")
		before+=("$(scrapes_of "${url#*=}")")
	done
	mkfifo "$file.schedule"
	(
		trap - EXIT
		ipf-fire -q -m sim "${fire[@]}" "$file.schedule" | tee "$file.records" |
			ipf-collect "${scraped_options[@]}" --every 200ms "${scrape[@]}" -o "$file" 2>"$file.err"
	) &
	scraped_run=$!
	exec 6>"$file.schedule"
	for url; do
		wait_for scraped_after "${before[0]}" "${url#*=}"
		before=("${before[@]:1}")
	done
	cat "$schedule" >&6
	exec 6>&-
}
