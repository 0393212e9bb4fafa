#!/bin/bash
# ipf-prep tokenize: ids, counts and texts as the reference gives them (recorded in tests/data/tokenizer), how it
# behaves as a filter, and the cache of compiled tokenizers.
. "$TESTS/tap.sh"

data=$TESTS/data/tokenizer
export XDG_CACHE_HOME=$PWD/cache
tokenize() { "$BIN/ipf-prep" tokenize "$@"; }

# ---- as the reference -----------------------------------------------------------------------------------------------

for cases in "$data"/*.cases; do
	name=$(basename "$cases" .cases)
	t=$data/$name.json
	for field in text ids special decoded kept; do jq -c ".$field" "$cases" >"$name.$field"; done
	tokenize -t "$t" --json "$name.text" >got
	same got "$name.ids" "$name: ids"
	tokenize -t "$t" --json --special "$name.text" >got
	same got "$name.special" "$name: ids with special tokens around"
	tokenize -t "$t" --json --count "$name.text" >got
	jq length "$name.ids" >expected
	same got expected "$name: counts"
	tokenize -t "$t" --json --threads 3 "$name.text" >got
	same got "$name.ids" "$name: the same with three threads"
	# jq and ipf-prep may spell a string differently
	tokenize -t "$t" --json --decode "$name.special" | jq -c . >got
	same got "$name.decoded" "$name: texts of ids, special tokens left out"
	tokenize -t "$t" --json --decode --special "$name.special" | jq -c . >got
	same got "$name.kept" "$name: texts of ids, special tokens kept"
done

if [ -n "${IPF_TOKENIZERS:-}" ] && "${PYTHON:-python3}" -c 'import tokenizers' 2>/dev/null; then
	yes_if "equal to the reference on tokenizers of models" \
		"${PYTHON:-python3}" "$TESTS/tokenizer_reference.py" --bytes 20000 --binary "$BIN/ipf-prep"
else
	skip "equal to the reference on tokenizers of models" "needs IPF_TOKENIZERS and python's tokenizers"
fi

# ---- a filter -------------------------------------------------------------------------------------------------------

t=$data/bytelevel.json
printf 'one two\n\nthree' >lines
is "$(tokenize -t "$t" <lines)" "$(tokenize -t "$t" lines)" "standard input is read where no file is named"
is "$(tokenize -t "$t" lines | wc -l)" 3 "a line for each, an empty one and one without its newline too"
is "$(tokenize -t "$t" lines | sed -n 2p)" "[]" "an empty line has no ids"
is "$(tokenize -t "$t" lines | tokenize -t "$t" --decode)" "$(cat lines)" "ids become the text again"
is "$(tokenize -t "$t" lines lines | wc -l)" 6 "several files one after another"
is "$(tokenize -t "$t" </dev/null)" "" "empty input gives empty output"
mkdir model && cp "$t" model/tokenizer.json
is "$(tokenize -t model lines)" "$(tokenize -t "$t" lines)" "the folder of a model will do"
tokenize -t "$t" -o out lines
is "$(cat out)" "$(tokenize -t "$t" lines)" "--output writes the ids"
run sh -c "'$BIN/ipf-prep' tokenize -t '$t' lines >/dev/full"
status_is 1 "a full disk is status 1"
yes '"some text"' | head -200000 >many
run bash -c "set -o pipefail; '$BIN/ipf-prep' tokenize -t '$t' many | head -1"
is "$status $(cat "$ERR")" "0 " "a reader that closes the pipe gives no error"

wrong() { # STATUS PART ARGUMENTS…
	expected=$1 part=$2
	shift 2
	run tokenize "$@"
	status_is "$expected" "status $expected: $*"
	stderr_contains "$part" "ipf-prep says $part"
}
wrong 2 "--tokenizer" lines
wrong 2 "cannot be combined with --decode" -t "$t" --decode --count lines
wrong 2 "--threads" -t "$t" --threads 1000 lines
wrong 1 "nowhere.json" -t ./nowhere.json lines
wrong 1 "nothing.txt" -t "$t" nothing.txt
wrong 3 "lines: " -t lines lines
printf 'good\nbad \377\nnever\n' >binary
wrong 3 "binary:2: byte 4: not UTF-8" -t "$t" binary
is "$(wc -l <"$OUT")" 1 "lines before the wrong one are written"
wrong 3 "binary:2: byte 4: not UTF-8" -t "$t" --threads 2 binary
is "$(wc -l <"$OUT")" 1 "lines before the wrong one are written with threads"
printf '"good"\n[1]\n' >odd
wrong 3 "odd:2: expected a JSON string" -t "$t" --json odd
is "$(wc -l <"$OUT")" 1 "texts before the wrong one are written"
wrong 3 "odd:1: expected a JSON array" -t "$t" --decode odd
printf '[1,-1]\n' >odd
wrong 3 "odd:1: ids: expected integers" -t "$t" --decode odd

# ---- rank files -----------------------------------------------------------------------------------------------------

for token in a b c d ' ' ab abc 'd a' ' ab'; do printf '%s' "$token" | base64; done |
	awk '{ print $1, NR - 1 }' >cl100k_base.tiktoken
is "$(printf 'abcd ab<|endoftext|>a\n' |
	tokenize -t cl100k_base.tiktoken)" "[6,3,8,100257,0]" "a rank file, by its name"
is "$(printf 'abcd ab<|endoftext|>a\n' | tokenize -t cl100k_base.tiktoken |
	tokenize -t cl100k_base.tiktoken --decode --special)" \
	"abcd ab<|endoftext|>a" "--decode of a rank file gives the text again"
cp cl100k_base.tiktoken own.tiktoken
wrong 3 "own.tiktoken" -t own.tiktoken lines
printf 'YQ== 0\nYg== one\n' >gpt2.tiktoken
wrong 3 "gpt2.tiktoken:2: expected a token in base64 and its rank" -t gpt2.tiktoken lines

# ---- beginnings -----------------------------------------------------------------------------------

# All a normalizer makes of the first character is first to Metaspace: here x, y and a (the ids as the reference gives them).
begins() { # NORMALIZER TEXT
	printf '{"normalizer":%s,"pre_tokenizer":{"type":"Sequence","pretokenizers":[
		{"type":"Split","pattern":{"Regex":"."},"behavior":"Isolated","invert":false},
		{"type":"Metaspace","replacement":"\342\226\201","prepend_scheme":"first","split":true}]},
		"model":{"type":"WordLevel","unk_token":"<unk>","vocab":{"<unk>":0,"x":1,"y":2,"a":3,"b":4,
		"\342\226\201x":11,"\342\226\201y":12,"\342\226\201a":13,"\342\226\201b":14}}}' "$1" >begins.json
	printf '%s\n' "$2" | tokenize -t ./begins.json
}
is "$(begins '{"type":"Prepend","prepend":"xy"}' aba)" "[11,12,13,4,3]" "text prepended to the text begins it, and so does its first character"
is "$(begins '{"type":"Replace","pattern":{"String":"a"},"content":"xy"}' aba)" "[11,12,4,1,2]" "text that replaces the beginning begins the text"
is "$(begins '{"type":"Replace","pattern":{"String":"ab"},"content":"xy"}' aba)" "[1,2,3]" "several replacements begin nothing"
is "$(begins '{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"x"},{"type":"Replace","pattern":{"String":"x"},"content":""}]}' aba)" \
	"[13,4,3]" "text prepended and removed again begins nothing"

# ---- the cache ------------------------------------------------------------------------------------------------------

expected=$(tokenize -t "$t" lines)
rm -rf cache
is "$(tokenize -t "$t" lines)" "$expected" "ids are the same if there is no cache"
is "$(find cache/ipf -name '*.tok' | wc -l)" 1 "the first call makes a cache"
is "$(tokenize -t "$t" lines)" "$expected" "ids are the same with the cache"
block=$(find "$PWD/cache/ipf" -name '*.tok')
size=$(wc -c <"$block")
for at in 0 9 100 $((size / 3)) $((size / 2)) $((size - 70)); do
	printf '\252' | dd of="$block" bs=1 seek="$at" conv=notrunc 2>/dev/null
	[ "$(tokenize -t "$t" lines)" = "$expected" ] || not_ok "damaged at $at"
done
ok "a damaged cache is not believed, but made again"
for length in 0 100 $((size / 2)) $((size - 1)); do
	truncate -s "$length" "$block"
	[ "$(tokenize -t "$t" lines)" = "$expected" ] || not_ok "cut to $length"
done
ok "a cut cache is not believed, but made again"
is "$(wc -c <"$block")" "$size" "the next start finds a whole one"
for entry in "$PWD"/cache/ipf/*; do
	rm "$entry"
	mkfifo "$entry"
done
is "$(find cache/ipf -type p | wc -l)" 2 "pipes take the place of both files"
is "$(timeout 120 "$BIN/ipf-prep" tokenize -t "$t" lines)" "$expected" "a pipe in place of the cache is not waited for"
is "$(find cache/ipf -type p | wc -l) $(wc -c <"$block")" "0 $size" "pipes in place of the cache are replaced"
rm -rf cache && for _ in 1 2 3 4 5 6; do tokenize -t "$t" lines >"race.$_" & done
wait
is "$(cat race.* | sort | uniq -c | awk '{print $1}' | sort -u)" "6" "six at once get the same"
is "$(find cache/ipf -name '.new*' | wc -l)" 0 "six at once leave no unfinished file"
cp "$t" changing.json
tokenize -t ./changing.json lines >/dev/null
sed 's/"<|begin|>"/"<|begun|>"/g' "$t" >changing.json
isnt "$(echo '<|begun|>' | tokenize -t ./changing.json)" "$(echo '<|begun|>' |
	tokenize -t "$t")" "another file of the same size and name is another tokenizer"
XDG_CACHE_HOME=/proc/nowhere run tokenize -t "$t" lines
is "$status $(cat "$OUT")" "0 $expected" "a cache that cannot be written is no error"
is "$(env -u HOME XDG_CACHE_HOME=relative "$BIN/ipf-prep" tokenize -t "$t" lines)" "$expected" "a missing home is no error"
yes_if "a relative XDG_CACHE_HOME is not used" test ! -e relative
