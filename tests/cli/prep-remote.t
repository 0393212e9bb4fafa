#!/bin/bash
# Files at addresses: which are cached and when they are downloaded again, resumed downloads, and errors. All against a
# file server on this machine.
. "$TESTS/tap.sh"

command -v python3 >/dev/null || skip_all "no python3"
export XDG_CACHE_HOME=$PWD/cache PATH=$BIN:$PATH HF_TOKEN=secret-token
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy
mkdir files
data=$TESTS/../examples/chat.json
cp "$data" files/chat.json
tar -C files -czf files/pack.tar.gz chat.json

serve() { # NAME: sets port
	python3 "$TESTS/file_server.py" files "$1.log" "$1.ready" &
	last_server=$!
	stop_at_exit $last_server
	: >"$1.log"
	wait_for test -s "$1.ready" || { not_ok "the server of files starts"; exit 1; }
	port=$(cat "$1.ready")
}
serve hub
hub_server=$last_server
at=http://127.0.0.1:$port
unset HF_HUB_OFFLINE
export HF_ENDPOINT=$at HF_HOME=$PWD/hf
asked() { wc -l <hub.log; }
last() { tail -1 hub.log; }
prep() { run ipf-prep sharegpt "$@" --reproducible; }
ipf-prep sharegpt "$data" -o plain.trace
body plain.trace >expected

# ---- loaded, kept, asked again ----
prep "$at/files/chat.json"
status_is 0 "a file by its address"
stderr_is "" "a download to the cache gives no message"
body "$OUT" >got
same got expected "an address gives the requests of the file"
is "$(tail -1 "$OUT" | jq -c '.end.from[0] | [.file, .bytes, .sha256, .url]')" \
	"[\"chat.json\",$(stat -c %s "$data"),\"$(sha256sum "$data" |
	cut -d ' ' -f 1)\",\"$at/files/chat.json\"]" "the trailer has its digest and its address"
prep "$at/files/chat.json"
body "$OUT" >got
same got expected "a second call gives the same requests"
contains "$(last)" 'If-None-Match="' "a second call asks whether the file has changed"
is "$(asked)" 2 "a second call asks once"
echo '[{"conversations":[{"from":"human","value":"a new one"},{"from":"gpt","value":"yes"}]}]' >files/chat.json
prep "$at/files/chat.json"
is "$(body "$OUT" | jq -r '.messages[0].content')" "a new one" "a changed file is downloaded"
cp "$data" files/chat.json
prep "$at/files/chat.json"
is "$(find cache -name .part\* | wc -l)" 0 "no unfinished download is left"
prep "$at/files/pack.tar.gz:chat.json"
body "$OUT" >got
same got expected "a file in an archive"
prep auto "$at/files/pack.tar.gz"
run ipf-prep auto "$at/files/pack.tar.gz" -q
status_is 0 "the whole archive"

# ---- cut ----
prep "$at/cut/3/a/chat.json"
status_is 0 "cut off three times: resumed"
body "$OUT" >got
same got expected "a resumed download gives the same bytes"
is "$(grep -c 'cut/3/a.*Range=bytes=[1-9][0-9]*- .*If-Range="' hub.log)" 3 "a download resumes where it was cut if the file is still the same"
prep "$at/cut/7/b/chat.json"
status_is 1 "cut off again and again: status 1"
matches "$(cat "$ERR")" "^ipf-prep: $at/cut/7/b/chat.json: cut off after [0-9]+ of [0-9]+ bytes: " "ipf-prep says how much of a cut file came"
is "$(wc -l <"$ERR")" 1 "a cut download has one message"
before=$(asked)
prep "$at/cut/7/b/chat.json"
status_is 0 "the next run resumes where that one ended"
matches "$(sed -n "$((before + 1))p" hub.log)" 'Range=bytes=[1-9]' "the next run begins with a request for the rest"
body "$OUT" >got
same got expected "the next run gives the same bytes"
prep "$at/weak/chat.json"
body "$OUT" >got
same got expected "a file without an ETag that holds"
prep "$at/weak/chat.json"
is "$(last | grep -c If-None-Match)" 0 "a file with a weak ETag is downloaded anew"
prep "$at/short/chat.json"
status_is 1 "a length that does not come: status 1"
contains "$(cat "$ERR")" "cut off after" "the message says so"
yes_if "a short file is not taken for the whole" test -z "$(find cache -name chat.json -path "*$(printf %s "$at/short/chat.json" | sha256sum | cut -c 1-32)*")"

# ---- headers, and their receivers ----
prep "$at/files/chat.json?x=1"
is "$(last)" "GET /files/chat.json?x=1" "no token goes to a server that is not the hub"
is "$(tail -1 "$OUT" | jq -r '.end.from[0].url')" "$at/files/chat.json" "the query is not in the trailer"
for wrong in hf://datasets/own hf://datasets/own/ hf://datasets/own/set/ hf://datasets/own/set@/a.json hf://models/own/set/a.json hf://own/set/a.json \
	hf://datasets/own/set/../a.json hf://datasets/own/set//a.json hf://datasets/own/set@v%00/a.json hf://datasets/../set/a.json; do
	prep "$wrong"
	status_is 2 "$wrong: wrong usage"
	stderr_contains "expected hf://datasets/OWNER/NAME[@REVISION]/PATH" "the message gives the form"
done

# ---- errors ----
fails() { # ADDRESS STATUS ERE
	rm -f out
	prep "$1" -o out
	status_is "$2" "$1: status $2"
	matches "$(cat "$ERR")" "$3" "$1: says $3"
	is "$(grep -c '' "$ERR")" "$([ "$2" = 2 ] && grep -c '' "$ERR" || echo 1)" "$1: one message"
	yes_if "$1: no output" test ! -e out
}
fails "$at/status/401/chat.json" 1 "^ipf-prep: $at/status/401/chat.json: the server responded 401"
fails "$at/status/429/chat.json" 1 "the server responded 429 .*try again in 7 s"
fails "$at/files/none.json" 1 "the server responded 404 Not Found"
fails "$at/round" 1 "redirected more than 10 times"
fails "$at/away" 1 "redirected to http: only https is supported"
for there in file:///etc/passwd ftp://127.0.0.1/x.json gopher://127.0.0.1/x.json nonsense://x/x.json; do
	fails "$at/to-url?$there" 1 "redirected to ${there%%:*}: only https is supported"
done
for there in http://127.evil.example/x.json http://127.0.0.1.evil.example/x http://127.0.0.1./x http://[::2]/x http://0.0.0.0/x; do
	fails "$at/to-url?$there" 1 "redirected to http: only https is supported"
done
for there in http://[::1 http:// http://127.0.0.1:99999/x; do
	fails "$at/to-url?$there" 1 "redirected to a malformed address"
done
for where in 192.0.2.1 127.evil.example 127.0.0.1.evil.example 127. 127.0.0.1. localhost.evil.example '[::ffff:128.0.0.1]' 0.0.0.0; do
	fails "http://$where/chat.json" 2 "http: only https is supported"
	HF_ENDPOINT=http://$where fails hf://datasets/own/set/chat.json 2 "http: only https is supported"
done
for where in LOCALHOST 127.1 127.0.0.2 '[::ffff:127.0.0.1]'; do
	prep "http://$where:1/chat.json"
	status_is 1 "$where is this machine: http is tried"
done
fails "$at/status/304/chat.json" 1 "the server responded 304 Not Modified to a request for the whole file"
later=$(LC_ALL=C date -u -d '+90 seconds' '+%a, %d %b %Y %H:%M:%S GMT')
fails "$at/retry/429/${later// /%20}/chat.json" 1 "the server responded 429 Too Many Requests \(try again in [0-9]{2} s\)$"
for value in 99999999999999999999999999 9223372036854775807 86401 Fri,%2031%20Dec%209999%2023:59:59%20GMT; do
	fails "$at/retry/503/$value/chat.json" 1 "Service Unavailable \(try again in more than a day\)$"
done
for value in -5 0 x 7x 1e3 %20 Thu,%2001%20Jan%201970%2000:00:01%20GMT; do
	fails "$at/retry/503/$value/chat.json" 1 "the server responded 503 Service Unavailable$"
done
fails http://me:geheim42@127.0.0.1/chat.json 2 "a user name or password in an address is not supported"
is "$(grep -c geheim42 "$ERR")" 0 "a password in an address is not shown"
fails "$at/" 2 "expected an address ending in a file name"

# ---- obstacles to the cache ----
folder=$PWD/cache/ipf/sources/$(printf %s "$at/files/chat.json" | sha256sum | cut -c 1-32)
echo precious >precious
for name in chat.json .mark .part .part-mark .lock; do
	for what in link fifo foreign hard; do
		rm -f "$folder/$name"
		case $what in
		link) ln -s "$PWD/precious" "$folder/$name" ;;
		fifo) mkfifo "$folder/$name" ;;
		foreign) cp precious "$folder/$name" && chmod 666 "$folder/$name" ;;
		hard) ln precious "$folder/$name" 2>/dev/null || continue ;;
		esac
		[ "$what $name" = "hard chat.json" ] && continue # a name of ours as good as another
		run timeout 120 ipf-prep sharegpt "$at/files/chat.json" --reproducible
		status_is 0 "ipf-prep ends with 0, although $name is $what"
		body "$OUT" >got
		same got expected "$name: $what: the file is right"
		is "$(cat precious)" precious "$name: $what: no other file is written"
	done
	rm -f "$folder/$name"
done
prep "$at/files/chat.json"
echo '[{"conversations":[{"from":"human","value":"evil"},{"from":"gpt","value":"yes"}]}]' >evil.json
export TMPDIR=$PWD/tmp
mkdir tmp
for shared in "$folder" "${folder%/*}" "${folder%/*/*}"; do
	cp evil.json "$folder/chat.json"
	chmod 777 "$shared"
	prep "$at/files/chat.json"
	status_is 0 "a folder to which others may write"
	body "$OUT" >got
	same got expected "a cache of others is not used"
	is "$(cat "$ERR")" "ipf-prep: $shared: not used as the download cache: it is not ours alone (chmod go-w, or chown)" "ipf-prep says why it does not use the cache"
	is "$(ls -A tmp)" "" "no temporary file is left without a cache"
	prep "$at/files/none.json"
	status_is 1 "a file that is not there"
	is "$(ls -A tmp)" "" "no temporary file is left after a failure"
	chmod 700 "$shared"
done
rm -f "$folder/chat.json"
prep "$at/files/chat.json"

# ---- no server ----
server_stop_plain() { kill "$hub_server"; wait "$hub_server" 2>/dev/null; }
server_stop_plain
prep "$at/files/chat.json"
status_is 0 "a file downloaded earlier is used if there is no server"
body "$OUT" >got
same got expected "a file downloaded earlier is as it was"
matches "$(cat "$ERR")" "chat.json: .*; using the file downloaded earlier" "ipf-prep warns that it uses the file downloaded earlier"
prep -q "$at/files/chat.json"
stderr_is "" "-q suppresses the warning of the file downloaded earlier"
fails "$at/files/other.json" 1 "^ipf-prep: $at/files/other.json: "
