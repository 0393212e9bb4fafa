#!/bin/bash
# How fast is a large ShareGPT-layout array read, and in how much memory? The baseline is `jq -c '.[]'` on the same file, which only takes it apart; ipf-prep also counts its tokens and writes the trace, compressed. PREP_MB sets the size. Then
# synthetic text, CSV without text, both and JSON Lines against DuckDB on one thread (a PYTHON with duckdb), recorded blocks anonymized. With IPF_TOKENIZERS the cost of a model's tokenizer: counted ShareGPT, and a trace with shared blocks
# filled to the token.
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

# Rows of a CSV into a trace of lengths alone.
rows=${PREP_ROWS:-1000000}
awk -v n="$rows" 'BEGIN {
	srand(3)
	print "TIMESTAMP,ContextTokens,GeneratedTokens"
	for (i = 0; i < n; i++) {
		t = i * 1793
		printf "2024-05-10 %02d:%02d:%02d.%06d+00:00,%d,%d\n", t / 3600000000, (t / 60000000) % 60, (t / 1000000) % 60, t % 1000000, 1 + rand() * 4000, 1 + rand() * 900
	}
}' >azure.csv
lengths() { ipf-prep azure azure.csv --prompt none -q -o azure.trace; }
with_python() {
	python3 -c 'import csv, datetime, json
first = None
with open("azure.csv") as rows, open("azure.python", "w") as out:
    for i, r in enumerate(csv.DictReader(rows)):
        t = datetime.datetime.fromisoformat(r["TIMESTAMP"])
        first = first or t
        out.write(json.dumps({"id": str(i), "input_tokens": int(r["ContextTokens"]), "output_tokens": int(r["GeneratedTokens"]),
                              "at_ns": round((t - first).total_seconds() * 1e9)}) + "\n")'
}
taken=$(for ((i = 0; i < rounds; i++)); do seconds lengths; done | median)
python=-
! command -v python3 >/dev/null || python=$(seconds with_python)
awk -v OFS='\t' -v s="$taken" -v b="$python" -v n="$rows" 'BEGIN {
	print "azure, CSV to lengths", sprintf("%.2f M requests/s", n / s / 1e6), b == "-" ? "-" : sprintf("%.2f M/s python, csv and json", n / b / 1e6),
		b == "-" ? "-" : sprintf("%.1f", b / s), "> 1 M/s", (n / s > 1e6) ? "met" : "missed"
}'

# A model of it, against reading alone: a conversion also writes.
fitted() { ipf-prep fit azure azure.csv -q -o azure.json; }
taken_fit=$(for ((i = 0; i < rounds; i++)); do seconds fitted; done | median)
awk -v OFS='\t' -v s="$taken_fit" -v b="$taken" -v n="$rows" 'BEGIN {
	print "azure, a model fitted", sprintf("%.2f M requests/s", n / s / 1e6), sprintf("%.2f M/s converted", n / b / 1e6), sprintf("%.2f", b / s),
		"> 0.5", (b / s > 0.5) ? "met" : "missed"
}'
fit_memory=$(peak_memory ipf-prep fit azure azure.csv -q -o azure.json)
awk -v OFS='\t' -v m="$fit_memory" 'BEGIN { print "its peak memory", m " MiB", "-", "-", "< 32 MiB", (m < 32) ? "met" : "missed" }'

# Against DuckDB, in turn: it reads the same file and writes its rows as JSON Lines; its time is the statement's alone. ipf-prep is measured from
# start to end: it also checks texts, counts their tokens, hashes their beginnings for prefix reuse, and takes SHA-256 of its input and output,
# but leaves answers out of the trace. Both write uncompressed, or both zstd's frames. Processor time, which a busy machine changes less.
python=${PYTHON:-python3}
duckdb=
if "$python" -c 'import duckdb' 2>/dev/null; then duckdb=1; else
	echo "no duckdb in $python (PYTHON): nothing is compared with DuckDB" >&2
fi
TIMEFORMAT='%U %S'
cpu() { { time "$@"; } 2>&1 | awk '{ printf "%.3f\n", $1 + $2 }'; }
texts=${PREP_TEXTS:-100000} # about 1.9 kB each
awk -v n="$texts" 'BEGIN {
	srand(11)
	m = split("the of and to in is that for it with as was on are be this by from or at not have which an your all will can there their about " \
		"who get when make like time just know take people into year good some could them see other than then now look only come its over", word, " ")
	for (k = 0; k < 4000; k++)
		for (w = 60 + int(rand() * 240); w; w--)
			text[k] = text[k] word[1 + int(rand() * m)] (w % 17 == 0 ? ".\\n" : w % 23 == 0 ? " \\\"caf\303\251\\\" " : " ")
	for (i = 0; i < n; i++)
		printf "{\"id\": \"chat-%08d\", \"prompt\": \"%s\", \"response\": \"%s\", \"model\": \"m%d\"}\n", i, text[int(rand() * 4000)],
			text[int(rand() * 4000)], i % 7
}' >texts.jsonl
# The same as CSV: escapes become quotes and line ends.
sed -e 's/^{"id": "\(.*\)", "prompt": "\(.*\)", "response": "\(.*\)", "model": "\(.*\)"}$/"\1","\2","\3",\4/' -e 's/\\"/""/g' -e 's/\\n/\n/g' texts.jsonl |
	sed '1i id,prompt,response,model' >texts.csv
awk -v n="$((texts / 2))" 'BEGIN {
	for (i = 0; i < n; i++) printf "{\"timestamp\": %d, \"input_length\": 12032, \"output_length\": 300, \"hash_ids\": [0,%s]}\n", i * 3, ids(i) }
	function ids(i, s, k) { s = i * 23 + 1; for (k = 2; k <= 23; k++) s = s "," i * 23 + k; return s }' >rows.jsonl

against() { # WHAT GOAL SQL-SOURCE COMMAND…
	local what=$1 goal=$2 source=$3 ours=() theirs=()
	shift 3
	[ -n "$duckdb" ] || return 0
	for ((i = 0; i < rounds; i++)); do
		theirs+=("$("$python" -I "$BENCH/duckdb_copy.py" "COPY (SELECT * FROM $source) TO 'duckdb.jsonl' (FORMAT json$packed)")")
		ours+=("$(cpu "$@")")
	done
	awk -v OFS='\t' -v what="$what" -v goal="$goal" -v o="$(printf '%s\n' "${ours[@]}" | median)" -v t="$(printf '%s\n' "${theirs[@]}" | median)" 'BEGIN {
		print what, sprintf("%.2f s CPU", o), sprintf("%.2f s DuckDB, one thread", t), sprintf("%.2f", t / o), goal == "-" ? "-" : "> " goal,
			goal == "-" ? "-" : (t / o > goal) ? "met" : "missed"
	}'
}
packed=
columns=(--field id=id --field prompt=prompt --field output=response)
json="read_json('texts.jsonl', format='newline_delimited')"
against "jsonl, $(($(stat -c %s texts.jsonl) / 1000000)) MB of texts" 1 "$json" ipf-prep jsonl texts.jsonl -q -o texts.trace
packed=", COMPRESSION zstd"
against "the same, both compressed" 1 "$json" ipf-prep jsonl texts.jsonl -q -o texts.trace.zst
packed=
against "csv, the same texts" 1 "read_csv('texts.csv')" ipf-prep csv texts.csv "${columns[@]}" -q -o texts.trace
against "azure, CSV to lengths" 1 "read_csv('azure.csv')" ipf-prep azure azure.csv --prompt none -q -o azure.trace
against "mooncake, rows with blocks" - "read_json('rows.jsonl', format='newline_delimited')" ipf-prep mooncake rows.jsonl --prompt none -q -o rows.trace

# Recorded blocks without their ids, against reading alone: of the rows, and of a trace of them.
anonymized() { # WHAT SOURCE FILE
	local read=() made=()
	for ((i = 0; i < rounds; i++)); do
		read+=("$(cpu ipf-prep "$2" "$3" --prompt none -q -o /dev/null)")
		made+=("$(cpu ipf-prep anonymize "$2" "$3" -q -o /dev/null)")
	done
	awk -v OFS='\t' -v what="$1" -v r="$(printf '%s\n' "${read[@]}" | median)" -v m="$(printf '%s\n' "${made[@]}" | median)" 'BEGIN {
		print what, sprintf("%.2f s CPU", m), sprintf("%.2f s read", r), sprintf("%.2f", r / m), "> 0.5", (r / m > 0.5) ? "met" : "missed"
	}'
}
ipf-prep mooncake rows.jsonl --prompt none -q -o rows.trace
anonymized "recorded blocks anonymized" mooncake rows.jsonl
anonymized "a trace of them anonymized" trace rows.trace

# With a tokenizer of a model.
tokenizer=
for name in llama3 llama3_1 qwen2_5; do
	[ -n "$tokenizer" ] || [ ! -e "${IPF_TOKENIZERS:-}/$name/tokenizer.json" ] ||
		tokenizer=$IPF_TOKENIZERS/$name/tokenizer.json
done
if [ -z "$tokenizer" ]; then
	echo "no IPF_TOKENIZERS: nothing is measured with a tokenizer" >&2
	exit 0
fi
head -c 60000000 array.json | sed '$d' >some.json
sed -i '$s/,$//' some.json
echo ']' >>some.json
jq -c '.[] | .conversations[].value' some.json >texts
count() { ipf-prep tokenize -t "$tokenizer" --json --count texts >/dev/null; }
shaped() { ipf-prep sharegpt some.json --turns all -t "$tokenizer" -o some.trace; }
plain() { ipf-prep sharegpt some.json --turns all -o some.trace; }
count
alone=$(for ((i = 0; i < rounds; i++)); do seconds count; done | median)
whole=$(for ((i = 0; i < rounds; i++)); do seconds shaped; done | median)
bare=$(for ((i = 0; i < rounds; i++)); do seconds plain; done | median)
awk -v OFS='\t' -v w="$whole" -v a="$alone" -v b="$bare" 'BEGIN {
	print "sharegpt, with a tokenizer", sprintf("%.2f s", w), sprintf("%.2f s tokenize --count of its texts, %.2f s without a tokenizer", a, b),
		sprintf("%.2f", w / (a + b)), "< 1.2 of both", (w / (a + b) < 1.2) ? "met" : "missed"
}'

# A trace with shared blocks, as long as Mooncake's hour of conversations: the real one where at hand.
if [ -e "${SHARED:=$TESTS/../../shared}/data/traces/mooncake/conversation_trace.jsonl.zst" ]; then
	zstd -qdc "$SHARED/data/traces/mooncake/conversation_trace.jsonl.zst" >blocks.jsonl
else
	awk 'BEGIN {
		srand(5)
		for (i = 0; i < 12031; i++) {
			n = 1 + int(-23.5 * log(1 - rand())); line = "0"
			from = int(rand() * i); shared = rand() < 0.4 ? int(rand() * blocks[from]) : 0
			for (k = 1; k <= shared; k++) { line = line "," ids[from, k]; ids[i, k] = ids[from, k] }
			for (; k < n; k++) { line = line "," (ids[i, k] = ++id) }
			blocks[i] = n
			printf "{\"timestamp\": %d, \"input_length\": %d, \"output_length\": 300, \"hash_ids\": [%s]}\n", i * 294, n * 512, line
		}
	}' >blocks.jsonl
fi
[ -z "${PREP_REQUESTS:-}" ] || sed -i "$((PREP_REQUESTS + 1)),\$d" blocks.jsonl
filled() { ipf-prep mooncake blocks.jsonl -t "$tokenizer" -q -o blocks.trace.zst; }
taken=$(seconds filled)
memory=$(peak_memory ipf-prep mooncake blocks.jsonl -t "$tokenizer" -q -o blocks.trace.zst)
packed=$(stat -c %s blocks.trace.zst)
near=$(zstd -dc blocks.trace.zst | zstd -3 -c | wc -c)
awk -v OFS='\t' -v s="$taken" -v m="$memory" -v n="$(wc -l <blocks.jsonl)" -v p="$packed" -v b="$near" 'BEGIN {
	print "mooncake, filled to the token, " n " requests", sprintf("%.0f s", s), "-", "-", "< 60 s", (s < 60) ? "met" : "missed"
	print "its peak memory", m " MiB", "-", "-", "< 200 MiB", (m < 200) ? "met" : "missed"
	print "its file", sprintf("%.0f MB", p / 1e6), sprintf("%.0f MB zstd -3 without a long distance", b / 1e6), sprintf("%.2f", b / p), "> 1.3", (b / p > 1.3) ? "met" : "missed"
}'
