#!/bin/sh
# Makes a folder the root of an image: assemble.sh BUNDLE FOLDER. BUNDLE is what `make bundle` made, with its own C library and the programs
# of the makefiles. Besides, the image has busybox, and the few files a system has; no package manager.
set -eu
bundle=$1 root=$2
own=/usr/local/libexec/ipf

mkdir -p "$root/bin" "$root/etc/ssl/certs" "$root/usr/lib/ssl" "$root/tmp" "$root/work" "$root/usr/local"
chmod 1777 "$root/tmp" "$root/work"
cp -R "$bundle/." "$root/usr/local"
rm -rf "$root/usr/local/share/man" "$root/usr/local/share/bash-completion" "$root/usr/local/share/zsh" "$root/usr/local/share/fish"

# For the makefiles and the demo: what the bundle brings, and busybox for the rest.
# (Its shell would run its own tail, which cannot wait for a process.)
for tool in "$root$own"/tools/*; do ln -s "$own/tools/${tool##*/}" "$root/bin/"; done
cp "$(command -v busybox)" "$root/bin/busybox"
for tool in awk basename cat cp cut date dirname echo find grep head hostname id kill ln ls mkdir mktemp mv printf pwd readlink rm sed seq sleep \
	sort stat tee test touch tr uname wc xargs; do
	ln -s busybox "$root/bin/$tool"
done
ln -s ../bin "$root/usr/bin"

cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
ln -s /etc/ssl/certs/ca-certificates.crt "$root/usr/lib/ssl/cert.pem"
ln -s /etc/ssl/certs "$root/usr/lib/ssl/certs"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
printf 'root:x:0:0:root:/:/bin/sh\nipf:x:65532:65532:ipf:/work:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\nipf:x:65532:\n' >"$root/etc/group"
