#!/bin/bash
# Parquet: what other writers made, forms that none writes any more, files that are malformed, and each way into ipf-prep.
. "$TESTS/tap.sh"
prep=$BIN/ipf-prep
rows=$BUILD/tests/parquet_rows
data=$TESTS/data/prep/parquet
for file in types int96 nested encodings duckdb; do
	run "$rows" "$data/$file.parquet"
	status_is 0 "$file.parquet is read"
	same "$OUT" "$data/$file.rows" "with the rows that it has"
done

mkdir cases
python3 "$TESTS/helpers/parquet_cases.py" cases
for file in cases/*.parquet; do
	name=$(basename "$file" .parquet)
	case $name in
	endless-list) run "$prep" jsonl --max-line 1MiB -o none "$file" ;;
	*) run "$rows" "$file" ;;
	esac
	message=$(sed -n 's/^error: //p' "cases/$name.expected")
	is "$status:$(cat "$OUT")" "$([ -z "$message" ] && echo 0 || echo 3):$(grep -v '^error: ' "cases/$name.expected")" "$name: the rows"
	[ -z "$message" ] || contains "$(cat "$ERR")" "$message" "$name: $message"
	is "$(wc -l <"$ERR")" "$([ -z "$message" ] && echo 0 || echo 1)" "$name: lines on standard error"
done

# Each way into the program.
for layout in lmsys wildchat; do
	"$prep" sharegpt --turns all "$TESTS/data/prep/$layout.jsonl" -o lines.trace
	run "$prep" auto --turns all "$data/$layout.parquet" -o parquet.trace
	status_is 0 "$layout in Parquet"
	is "$(body parquet.trace)" "$(body lines.trace)" "is what it is in JSON Lines"
	is "$(tail -1 parquet.trace | jq -r '.end.from[0].sha256')" "$(sha256sum <"$data/$layout.parquet" | cut -d ' ' -f 1)" "with the file's digest"
done
cp "$data/wildchat.parquet" wildchat.data
gzip -k wildchat.data
tar -cf files.tar wildchat.data
run "$prep" sharegpt --turns all wildchat.data -o other.trace
is "$(body other.trace)" "$(body lines.trace)" "whatever the name"
run "$prep" sharegpt --turns all wildchat.data.gz -o other.trace
is "$(body other.trace)" "$(body lines.trace)" "compressed"
is "$(tail -1 other.trace | jq -r '.end.from[0].sha256')" "$(sha256sum <wildchat.data.gz | cut -d ' ' -f 1)" "with the digest of that file"
run "$prep" sharegpt --turns all files.tar:wildchat.data -o other.trace
is "$(body other.trace)" "$(body lines.trace)" "in an archive"
run "$prep" sharegpt --turns all -o other.trace < <(cat wildchat.data)
is "$(body other.trace)" "$(body lines.trace)" "from a pipe"
is "$(tail -1 other.trace | jq -r '.end.from[0].sha256')" "$(sha256sum <wildchat.data | cut -d ' ' -f 1)" "with its digest"
run "$prep" sharegpt -n 1 < <(cat "$data/lmsys.parquet")
is "$(tail -1 "$OUT" | jq -r '.end.from[0].sha256')" "$(sha256sum <"$data/lmsys.parquet" | cut -d ' ' -f 1)" "also if not all of it is used"
run "$prep" sharegpt --turns all -o other.trace <wildchat.data
is "$(body other.trace)" "$(body lines.trace)" "from a file as standard input"
run env TMPDIR="$PWD/missing" "$prep" sharegpt < <(cat wildchat.data)
status_is 1 "without a place for a temporary file: status 1"
complains ipf-prep "$PWD/missing: cannot create a temporary file" "and it is said"
run "$prep" sharegpt -n 1 "$data/lmsys.parquet"
status_is 0 "not to its end"
is "$(tail -1 "$OUT" | jq -r '.end.from[0].sha256')" "$(sha256sum <"$data/lmsys.parquet" | cut -d ' ' -f 1)" "and the digest is of all of it"

run "$prep" jsonl cases/good-then-bad.parquet
status_is 3 "a column that is damaged: status 3"
is "$(sed -e 1d -e '$d' "$OUT" | jq -r '.messages[0].content' | tr '\n' ' ')" "One? Two? " "what was read before is kept"
complains ipf-prep "good-then-bad.parquet: column prompt, row group 2, page 1: the page has 2 values, and 1 are left" "and place and cause are said"
is "$(jq -r 'select(.end).end.incomplete' "$OUT" | grep -c 'row group 2')" 1 "in the trailer too"
printf '{"prompt":"One?"}\n' >lines.parquet
run "$prep" jsonl lines.parquet
status_is 0 "JSON Lines whose name ends in .parquet are JSON Lines"
