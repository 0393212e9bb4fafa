#!/bin/sh
# Makes a folder with installed programs the root of an image: assemble.sh FOLDER. After `make install DESTDIR=FOLDER` it adds the shared
# libraries, the programs of the makefiles, and the few files a system has. Without a package manager or a shell besides busybox.
set -eu
root=$1
here=$(cd "$(dirname "$0")" && pwd)

rm -rf "$root/usr/local/include" "$root/usr/local/lib" "$root/usr/local/share/man" "$root/usr/local/share/bash-completion" "$root/usr/local/share/zsh" "$root/usr/local/share/fish"
mkdir -p "$root/bin" "$root/etc/ssl/certs" "$root/usr/lib/ssl" "$root/tmp" "$root/work"
chmod 1777 "$root/tmp" "$root/work"

# For the makefiles and the demo: make, bash, jq, programs that busybox lacks or has with fewer options, and busybox for the rest.
# (Its shell would run its own tail, which cannot wait for a process.)
tools='make bash jq tail cksum flock env printenv realpath'
cp "$(command -v busybox)" "$root/bin/busybox"
for tool in awk basename cat cp cut date dirname echo find grep head hostname id kill ln ls mkdir mktemp mv printf pwd rm sed seq sleep sort \
	stat tee test touch tr uname wc xargs; do
	ln -s busybox "$root/bin/$tool"
done
for tool in $tools; do
	cp "$(command -v "$tool")" "$root/bin/"
	strip "$root/bin/$tool"
done
ln -s bash "$root/bin/sh"
ln -s ../bin "$root/usr/bin"
strip "$root"/usr/local/bin/ipf-* # ipf itself is a script

# The libraries of all of them, under the names by which they are loaded.
{
	ldd "$root"/usr/local/bin/ipf-*
	for tool in $tools; do ldd "$root/bin/$tool"; done
} |
	sed -nE 's/.*(=> |^\s)(\/[^ ]+) .*/\2/p' | sort -u |
	while read -r library; do
		mkdir -p "$root$(dirname "$library")"
		cp -L "$library" "$root$library"
	done

# ICU's tables are three times as large as everything else. libxml2 has them for rare encodings of XML, which no program of ours reads: in
# their place, a library saying there are none.
for icu in "$root"/lib/*/libicudata.so.* "$root"/usr/lib/*/libicudata.so.*; do
	[ -e "$icu" ] || continue
	version=${icu##*.}
	cc -shared -nostdlib -s -DICU_DATA="icudt${version}_dat" -Wl,-soname,"libicudata.so.$version" -o "$icu" "$here/no_icu_data.c"
done

cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
ln -s /etc/ssl/certs/ca-certificates.crt "$root/usr/lib/ssl/cert.pem"
ln -s /etc/ssl/certs "$root/usr/lib/ssl/certs"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
printf 'root:x:0:0:root:/:/bin/sh\nipf:x:65532:65532:ipf:/work:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\nipf:x:65532:\n' >"$root/etc/group"
