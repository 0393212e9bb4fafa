#!/bin/bash
# Absurd values, names that are no text and answers without an end have a message with the place, and no figure is "nan" or "inf".
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

# ---- names that are not UTF-8 --------------------------------------------------------------------------------------

run ipf-prep synthetic -n 2 -q -o a.trace
ipf-sched constant:rate=5,n=2 -t a.trace -q -o a.sched
taken=
for name in $'\377\376.trace' $'new\200' $'a\355\240\200'; do
	cp a.trace "$name"
	for command in "ipf-prep trace" "ipf-prep jsonl" "ipf-prep anonymize trace" "ipf-prep synthetic -n 2 --like" "ipf-prep synthetic -n 2 --content" \
		"ipf-prep synthetic -n 2 --system" "ipf-prep synthetic -n 2 -o" "ipf-sched closed:users=1,n=2 -t" "ipf-fire -u http://127.0.0.1:1 a.sched -t" \
		"ipf-collect" "ipf-report" "ipf-twin predict"; do
		read -ra words <<<"$command"
		run "${words[@]}" "$name"
		if [ "$status" = 2 ] && grep -q '^ipf-.*expected .* in UTF-8, got ".*\\x' "$ERR"; then continue; fi
		taken+=" $command: $status $(head -c 200 "$ERR")"
	done
done
is "$taken" "" "all programs refuse names that are not UTF-8"
run ipf-prep synthetic -n 2 -q -o 'ä 😀.trace'
run ipf-sched closed:users=1,n=2 -q -t 'ä 😀.trace' -o new
status_is 0 "other names in UTF-8 are taken"

# ---- figures -------------------------------------------------------------------------------------------------------

for stage in gamma:rate=1,cv=100,n=3 gamma:rate=1,cv=100,n=100 gamma:rate=1,cv=1e6,n=40 weibull:rate=1,cv=0.01,n=40 closed:users=1,n=1; do
	run ipf-sched "$stage" -q -o new
	run ipf-sched stat new
	is "$status $(grep -ciE '(^|[^a-z])-?(nan|inf)([^a-z]|$)' "$OUT")" "0 0" "ipf-sched stat of $stage has numbers only"
done
# Each number of the files of other tools in turn becomes huge: no figure is infinite, and a refusal names the place.
python3 "$TESTS/helpers/huge_numbers.py" "$TESTS/data/imports" >huge.log
is "$(tail -n 1 huge.log | sed 's/^[1-9][0-9]* files, //')" "0 wrong" "a huge number in another tool's file is refused or not used: $(tail -n 1 huge.log)" "$(head -n 20 huge.log)"
printf '{"request_throughput":{"unit":"requests/sec","avg":10.5},"request_latency":{"unit":"ms","avg":1000,"p25":1e308,"p50":1000,"min":1}}\n' >figures.json
run ipf-report --from genai-perf -f csv figures.json
complains ipf-report "figures.json:1: request_latency: expected a number of at most 1e+30, got 1e308" "the message of a huge number names file, line and member"

# ---- messages name the file or the limit ---------------------------------------------------------------------------

printf '{"ipf":"report","version":1}\n' >report.json
run ipf-report report.json
complains ipf-report "report.json: a JSON report without a verdict and a total" "a report without a total is named"
printf '{"ipf":"report","version":1,"total":{}}\n' >report.json
run ipf-report -f html report.json
complains ipf-report "report.json: a JSON report without a verdict and a total" "a report without a verdict is named"
for url in 'ht tp://x' 'h ttps://x/y' '://x'; do
	run ipf-fire -u "$url" a.sched
	is "$status $(grep -c 'expected .*http://' "$ERR") $(grep -c redacted "$ERR")" "2 1 0" "the address \"$url\" is refused with an example"
done
printf 'nope\n' >bad.jsonl
run ipf-prep fit -q jsonl bad.jsonl -o new
is "$status $(grep -c 'bad.jsonl:1' "$ERR")" "3 1" "ipf-prep fit -q says why it ends with 3"
cat >endless.py <<'END'
import http.server

class Endless(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(b'{"count":' + b" " * 65536)
        except OSError:
            pass

    do_GET = do_POST

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Endless)
print(server.server_address[1], flush=True)
server.serve_forever()
END
peer_start endless.py
run ipf-prep jsonl --template-tokens "$PEER_URL" bad.jsonl -o new
contains "$(cat "$ERR")" "the answer is longer than 16 MiB" "--template-tokens names the limit of an answer"
