#!/bin/bash
# Tokenizers like those of models, trained here, against the reference, where that is installed.
. "$TESTS/tap.sh"

python=${PYTHON:-python3}
if ! "$python" -c 'import tokenizers' 2>/dev/null; then
	skip "tokenizers trained like those of models equal the reference" "needs python's tokenizers"
elif [ -n "${SANITIZE:-}" ]; then
	skip "tokenizers trained like those of models equal the reference" "too slow with sanitizers"
else
	yes_if "tokenizers trained like those of models equal the reference" \
		"$python" "$TESTS/tokenizer_reference.py" --trained --bytes 10000 --binary "$BIN/ipf-prep"
fi
