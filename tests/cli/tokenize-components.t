#!/bin/bash
# Every kind of normalizer, pre-tokenizer, model, post-processor and decoder against the reference, where that is installed.
. "$TESTS/tap.sh"

python=${PYTHON:-python3}
if ! "$python" -c 'import tokenizers' 2>/dev/null; then
	skip "every component equals the reference" "needs python's tokenizers"
elif [ -n "${SANITIZE:-}" ]; then
	skip "every component equals the reference" "too slow with sanitizers"
else
	yes_if "every component equals the reference" "$python" "$TESTS/tokenizer_components.py" --texts 20 --binary "$BIN/ipf-prep"
fi
