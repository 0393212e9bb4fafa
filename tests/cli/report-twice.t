#!/bin/bash
# A figure that occurs twice has the same value twice: random runs and comparisons, whose text, page, Markdown, CSV and JUnit are read back and
# compared with JSON, after the rounding of the output. SEED=… COUNT=… tries others.
. "$TESTS/tap.sh"
seed=${SEED:-1} count=${COUNT:-$([ -n "$IPF_LONG" ] && echo 150 || echo 6)}
echo "# SEED=$seed COUNT=$count"
twice() { python3 "$TESTS/helpers/figures_twice.py" "$@" "$BIN" "$TESTS/../lib/api/apis/openai-chat.json"; }
is "$(twice "$seed" "$count" 2>counts)" "$count runs" "figures are those of JSON wherever they are shown"
for form in 'report text' 'report brief' 'report md' 'report page' 'report csv' 'report json' 'comparison text' 'comparison md' 'comparison page' 'comparison junit' 'comparison json'; do
	matches "$(cat counts)" "$form [0-9]+" "$form: figures were read back"
done
between "$(tr -dc '0-9 ' <counts | tr ' ' '\n' | awk '{ n += $1 } END { print n }')" $((100 * count)) 100000000 "the read figures are many"
# A figure that differs is found: one digit of each format in turn.
is "$(twice meddle "$seed" 2>&1 | grep -v 'True$')" "" "a figure that differs is found in every format"
