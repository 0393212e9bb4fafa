#!/usr/bin/env bash
# Makes a bundle: the programs with the shared libraries they need, besides the C library, in any folder.
#
#     bundle.sh TREE FOLDER        `make bundle` calls it; TREE: what `make install prefix= DESTDIR=TREE` installed
#
# Each file finds the others by its own place ($ORIGIN). Needs patchelf and Debian's packages of these libraries, for their licences.
set -euo pipefail
tree=$1 folder=$2
command -v patchelf >/dev/null || { echo "bundle: patchelf is not installed: make deps DEPS=patchelf" >&2; exit 1; }

# The C library and the libraries it loads belong to the system.
of_system() { # LIBRARY
	case $1 in
	ld-linux*.so.* | libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | librt.so.* | libresolv.so.* | libnss_* | libanl.so.* | libutil.so.*) ;;
	*) return 1 ;;
	esac
}

rm -rf "$folder"
mkdir -p "$folder/lib" "$folder/share/doc/ipf/copyright"
cp -a "$tree/bin" "$folder/"
# For programs loading it, such as share/ipf/library/results.py.
cp -L "$tree"/lib/libipf.so.? "$folder/lib/"
cp -a "$tree/share/." "$folder/share/"
rm -rf "$folder/share/man/man3" "$folder/share/doc/ipf/examples/debian"
for installed in grafana library; do
	rm -rf "$folder/share/doc/ipf/examples/$installed"
	ln -s "../../../ipf/$installed" "$folder/share/doc/ipf/examples/$installed"
done
# ipf is a script.
mapfile -t programs < <(grep -l -a -m 1 -P '^\x7fELF' "$folder"/bin/*)
ldd "${programs[@]}" "$folder"/lib/* | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u | while read -r library; do
	of_system "${library##*/}" && continue
	cp -L "$library" "$folder/lib/"
	# Its licence. /lib is /usr/lib, and dpkg knows one of the two names.
	file=$(realpath "$library")
	package=$(dpkg -S "$file" 2>/dev/null || dpkg -S "${file#/usr}" 2>/dev/null) || {
		echo "bundle: $library: of no package, so that its licence is not known" >&2
		exit 1
	}
	package=${package%%:*}
	cp -L "/usr/share/doc/$package/copyright" "$folder/share/doc/ipf/copyright/$package"
done
strip "${programs[@]}" "$folder"/lib/libipf.so.?
chmod 644 "$folder"/lib/*
# shellcheck disable=SC2016 # the linker's variable
patchelf --set-rpath '$ORIGIN/../lib' "${programs[@]}"
# shellcheck disable=SC2016
patchelf --set-rpath '$ORIGIN' "$folder"/lib/*
glibc=$(objdump -T "${programs[@]}" "$folder"/lib/* | grep -o 'GLIBC_2\.[0-9.]*' | sort -uV | tail -1)
cat >"$folder/README" <<X
ipf, with the libraries that it needs, for Linux with glibc ${glibc#GLIBC_} or later. Run bin/ipf-fire and the others, or put bin into PATH; the
folder may be anywhere, as long as its parts stay together. man -M share/man ipf is the overview. Without a model server:

    PATH=\$PWD/bin:\$PATH DEMO=/tmp/demo share/doc/ipf/examples/demo.sh

The makefiles in share/ipf need make and jq, plots need gnuplot. Certificate authorities are those of /etc/ssl/certs/ca-certificates.crt, as
Debian has them; elsewhere set SSL_CERT_FILE for ipf-fire, and --cacert where a program has it. Licences are in share/doc/ipf/copyright.
X
