#!/bin/bash
# Tokenizers and data sets by their names on the Hugging Face hub: the cache of its own clients, files fetched and kept there, tokens,
# and errors. Against a server with the hub's routes on this machine.
. "$TESTS/tap.sh"

command -v python3 >/dev/null || skip_all "no python3"
export XDG_CACHE_HOME=$PWD/xdg HOME=$PWD/home PATH=$BIN:$PATH
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy HF_TOKEN HUGGING_FACE_HUB_TOKEN HF_TOKEN_PATH HF_HUB_CACHE \
	HUGGINGFACE_HUB_CACHE HF_HUB_OFFLINE TRANSFORMERS_OFFLINE HF_HUB_DISABLE_IMPLICIT_TOKEN
export HF_HOME=$PWD/hf
cache=$HF_HOME/hub
mkdir -p home hub
data=$TESTS/data/tokenizer

model() { # NAME TOKENIZER [RULE…]
	mkdir -p "hub/models/$1/main"
	cp "$data/$2.json" "hub/models/$1/main/tokenizer.json"
	echo '{}' >"hub/models/$1/main/config.json"
	shift 2
	[ $# = 0 ] || printf '%s\n' "$@" >"hub/models/$model_last/main/.rules"
}
put() { model_last=$1; model "$@"; }
put openai-community/gpt2 gpt2
put meta/Llama-3.1-8B-Instruct llama
mkdir -p hub/models/meta/Llama-3.1-8B-Instruct/v1
cp "$data/gemma.json" hub/models/meta/Llama-3.1-8B-Instruct/v1/tokenizer.json
mkdir -p hub/models/gpt2/main
echo "moved openai-community/gpt2" >hub/models/gpt2/main/.rules

python3 "$TESTS/hub_server.py" hub hub.log hub.ready 2>hub.err &
server=$!
stop_at_exit $server
: >hub.log
wait_for test -s hub.ready || { not_ok "the server starts"; exit 1; }
port=$(cat hub.ready)
export HF_ENDPOINT=http://127.0.0.1:$port/
asked() { wc -l <hub.log; }
count() { # NAME [MORE…]: counts a text's tokens
	name=$1
	shift
	run ipf-prep tokenize -t "$name" --count "$@" <<<"Hello, world: the first few words of a text"
}
told() { ipf-prep tokenize -t "$data/$1.json" --count <<<"Hello, world: the first few words of a text"; }

# ---- fetched once ----
count gpt2
status_is 0 "-t gpt2 ends with 0"
stdout_is "$(told gpt2)" "-t gpt2 counts as its tokenizer does"
matches "$(cat "$ERR")" "^ipf-prep: fetching tokenizer.json of gpt2 \\(10.9kB, commit [0-9a-f]{12}\\) from http://127.0.0.1:$port into $cache$" "ipf-prep says which tokenizer it fetches"
is "$(wc -l <"$ERR")" 1 "ipf-prep says it in one line"
before=$(asked)
count gpt2
stdout_is "$(told gpt2)" "the second call counts the same"
is "$(asked)" "$before" "the second call does not ask the server"
stderr_is "" "the second call has no messages"

count meta/Llama-3.1-8B-Instruct
stdout_is "$(told llama)" "a large file, which another server sends"
matches "$(cat "$ERR")" "^ipf-prep: fetching tokenizer.json of meta/Llama-3.1-8B-Instruct " "a large file is fetched"
count hf://meta/Llama-3.1-8B-Instruct
stdout_is "$(told llama)" "hf://NAME is the same tokenizer"
stderr_is "" "hf://NAME is found in the cache"
count meta/Llama-3.1-8B-Instruct@v1
stdout_is "$(told gemma)" "NAME@REVISION counts with another revision"
sha=$(cat "$cache/models--meta--Llama-3.1-8B-Instruct/refs/v1")
count "hf://meta/Llama-3.1-8B-Instruct@$sha"
stdout_is "$(told gemma)" "NAME@COMMIT counts with that commit"
stderr_is "" "NAME@COMMIT is found in the cache"

# ---- the layout ----
at=$cache/models--meta--Llama-3.1-8B-Instruct
main=$(cat "$at/refs/main")
is "$(wc -c <"$at/refs/main")" 40 "refs/main is the commit alone"
is "$(readlink "$at/snapshots/$main/tokenizer.json")" "../../blobs/$(sha256sum "$data/llama.json" | cut -d ' ' -f 1)" "the snapshot links to the blob"
same "$at/snapshots/$main/tokenizer.json" "$data/llama.json" "the blob is the file"
is "$(cd "$cache/models--gpt2/blobs" && ls)" "$( (printf 'blob %d\0' "$(stat -c %s "$data/gpt2.json")"; cat "$data/gpt2.json") | sha1sum |
	cut -d ' ' -f 1)" "a small file's blob has the name of its ETag"
is "$(find "$cache" -name '*.incomplete' -o -name '*.new' -o -name '*XXXXXX' | wc -l)" 0 "no unfinished file is left in the cache"

python=
for p in "$PYTHON" python3; do
	[ -z "$p" ] || ! "$p" -c 'import huggingface_hub' 2>/dev/null || { python=$p; break; }
done
hub_python() { # OFFLINE REPOSITORY FILE [TYPE]
	HF_HUB_OFFLINE=$1 HF_HUB_DISABLE_TELEMETRY=1 HF_ENDPOINT=${HF_ENDPOINT%/} "$python" -c "
import huggingface_hub, sys
print(huggingface_hub.hf_hub_download(sys.argv[1], sys.argv[2], repo_type=sys.argv[3]))" "$2" "$3" "${4:-model}"
}
if [ -n "$python" ]; then
	is "$(hub_python 1 meta/Llama-3.1-8B-Instruct tokenizer.json)" "$at/snapshots/$main/tokenizer.json" "the hub's own client finds it"
	is "$(hub_python 1 gpt2 tokenizer.json)" "$(echo "$cache"/models--gpt2/snapshots/*/tokenizer.json)" "the hub's own client finds every name"
	put theirs/tok gemma
	yes_if "the hub's own client fetches another" hub_python 0 theirs/tok tokenizer.json
	before=$(asked)
	count theirs/tok
	stdout_is "$(told gemma)" "a file of the hub's own client is found here"
	is "$(asked)" "$before" "a file of the hub's own client needs no question"
else
	skip "the hub's own client finds it" "no Python with huggingface_hub (PYTHON=…)"
fi

# ---- by hand, offline, places ----
mkdir -p by-hand/models--own--tok/refs by-hand/models--own--tok/snapshots/abc123
printf 'abc123\n' >by-hand/models--own--tok/refs/main
cp "$data/gemma.json" by-hand/models--own--tok/snapshots/abc123/tokenizer.json
before=$(asked)
HF_HUB_CACHE=$PWD/by-hand count own/tok
stdout_is "$(told gemma)" "HF_HUB_CACHE: a snapshot of files, not links"
mkdir -p home2/.cache/huggingface
ln -s "$cache" home2/.cache/huggingface/hub
(unset HF_HOME XDG_CACHE_HOME; HOME=$PWD/home2 count gpt2; stdout_is "$(told gpt2)" "the cache is found in HOME/.cache/huggingface/hub")
mkdir -p xdg2/huggingface
ln -s "$cache" xdg2/huggingface/hub
(unset HF_HOME; XDG_CACHE_HOME=$PWD/xdg2 count gpt2; stdout_is "$(told gpt2)" "the cache is found in XDG_CACHE_HOME/huggingface/hub")
HF_HUB_OFFLINE=1 count gpt2
stdout_is "$(told gpt2)" "HF_HUB_OFFLINE takes the tokenizer from the cache"
for name in HF_HUB_OFFLINE=1 HF_HUB_OFFLINE=true HF_HUB_OFFLINE=ON TRANSFORMERS_OFFLINE=yes; do
	run env "$name" ipf-prep tokenize -t meta/Llama-3.1-8B-instruct --count </dev/null
	status_is 1 "$name: a tokenizer outside of the cache ends with 1"
	complains ipf-prep "not in the cache $cache (revision main), and ${name%%=*} forbids to fetch it; the cache has meta/Llama-3.1-8B-Instruct" "$name: ipf-prep says why it does not fetch, and names what is similar"
done
HF_HUB_OFFLINE=1 count gpt2@v9
complains ipf-prep "gpt2@v9: not in the cache $cache (revision v9)" "ipf-prep says that a revision is not in the cache"
is "$(asked)" "$before" "offline calls ask no server"
HF_HUB_OFFLINE=0 count openai-community/gpt2
status_is 0 "HF_HUB_OFFLINE=0 is not offline"

# ---- local files come first ----
mkdir -p local/gpt2 local/openai-community
cp "$data/gemma.json" local/gpt2/tokenizer.json
cp "$data/gemma.json" local/openai-community/gpt2
(cd local || exit
	OUT=$PWD/out ERR=$PWD/err
	count gpt2
	stdout_is "$(told gemma)" "a folder of the name is taken"
	count openai-community/gpt2
	stdout_is "$(told gemma)" "a file of the name is taken"
	count hf://gpt2
	stdout_is "$(told gpt2)" "hf:// means the hub"
	rm gpt2/tokenizer.json
	count gpt2
	complains ipf-prep "for the model of this name, write hf://gpt2" "a folder without a tokenizer says so")

# ---- the other programs, and the streams' entries ----
rm -rf "$cache/models--gpt2"
ipf-prep sharegpt "$TESTS/../examples/chat.json" -q -n 3 -t gpt2 -o t.trace 2>said
matches "$(cat said)" "^ipf-prep: fetching tokenizer.json of gpt2" "-q does not silence it"
commit=$(cat "$cache/models--gpt2/refs/main")
is "$(head -1 t.trace | jq -c '.tokenizer | [.name, .file, .commit, .sha256, .exact]')" \
	"[\"gpt2\",\"tokenizer.json\",\"$commit\",\"$(sha256sum "$data/gpt2.json" | cut -d ' ' -f 1)\",true]" "the header has name, commit and digest"
server_start --seed 5
ipf-sched burst -t t.trace -q -o t.sched 2>/dev/null || ipf-sched closed:n=2 -t t.trace -q -o t.sched
ipf-fire -q -u "$URL" -m sim -t t.trace t.sched -o t.records
rm -rf "$cache/models--gpt2"
run ipf-collect -q -t gpt2 t.records -o t.results
status_is 0 "ipf-collect -t gpt2"
matches "$(cat "$ERR")" "^ipf-collect: fetching tokenizer.json of gpt2" "ipf-collect says which tokenizer it fetches"
is "$(head -1 t.results | jq -r '.tokenizer | .name + " " + .commit')" "gpt2 $commit" "the header of results has the name and the commit"
run ipf-collect --explain -q -t openai-community/gpt2 t.records
status_is 0 "--explain -t NAME"

# ---- tokens ----
put own/private gemma "private secret-token"
count own/private
status_is 1 "a private model without a token"
complains ipf-prep "there is no such repository, or it is private or restricted: check the name, or set HF_TOKEN" "ipf-prep says that a private model needs a token"
HF_TOKEN=wrong-token count own/private
complains ipf-prep "the hub does not accept the token of HF_TOKEN" "a wrong token"
is "$(grep -c wrong-token "$ERR")" 0 "a wrong token is not shown"
: >hub.log
HF_TOKEN=" secret-token " count own/private
stdout_is "$(told gemma)" "a private model is fetched with the token"
is "$(grep '^hub' hub.log | grep -vc 'Authorization=Bearer secret-token')" 0 "the hub gets it"
is "$(grep '^lfs' hub.log | grep -c Authorization)" 0 "the server of large files does not"
is "$(grep -c '^lfs GET' hub.log)" 1 "the server of large files sends the private model"
rm -rf "$cache/models--own--private"
mkdir -p "$HF_HOME"
echo secret-token >"$HF_HOME/token"
count own/private
stdout_is "$(told gemma)" "the token of HF_HOME/token"
rm -rf "$cache/models--own--private"
HF_HUB_DISABLE_IMPLICIT_TOKEN=1 count own/private
status_is 1 "HF_HUB_DISABLE_IMPLICIT_TOKEN ends with 1"
HF_TOKEN=$'a\r\nX-Evil: 1' count own/private
status_is 2 "a token with a line end is refused"
rm "$HF_HOME/token"
mkfifo "$HF_HOME/token"
count own/private
status_is 1 "a FIFO instead of the token does not hang"
rm "$HF_HOME/token"
put own/gated llama "gated yes"
count own/gated
complains ipf-prep "access is restricted: accept the licence at http://127.0.0.1:$port/own/gated, then set HF_TOKEN" "a gated model"
HF_TOKEN=t count own/gated
complains ipf-prep "then use a token of this account" "ipf-prep says that a gated model needs an account"
for host in 127.evil.example 192.0.2.1 hub.example; do
	HF_ENDPOINT=http://$host HF_TOKEN=t count own/tok
	status_is 2 "ipf-prep sends no token to http://$host"
	stderr_contains "only https is supported, and http for this machine" "the token never leaves in clear"
done
HF_ENDPOINT=https://me:geheim42@hub.example count own/tok
status_is 2 "a password in HF_ENDPOINT"
is "$(grep -c geheim42 "$ERR")" 0 "a password in HF_ENDPOINT is not shown"
put own/insecure llama "insecure http://192.0.2.1/x"
HF_TOKEN=t count own/insecure
complains ipf-prep "redirected to http: only https is supported" "a large file elsewhere without TLS"

# ---- missing files ----
count own/nothing
status_is 1 "a missing model ends with 1"
HF_TOKEN=t count own/Llama-3.1-8B
complains ipf-prep "404: there is no such model; similar: meta/Llama-3.1-8B-Instruct" "ipf-prep suggests similar models"
count gpt2@v7
complains ipf-prep "the repository has no revision v7" "ipf-prep says that the revision is missing"
put own/other gemma
mv hub/models/own/other/main/tokenizer.json hub/models/own/other/main/spiece.model
count own/other
status_is 1 "a model without tokenizer.json ends with 1"
complains ipf-prep "the repository has no file tokenizer.json; it has config.json, spiece.model" "ipf-prep lists the files of a model without tokenizer.json"
count hf://own/other/config.jsn
complains ipf-prep "has no file config.jsn; did you mean config.json?" "a file of a model"
count hf://own/other/config.json
status_is 3 "a file of a model that is no tokenizer ends with 3"
contains "$(cat "$ERR")" "not a tokenizer.json" "ipf-prep says that the file is no tokenizer"
for i in 0 1 2 3; do printf '%s %d\n' "$(printf "\\x$(printf %x $((97 + i)))" | base64)" $i; done >hub/models/own/other/main/qwen.tiktoken
run ipf-prep tokenize -t own/other <<<abc
stdout_is "[0,1,2]" "a rank file is taken where there is no tokenizer.json" || true
for wrong in 'a b' 'gpt2@' a--b a..b https://huggingface.co/gpt2 hf:// hf://a//b hf://spaces/a/b hf://datasets/a/b/tokenizer.json aprox 'gpt2@a b' "$(printf 'a\033[31mb')"; do
	run ipf-prep tokenize --count -t "$wrong" </dev/null
	status_is 2 "$wrong: wrong usage"
	is "$(head -1 "$ERR" | grep -c '^ipf-prep tokenize: ')" 1 "$wrong: says so"
done
count aprox
contains "$(cat "$ERR")" "did you mean approx?" "a misspelt approx asks no server"
count ./none.json
status_is 1 "a path stays a path"
count none/none.json
contains "$(cat "$ERR")" "none/none.json: cannot open" "a path with the form of a name stays a path"

# ---- wrong answers ----
for rule in "wrong yes" "more yes" "status 500" "status 418" "status 304" "noheaders yes"; do
	put "own/bad" llama "$rule"
	count own/bad
	status_is 1 "$rule: status 1"
	is "$(wc -l <"$ERR" | tr 2 1)" 1 "$rule: one line, and the one that says what is fetched"
	is "$(find "$cache/models--own--bad" \( -type f -size +0 -o -type l \) 2>/dev/null | wc -l)" 0 "$rule: nothing is kept"
done
put own/bad llama "wrong yes"
count own/bad
contains "$(tail -1 "$ERR")" "the server sent other bytes than it announced" "a large file's digest is checked"
put own/cut llama "cut 2"
count own/cut
stdout_is "$(told llama)" "an answer that is cut is resumed"
is "$(grep -c 'models/own/cut.*Range=bytes=[1-9]' hub.log)" 2 "a cut download resumes where it was cut"
put own/cuts llama "cut 99"
count own/cuts
status_is 1 "cut again and again"
is "$(find "$cache/models--own--cuts" -name tokenizer.json | wc -l)" 0 "no unfinished download is taken for the file"
rm hub/models/own/cuts/main/.rules
count own/cuts
stdout_is "$(told llama)" "the next run resumes"
is "$(find "$cache" -name '*.incomplete' | wc -l)" 0 "a resumed download leaves no unfinished file"
put own/chunked gpt2 "chunked yes"
count own/chunked
stdout_is "$(told gpt2)" "an answer without a length"
put own/same llama "absolute yes"
count own/same
stdout_is "$(told llama)" "large files on the same server"

# ---- two at a time, one killed ----
put own/slow llama "slow $PWD/go"
ipf-prep tokenize -t own/slow --count <<<"Hello, world" >one 2>one.err &
one=$!
wait_for grep -q 'GET.*own/slow' hub.log
ipf-prep tokenize -t own/slow --count <<<"Hello, world" >two 2>two.err &
two=$!
wait_for grep -q . one.err
kill -9 $one
wait $one 2>/dev/null
is "$(find "$cache/models--own--slow" -name tokenizer.json | wc -l)" 0 "a killed download leaves nothing that is taken for the file"
touch go
wait $two
is "$?" 0 "the one that waited takes over"
same two <(ipf-prep tokenize -t "$data/llama.json" --count <<<"Hello, world") "the one that waited counts right"
put own/both llama
four=
for i in 1 2 3 4; do
	ipf-prep tokenize -t own/both --count <<<"Hello, world" >both.$i 2>both.err.$i &
	four="$four $!"
done
# shellcheck disable=SC2086 # four words
wait $four
is "$(cat both.[1-4] | sort -u | wc -l)" 1 "four at once agree"
is "$(grep -c 'GET /lfs/models/own/both' hub.log)" 1 "one of them fetched"

# ---- obstacles to the cache ----
put own/way llama
mkdir -p "$cache/models--own--way/blobs"
blob=$(sha256sum "$data/llama.json" | cut -d ' ' -f 1)
echo precious >precious
ln -s "$PWD/precious" "$cache/models--own--way/blobs/$blob.incomplete"
count own/way
status_is 1 "a link in the place of the incomplete file"
is "$(cat precious)" precious "a link in the place of the incomplete file is not followed"
rm "$cache/models--own--way/blobs/$blob.incomplete"
mkfifo "$cache/models--own--way/blobs/$blob.incomplete"
count own/way
status_is 1 "a FIFO in the place of the incomplete file does not hang"
rm "$cache/models--own--way/blobs/$blob.incomplete"
count own/way
status_is 0 "an empty place works"
rm "$cache/models--own--way/blobs/$blob"
count own/way
stdout_is "$(told llama)" "a snapshot's link to a blob that is gone: fetched again"
for ref in ../../../../etc 'x y' '' .; do
	printf %s "$ref" >"$cache/models--own--way/refs/main"
	count own/way
	stdout_is "$(told llama)" "a ref \"$ref\" is none"
done

# ---- data sets ----
mkdir -p hub/datasets/own/set/main/dir hub/datasets/own/set/v1.0
cp "$TESTS/../examples/chat.json" hub/datasets/own/set/main/dir/
cp "$TESTS/../examples/chat.json" hub/datasets/own/set/v1.0/
echo text >hub/datasets/own/set/main/README.md
ipf-prep sharegpt "$TESTS/../examples/chat.json" -q -o plain.trace
body plain.trace >expected
prep() { run ipf-prep sharegpt "$@" --reproducible; }
prep hf://datasets/own/set/dir/chat.json
status_is 0 "a file of a data set"
body "$OUT" >got
same got expected "a file of a data set is read"
matches "$(cat "$ERR")" "^ipf-prep: fetching dir/chat.json of hf://datasets/own/set/dir/chat.json " "a file of a data set is fetched"
sha=$(cat "$cache/datasets--own--set/refs/main")
is "$(readlink "$cache/datasets--own--set/snapshots/$sha/dir/chat.json" | cut -c 1-15)" "../../../blobs/" "the cache has the file of the data set"
is "$(tail -1 "$OUT" | jq -c '.end.from[0] | [.file, .sha256, .url]')" "[\"chat.json\",\"$(sha256sum "$TESTS/../examples/chat.json" |
	cut -d ' ' -f 1)\",\"http://127.0.0.1:$port/datasets/own/set/resolve/$sha/dir/chat.json\"]" "the trailer has its digest and its commit"
before=$(asked)
HF_HUB_OFFLINE=1 prep hf://datasets/own/set/dir/chat.json
body "$OUT" >got
same got expected "a file of a data set is read offline"
is "$(asked)" "$before" "an offline call asks no server"
[ -z "$python" ] || is "$(hub_python 1 own/set dir/chat.json dataset)" "$cache/datasets--own--set/snapshots/$sha/dir/chat.json" "the hub's own client finds it"
for form in hf://datasets/own/set@v1.0/chat.json hf://datasets/own/set/chat.json@v1.0; do
	prep "$form"
	body "$OUT" >got
	same got expected "$form"
done
prep hf://datasets/own/set
status_is 2 "a data set without a path ends with 2"
is "$(cat "$ERR")" "ipf-prep: hf://datasets/own/set/dir/chat.json
ipf-prep: hf://datasets/own/set: expected hf://datasets/OWNER/NAME[@REVISION]/PATH: name one of the 1 files above" "the data files are listed"
prep hf://datasets/own/set/dir/chat.jsonl
status_is 1 "a file that is not there"
complains ipf-prep "has no file dir/chat.jsonl; did you mean dir/chat.json?" "ipf-prep suggests a similar file"
prep hf://datasets/own/sett/dir/chat.json
complains ipf-prep "similar: own/set" "a data set that is not there"
kill $server
wait $server 2>/dev/null
prep hf://datasets/own/set/dir/chat.json
status_is 0 "a file in the cache is read if there is no server"
count own/unseen
status_is 1 "a file outside of the cache ends with 1 if there is no server"
complains ipf-prep "not in the cache $cache, and http://127.0.0.1:$port cannot be reached: " "ipf-prep says that the server cannot be reached"
is "$(grep -v '^127.0.0.1\|BrokenPipe\|ConnectionReset\|^ \|^Traceback\|^Exception\|^---' hub.err | head -3)" "" "the server did not complain"
