# A real store of objects speaking the protocol of S3, OpenStack's Swift, for the tests needing one: source it after tap.sh.
# Debian: apt-get install swift-proxy swift-account swift-container swift-object memcached
# shellcheck shell=sh

# Missing packages; nothing if all is there.
swift_lacks() {
	for swift_program in memcached swift-ring-builder swift-account-server swift-container-server swift-object-server swift-proxy-server; do
		command -v "$swift_program" >/dev/null || echo "$swift_program"
	done | head -1
	unset swift_program
}

# Settings of one server; its pipeline comes from standard input.
swift_settings() { # NAME PORT
	printf '[DEFAULT]\nbind_ip = 127.0.0.1\nbind_port = %s\nworkers = 0\nuser = %s\nswift_dir = %s\ndevices = %s/devices\nmount_check = false\nlog_address = /dev/null\n' \
		"$2" "$(id -un)" "$SWIFT_FOLDER" "$SWIFT_FOLDER" >"$SWIFT_FOLDER/$1.conf"
	cat >>"$SWIFT_FOLDER/$1.conf"
}

# Starts one: $SWIFT is its URL, and its key is test:tester, testing. Its files are in a folder of the test.
swift_start() {
	SWIFT_FOLDER=$PWD/swift
	mkdir -p "$SWIFT_FOLDER/devices/d1"
	# shellcheck disable=SC2046 # five ports
	set -- $(free_ports 5)
	printf '[swift-hash]\nswift_hash_path_suffix = ipf\n' >"$SWIFT_FOLDER/swift.conf"
	for swift_kind in "account $1" "container $2" "object $3"; do
		swift_name=${swift_kind% *} swift_port=${swift_kind#* }
		printf '[pipeline:main]\npipeline = %s-server\n[app:%s-server]\nuse = egg:swift#%s\n' "$swift_name" "$swift_name" "$swift_name" |
			swift_settings "$swift_name" "$swift_port"
		(
			cd "$SWIFT_FOLDER" || exit 1
			swift-ring-builder "$swift_name.builder" create 4 1 1 &&
				swift-ring-builder "$swift_name.builder" add "r1z1-127.0.0.1:$swift_port/d1" 1 &&
				swift-ring-builder "$swift_name.builder" rebalance
		) >"$SWIFT_FOLDER/ring.log" 2>&1
	done
	{
		echo '[pipeline:main]'
		echo 'pipeline = catch_errors cache listing_formats bulk s3api tempauth copy slo dlo proxy-server'
		printf '[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true\n'
		printf '[filter:cache]\nuse = egg:swift#memcache\nmemcache_servers = 127.0.0.1:%s\n' "$5"
		printf '[filter:s3api]\nuse = egg:swift#s3api\nlocation = us-east-1\n'
		printf '[filter:tempauth]\nuse = egg:swift#tempauth\nuser_test_tester = testing .admin\n'
		for swift_filter in catch_errors listing_formats bulk copy slo dlo; do
			printf '[filter:%s]\nuse = egg:swift#%s\n' "$swift_filter" "$swift_filter"
		done
	} | swift_settings proxy "$4"
	memcached -u nobody -l 127.0.0.1 -p "$5" -U 0 >"$SWIFT_FOLDER/memcached.log" 2>&1 &
	stop_at_exit $!
	for swift_name in account container object proxy; do
		/usr/bin/python3 "$(command -v "swift-$swift_name-server")" "$SWIFT_FOLDER/$swift_name.conf" >"$SWIFT_FOLDER/$swift_name.log" 2>&1 &
		stop_at_exit $!
	done
	SWIFT=http://127.0.0.1:$4
	wait_for curl -s -o swift.up "$SWIFT/" || {
		not_ok "Swift starts" "$(tail -n 5 "$SWIFT_FOLDER/proxy.log")"
		exit 1
	}
	unset swift_kind swift_name swift_port swift_filter
}
