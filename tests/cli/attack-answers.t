#!/bin/bash
# Random answers to spans, pushed figures, scrapes and questions to Prometheus: the rows are the same, each span is counted once, and
# messages are short and printable. Damaged files of OTLP are read, or refused with their place.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/attack.sh"

server_start --step-base 100us
ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 3 -n 12 -q -o chat.trace
ipf-sched burst:n=12 -t chat.trace -q -o chat.sched
ipf-fire -u "$URL" -m sim -t chat.trace chat.sched -q -o chat.records
export PATH
random_rounds 1
for seed in $(seq "${seed:?by random_rounds}" $((seed + rounds - 1))); do
	attacked "seed $seed" ' answers, .* 0 wrong$' attack_answers.py "$seed" 8 chat.records 4
	attacked "seed $seed" ' files, .* 0 wrong$' attack_files.py "$seed" 60
done
