#!/bin/bash
# The formats against published data, if a folder of it is beside the checkout.
. "$TESTS/tap.sh"
prep=$BIN/ipf-prep
[ -n "${SHARED:-}" ] && [ -d "$SHARED/data" ] || skip_all "no folder of sample data"
data=$SHARED/data

have() { # FILE: there, or the reason to skip
	[ -e "$data/$1" ] || { skip "$1" "not in this folder"; return 1; }
}

# ---- Azure: every row at its time, with its lengths ----
if have traces/azure/AzureLLMInferenceTrace_conv.csv; then
	file=$data/traces/azure/AzureLLMInferenceTrace_conv.csv
	run "$prep" azure "$file" -o azure.trace.zst
	status_is 0 "the conversation trace of Azure is read"
	body azure.trace.zst |
		jq -r '[.at_ns, .input_tokens, .output_tokens, (.messages[0].content | utf8bytelength), (.messages | length)] | @tsv' >got
	# the answer, from the file by other means: all of it lies within one day
	tr -d '\r' <"$file" | awk -F '[ ,:.]' 'NR > 1 {
		ticks = ($2 * 3600 + $3 * 60 + $4) * 10000000 + $5
		if (NR == 2) first = ticks
		printf "%.0f\t%d\t%d\t%d\t1\n", (ticks - first) * 100, $6, $7, $6 * 4
	}' >expected
	same got expected "every request has its row's arrival, lengths and as much text"
	is "$(wc -l <got)" 19366 "the trace of Azure has every row"
	is "$(body azure.trace.zst | jq -r '.messages[0].content[:120] | select(length == 120)' | sort | uniq -d |
		wc -l)" 0 "no two prompts of Azure's trace begin alike"
	run "$prep" azure "$file" --from 10m --to 20m -o slice.trace.zst
	body slice.trace.zst | jq -r .at_ns >got
	awk '$1 >= 600e9 && $1 < 1200e9 { printf "%.0f\n", $1 - 600e9 }' expected >slice
	same got slice "a slice has its arrivals, counted from where it begins"
fi

# ---- Mooncake: prompts share as recorded ----
if have traces/mooncake/conversation_trace.jsonl.zst; then
	file=$data/traces/mooncake/conversation_trace.jsonl.zst
	run "$prep" mooncake "$file" -o mooncake.trace.zst
	status_is 0 "the conversation trace of Mooncake is read"
	zstd -dcq "$file" | jq -r '[.timestamp * 1000000, .input_length, .output_length] | @tsv' >expected
	# each block of 512 tokens: text seen before
	plain mooncake.trace.zst | awk '
		BEGIN { marker = "\"content\":\"" }
		/^\{"id"/ {
			at = index($0, marker) + length(marker)
			text = substr($0, at)
			text = substr(text, 1, index(text, "\"") - 1)
			rest = substr($0, at + length(text))
			match(rest, /"input_tokens":[0-9]+/); input = substr(rest, RSTART + 15, RLENGTH - 15)
			match(rest, /"output_tokens":[0-9]+/); output = substr(rest, RSTART + 16, RLENGTH - 16)
			match(rest, /"at_ns":[0-9]+/); ns = substr(rest, RSTART + 8, RLENGTH - 8)
			printf "%s\t%s\t%s\n", ns, input, output
			if (length(text) != 4 * input) wrong++
			for (k = 1; k <= length(text); k += 2048) {
				blocks++
				if (substr(text, k, 96) in seen) again++
				else seen[substr(text, k, 96)] = 1
			}
		}
		END { printf "%d %d %d\n", blocks, again, wrong >"share" }' >got
	same got expected "every request has its row's arrival and lengths"
	read -r blocks again wrong <share
	is "$wrong" 0 "requests of Mooncake have as much text as recorded"
	is "$blocks" 288500 "requests of Mooncake have all blocks of the trace"
	is "$again" 105710 "Mooncake's trace repeats 36.6 % of its blocks"
fi
