#!/bin/bash
# Synthetic prompts with models' tokenizers, counted by the reference implementation: each has the requested number of tokens, and any
# two share as many leading tokens as their recorded blocks say.
. "$TESTS/tap.sh"

[ -n "${IPF_TOKENIZERS:-}" ] && "${PYTHON:-python3}" -c 'import tokenizers' 2>/dev/null ||
	skip_all "needs IPF_TOKENIZERS and python's tokenizers"
export PATH=$BIN:$PATH
seed=${SEED:-$RANDOM}
echo "# SEED=$seed"

# Prompts continuing from a block of an earlier one or from the root: SIZE of blocks, whether a last partial block has an id.
mooncake() {
	awk -v seed="$seed" 'BEGIN {
		srand(seed)
		for (r = 0; r < 400; r++) {
			from = rand() < 0.1 ? 0 : int(rand() * (r + 1)); depth = from ? int(rand() * (blocks[from] + 1)) : 0; line = ""
			for (k = 1; k <= depth; k++) { ids[r + 1, k] = ids[from, k]; line = line "," ids[from, k] }
			for (n = depth + 1 + int(rand() * 3); k <= n; k++) { ids[r + 1, k] = id++; line = line "," ids[r + 1, k] }
			# the last one is of this prompt alone, and not full
			blocks[r + 1] = n
			printf "{\"timestamp\": %d, \"input_length\": %d, \"output_length\": 3, \"hash_ids\": [%s]}\n", r, n * 512 + 1 + int(rand() * 511),
				substr(line "," id++, 2)
		}
	}'
}
qwen() {
	awk -v seed="$seed" 'BEGIN {
		srand(seed)
		for (r = 0; r < 600; r++) {
			from = int(rand() * r); depth = rand() < 0.2 ? 0 : int(rand() * (blocks[from] + 1)); line = ""
			for (k = 1; k <= depth; k++) { ids[r, k] = ids[from, k]; line = line "," ids[from, k] }
			for (n = depth + 1 + int(rand() * 3); k <= n; k++) { ids[r, k] = id++; line = line "," ids[r, k] }
			blocks[r] = n
			printf "{\"chat_id\": %d, \"parent_chat_id\": -1, \"timestamp\": %d.5, \"input_length\": %d, \"output_length\": 3, \"type\": \"text\", \"turn\": 1, \"hash_ids\": [%s]}\n",
				r, r, n * 16 + 1 + int(rand() * 15), substr(line "," id++, 2)
		}
	}'
}
weka() {
	awk -v seed="$seed" 'BEGIN {
		srand(seed)
		for (c = 0; c < 60; c++) {
			printf "{\"id\": \"c%d\", \"models\": [\"m\"], \"block_size\": 64, \"hash_id_scope\": \"local\", \"requests\": [", c
			id = 1; n = 0
			for (r = 0; r < 8; r++) {
				keep = int(rand() * (n + 1)); line = ""
				for (k = 1; k <= keep; k++) line = line "," ids[k]
				for (n = keep + int(rand() * 4); k <= n; k++) { ids[k] = id++; line = line "," ids[k] }
				printf "%s{\"t\": %d.5, \"type\": \"n\", \"model\": \"m\", \"in\": %d, \"out\": 5, \"hash_ids\": [%s], \"think_time\": 1.5}", r ? ", " : "", r, n * 64 + 1 + int(rand() * 63), substr(line, 2)
			}
			print "]}"
		}
	}'
}
mooncake >mooncake.jsonl
qwen >qwen-bailian.jsonl
weka >weka.jsonl

found=0
for folder in "$IPF_TOKENIZERS"/*/; do
	t=${folder}tokenizer.json
	name=$(basename "$folder")
	case " ${NAMES:-llama3 llama2 qwen2_5 gemma2 deepseek_v3 mistral_nemo gptoss} " in *" $name "*) \
		;; *) continue ;; esac
	[ -e "$t" ] || continue
	found=$((found + 1))
	for source in mooncake qwen-bailian weka; do
		ipf-prep "$source" "$source.jsonl" -q -t "$t" --salt "$seed" -o made.trace
		n=$(body made.trace | wc -l)
		is "$("${PYTHON:-python3}" "$TESTS/prep_prompts.py" "$t" made.trace)" "requests $n exact $n off 0 pairs 0" "$name: $source, lengths and what prompts share"
	done
	ipf-prep sharegpt "$TESTS/../examples/chat.json" -q -t "$t" --input-tokens uniform:5-400 -n 200 --sample with -o shaped.trace
	is "$("${PYTHON:-python3}" "$TESTS/prep_prompts.py" "$t" shaped.trace)" "requests 200 exact 200 off 0 pairs 0" "$name: prompts that were cut or extended are counted right"
done
yes_if "some tokenizers were found" test $found -gt 0
