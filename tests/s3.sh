# A store of objects (s3_server.py) for the tests of --upload: source it after tap.sh.
# shellcheck shell=sh

# Starts one with the folder NAME; $STORE is its URL.
store_start() { # NAME
	python3 "$TESTS/s3_server.py" "$1" "$1.ready" 2>"$1.err" &
	stop_at_exit $!
	wait_for test -s "$1.ready" || {
		not_ok "the store starts" "$(cat "$1.err")"
		exit 1
	}
	STORE=http://127.0.0.1:$(cat "$1.ready")
}

# Starts the store that uploads go to.
store_for_uploads() {
	store_start store
	AWS_ENDPOINT_URL_S3=$STORE
	AWS_ENDPOINT_URL=http://127.0.0.1:1
	AWS_ACCESS_KEY_ID=AKIDTEST
	AWS_SECRET_ACCESS_KEY=kEy/With+Marks=
	STORAGE_EMULATOR_HOST=$STORE
	export AWS_ENDPOINT_URL_S3 AWS_ENDPOINT_URL AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY STORAGE_EMULATOR_HOST
	unset AWS_SESSION_TOKEN AWS_REGION AWS_DEFAULT_REGION
}

# Uploads the report of chat.results, with an empty log and the faults of $FAULTS.
upload() { # URL OPTION…
	upload_url=$1
	shift
	: >store/log
	printf '%s' "${FAULTS:-}" >store/faults
	run ipf-report --upload "$upload_url" "$@" chat.results
}

# Requests of the log, with their status.
sent() { # METHODS
	grep -E "^($1) " store/log | sed -e 's/ [^ ]*$//' -e 's/uploadId=u[0-9]*/uploadId=U/'
}
