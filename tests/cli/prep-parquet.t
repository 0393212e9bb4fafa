#!/bin/bash
# Parquet: files of other writers, forms that none writes any more, malformed files, and each way into ipf-prep.
. "$TESTS/tap.sh"
prep=$BIN/ipf-prep
rows=$BUILD/tests/parquet_rows
data=$TESTS/data/prep/parquet
for file in types int96 nested encodings duckdb; do
	run "$rows" "$data/$file.parquet"
	status_is 0 "$file.parquet is read"
	same "$OUT" "$data/$file.rows" "$file.parquet has its rows"
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
	[ -z "$message" ] || contains "$(cat "$ERR")" "$message" "$name: ipf-prep says: $message"
	is "$(wc -l <"$ERR")" "$([ -z "$message" ] && echo 0 || echo 1)" "$name: lines on standard error"
done

# Each way into the program.
for layout in lmsys wildchat; do
	"$prep" sharegpt --turns all "$TESTS/data/prep/$layout.jsonl" -o lines.trace
	run "$prep" auto --turns all "$data/$layout.parquet" -o parquet.trace
	status_is 0 "$layout in Parquet"
	is "$(body parquet.trace)" "$(body lines.trace)" "Parquet gives the requests of JSON Lines"
	is "$(tail -1 parquet.trace | jq -r '.end.from[0].sha256')" "$(sha256sum <"$data/$layout.parquet" | cut -d ' ' -f 1)" "the trailer has the digest of the Parquet file"
done
cp "$data/wildchat.parquet" wildchat.data
gzip -k wildchat.data
tar -cf files.tar wildchat.data
run "$prep" sharegpt --turns all wildchat.data -o other.trace
is "$(body other.trace)" "$(body lines.trace)" "whatever the name"
run "$prep" sharegpt --turns all wildchat.data.gz -o other.trace
is "$(body other.trace)" "$(body lines.trace)" "compressed Parquet gives the same requests"
is "$(tail -1 other.trace | jq -r '.end.from[0].sha256')" "$(sha256sum <wildchat.data.gz | cut -d ' ' -f 1)" "the trailer has the digest of compressed Parquet"
run "$prep" sharegpt --turns all files.tar:wildchat.data -o other.trace
is "$(body other.trace)" "$(body lines.trace)" "Parquet in an archive gives the same requests"
run "$prep" sharegpt --turns all -o other.trace < <(cat wildchat.data)
is "$(body other.trace)" "$(body lines.trace)" "Parquet from a pipe gives the same requests"
is "$(tail -1 other.trace | jq -r '.end.from[0].sha256')" "$(sha256sum <wildchat.data | cut -d ' ' -f 1)" "the trailer has the digest of Parquet from a pipe"
run "$prep" sharegpt -n 1 < <(cat "$data/lmsys.parquet")
is "$(tail -1 "$OUT" | jq -r '.end.from[0].sha256')" "$(sha256sum <"$data/lmsys.parquet" | cut -d ' ' -f 1)" "the digest of a pipe is of all of it, even if less is used"
run "$prep" sharegpt --turns all -o other.trace <wildchat.data
is "$(body other.trace)" "$(body lines.trace)" "Parquet as standard input gives the same requests"
run env TMPDIR="$PWD/missing" "$prep" sharegpt < <(cat wildchat.data)
status_is 1 "Parquet from a pipe needs a temporary file, else it ends with 1"
complains ipf-prep "$PWD/missing: cannot create a temporary file" "ipf-prep names the folder of temporary files"
run "$prep" sharegpt -n 1 "$data/lmsys.parquet"
status_is 0 "a part of a Parquet file ends with 0"
is "$(tail -1 "$OUT" | jq -r '.end.from[0].sha256')" "$(sha256sum <"$data/lmsys.parquet" | cut -d ' ' -f 1)" "the digest of a file is of all of it, even if less is used"

run "$prep" jsonl cases/good-then-bad.parquet
status_is 3 "a column that is damaged: status 3"
is "$(sed -e 1d -e '$d' "$OUT" | jq -r '.messages[0].content' | tr '\n' ' ')" "One? Two? " "rows before a damaged column are kept"
complains ipf-prep "good-then-bad.parquet: column prompt, row group 2, page 1: the page has 2 values, and 1 are left" "ipf-prep says where and why a column is damaged"
is "$(jq -r 'select(.end).end.incomplete' "$OUT" | grep -c 'row group 2')" 1 "the trailer says where a column is damaged"
printf '{"prompt":"One?"}\n' >lines.parquet
run "$prep" jsonl lines.parquet
status_is 0 "JSON Lines whose name ends in .parquet are JSON Lines"
