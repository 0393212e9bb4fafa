#!/bin/sh
# How fast are texts encoded and counted, against the reference implementation (PyPI tokenizers) and tiktoken on the same texts in the
# same run, on one core; batches on all cores; the worst cases against prose; opening from the cache. IPF_TOKENIZERS names a folder of
# tokenizers (NAME/models/tokenizer.json), PYTHON a python with the packages; without them there is nothing to measure.
# BPE=1 compares with github's bpe crate, too, which cargo then loads and builds.
set -eu
python=${PYTHON:-python3}
if [ -z "${IPF_TOKENIZERS:-}" ] || ! "$python" -c 'import tokenizers' 2>/dev/null; then
	printf 'tokenizer against the reference\t-\t-\t-\t-\tneeds IPF_TOKENIZERS and tokenizers\n'
	exit 0
fi
# shellcheck disable=SC2046
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -I"$TESTS/../lib" -o tokenize "$BENCH/tokenize.c" "$BUILD/libipf.a" \
	$(pkg-config --cflags --libs jansson libzstd libcrypto libpcre2-8 libutf8proc) -lm -pthread
XDG_CACHE_HOME=$PWD exec "$python" "$BENCH/tokenize.py" "$PWD/tokenize" "$@"
