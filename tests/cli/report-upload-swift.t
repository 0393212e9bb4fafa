#!/bin/bash
# ipf-report --upload to a real store that checks signatures and digests: OpenStack's Swift with its S3 API.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/swift.sh"

lacks=$(swift_lacks)
[ -z "$lacks" ] || skip_all "$lacks is not installed"
server_start
small_run
swift_start
export AWS_ENDPOINT_URL_S3=$SWIFT AWS_ACCESS_KEY_ID=test:tester AWS_SECRET_ACCESS_KEY=testing
unset AWS_SESSION_TOKEN AWS_REGION AWS_DEFAULT_REGION
# Swift's own API, to make a bucket and to read its objects.
sign_in() {
	curl -s -D headers -o token.out -H 'X-Auth-User: test:tester' -H 'X-Auth-Key: testing' "$SWIFT/auth/v1.0"
	token=$(sed -n 's/\r$//; s/^X-Auth-Token: //p' headers)
	[ -n "$token" ]
}
own() { curl -sf -H "X-Auth-Token: $token" "$@"; }
# The servers behind the one that is asked may not listen yet.
if wait_for sign_in && wait_for own -X PUT "$SWIFT/v1/AUTH_test/runs"; then
	ok "Swift has a bucket"
else
	not_ok "Swift has a bucket" "$(cat token.out)" "$(tail -n 5 swift/*.log)"
	exit 1
fi

run ipf-report --upload "s3://runs/a b/é+%41~.html" -f html chat.results
status_is 0 "a report is uploaded"
stderr_is "" "--upload to Swift has no messages"
own -D headers "$SWIFT/v1/AUTH_test/runs/a%20b/%C3%A9%2B%2541~.html" >page.html
same "$OUT" page.html "the object is the same"
contains "$(tr -d '\r' <headers)" "Content-Type: text/html; charset=utf-8" "the object in Swift has its type"
run ipf-report -v --upload "s3://runs/a b/é+%41~.html" -f html --reproducible chat.results
run ipf-report -v --upload "s3://runs/a b/é+%41~.html" -f html --reproducible chat.results
stderr_contains "was there already" "an object in Swift is not sent a second time"

# ---- in parts, interrupted as users do ----
openssl enc -aes-128-ctr -K 00 -iv 00 -nosalt </dev/zero 2>/dev/null | head -c 150000000 >large.zst
ipf-report -q --upload s3://runs/r.txt --upload-file large.zst chat.results >cut.out 2>cut.err &
cut=$!
stop_at_exit $cut
# the segments of an upload are objects of a bucket of their own
wait_for sh -c "[ \$(curl -sf -H 'X-Auth-Token: $token' '$SWIFT/v1/AUTH_test/runs+segments' | wc -l) -ge 2 ]"
kill -9 $cut 2>killed.err
wait $cut 2>killed.err
run ipf-report -v --upload s3://runs/r.txt --upload-file large.zst chat.results
status_is 0 "an upload that was killed is resumed"
matches "$(cat "$ERR")" "s3://runs/large.zst: 150 MB( in 9 parts, [1-8] of which were there already|, was there already)" "a resumed upload to Swift keeps its parts"
own "$SWIFT/v1/AUTH_test/runs/large.zst" >back.zst
same large.zst back.zst "the object is the file"

# ---- refusals of the store ----
AWS_SECRET_ACCESS_KEY=wrong run ipf-report --upload s3://runs/x chat.results
status_is 1 "a wrong key"
complains ipf-report "s3://runs/x: HTTP status 403 SignatureDoesNotMatch: " "Swift's refusal of a wrong key is reported"
run ipf-report --upload s3://nobody/x chat.results
complains ipf-report "s3://nobody/x: HTTP status 404 NoSuchBucket: " "Swift's lack of a bucket is reported"
