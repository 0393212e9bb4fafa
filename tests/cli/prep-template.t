#!/bin/bash
# ipf-prep --template-tokens: given by the user, or measured at a server: vLLM's /tokenize (as in ipf-sim), llama.cpp's two paths, usage.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters

chat=$TESTS/../examples/chat.json
prep() { "$BIN/ipf-prep" sharegpt "$chat" -q --reproducible "$@"; }
tokens() { zstdcat -f "$1" | jq -c 'select(.messages) | .input_tokens'; }
template() { zstdcat -f "$1" | head -1 | jq -c .template; }

# ---- said --------------------------------------------------------------------------------------------------------------

prep -n 12 -o plain.trace
prep -n 12 --template-tokens 9 -o one.trace
is "$(tokens one.trace)" "$(tokens plain.trace | awk '{ print $1 + 9 }')" "N is added to each prompt"
prep -n 12 --template-tokens 9,4 -o both.trace
zstdcat -f plain.trace | jq -r 'select(.messages) | "\(.input_tokens) \(.messages | length)"' |
	awk '{ print $1 + 9 + ($2 - 1) * 4 }' >expected
tokens both.trace >got
same got expected "N,M: M for each further message"
prep --sessions 4 --turns 3 -o plain.trace
prep --sessions 4 --turns 3 --template-tokens 9,4 -o both.trace
zstdcat -f plain.trace | jq -r 'select(.messages) | "\(.input_tokens) \(.messages | length) \(.turn // 0)"' |
	awk '$3 == 0 { add = 9 - 4 } { add += ($3 ? 4 : 0) + $2 * 4; print $1 + add }' >expected
tokens both.trace >got
same got expected "answers in a session count for the template"
is "$(template both.trace)" null "no server is asked for given numbers"
for wrong in x 1,x 1,2,3 -1 ,3 ftp://127.0.0.1/; do
	run prep -n 1 --template-tokens "$wrong"
	is "$status $(grep -c 'template-tokens: expected N, N,M or the URL' "$ERR")" "2 1" "ipf-prep refuses --template-tokens $wrong"
done

# ---- asked -------------------------------------------------------------------------------------------------------------

server_start --template-tokens 5
prep -n 12 --template-tokens "$URL" -o asked.trace
is "$(template asked.trace)" '{"from":"/tokenize","tokens":5,"message":5}' "a server with /tokenize is asked there"
prep -n 12 --template-tokens 5,5 -o said.trace
is "$(tokens asked.trace)" "$(tokens said.trace)" "a measured template gives the lengths of a given one"
prep -n 12 --template-tokens "$URL/v1/" -o again.trace
is "$(template again.trace)" "$(template asked.trace)" "/v1 behind the address does not matter"
"$BIN/ipf-sched" burst --reproducible -t asked.trace -o asked.schedule 2>/dev/null &&
	"$BIN/ipf-fire" -t asked.trace asked.schedule -u "$URL" -q -o asked.records &&
	"$BIN/ipf-collect" asked.records -q -o asked.results
is "$(zstdcat -f asked.results | jq -c 'select(.input_tokens_usage) | .input_tokens_usage' |
	sort -n)" "$(tokens asked.trace | sort -n)" "the server counts the lengths of the trace"

serve() { # FUNCTION: a server of one model with this counted(path, asked, headers)
	cat >counted.py <<END
import json
$1
def answer(path, headers, body):
    return counted(path, json.loads(body), headers) if body else (200, {"data": [{"id": 'it"s'}]})
END
	peer_start "$TESTS/helpers/canned_server.py" counted.py
	URL=$PEER_URL
}
if ! command -v python3 >/dev/null; then
	skip "other servers are asked as they can be" "needs python3"
else
	serve "
def counted(path, asked, headers):
    if path == '/apply-template':
        return 200, {'prompt': ''.join('<%s>%s' % (m['role'], m['content']) for m in asked['messages']) + '<assistant>'}
    return 200, {'tokens': [1] * (asked['content'].count('<') * 3 + asked['content'].count('Hello') * 2) if 'content' in asked else []}"
	prep -n 3 --template-tokens "$URL" -o asked.trace
	is "$(template asked.trace)" '{"from":"/apply-template","tokens":6,"message":3}' "llama.cpp's template and tokenizer"
	peer_stop
	serve "
def counted(path, asked, headers):
    if path != '/v1/chat/completions' or asked['model'] != 'it\"s' or asked['max_tokens'] != 1 or headers['Authorization'] != 'Bearer key':
        return 404, {}
    return 200, {'usage': {'prompt_tokens': 4 + sum(2 + (5 if m['role'] == 'assistant' else 2) for m in asked['messages'])}}"
	OPENAI_API_KEY=key prep -n 3 --template-tokens "$URL" -o asked.trace
	is "$(template asked.trace)" '{"from":"/v1/chat/completions","tokens":6,"message":4}' "else the usage of a completion, with the model's name and the key"
	run prep -n 3 --template-tokens "$URL"
	is "$status $(grep -c 'expected a count from /tokenize' "$ERR")" "3 1" "a server without counts"
	peer_stop
	serve "
def counted(path, asked, headers):
    return 200, {'count': 1}"
	run prep -n 3 --template-tokens "$URL"
	is "$status $(grep -c "is -t the server's tokenizer" "$ERR")" "3 1" "a server that counts fewer tokens than the messages have"
	peer_stop
fi
run prep -n 3 --template-tokens http://127.0.0.1:1
is "$status $(grep -c "template-tokens: http://127.0.0.1:1/v1/models: " "$ERR")" "1 1" "--template-tokens without a server ends with 1"
