#!/bin/bash
# --preset vllm-sharegpt gives the same requests as prep_vllm.py, an independent implementation with the reference tokenizers: on a
# generated file with lengths on both sides of every limit, and on published files if they are present.
. "$TESTS/tap.sh"

[ -n "${IPF_TOKENIZERS:-}" ] && "${PYTHON:-python3}" -c 'import tokenizers' 2>/dev/null ||
	skip_all "needs IPF_TOKENIZERS and python's tokenizers"
awk 'BEGIN {
	srand(11)
	print "["
	for (i = 0; i < 1500; i++) {
		printf "%s{\"id\": \"%d\", \"conversations\": [", i ? ",\n" : "", i
		turns = int(rand() * 5)
		for (t = 0; t < turns; t++) {
			# around the limits, mostly
			n = rand() < 0.3 ? int(rand() * 8) : rand() < 0.5 ? 1015 + int(rand() * 20) : int(rand() * 1400)
			printf "%s{\"from\": \"%s\", \"value\": \"", t ? ", " : "", t % 2 ? "gpt" : "human"
			for (k = 0; k < n; k++) printf "%s", rand() < 0.5 ? " the" : rand() < 0.5 ? " caf\303\251" : " tree,"
			printf "\"}"
		}
		printf "]}"
	}
	print "\n]"
}' >made.json
found=0
for folder in "$IPF_TOKENIZERS"/*/; do
	t=${folder}tokenizer.json
	name=$(basename "$folder")
	case " ${NAMES:-llama3 llama2 qwen2_5 gemma2 gpt2} " in *" $name "*) ;; *) continue ;; esac
	[ -e "$t" ] || continue
	found=$((found + 1))
	for file in made.json "$TESTS/../examples/chat.json" "${SHARED:-.}"/data/datasets/sharegpt/{ShareGPT_V3.*,dummy_*,glaive_*,sharegpt_zh.*}; do
		[ -e "$file" ] || continue
		"${PYTHON:-python3}" "$TESTS/prep_vllm.py" "$t" "$file" | jq -c . >expected
		"$BIN/ipf-prep" sharegpt "$file" --preset vllm-sharegpt -q -t "$t" -o preset.trace
		body preset.trace | jq -c '[.messages[0].content, .input_tokens, .output_tokens]' >got
		same got expected "$name: $(basename "$file"), $(wc -l <expected) requests"
	done
done
yes_if "some tokenizers were found" test $found -gt 0
