#!/bin/bash
# How fast is a recorded trace anonymized, and in how much memory? The baseline is `ipf-prep` on the same requests, which reads and
# counts them and writes them to /dev/null: the time without hashes. Chats with text, as JSON Lines and as a trace of ours; rows of lengths
# alone; recorded blocks; the same chats with rare lengths put together. ANONYMIZE_REQUESTS sets the number of requests, IPF_TOKENIZERS adds a tokenizer.
set -eu

requests=${ANONYMIZE_REQUESTS:-1000000}
rounds=${ANONYMIZE_ROUNDS:-3}
TIMEFORMAT='%U %S'

# Time of the processor, which other programs do not change.
seconds() { { time "$@"; } 2>&1 | awk '{ printf "%.3f\n", $1 + $2 }'; }
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# The most memory a process had, as the kernel counts it; looked at until it ends.
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

echo "making $requests requests" >&2
awk -v n="$requests" 'BEGIN {
	srand(7)
	m = split("the of and to in is that for it with as was on are be this by from or at not have which an your all will can there their " \
		"what about who get when make like time just know take people into year good some could them see other than then now look", word, " ")
	for (s = 0; s < 20; s++)
		for (w = 0; w < 120; w++) head[s] = head[s] word[1 + int(rand() * m)] " "
	for (t = 0; t < 5000; t++)
		for (w = 0; w < 4 + 20 * -log(1 - rand()); w++) tail[t] = tail[t] word[1 + int(rand() * m)] " "
	for (i = 0; i < n; i++)
		printf "{\"messages\": [{\"role\": \"system\", \"content\": \"%s\"}, {\"role\": \"user\", \"content\": \"%s%s%d\"}], \"output_tokens\": %d, \"model\": \"m%d\"}\n",
			head[int(rand() * 20)], tail[int(rand() * 5000)], tail[int(rand() * 5000)], i, 1 + rand() * 900, i % 2
}' >chats.jsonl
awk -v n="$requests" 'BEGIN {
	srand(3)
	print "TIMESTAMP,ContextTokens,GeneratedTokens"
	for (i = 0; i < n; i++) {
		t = i * 1793
		printf "2024-05-10 %02d:%02d:%02d.%06d+00:00,%d,%d\n", t / 3600000000, (t / 60000000) % 60, (t / 1000000) % 60, t % 1000000, 1 + rand() * 4000, 1 + rand() * 900
	}
}' >azure.csv
awk -v n="$((requests / 20))" 'BEGIN {
	for (i = 0; i < n; i++) printf "{\"timestamp\": %d, \"input_length\": 12032, \"output_length\": 300, \"hash_ids\": [0,%s]}\n", i * 3, ids(i) }
	function ids(i, s, k) { s = i * 23 + 1; for (k = 2; k <= 23; k++) s = s "," i * 23 + k; return s }' >blocks.jsonl
chats=(jsonl chats.jsonl --field messages=messages --field output_tokens=output_tokens --field model=model)

row() { # WHAT GOAL BASELINE-COMMAND -- COMMAND: their times, and the memory of the second
	local what=$1 goal=$2 read made memory
	shift 2
	local baseline=()
	while [ "$1" != -- ]; do
		baseline+=("$1")
		shift
	done
	shift
	"${baseline[@]}" # from memory for both
	read=$(for ((i = 0; i < rounds; i++)); do seconds "${baseline[@]}"; done | median)
	made=$(for ((i = 0; i < rounds; i++)); do seconds "$@"; done | median)
	memory=$(peak_memory "$@")
	awk -v OFS='\t' -v what="$what" -v r="$read" -v m="$made" -v goal="$goal" -v mem="$memory" 'BEGIN {
		print what, sprintf("%.2f s, %s MiB", m, mem), sprintf("%.2f s ipf-prep alone", r), sprintf("%.2f", r / m), goal == "-" ? "-" : "> " goal,
			goal == "-" ? "-" : (r / m > goal) ? "met" : "missed"
	}'
}
quietly="-q -o /dev/null"
# shellcheck disable=SC2086 # words
{
	row "$requests chats, JSON Lines" 0.5 ipf-prep "${chats[@]}" $quietly -- ipf-prep anonymize "${chats[@]}" $quietly
	row "the same in blocks of 16" - ipf-prep "${chats[@]}" $quietly -- ipf-prep anonymize "${chats[@]}" --block-tokens 16 $quietly
	ipf-prep "${chats[@]}" -q -o chats.trace
	row "a trace of them, against its stat" 0.5 ipf-prep stat chats.trace -o /dev/null -- ipf-prep anonymize trace chats.trace $quietly
	rm chats.trace
	row "$requests lengths, CSV" 0.5 ipf-prep azure azure.csv --prompt none $quietly -- ipf-prep anonymize azure azure.csv $quietly
	row "the same, --jitter 1s --k 10" - ipf-prep azure azure.csv --prompt none $quietly -- ipf-prep anonymize azure azure.csv --jitter 1s --k 10 $quietly
	row "recorded blocks" 0.5 ipf-prep mooncake blocks.jsonl --prompt none $quietly -- ipf-prep anonymize mooncake blocks.jsonl $quietly
}
for name in llama3 llama3_1 qwen2_5; do
	tokenizer=${IPF_TOKENIZERS:-}/$name/tokenizer.json
	[ -e "$tokenizer" ] || continue
	head -100000 chats.jsonl >some.jsonl
	chats[1]=some.jsonl
	# shellcheck disable=SC2086 # words
	row "100000 chats, with a tokenizer" 0.5 ipf-prep "${chats[@]}" -t "$tokenizer" $quietly -- ipf-prep anonymize "${chats[@]}" -t "$tokenizer" $quietly
	break
done
