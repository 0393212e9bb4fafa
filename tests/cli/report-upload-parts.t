#!/bin/bash
# ipf-report --upload: a file above 64 MiB goes in parts; one that was interrupted is resumed by the digests of its parts.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/s3.sh"

server_start
small_run
store_for_uploads
change() { # OFFSET BYTE: of large.zst
	printf '%s' "$2" | dd of=large.zst bs=1 seek="$1" conv=notrunc status=none
}
openssl enc -aes-128-ctr -K 00 -iv 00 -nosalt </dev/zero 2>/dev/null | head -c 68000000 >large.zst
part() { # NUMBERS: as the log has them
	for number; do echo "PUT /plain/large.zst?partNumber=$number&uploadId=U 200"; done
}
upload s3://plain/r.txt -v --upload-file large.zst
status_is 0 "a file above 64 MiB"
same large.zst store/objects/plain/large.zst "a file above 64 MiB arrives"
is "$(sent 'PUT|POST' | grep large)" "$(echo 'POST /plain/large.zst?uploads= 200'; part 1 2 3 4 5; echo 'POST /plain/large.zst?uploadId=U 200')" "a file above 64 MiB goes in parts"
stderr_contains "s3://plain/large.zst: 68 MB in 5 parts" "-v says so"
upload s3://plain/r.txt -v --upload-file large.zst
is "$(sent 'PUT|POST')" "" "an uploaded file is not sent again"
rm -r store/objects/plain/large.zst
change 20000000 y
FAULTS=$'PUT partNumber=2 2 500\nPUT partNumber=3 1 cut\nPUT partNumber=4 99 403\n' upload s3://plain/r.txt -o r.txt --upload-file large.zst
status_is 1 "an upload that fails in between"
is "$(cat "$ERR")" "ipf-report: --upload: 1 of 2 files are there: r.txt
ipf-report: --upload: 3 of 5 parts of large.zst are there; the same command uploads the others
ipf-report: s3://plain/large.zst: HTTP status 403 SlowDown: Please reduce your request rate." "ipf-report says which parts are there after a failure"
upload s3://plain/r.txt -v --upload-file large.zst
status_is 0 "the same command resumes the upload"
is "$(sent PUT)" "$(part 4 5)" "a resumed upload sends the other parts"
stderr_contains "in 5 parts, 3 of which were there already" "-v says so"
same large.zst store/objects/plain/large.zst "the file is whole"
change 1 z
FAULTS=$'PUT partNumber=3 99 403\n' upload s3://plain/r.txt --upload-file large.zst
change 1 a
FAULTS=$'POST uploadId 1 error\n' upload s3://plain/r.txt --upload-file large.zst
is "$(sent PUT)" "$(part 1 3 4 5)" "a part that has changed since is sent again"
is "$(sent POST | grep -c U)" 2 "an error with status 200 is one"
same large.zst store/objects/plain/large.zst "the file is the new one"
change 1 b
FAULTS=$'POST uploadId 1 lost\n' upload s3://plain/r.txt --upload-file large.zst
status_is 0 "the answer to the last request is lost"
same large.zst store/objects/plain/large.zst "the object decides"
change 1 c
FAULTS=$'PUT partNumber=2 1 append:large.zst\n' upload s3://plain/r.txt --upload-file large.zst
status_is 1 "a file that changes meanwhile"
stderr_contains "large.zst: has changed while it was uploaded" "ipf-report says that the file has changed"

# ---- stores whose ETags are no MD5s ----
FAULTS=$'PUT partNumber=4 99 403\n' upload s3://kms/r.txt --upload-file large.zst
status_is 1 "an encrypted bucket"
upload s3://kms/r.txt -v --upload-file large.zst
is "$status $(sent PUT | grep -c part)" "0 2" "an encrypted bucket resumes by SHA-256"
same large.zst store/objects/kms/large.zst "the encrypted bucket has the file"
CLOUDSDK_AUTH_ACCESS_TOKEN=ya29.gcs-token upload gs://gcs/r.txt --upload-file large.zst
status_is 0 "several parts to Google"
same large.zst store/objects/gcs/large.zst "parts to Google arrive"
is "$(cat store.err)" "" "the store met no surprise"
