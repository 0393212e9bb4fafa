#!/bin/bash
# Secrets on the command line, in URLs, descriptors and the environment reach the server or nobody: not a stream, a report or a message.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

secret=sesame-4711
server_start --log server.log
host=${URL#http://}
ipf-prep sharegpt "$ROOT/examples/chat.json" -n 2 -o t.trace
ipf-sched -q burst:n=2 -t t.trace -o two.sched
mkdir said

# Every stream a run with these options leads to, and all that is said, go into the folder said/NAME.
everything() { # NAME ARGUMENTS OF ipf-fire…
	local name=$1 status=0
	shift
	mkdir "said/$name"
	(
		cd "said/$name" || exit
		ipf-fire -v --progress -m sim -t ../../t.trace ../../two.sched "$@" -o records
		ipf-fire -m sim -t ../../t.trace --probe "$@" -o probe
		ipf-collect -v --explain probe
		ipf-collect -v --progress records -o results && ipf-report results && ipf-report -f json results && ipf-report -f csv results
		ipf-sched -v steps:from=1,to=2,n=2,for=10ms -t ../../t.trace -o sched
		ipf-report -v records ../../two.sched
	) >"said/$name/stdout" 2>"said/$name/stderr" || status=$?
	[ -n "${any:-}" ] || is "$(jq -c 'select(.n != null) | .status' "said/$name/records" "said/$name/probe" | sort -u)" 200 "$name: it runs"
	is "$(cat "said/$name"/* | grep -acF "$secret")" 0 "$name: the secret is nowhere"
}

argv() { # NAME JQ
	jq -c "select(.ipf != null) | .argv | $2" "said/$1/records"
}

# ---- headers and parameters: only harmless names ----
everything headers -u "$URL" -H "X-JWT: $secret" -H "Bearer: $secret" -HX-Session-Id:"$secret" --header="x-csrf: $secret" \
	--head "X-OTP: $secret" --head="X-Passwd: $secret" -vH "X-Access-Thing: $secret" -qH"X-Q: $secret" \
	-H "A-Name-$(printf 'Long-%.0s' $(seq 20))Token: $secret" -H 'Content-Type: application/json' -H 'X-Request-Id: $id'
is "$(argv headers '[.[] | select(test("JSON|json|X-Request-Id"))]')" '["Content-Type: application/json","X-Request-Id: $id"]' "harmless ones are recorded"
is "$(argv headers '[.[] | select(test("redacted"))] | length')" 9 "secret headers are recorded by name"
matches "$(cat said/headers/stderr)" '^> X-JWT: \[redacted\]$' "--probe shows the name, too"
everything params -u "$URL" --param "api_key=\"$secret\"" --param="token=\"$secret\"" --par "password=\"$secret\"" --param "/api/key=\"$secret\"" --para="x={\"y\":[\"$secret\"]}" \
	--param "extra_body={\"temperature\":0,\"token\":\"$secret\"}" --param temperature=0.5 --param "stop=[\"http://me:$secret@h/\"]"
is "$(argv params '[.[] | select(test("temperature"))]')" '["extra_body={\"temperature\":0,\"token\":\"[redacted]\"}","temperature=0.5"]' "harmless parameters are recorded"
is "$(jq -c 'select(.ipf != null) | [.params.temperature, .params.api_key]' said/params/records)" '[0.5,"[redacted]"]' "the header's params have the secret parameter by name"

# ---- URLs, proxies, the key's variable ----
everything url -u "http://me:$secret@$host/v1?key=$secret#$secret"
is "$(argv url '[.[] | select(test("://"))]')" "[\"$URL/v1?[redacted]\"]" "a URL keeps scheme, host, port and path"
everything slashes -u "http:///me:$secret@$host"
everything name -u "$URL" --name "http://me:$secret@h/run?key=$secret"
any=1 everything proxy -u "$URL" --proxy "http://me:$secret@$host"
OPENAI_API_KEY=$secret everything variable -u "$URL"
OTHER=$secret everything named -u "$URL" --key-env OTHER -H "Cookie: a=$secret"
http_proxy=http://me:$secret@$host everything environment -u "$URL"

# ---- a descriptor of one's own ----
jq -n --arg s "$secret" 'input | .name = "mine" | .path += "?sig=" + $s | .request.headers["X-Tenant"] = $s | .request.body.account = {id: $s, list: [$s]}' \
	"$ROOT/lib/api/apis/openai-chat.json" >mine.json
for wrong in '.request.headers["X Tenant"] = $s' '.request.headers["X-Tenant"] = "\u0001" + $s' '.request.headers["X-Tenant"] = "$" + $s' \
	'.request.headers["X-Tenant"] = "\n" + $s' '.request.auth.header = "X Key"'; do
	jq --arg s "$secret" "$wrong" mine.json >wrong.json
	run ipf-fire -m sim -t t.trace two.sched -u "$URL" --api "$PWD/wrong.json"
	status_is 3 "a descriptor: $wrong"
	is "$(grep -c 'wrong.json: request.*: expected' "$ERR"), $(grep -c "$secret" "$ERR")" "1, 0" "a wrong descriptor is refused without its value: $wrong"
done
everything descriptor -u "$URL" --api "$PWD/mine.json"
is "$(jq -c 'select(.ipf != null) | .api | [.path, .request.headers]' said/descriptor/records)" \
	'["/v1/chat/completions?[redacted]",{"X-Tenant":"[redacted]"}]' "a descriptor is recorded without them"

# ---- streams of an earlier version ----
sed "s/X-JWT: \[redacted\]/X-JWT: $secret/" said/headers/records >old.records
is "$(grep -c "$secret" old.records)" 1 "an earlier version recorded it"
ipf-collect old.records -o old.results
ipf-report -f json old.results >old.report
is "$(cat old.results old.report | grep -c "$secret")" 0 "results and report do not have the secret of old records"

# ---- responses ----
everything answer -u "$URL" --record-header '*' --record-header set-cookie
is "$(jq -c 'select(.n != null) | .headers["content-type"]' said/answer/records | sort -u)" '"text/event-stream; charset=utf-8"' "a harmless header of a response is recorded"

# ---- messages without it ----
refused() { # COMMAND…
	run "$@"
	if [ "$status" != 0 ] && [ "$(wc -l <"$ERR")" = 1 ] && ! cat "$OUT" "$ERR" | grep -aqF "$secret"; then
		ok "the message has no secret: ${*//$secret/KEY}"
	else
		not_ok "the message has no secret: ${*//$secret/KEY}" "exit status $status" "$(cat "$ERR")"
	fi
}

fire="ipf-fire -m sim -t t.trace two.sched"
for url in "me:$secret@$host" "http:/me:$secret@$host" "ftp://me:$secret@h/" "http://me:$secret@h:port" "http://me:a b$secret@h" \
	"http://h:$secret/" "https://me:x/$secret@h/" "http://me:$secret@" "http://$(printf 'x%.0s' $(seq 230))$secret@h h"; do
	refused $fire -u "$url"
	refused $fire -u "$URL" --proxy "$url"
	refused $fire -u "$URL" --timeout "$url"
	refused $fire -u "$URL" --bind "$url"
	refused $fire -u "$URL" --history "$url"
	refused $fire -u "$URL" --calibration "$url"
	refused $fire -u "$URL" "$url"
	refused ipf-prep sharegpt "$url"
	refused ipf-prep stat "$url"
	refused ipf-prep sharegpt -t "$url" t.trace
	refused ipf-prep sharegpt --template-tokens "$url" "$ROOT/examples/chat.json"
	refused ipf-sched -t "$url" burst:n=1
	refused ipf-sched "rates:file=$url"
	refused ipf-sched "$url"
	refused ipf-collect "$url"
	refused ipf-collect --api "$url" said/url/records
	refused ipf-report "$url"
	refused ipf-report --slo "$url" old.results
done
refused $fire -u "http://me:$secret@h/?k=$secret" --http 2
refused $fire -u "$URL" -H "$secret"
refused $fire -u "$URL" -H "Authorization=Bearer $secret"
refused $fire -u "$URL" -H "X-Jwt: a
$secret"
refused $fire -u "$URL" -H ": $secret"
for name in "foo bar" " X-A" "X-A " $'X-A\t' "Bearer $secret" "X-A=$secret" $'X\x01' $'X\x80' "X;A" "(X)"; do
	refused $fire -u "$URL" -H "$name: $secret"
	is "$status" 2 "a header that is called so"
done
refused $fire -u "$URL" -H $'X-Jwt: \x1b'"$secret"
refused $fire -u "$URL" -H $'X-Jwt: a\x7f'"$secret"
refused env OPENAI_API_KEY=$'a\x01'"$secret" $fire -u "$URL"
refused $fire -u "$URL" -H Authorization: Bearer "$secret"
refused ipf-fire -m sim -t t.trace -u "$URL" -H Authorization: "$secret" two.sched
refused ipf-fire -m sim -t t.trace -u "$URL" --header "Authorization: Bearer" "$secret" two.sched
refused $fire -u "$URL" --param "$secret"
refused $fire -u "$URL" --param "api_key=$secret"
refused $fire -u "$URL" --param "api_key=\"$secret"
refused $fire -u "$URL" --key-env "$secret"
refused $fire -u "$URL" --api-key="$secret"
refused $fire -u "$URL" --param=
refused ipf-fire -m sim -t t.trace nosuch.sched -u "http://127.0.0.1:1/?k=$secret"
refused ipf-fire -m sim -t t.trace two.sched -u "http://me:$secret@127.0.0.1:1"
refused ipf-fire -m sim -t t.trace two.sched -u "http://me:$secret@127.0.0.1:1" --wait-ready 1ms
refused ipf-fire -m sim -t t.trace two.sched -u "$URL" --proxy "http://me:$secret@127.0.0.1:1"

# ---- data sets ----
mkdir files
cp "$ROOT/examples/chat.json" files/
python3 "$TESTS/file_server.py" files files.log files.ready &
stop_at_exit $!
wait_for test -s files.ready || not_ok "the server of files starts"
at=http://127.0.0.1:$(cat files.ready)
export XDG_CACHE_HOME=$PWD/cache
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy
run ipf-prep sharegpt "$at/files/chat.json?X-Amz-Signature=$secret&b=/$secret#$secret" -v --progress -o signed.trace
status_is 0 "a signed address"
cp "$ERR" signed.stderr
contains "$(cat files.log)" "?X-Amz-Signature=$secret" "the server gets the signature"
is "$(head -1 signed.trace | jq -c '.argv[1]')" "\"$at/files/chat.json?[redacted]\"" "the trace has the address without it"
ipf-sched burst:n=1 -t signed.trace -o signed.sched
ipf-fire -u "$URL" -m sim -t signed.trace signed.sched -o signed.records
ipf-collect signed.records -o signed.results
ipf-report -f json signed.results >signed.report
ipf-prep stat signed.trace >signed.stat
is "$(jq -c 'select(.ipf != null) | [.. | .argv? // empty | .[] | select(test("redacted"))] | unique' signed.results)" \
	"[\"$at/files/chat.json?[redacted]\"]" "the results have the address without the signature"
is "$(cat signed.* | grep -acF "$secret")" 0 "no stream has the signature"
is "$(find cache | grep -cF "$secret")" 0 "the cache does not have the signature"
refused ipf-prep sharegpt "$at/status/403/chat.json?sig=$secret"
refused ipf-prep sharegpt "$at/away/chat.json?sig=$secret"
refused ipf-prep sharegpt "$at/round?sig=$secret/chat.json"
refused ipf-prep sharegpt "http://me:$secret@127.0.0.1/chat.json"
refused ipf-prep sharegpt "http://127.0.0.1:1/chat.json?sig=$secret"
refused ipf-prep sharegpt "http://192.0.2.1/chat.json?sig=$secret"
refused ipf-prep sharegpt "http://127.0.0.1:1/?sig=$secret"
refused env HF_ENDPOINT="http://me:$secret@127.0.0.1:1" ipf-prep sharegpt hf://datasets/o/n/chat.json
refused env HF_ENDPOINT="http://127.0.0.1:1/?k=$secret" ipf-prep sharegpt hf://datasets/o/n/chat.json
refused ipf-prep sharegpt "hf://datasets/me:$secret@o/n/chat.json"
refused ipf-prep sharegpt -t "hf://datasets/me:$secret@o/n" t.trace
refused env HF_TOKEN="$secret" HF_ENDPOINT="http://127.0.0.1:1" ipf-prep sharegpt hf://datasets/o/n/chat.json

# ---- the page lists the harmless names ----
# shellcheck disable=SC2016 # awk's
awk '/^static const char \*const public_/ { on = 1; next } /^};/ { on = 0 } on { gsub(/[\t",]/, ""); print }' "$ROOT/lib/redact.c" | sort >listed.code
sed -n '/^.Sh SECRETS/,/^.Sh TRUST/p' "$ROOT/lib/ipf.7" | sed -n 's/^\.Li //p' | tr ' ' '\n' | grep '^[a-z][A-Za-z0-9_-]*\(\[]\)\?$' | sort >listed.page
same listed.code listed.page "ipf(7) lists the names that are harmless"
