#!/bin/bash
# Archives: one file of an archive, all files of it, and errors.
. "$TESTS/tap.sh"
prep=$BIN/ipf-prep
mkdir -p d/in
printf '{"prompt":"One?","output":"1"}\n' >d/a.jsonl
printf '{"prompt":"Two?","output":"2"}\n{"prompt":"Three?","output":"3"}\n' >d/in/b.jsonl
tar czf c.tar.gz d/a.jsonl d/in/b.jsonl
tar cf c.tar d/in/b.jsonl d/a.jsonl

asked() { # the prompts of the trace
	sed -e 1d -e '$d' "$OUT" | jq -r '.messages[0].content' | tr '\n' ' '
}

run "$prep" jsonl c.tar.gz:d/in/b.jsonl
status_is 0 "a file in a compressed archive"
is "$(asked)" "Two? Three? " "the file of the compressed archive is read"
is "$(tail -1 "$OUT" | jq -r '.end.from[0].sha256')" "$(sha256sum <d/in/b.jsonl |
	cut -d ' ' -f 1)" "the trailer has the digest of the file in the archive"
run "$prep" auto c.tar.gz
is "$status $(asked)" "0 One? Two? Three? " "every file of an archive is read in its order"
run "$prep" jsonl c.tar:d/a.jsonl c.tar:d/in/b.jsonl d/a.jsonl
is "$status $(asked)" "0 One? Two? Three? One? " "files of an archive are read in the order of the arguments"
if command -v python3 >/dev/null; then
	python3 -c 'import zipfile; z = zipfile.ZipFile("c.zip", "w"); z.write("d/a.jsonl"); z.write("d/in/b.jsonl"); z.close()'
	run "$prep" jsonl c.zip
	is "$status $(asked)" "0 One? Two? Three? " "a zip archive"
else
	skip "a zip archive" "no python3 to make one"
fi
seven=$(command -v 7zz || command -v 7z || command -v 7za)
if [ -n "$seven" ]; then
	"$seven" a c.7z d/a.jsonl d/in/b.jsonl >/dev/null
	run "$prep" jsonl c.7z
	is "$status $(asked)" "0 One? Two? Three? " "a 7z archive"
	run "$prep" jsonl c.7z:d/in/b.jsonl
	is "$status $(asked)" "0 Two? Three? " "a file in one"
else
	skip "a 7z archive" "no 7z to make one"
fi
run "$prep" jsonl c.tar.gz:d/none.jsonl
status_is 3 "a file that is not in it: status 3"
complains ipf-prep "c.tar.gz:d/none.jsonl: no such file in the archive" "ipf-prep says that the archive has no such file"
run "$prep" jsonl none.tar:a
status_is 1 "an archive that is not there: status 1"
noise 1 300 >broken.tar.gz
run "$prep" jsonl broken.tar.gz
status_is 3 "noise for an archive ends with 3"
complains ipf-prep "broken.tar.gz" "ipf-prep names a broken archive"
cp d/a.jsonl 'x:y.jsonl'
run "$prep" jsonl x:y.jsonl
is "$status $(asked)" "0 One? " "a file with a colon in its name is a file"

# An archive unpacking to far more than its size: memory follows the largest record, not the file. Limits of memory are in the way of
# the sanitizers.
if [ -z "${SANITIZE:-}" ]; then
	head -c 600000000 /dev/zero | tr '\0' x | zstd -q -1 -o bomb.txt.zst
	{ printf '[{"prompt":"first","output":"1"}'; head -c 400000000 /dev/zero | tr '\0' ' '; \
		printf ',{"prompt":"last","output":"2"}]'; } | zstd -q -1 -o blanks.json.zst
	limited() { ( ulimit -v "$1"; shift; exec "$@" ); }
	run limited 2000000 "$prep" text bomb.txt.zst
	status_is 3 "a line of 600 MB out of a file of some kB: status 3"
	matches "$(cat "$ERR")" "^ipf-prep: bomb.txt.zst:1: a record of more than 512 MiB" "ipf-prep names the line that is too long"
	run limited 300000 "$prep" text bomb.txt.zst
	status_is 1 "a record that does not fit into memory ends with 1"
	matches "$(cat "$ERR")" "^ipf-prep: bomb.txt.zst:1: out of memory" "ipf-prep says that the record does not fit into memory"
	run limited 300000 "$prep" jsonl bomb.txt.zst
	status_is 3 "a line that is not JSON ends at its first byte"
	run limited 300000 "$prep" jsonl blanks.json.zst
	is "$status $(asked)" "0 first last " "400 MB of blanks between two records are passed over"
	zstd -qdc bomb.txt.zst >d/a.txt
	tar -cf - d/a.txt d/a.jsonl | zstd -q -1 -o bombs.tar.zst
	rm d/a.txt
	run limited 300000 "$prep" jsonl bombs.tar.zst:d/a.jsonl
	is "$status $(asked)" "0 One? " "a file of an archive behind one of 600 MB"
else
	skip "text that unpacks to hundreds of MB is bounded" "memory is not limited under sanitizers"
fi
