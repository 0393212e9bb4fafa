#!/bin/bash
# Four hundred answers of a server with all its bad manners, understood a second time by a program sharing no code with
# ipf-collect: every row and every window of time has to agree.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

command -v python3 >/dev/null && python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' ||
	skip_all "python3 is not installed"
modes=()
for mode in status never:x reset:after=3 cut:after=4 stall:pause=120ms slow-headers:delay=60ms error-inband malformed bad-utf8 empty short:tokens=3 \
	one-token role-late role-never role-each nulls multi:tokens=3 coalesce:events=4 split:pieces=3 split-utf8 escapes crlf cr no-space \
	fields multi-line ping bom no-usage usage-each usage-in-last no-done unterminated finish-in-last late-end:pause=80ms reasoning tools \
	close idle-close; do
	name=${mode%%:*} keys=${mode#"$name"} keys=${keys#:}
	[ "$keys" != x ] || keys=
	modes+=(--fail "$name:share=0.025${keys:+,$keys}")
done
TOKENS='def sum($name): map(.[$name] // 0) | add;
	map(select(.n)) as $rows | map(select(.window)) as $windows
	| [($windows | sum("input_tokens")) == ($rows | sum("input_tokens")), ($windows | sum("events")) == ($rows | sum("events")),
		($windows | sum("output_tokens")) == ($rows | map(select(.ok)) | sum("output_tokens")),
		($windows | sum("failed_output_tokens")) == ($rows | map(select(.ok | not)) | sum("output_tokens"))]'
for seed in 1 2; do
	server_start --seed $seed --step-base 2ms "${modes[@]}"
	ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens uniform:1-30 --seed $seed -q -o chat.trace
	ipf-sched poisson:rate=100,for=2s burst:n=40,for=1s -t chat.trace --seed $seed -q -o chat.sched
	ipf-fire -q -u "$URL" -m sim --timeout 3s -t chat.trace chat.sched -o chat.records
	ipf-collect -q --every $((seed * 100))ms chat.records -o chat.results
	run python3 "$TESTS/helpers/second_opinion.py" chat.records chat.results
	status_is 0 "seed $seed: a second opinion is had"
	is "$(sed 's/.* rows, //' <<<"$(tail -1 "$OUT")")" "0 differ" "seed $seed: the second opinion is the same" || cat "$OUT"
	matches "$(tail -2 "$OUT" | head -1)" '^[1-9][0-9]* windows, 0 differ$' "seed $seed: window by window"
	matches "$(tail -3 "$OUT" | head -1)" '^[1-9][0-9]* bins of positions, 0 differ$' "seed $seed: gap by gap, by position"
	is "$(body chat.results | jq -s -c "$TOKENS")" "[true,true,true,true]" "seed $seed: windows add up to the rows"
	[ "$tap_failed" = 0 ] || head -20 "$OUT" | sed 's/^/# /'
	kinds=$(body chat.results | jq -r 'select(has("n")) | .error.kind // "ok"' | sort | uniq -c | tr -s ' \n' ' ')
	for kind in ok cut reset http-status malformed in-band timeout; \
		do contains "$kinds" " $kind" "seed $seed: some are $kind"; done
	server_stop
done
