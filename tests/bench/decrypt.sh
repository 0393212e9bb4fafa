#!/bin/sh
# How fast is captured TLS decrypted, in TCP segments of 1,448 bytes, against OpenSSL's cipher alone? Both in one run, for full records
# and for records of one short event.
set -eu
for suite in TLS_AES_128_GCM_SHA256 TLS_AES_256_GCM_SHA384 TLS_CHACHA20_POLY1305_SHA256; do
	for bytes in 16384 1400 200; do
		goal=-
		[ $bytes != 16384 ] || goal=0.5
		"$BUILD/bench/decrypt" "$suite" "$bytes" 1448 | awk -v name="decrypting $suite, records of $bytes bytes" -v goal="$goal" '{
			ratio = $1 / $2
			met = goal == "-" ? "-" : (ratio >= goal ? "met" : "missed")
			printf "%s\t%d MB/s\t%d MB/s\t%.2f\t%s\t%s\n", name, $1, $2, ratio, goal, met
		}'
	done
done
