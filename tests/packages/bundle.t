#!/bin/bash
# The bundle: it runs wherever it is, in bare root file systems of older and newer Debians and of one with musl.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/packages/systems.sh"
ROOT=$(cd "$TESTS/.." && pwd)
lacks=$(systems_lack musl-gcc)
[ -z "$lacks" ] || skip_all "$lacks is missing"
unset DESTDIR prefix
version=$(sed -n 's/^.define IPF_VERSION "\(.*\)"/\1/p' "$ROOT/lib/version.h")
name=ipf-$version-linux-$(uname -m)

run make -C "$ROOT" BUILD="$BUILD" bundle
status_is 0 "make bundle ends with 0"
[ "$status" = 0 ] || exit 1
mkdir "a folder" && tar -xzf "$BUILD/$name.tar.gz" -C "a folder"
bundle=$PWD/a\ folder/$name

# ---- the system's loader and C library have nothing to do with it ----
for launcher in "$bundle"/bin/ipf-* "$bundle"/libexec/ipf/tools/*; do
	is "$(LC_ALL=C readelf -ld "$launcher" | grep -E 'INTERP|NEEDED')" "" "${launcher##*/} starts without a library"
done
loaded=$("$bundle/libexec/ipf/lib/loader" --library-path "$bundle/libexec/ipf/lib" --list "$bundle/libexec/ipf/programs/ipf-prep" | grep ' => ')
is "$(grep -vF "=> $bundle/" <<<"$loaded" | grep -v 'ld-linux')" "" "libraries of a program are all in the bundle"
is "$(find "$bundle/share/doc/ipf/copyright" -type f -size +0 | wc -l)" "$(find "$bundle/share/doc/ipf/copyright" | tail -n +2 | wc -l)" "the bundle has the licences"
run "$bundle/bin/ipf-report" --version
contains "$(cat "$OUT")" "$version" "a folder with a space is no hindrance"
outside() { # BUNDLE: libraries of the system that a program loads
	LD_DEBUG=files "$1/bin/ipf-report" --version 2>&1 | sed -n '/\/libexec\/ipf\/\|\/proc\/self\/fd\//d; s/.*calling init: //p'
}
# shellcheck disable=SC2016 # the loader would replace it
for odd in 'a:folder' 'a;folder' 'a$LIB'; do
	cp -al "$bundle" "$odd"
	is "$(outside "$odd")" "$(outside "$bundle")" "a folder $odd has its own libraries"
done
ln -s "$bundle/bin/ipf-fire" another-name
run ./another-name --version
contains "$(head -1 "$OUT")" "ipf-fire $version" "a link from elsewhere starts the program"
run env LD_LIBRARY_PATH=/nowhere "$bundle/libexec/ipf/tools/sh" -c 'echo "$0 $LD_LIBRARY_PATH"; exit 7' zero one
is "$status $(cat "$OUT")" "7 zero /nowhere" "arguments, environment and status pass"
"$bundle/bin/ipf-sim" >named.txt &
stop_at_exit $!
wait_for test -s named.txt
is "$(cat /proc/$!/comm)" "ipf-sim" "the process has the name of its program"
rm -r "$bundle/libexec/ipf/programs"
run "$bundle/bin/ipf-fire" --version
is "$status $(cat "$ERR")" "1 ipf: $bundle/bin/../programs/ipf-fire: No such file or directory: the folder of the bundle is not whole" "a part that is missing is named"

# ---- in bare systems ----
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=a-server \
	-addext subjectAltName=DNS:a-server >/dev/null 2>&1
openssl s_server -accept 127.0.0.1:0 -cert cert.pem -key key.pem -www >heard 2>&1 &
stop_at_exit $!
port() { sed -n 's/^ACCEPT .*:\([0-9]*\)$/\1/p' heard | head -1 | grep .; }
wait_for port
PORT=$(port)
in_system() { # NAME ROOT HOW…: runs it in the root file system
	local label=$1 root=$2
	tar -xzf "$BUILD/$name.tar.gz" -C "$root/opt"
	run "${@:3}" "$root" "cd /tmp && PATH=/opt/$name/bin:\$PATH && $measure_simulated"
	status_is 0 "$label: ipf run measures"
	contains "$(cat "$OUT")" "Verdict " "$label: ipf run shows its report"
	echo '127.0.0.1 a-server' >>"$root/etc/hosts"
	mkdir -p "$root/etc/pki/tls/certs" && cp cert.pem "$root/etc/pki/tls/certs/ca-bundle.crt" && rm -rf "$root/etc/ssl"
	run "${@:3}" "$root" "cd /tmp && PATH=/opt/$name/bin:\$PATH && ipf-prep synthetic -q -n 1 --input-tokens 5 --output-tokens 1 -o one.trace &&
		ipf-sched -q burst:n=1 -t one.trace | ipf-fire -m sim -u https://a-server:$PORT -t one.trace --timeout 3s -q | grep tls_ns"
	matches "$(cat "$OUT")" '"tls_ns":[0-9]' "$label: names of its hosts file, and certificates in its place"
	rm -rf "$root"
}
try() { # NAME SUITE [MIRROR OR OPTION]…
	local label=$1 root=$PWD/$2
	if system_make "$root" "$2" ca-certificates "${@:3}"; then
		in_system "$label" "$root" system_user
	else
		skip "$label" "no root file system: $(tail -1 system.log)"
	fi
}
try "Debian 11" bullseye
try "Debian 12" bookworm
try "Debian 13" trixie
if [ -n "${IPF_UBUNTU:-}" ]; then
	keyring=${IPF_UBUNTU_KEYRING:-/usr/share/keyrings/ubuntu-archive-keyring.gpg}
	try "Ubuntu 22.04" jammy "deb [signed-by=$keyring] $IPF_UBUNTU jammy main"
else
	skip "Ubuntu 22.04" "IPF_UBUNTU names no mirror of Ubuntu"
fi
if system_make_musl "$PWD/musl"; then
	in_system "musl" "$PWD/musl" system_run
else
	skip "musl" "busybox-static and musl are missing"
fi
