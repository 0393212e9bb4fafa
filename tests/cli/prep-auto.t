#!/bin/bash
# auto on files of no known format: CSV or JSON is refused with its columns or members and how to map them, other files by their kind;
# plain text stays text. And --field with the names of members and columns.
. "$TESTS/tap.sh"

export XDG_CACHE_HOME=$PWD/cache
prep=$BIN/ipf-prep

refused() { # FORMAT (of printf) PART TEXT [NAME]
	local name=${4:-data}
	# shellcheck disable=SC2059 # it is a format
	printf "$1" >"$name"
	rm -f out.trace
	run "$prep" auto "$name" -o out.trace
	status_is 3 "$3: status 3"
	complains ipf-prep "$name" "$3: names the file"
	contains "$(cat "$ERR")" "$2" "$3: the message has $2"
	is "$(wc -l <"$ERR")" 1 "$3: one message"
	yes_if "$3: nothing is written" test ! -e out.trace
	rm -f "$name"
}
is_text() { # FORMAT PROMPTS TEXT
	# shellcheck disable=SC2059 # it is a format
	printf "$1" >data
	run "$prep" auto data
	is "$(head -1 "$OUT" | jq -r .source)" text "$3: the source is text"
	is "$(body "$OUT" | wc -l)" "$2" "$3: each line is a prompt"
}

# ---- CSV ----
map='map its columns with --field prompt=NAME --field output=NAME'
refused 'id,utterance,tag\n1,hello there,x\n2,"a, b",y\n' "CSV of no known format: $map" "commas"
refused 'id,utterance,tag\n1,hello there,x\n' 'the columns are "id", "utterance", "tag"' "commas"
refused 'id;body\r\n1;hello, you\r\n2;"a;b"\r\n' 'the columns are "id", "body"' "semicolons"
refused 'id\tbody\n1\thello\n' 'the columns are "id", "body"' "tabs"
refused 'id|body\n1|hello\n' 'the columns are "id", "body"' "vertical bars"
refused 'Prompts\nhello\nhi\n' 'the columns are "Prompts"' "one column with a usual name"
refused '\xef\xbb\xbf"user text","model text"\n"hi, you","x"\n' 'the columns are "user text", "model text"' "quoted, with a byte order mark"
refused 'id,utterance,tag\n' 'the columns are "id", "utterance", "tag"' "only a heading"
refused 'id,utterance,tag' 'the columns are "id", "utterance", "tag"' "a heading without a line end"
refused '\n\nid,utterance\n1,x\n' 'the columns are "id", "utterance"' "after empty lines"
refused 'id,utterance\n1,Hello, world\n2,Hi\n3,"A\nB"\n' 'the columns are "id", "utterance"' "rows of other lengths"
refused ',question text,score\n0,Why?,1\n' 'the columns are "", "question text", "score"' "an index without a name"
refused 'name, age, city\nBob, 34, Rome\nEve, 23, Bonn\n' 'the columns are "name", " age", " city"' "spaces after commas"
refused 'utterance\nhello\nhi\n' 'the columns are "utterance"' "one column of a file whose name says CSV" a.csv
refused 'utterance\nhello\nhi\n' 'the columns are "utterance"' "one column of a file whose name says CSV in capitals" A.TSV
refused 'Utterance,x\n"unclosed,1\n2,3\n' 'the columns are "Utterance", "x"' "a quote that is not closed"
refused 'a\033[31m,b\n1,2\n' 'the columns are "a\x1b[31m", "b"' "columns with control characters"
awk 'BEGIN { for (i = 0; i < 1000; i++) printf "%scolumn_with_a_long_name_%d", i ? "," : "", i; print ""; for (i = 0; i < 1000; i++) printf "%s1", i ? "," : "" }' >wide
refused "$(cat wide)" 'and 992 more' "a thousand columns"
between "$(wc -c <"$ERR")" 300 700 "the line stays short"
gzip -c <<<'id,utterance
1,x' >z.csv.gz
run "$prep" auto z.csv.gz
contains "$(cat "$ERR")" 'the columns are "id", "utterance"' "compressed CSV is refused with its columns"
run "$prep" auto - <<<'id,utterance
1,x'
contains "$(cat "$ERR")" 'standard input: CSV of no known format' "standard input of CSV is named"

# ---- JSON ----
map='map its members with --field prompt=NAME --field output=NAME … (/OUTER/INNER for inner ones)'
refused '{"ask": "x", "reply": "y"}\n{"ask": "z"}\n' "JSON of no known format: $map; the members are \"ask\", \"reply\"" "JSON Lines"
refused '[{"ask": "x", "reply": "y"}, {"ask": "z"}]' 'the members are "ask", "reply"' "an array"
refused '{\n  "ask": "x",\n  "reply": {"inner": 1}\n}\n' 'the members are "ask", "reply"' "one object"
refused '\xef\xbb\xbf{"ask": "x"}\n' 'the members are "ask"' "JSON after a byte order mark"
refused '{"meta": 1, "data": [{"ask": "x"}]}' "if the records are its list \"data\", pass only that, as in jq -c '.[\"data\"][]' FILE | ipf-prep auto; its members are \"meta\", \"data\"" \
	"records within an object"
python3 -c 'import json; print(json.dumps({"meta": 1, "data": [{"ask": "x" * 100}] * 60000}))' >big.json
run "$prep" auto big.json
contains "$(cat "$ERR")" 'if the records are its list "data"' "records within a large object"
refused '[[1, "x"], [2, "y"]]' 'its records are lists, not objects' "an array of arrays"
refused '["one", "two"]' "its records are strings, not objects; if they are prompts: jq -r '.[]' FILE | ipf-prep text" "an array of strings"
refused '[1, 2]\n[3, 4]\n' 'JSON of no known format: its records are numbers or literals, not objects' "lists, one a line"
refused '{"a": 1, "b" "x"}\n' 'data:1: invalid JSON' "a malformed record"
refused '{"a": 1,\n "b": x}\n' 'data:2: invalid JSON' "a malformed record has its line"
refused '{"a": "x\n' 'data:1: invalid JSON' "a string that does not end"
refused '{"a": 1, "b": [1, 2' 'the members are "a", "b"' "a cut record"
refused '[]' 'JSON without a record' "an empty array"
refused '{}\n' 'JSON whose first record is an empty object' "an empty object"
refused '# nothing\n' 'not JSON, although its name says so' "a file whose name says JSON" a.jsonl
refused "{'prompt': 'x'}\n" 'not JSON, although its name says so' "Python's notation" a.json
refused '{"\033]0;x\007": 1}\n' 'the members are "\x1b]0;x\x07"' "members with control characters"
for end in '' '\n' 'x' '\nx'; do
	{ head -c 1000000 /dev/zero | tr '\0' '['; printf '%b' "$end"; } >deep
	run "$prep" auto deep
	status_is 3 "a million brackets and '$end': status 3"
	complains ipf-prep 'deep:1: JSON nested too deep' "a million brackets and '$end': said"
done

# ---- neither ----
is_text 'Explain physics, please.\nWrite a poem\n' 2 "a comma"
is_text 'Hello, world\n' 1 "one line with a comma"
is_text 'Write a haiku about rain, wind and snow\nWrite a story about rain, wind and snow\n' 2 "equally many commas"
is_text 'Hi, how are you?\nHey, what is up?\n' 2 "short sentences"
is_text 'Dear Sir, I am here\nMy friend, he is out\n' 2 "sentences without full stops"
is_text 'I came; I saw\nI went; I slept\n' 2 "semicolons"
is_text '[INST] Hello [/INST]\nMore\n' 2 "a bracket"
is_text '{name}, please write\n' 1 "a brace"
is_text '[1] A footnote\n[2] Another\n' 2 "a footnote that begins as a JSON array"
is_text '[1]\nSee there.\n' 2 "a line of its own that begins as JSON"
is_text '["Well", she said.\n' 1 "a quotation in brackets"
is_text '{"Well", she said.\n' 1 "a quotation in braces"
is_text '# Title\n\nSome text, with commas.\n\n- a\n- b\n\n| a | b |\n|---|---|\n' 6 "Markdown"
is_text '| a | b |\n|---|---|\n| 1 | 2 |\n' 3 "a table of Markdown"
is_text 'Text\n' 1 "a single word"
is_text '"Hello," she said.\n' 1 "a quotation"
is_text 'ORCA is a dataset\n' 1 "a word that begins like a binary file"
is_text 'PAR1 is a name\n' 1 "another word that begins like a binary file"
is_text '你好，世界\n再见\n' 2 "another script"
head -c 3000000 /dev/zero | tr '\0' 'x' >long
printf 'A line\n%s\n' "$(cat long)" >data
run "$prep" auto data
is "$(head -1 "$OUT" | jq -r .source)" text "a very long line"

refused 'PAR1\x15\x00\x15' 'the Parquet file is cut: it has 7 bytes' "Parquet"
refused 'SQLite format 3\x00abc' 'an SQLite database, which no source reads' "SQLite"
refused 'PK\x03\x04\x14\x00' 'a zip archive: its name has to end in .zip' "zip"
refused '\x80\x04\x95\x00' 'a Python pickle' "a pickle"
refused '%%PDF-1.7\n' 'a PDF document' "PDF"
refused '\n<!doctype HTML>\n<html>\nSign in\n' 'an HTML page' "HTML"
refused '<?xml version="1.0"?>\n<a/>\n' 'an XML document' "XML"
refused '\xff\xfea\x00b\x00' 'text in UTF-16: convert it to UTF-8' "UTF-16"
refused 'caf\xe9 au lait\n' 'not UTF-8: byte 0xe9 at byte 4' "Latin-1"
refused 'abc\x00def\n' 'binary data' "bytes"
refused '' 'the file is empty' "an empty file"

# ---- --field ----
asks() { # PROMPT ANSWER-TOKENS ARGUMENT…
	local prompt=$1 tokens=$2
	shift 2
	run "$prep" "$@"
	status_is 0 "$*: status 0"
	is "$(body "$OUT" | head -1 | jq -r '.messages[0].content, .output_tokens' | paste -sd '|')" "$prompt|$tokens" "ipf-prep $* reads prompt and length"
}
printf '\xef\xbb\xbfid;user text;reply\r\n1;"Who; you?";abcd\r\n' >m.csv
asks 'Who; you?' 1 auto m.csv --field 'prompt=user text' --field output=reply
asks 'Who; you?' 1 csv m.csv --field 'prompt=/user text' --field output=/reply
asks 'Who; you?' 128 csv m.csv --field prompt=nothing --field 'prompt=user text'
printf 'question\treply\nWho?\tabcd\n' >m.tsv
asks 'Who?' 128 auto m.tsv
asks 'Who?' 1 csv m.tsv --field prompt=question --field output=reply
printf '{"ask":{"text":"Who?"},"reply":"abcd","a/b":"Slash?"}\n' >m.jsonl
asks 'Who?' 1 auto m.jsonl --field prompt=/ask/text --field output=reply
asks 'Slash?' 1 auto m.jsonl --field prompt=a/b --field output=/reply
asks 'Slash?' 128 jsonl m.jsonl --field prompt=/a~1b
printf '{"messages":[{"role":"user","content":"Hello"}],"other":"Who?"}\n' >k.jsonl
asks 'Who?' 128 auto k.jsonl --field prompt=other
for wrong in prompt=nothing "prompt=question --field output=nothing" prompt=/question/0; do
	# shellcheck disable=SC2086 # words
	run "$prep" csv m.tsv --field $wrong
	status_is 3 "a column that is not there ($wrong): status 3"
	complains ipf-prep 'there is no such column, but "question", "reply"' "ipf-prep lists the columns if one is missing"
done
run "$prep" jsonl m.jsonl --field prompt=nothing
status_is 3 "a member that is not there: status 3"
complains ipf-prep 'm.jsonl:1: nothing: missing' "ipf-prep names the missing member"
