#!/bin/bash
# Traces of agents and of blocks by hash: hashes keep their 64 bits, and what is read equals what an independent reading of the data gives.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
prep=$BIN/ipf-prep

# ---- hashes: jq would bend numbers above 2^53, Python does not ----
cat >hashes.jsonl <<'E'
{"timestamp":0,"input_length":2048,"output_length":1,"hash_ids":[9007199254740992,9007199254740993,9223372036854775807,9223372036854775808]}
{"timestamp":1,"input_length":2048,"output_length":1,"hash_ids":[9223372036854775809,18446744073709551614,18446744073709551615,-3]}
{"timestamp":2,"input_length":2048,"output_length":1,"hash_ids":["20000000000000","0x20000000000001","8000000000000000","FFFFFFFFFFFFFFFe"]}
{"timestamp":3,"input_length":1024,"output_length":1,"hash_ids":["00112233445566778899aabbccddeeff","00112233445566778899aabbccddeefe"]}
E
ids() { python3 -c 'import json, sys
for line in sys.stdin: print(*json.loads(line)["blocks"]["ids"])'; }
run "$prep" auto hashes.jsonl --prompt none -o hashes.trace
status_is 0 "hashes of 64 bits, numbers and hexadecimal digits, are read"
is "$(body hashes.trace | ids | head -3)" "9007199254740992 9007199254740993 9223372036854775807 9223372036854775808
9223372036854775809 18446744073709551614 18446744073709551615 18446744073709551613
9007199254740992 9007199254740993 9223372036854775808 18446744073709551614" "each keeps its value, whatever its spelling"
body hashes.trace | ids | tail -1 >long
is "$(tr ' ' '\n' <long | sort -u | wc -l)" 2 "hashes of 128 bits that differ in the last one stay different"
"$prep" trace hashes.trace --prompt none -q -o again.trace
is "$(body again.trace | ids)" "$(body hashes.trace | ids)" "a trace that is read again has the same"
is "$("$prep" stat hashes.trace -f json | jq -c '.sharing | [.blocks, .distinct]')" '[14,10]' "so that as many blocks differ as in the data"
for id in 18446744073709551616 -9223372036854775809 1e30 0.5 '""' '"0x"' '"12g"' "\"$(printf '%0129d' 0)\"" null '[1]'; do
	run "$prep" mooncake - --prompt none -o wrong.trace <<<'{"timestamp":0,"input_length":5,"output_length":1,"hash_ids":['"$id]}"
	status_is 3 "a hash of ${id:0:30} is refused"
	stderr_contains 'standard input:1: hash_ids: expected 64-bit integers or hexadecimal digits, got' "by name and value"
done
