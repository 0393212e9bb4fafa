#!/bin/bash
# ipf-report --upload: the places of objects, signatures, digests, uploads in parts that are resumed, stores that fail, and
# credentials.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/s3.sh"

server_start
small_run
store_for_uploads

# Runs beside the next tests, since they take their time: a store that always fails, and one that is not there.
store_start other
printf 'PUT - 99 500\n' >other/faults
late() { # NAME ENDPOINT
	AWS_ENDPOINT_URL_S3=$2 ipf-report --upload "s3://plain/$1" chat.results >"$1.out" 2>"$1.err"
	echo $? >"$1.status"
}
late five "$STORE" &
FIVE=$!
late none http://127.0.0.1:1 &
NONE=$!

# ---- places of the objects ----
ipf-report chat.results >plain.txt
upload "s3://plain/a b/é+%41~.txt"
status_is 0 "a report is uploaded"
stderr_is "" "--upload has no messages if all goes well"
same plain.txt "$OUT" "--upload writes the report to standard output"
same plain.txt "store/objects/plain/a b/é+%41~.txt" "the object is the same"
is "$(cat store/log)" "$(printf '%s\n' 'HEAD /plain/a%20b/%C3%A9%2B%2541~.txt 404 -' 'PUT /plain/a%20b/%C3%A9%2B%2541~.txt 200 text/plain; charset=utf-8' \
	'HEAD /plain/a%20b/%C3%A9%2B%2541~.txt 200 -')" "--upload sends one request and looks before and after it"
upload s3://plain/nightly/ -v -f html -o page.html --plots pictures/ --upload-file chat.records --upload-file ./chat.results
status_is 0 "a page, its plots and the streams"
same page.html store/objects/plain/nightly/page.html "--upload -o uploads the page"
same chat.records store/objects/plain/nightly/chat.records "--upload-file uploads the stream"
is "$(cd store/objects/plain/nightly/pictures && ls)" "$(cd pictures && ls)" "the plots are in a folder"
is "$(cut -d ' ' -f 2,4- store/log | grep -m 1 html)" "/plain/nightly/page.html -" "a request that looks for an object has no type"
contains "$(grep ^PUT store/log)" "PUT /plain/nightly/page.html 200 text/html; charset=utf-8" "a browser shows the page"
stderr_contains "ipf-report: s3://plain/nightly/chat.results: " "-v says what was uploaded"
upload s3://plain/nightly/ -v -f html -o page.html --upload-file chat.records --reproducible
upload s3://plain/nightly/ -v -f html -o page.html --upload-file chat.records --reproducible
is "$(sent 'PUT|POST')" "" "an uploaded file is not sent again"
stderr_contains "chat.records: " "-v names the file that was there already"
stderr_contains ", was there already" "-v says that the file was there already"
upload s3://plain -f csv -o a.csv
same a.csv store/objects/plain/a.csv "a bucket without a path is a folder"
upload s3://plain/packed.json.zst -f json -o packed.json.zst
is "$(zstd -dcq store/objects/plain/packed.json.zst | jq -r .ipf) $(grep -c 'zst 200 application/zstd' store/log)" "report 1" "a compressed report"
upload s3://plain/lines.csv -f requests-csv
same "$OUT" store/objects/plain/lines.csv "a format that is written in pieces"

# ---- a failing store ----
FAULTS=$'PUT - 2 503\n' upload s3://plain/one
status_is 0 "status 503 passes"
is "$(sent PUT)" "$(printf '%s\n' 'PUT /plain/one 503' 'PUT /plain/one 503' 'PUT /plain/one 200')" "status 503 is followed by a second request"
FAULTS=$'PUT - 1 cut\nHEAD - 1 cut\n' upload s3://plain/two
status_is 0 "a connection that is cut"
same "$OUT" store/objects/plain/two "a cut connection is opened again"
FAULTS=$'PUT - 1 etag\n' upload s3://plain/three
status_is 0 "a wrong ETag"
is "$(sent PUT | wc -l)" 2 "a wrong ETag leads to a second request"
FAULTS=$'PUT - 9 etag\n' upload s3://plain/four
status_is 1 "an ETag that is always wrong"
complains ipf-report "s3://plain/four: the store has got other bytes than these, by their digest" "ipf-report says that the store has other bytes"
upload s3://nobody/x
complains ipf-report "s3://nobody/x: HTTP status 404 NoSuchBucket: The specified bucket does not exist" "ipf-report says that the bucket does not exist"
upload s3://far/x
complains ipf-report "(the bucket is in another region: set AWS_REGION=eu-west-3)" "a bucket elsewhere"
upload s3://write/x
status_is 0 "a credential that may only write"

# ---- credentials ----
AWS_SECRET_ACCESS_KEY=wrong-secret upload s3://plain/x
status_is 1 "a wrong key"
complains ipf-report "s3://plain/x: HTTP status 403 SignatureDoesNotMatch" "a wrong key is reported"
AWS_ACCESS_KEY_ID=ASIATEST AWS_SECRET_ACCESS_KEY=temporary-secret AWS_SESSION_TOKEN=session/token== AWS_REGION=eu-west-3 upload s3://plain/session
status_is 0 "a session's token, and another region"
AWS_ACCESS_KEY_ID=ASIATEST AWS_SECRET_ACCESS_KEY=temporary-secret AWS_SESSION_TOKEN=other/token upload s3://plain/x
is "$status $(grep -c other/token "$ERR")" "1 0" "a token that the store repeats is not shown"
CLOUDSDK_AUTH_ACCESS_TOKEN=ya29.gcs-token upload gs://gcs/token.txt
status_is 0 "a token of Google"
same plain.txt store/objects/gcs/token.txt "a token of Google uploads the report"
GS_ACCESS_KEY_ID=GOOGTEST GS_SECRET_ACCESS_KEY=hmac-secret upload gs://gcs/hmac.txt
status_is 0 "HMAC keys of Google"
refused() { fails_with 2 "$2" ipf-report "${@:3}" missing.results; } # TEXT PART OPTION…
AWS_SECRET_ACCESS_KEY='' refused "no key" "AWS_SECRET_ACCESS_KEY is not set" --upload s3://plain/x
refused "no key of Google" "GS_ACCESS_KEY_ID is not set" --upload gs://gcs/x
STORAGE_EMULATOR_HOST=http://far.example CLOUDSDK_AUTH_ACCESS_TOKEN=x refused "a token over plain http" "https only" --upload gs://gcs/x
AWS_ENDPOINT_URL_S3=localhost refused "an endpoint without a scheme" "AWS_ENDPOINT_URL_S3: expected an http or https URL" --upload s3://plain/x
refused "another scheme" 'expected s3://BUCKET/PATH or gs://BUCKET/PATH, got "https://plain/x"' --upload https://plain/x
refused "no bucket" "expected the name of a bucket" --upload s3:///x
refused "a report without a name" "the report needs a name" --upload s3://plain/x/
refused "a file without a place" "--upload-file requires --upload" --upload-file chat.trace
refused "a folder" "only a file can be uploaded" --upload s3://plain/x --upload-file .
refused "two files of a name" "another file of this name" --upload s3://plain/x --upload-file a/x
run ipf-report --upload s3://plain/x --upload-file nowhere missing.results
status_is 1 "a file that is missing"
run ipf-report --strict --slo p99:e2e=1ms --upload s3://plain/strict.txt chat.results
status_is 4 "a missed objective"
same "$OUT" store/objects/plain/strict.txt "a report with a missed objective is uploaded"
head -8 chat.results >cut.results
run ipf-report -q --upload s3://plain/cut.txt cut.results
status_is 3 "a cut stream"
same "$OUT" store/objects/plain/cut.txt "the report of a cut stream is uploaded"
rm -f store/objects/plain/full.txt
run ipf-report -o /dev/full --upload s3://plain/full.txt chat.results
is "$status $(ls store/objects/plain/full.txt 2>/dev/null)" "1 " "a report that cannot be written is not uploaded"

# ---- failed attempts meanwhile ----
wait $FIVE $NONE
is "$(cat five.status five.err)" "$(printf '%s\n' 1 'ipf-report: s3://plain/five: HTTP status 500 SlowDown: Please reduce your request rate.')" "status 500 in the end"
is "$(grep -c '^PUT /plain/five 500 ' other/log)" 6 "status 500 is tried six times"
is "$(sed 's/Failed.*(/(/' none.status none.err)" "$(printf '%s\n' 1 'ipf-report: s3://plain/none: (tried 6 times)')" "a port without a listener is reported after six tries"
same five.out none.out "the report is written all the same"
is "$(cat store.err other.err)" "" "the stores met no surprise"
