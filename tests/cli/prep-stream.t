#!/bin/bash
# Inputs of any size: compressed or not, from a file or a pipe, complete or cut off, in bounded memory.
. "$TESTS/tap.sh"
prep=$BIN/ipf-prep

# Some megabytes of conversations, escapes and all.
make_conversations() { # COUNT
	awk -v count="$1" 'BEGIN {
		srand(3)
		n = split("word |\\\"é\\\" |\\u0041 |line\\n|longer, ", piece, "|")
		for (c = 0; c < count; c++) {
			printf "%s {\"id\": \"c%d\", \"conversations\": [", c ? ",\n" : "[\n", c
			for (t = 0; t < 4; t++) {
				printf "%s{\"from\": \"%s\", \"value\": \"", t ? ", " : "", t % 2 ? "gpt" : "human"
				for (w = 0; w < 40 + 200 * (t % 2); w++) printf "%s", piece[1 + w % n]
				printf " %d\"}", rand() * 1e9
			}
			printf "]}"
		}
		print "\n]"
	}'
}

make_conversations 400 >chat.json
run "$prep" --reproducible sharegpt chat.json --turns all
status_is 0 "an array is read"
body "$OUT" >expected
is "$(wc -l <expected)" 800 "an array gives a request a turn"

# ---- packings ----
for packing in 'gzip gz' 'zstd zst' 'xz xz' 'bzip2 bz2'; do
	read -r tool suffix <<<"$packing"
	if ! command -v "$tool" >/dev/null; then
		skip "input packed by $tool" "no $tool here"
		continue
	fi
	"$tool" -q -c chat.json >"chat.json.$suffix"
	run "$prep" sharegpt "chat.json.$suffix" --turns all
	status_is 0 "input packed by $tool is read"
	body "$OUT" >got
	same got expected "input packed by $tool gives the same requests"
	is "$(tail -1 "$OUT" | jq -r '.end.from[0].sha256')" "$(sha256sum <"chat.json.$suffix" |
		cut -d ' ' -f 1)" "the digest of input packed by $tool is that of the file as it is"
	"$prep" sharegpt --turns all <"chat.json.$suffix" | sed -e 1d -e '$d' >got
	same got expected "standard input packed by $tool gives the same requests"

	head -c $(($(stat -c %s "chat.json.$suffix") / 2)) "chat.json.$suffix" >"cut.$suffix"
	run "$prep" sharegpt "cut.$suffix" --turns all
	status_is 3 "cut in the middle: status 3"
	complains ipf-prep "cut.$suffix" "ipf-prep names the cut file: $tool"
	body "$OUT" >got
	same got <(head -"$(wc -l <got)" expected) "requests before the cut are there: $tool"
	contains "$(tail -1 "$OUT")" '"incomplete"' "the trailer says that the trace is incomplete: $tool"
done

# ---- pipes ----
cat chat.json | "$prep" sharegpt --turns all | sed -e 1d -e '$d' >got
same got expected "a pipe gives the same requests"
# a byte now and a byte then
{ head -c 1 chat.json; tail -c +2 chat.json | dd bs=777 status=none; } | "$prep" sharegpt - --turns all |
	sed -e 1d -e '$d' >got
same got expected "a pipe in small pieces gives the same requests for -"
jq -c '.[]' chat.json | "$prep" sharegpt --turns all | sed -e 1d -e '$d' >got
same got expected "JSON Lines give the same requests"
jq '.[]' chat.json | "$prep" sharegpt --turns all | sed -e 1d -e '$d' >got
same got expected "objects in a row give the same requests"

for bytes in 1 2 3 100 50000; do
	head -c -$bytes chat.json >cut.json
	run "$prep" sharegpt cut.json --turns all
	if [ $bytes = 1 ]; then # only the line end
		status_is 0 "an array without its last line end is whole"
		continue
	fi
	status_is 3 "$bytes bytes are missing: status 3"
	complains ipf-prep "cut.json:" "ipf-prep names file and line if $bytes bytes are missing"
	body "$OUT" >got
	same got <(head -"$(wc -l <got)" expected) "the records before it are there"
	is "$(tail -1 "$OUT" | jq .end.lines)" "$(wc -l <got)" "the trace is sealed if $bytes bytes are missing"
done

# ---- enough is enough ----
run "$prep" sharegpt chat.json -n 3
is "$(body "$OUT" | wc -l)" 3 "-n ends the reading"
is "$(tail -1 "$OUT" | jq -r '.end.from[0].sha256')" "$(sha256sum <chat.json |
	cut -d ' ' -f 1)" "the digest of a file is of all of it with -n"
cat chat.json | "$prep" sharegpt -n 3 >got
is "$(tail -1 got |
	jq -c '.end.from')" '[{"file":"standard input","partial":true}]' "a pipe is not read to its end for it"
{ cat chat.json; echo "$?" >cat.status; } 2>/dev/null | "$prep" sharegpt 2>"$ERR" | head -1 >got
is "$(wc -l <got)" 1 "| head -1 works"
stderr_is "" "ipf-prep | head -1 has no messages"
status=0
"$prep" sharegpt chat.json --turns all >/dev/full 2>"$ERR" || status=$?
status_is 1 "> /dev/full ends with 1"
complains ipf-prep "No space left" "ipf-prep > /dev/full says why"

# ---- the same bytes ----
mkdir -p elsewhere && cp chat.json elsewhere
options="sharegpt chat.json --turns uniform:1-2 --input-tokens lognormal:40,30 --output-tokens normal:50,20 --models a=0.5,b=0.5 --prefixes 3x20 --reproducible"
# shellcheck disable=SC2086 # options are words
"$prep" $options -o one.trace
# shellcheck disable=SC2086
(cd elsewhere && "$prep" $options -o ../two.trace)
same one.trace two.trace "same data, options and seed: same bytes"
# shellcheck disable=SC2086
"$prep" ${options/chat.json/.\/elsewhere\/chat.json} | sed 1d >three
same three <(sed 1d one.trace) "wherever the file lies"
# shellcheck disable=SC2086
"$prep" $options --seed 2 >two.trace
isnt "$(cmp one.trace two.trace)" "" "another seed gives another trace"
# shellcheck disable=SC2086
run "$prep" $options --prefixes 1x30=0.75,3x90=0.25
body "$OUT" |
	jq -s -c 'map(select(.turn == 0).messages[0].content) | [(group_by(.[:90]) | map(length) | sort), length] as [$groups, $all]
	| [($groups | length), ($groups[-1] / $all > 0.66 and $groups[-1] / $all < 0.84), ($groups[0] > 15)]' >groups
is "$(cat groups)" "[4,true,true]" "shared prefixes in shares: one for three in four, three for the others"
is "$(body one.trace | jq -s 'map(select(.turn == 0).session) | length')" 400 "every conversation is there"
is "$(body one.trace |
	jq -c 'select(.input_tokens != (.messages | map((.content | utf8bytelength + 3) / 4 | floor) | add) and .turn == 0)')" "" "input_tokens is what the messages have"
body one.trace | jq -rs 'map({id, output_tokens, model}) | sort_by(.id)[] | tojson' >all
# shellcheck disable=SC2086
"$prep" $options --shuffle -n 100 | sed -e 1d -e '$d' | jq -rs 'map({id, output_tokens, model})[] | tojson' >some
is "$(grep -vcxFf all some)" 0 "values drawn for a record do not depend on the selection"
run "$prep" sharegpt chat.json --shuffle -n 50
is "$(body "$OUT" | jq -r .id | sort -u | wc -l)" 50 "a sample without replacement has no request twice"
run "$prep" sharegpt chat.json --sample with -n 1000
is "$(body "$OUT" | jq -r .id | sort -u | wc -l)" 1000 "a sample with replacement gives every request its own id"

# ---- memory ----
if [ -n "${SANITIZE:-}" ]; then
	skip "60 MB in 80 MiB of address space" "a sanitizer needs more"
else
	{
		echo '['
		sed -e 1d -e '$d' chat.json >part
		for _ in $(seq $((60000000 / $(stat -c %s part)))); do cat part; echo ,; done
		cat part
		echo ']'
	} >large.json
	status=0
	(ulimit -v 81920 && exec "$prep" sharegpt large.json -o large.trace.zst) 2>"$ERR" || status=$?
	status_is 0 "$(($(stat -c %s large.json) / 1000000)) MB are read in 80 MiB of address space, which includes the libraries"
	is "$(body large.trace.zst | wc -l)" "$(($(grep -c '"id"' large.json)))" "every request of a large file is in the trace"
fi
