#!/bin/bash
# How fast is a large ShareGPT-layout array read, and in how much memory? The baseline is `jq -c '.[]'` on the same file, which only
# takes it apart; ipf-prep also counts its tokens and writes the trace, compressed. PREP_MB sets the size.
set -eu

megabytes=${PREP_MB:-500}
rounds=${PREP_ROUNDS:-3}

# A few megabytes of conversations, again and again with a comma between.
make_array() {
	awk 'BEGIN {
		srand(7)
		n = split("the of and to in is that for it with as was on are be this by from or at not have which an your all will can there " \
			"their what about who get when make like time just know take people into year good some could them see other than then " \
			"now look only come its over think also back after use two how our work first well way even new want because any give", word, " ")
		for (c = 0; c < 2000; c++) {
			printf "%s  {\"id\": \"c%d_0\", \"conversations\": [", c ? ",\n" : "", c
			turns = 2 * (1 + int(rand() * 4))
			for (t = 0; t < turns; t++) {
				printf "%s{\"from\": \"%s\", \"value\": \"", t ? ", " : "", t % 2 ? "gpt" : "human"
				words = t % 2 ? 60 + int(rand() * 300) : 10 + int(rand() * 50)
				for (w = 0; w < words; w++)
					printf "%s%s", word[1 + int(rand() * n)], w % 17 == 16 ? ".\\n" : w % 23 == 22 ? " \\\"caf\303\251\\\" " : " "
				printf "\"}"
			}
			printf "]}"
		}
	}' >part
	times=$((megabytes * 1000000 / $(stat -c %s part) + 1))
	{
		echo '['
		for ((i = 1; i < times; i++)); do
			cat part
			echo ','
		done
		cat part
		echo
		echo ']'
	} >array.json
}

seconds() { # COMMAND…: wall time
	local begin end
	begin=$(date +%s.%N)
	"$@"
	end=$(date +%s.%N)
	awk -v a="$begin" -v b="$end" 'BEGIN { printf "%.3f\n", b - a }'
}

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

prep() { ipf-prep sharegpt array.json "$@" -o array.trace.zst; }
with_jq() { jq -c '.[]' array.json >/dev/null; }

# The most memory that a process had, as the kernel counts it; looked at until it ends.
peak_memory() { # COMMAND…: MiB
	local pid kb=0 now
	"$@" &
	pid=$!
	while now=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null) && [ -n "$now" ]; do
		kb=$now
		sleep 0.01
	done
	wait "$pid"
	awk -v kb="$kb" 'BEGIN { printf "%.1f\n", kb / 1024 }'
}

echo "making an array of $megabytes MB" >&2
make_array
size=$(($(stat -c %s array.json) / 1000000))
cat array.json >/dev/null # from memory for everybody
jq_seconds=$(seconds with_jq)
one=$(for ((i = 0; i < rounds; i++)); do seconds prep; done | median)
all=$(for ((i = 0; i < rounds; i++)); do seconds prep --turns all; done | median)
memory=$(peak_memory ipf-prep sharegpt array.json -o array.trace.zst)

row() { # WHAT SECONDS GOAL
	awk -v OFS='\t' -v what="$1" -v s="$2" -v b="$jq_seconds" -v goal="$3" -v mb="$size" 'BEGIN {
		met = goal == "-" ? "-" : (b / s >= 3) ? "met" : "missed"
		print what, sprintf("%.2f s (%.0f MB/s)", s, mb / s), sprintf("%.2f s jq -c .[]", b), sprintf("%.1f", b / s), goal, met
	}'
}
row "sharegpt, array of $size MB" "$one" "> 3"
row "the same, --turns all" "$all" "-"
awk -v OFS='\t' -v m="$memory" 'BEGIN { print "its peak memory", m " MiB", "-", "-", "< 64 MiB", (m < 64) ? "met" : "missed" }'

# Text for a length-only trace.
awk 'BEGIN { for (i = 0; i < 4000; i++) printf "{\"timestamp\": %d, \"input_length\": 12032, \"output_length\": 300, \"hash_ids\": [0,%s]}\n", i, ids(i) }
	function ids(i, s, k) { s = i * 23 + 1; for (k = 2; k <= 23; k++) s = s "," i * 23 + k; return s }' >long.jsonl
made=$(seconds ipf-prep mooncake long.jsonl -o /dev/null)
awk -v OFS='\t' -v s="$made" 'BEGIN {
	mb = 4000 * 12032 * 4 / 1e6
	print "mooncake, made text", sprintf("%.0f MB/s", mb / s), "-", "-", "> 300 MB/s", (mb / s > 300) ? "met" : "missed"
}'
