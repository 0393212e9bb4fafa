#!/bin/bash
# The bundle: the demo runs from it, wherever it is, in bare root file systems of this Debian and of others.
. "$TESTS/tap.sh"
. "$TESTS/packages/systems.sh"
ROOT=$(cd "$TESTS/.." && pwd)
lacks=$(systems_lack patchelf)
[ -z "$lacks" ] || skip_all "$lacks is missing"
unset DESTDIR prefix
version=$(sed -n 's/^.define IPF_VERSION "\(.*\)"/\1/p' "$ROOT/lib/version.h")
name=ipf-$version-linux-$(uname -m)

run make -C "$ROOT" BUILD="$BUILD" bundle
status_is 0 "make bundle ends with 0"
[ "$status" = 0 ] || exit 1
mkdir "a folder" && tar -xzf "$BUILD/$name.tar.gz" -C "a folder"
bundle=$PWD/a\ folder/$name
# besides the C library, nothing comes from the system, and nothing from where the bundle was made
is "$(ldd "$bundle"/bin/* | grep -E 'not found|=> ' | grep -vF "=> $bundle/" |
	grep -vE '=> /lib/.*/(libc|libm|libresolv|libpthread|libdl|librt)\.so\.[0-9]+ ')" "" "programs of the bundle find their libraries in it"
for library in "$bundle"/lib/*; do
	matches "$(readelf -d "$library")" '\(RUNPATH\).*\[\$ORIGIN\]$' "${library##*/} finds others beside it"
done
is "$(find "$bundle/share/doc/ipf/copyright" -type f -size +0 | wc -l)" "$(find "$bundle/share/doc/ipf/copyright" | tail -n +2 | wc -l)" "the bundle has the licences"
run "$bundle/bin/ipf-report" --version
contains "$(cat "$OUT")" "$version" "a folder with a space is no hindrance"

try() { # NAME SUITE [MIRROR OR OPTION]…
	local label=$1 root=$PWD/$2
	if ! system_make "$root" "$2" ca-certificates "${@:3}"; then
		skip "the demo runs from it in a bare $label" "no root file system: $(tail -1 system.log)"
		return
	fi
	tar -xzf "$BUILD/$name.tar.gz" -C "$root/opt"
	run system_user "$root" "cd /opt/$name && PATH=\$PWD/bin:\$PATH DEMO=~/demo share/doc/ipf/examples/demo.sh"
	status_is 0 "the demo runs from it in a bare $label"
	is "$(grep -c '^Verdict ' "$OUT")" 2 "$label: the demo shows two reports"
	run system_user "$root" "/opt/$name/bin/ipf-fire -u https://localhost:1 --version"
	contains "$(cat "$OUT")" OpenSSL "$label: programs use their own libraries"
	rm -rf "$root"
}
try "Debian 12" bookworm
try "Debian 13" trixie
if [ -n "${IPF_UBUNTU:-}" ]; then
	keyring=${IPF_UBUNTU_KEYRING:-/usr/share/keyrings/ubuntu-archive-keyring.gpg}
	try "Ubuntu 24.04" noble "deb [signed-by=$keyring] $IPF_UBUNTU noble main"
else
	skip "the demo runs from it in a bare Ubuntu 24.04" "IPF_UBUNTU names no mirror of Ubuntu"
fi
