#!/usr/bin/env bash
# Makes a bundle: the programs, the programs that makefiles need, their shared libraries, the C library and its loader, in any folder.
#
#     bundle.sh TREE FOLDER        `make bundle` calls it; TREE: what `make install prefix= DESTDIR=TREE` installed
#
# FOLDER.list then says what was taken from this system, for sbom.sh: the file there, a tab, the file in FOLDER.
# launcher.c says how a program starts. Needs musl-gcc (for the launcher), and Debian's packages of libraries and programs, for their licences.
# CC: the compiler of another architecture, whose libraries are searched where it searches, and LAUNCHER_CC a static one of the same.
set -euo pipefail
tree=$1 folder=$2
here=$(cd "$(dirname "$0")" && pwd)
cc=${CC:-cc} launcher_cc=${LAUNCHER_CC:-musl-gcc}
command -v "${launcher_cc%% *}" >/dev/null || { echo "bundle: ${launcher_cc%% *} is not installed: make deps DEPS=musl-tools" >&2; exit 1; }

# Besides those of every system: makefiles need these, some with options that only GNU's have (env -S, tail --pid), and a shell that does not
# take its own instead, as busybox does.
tools='make sh jq env tail cksum flock printenv realpath'

rm -rf "$folder" "$folder.list"
own=$folder/libexec/ipf
mkdir -p "$folder/bin" "$own/lib" "$own/programs" "$own/tools" "$folder/share/doc/ipf/copyright"
cp -a "$tree/share/." "$folder/share/"
rm -rf "$folder/share/man/man3" "$folder/share/doc/ipf/examples/debian" "$folder/share/ipf/library" "$folder/share/doc/ipf/examples/library"
if [ -e "$folder/share/doc/ipf/examples/grafana" ]; then
	rm -rf "$folder/share/doc/ipf/examples/grafana"
	ln -s ../../../ipf/grafana "$folder/share/doc/ipf/examples/grafana"
fi

# A file of this system, and the licence of its package. /lib is /usr/lib, and dpkg knows one of the two names.
taken() { # FILE FILE-IN-FOLDER
	local file package
	printf '%s\t%s\n' "$1" "$2" >>"$folder.list"
	file=$(realpath "$1")
	package=$(dpkg -S "$file" 2>/dev/null || dpkg -S "${file#/usr}" 2>/dev/null) || {
		echo "bundle: $1: of no package, so that its licence is not known" >&2
		exit 1
	}
	package=${package%%:*}
	cp -L "/usr/share/doc/$package/copyright" "$folder/share/doc/ipf/copyright/$package"
}

# ---- programs and tools ----
# shellcheck disable=SC2086 # with options
linked=$($launcher_cc -std=c11 -D_GNU_SOURCE -Os -static -s -Wl,--trace -o "$own/launcher" "$here/launcher.c")
taken "$(grep -m 1 '/libc\.a$' <<<"$linked")" bin/ipf-fire
for program in "$tree"/bin/*; do
	name=${program##*/}
	if head -c 2 "$program" | grep -q '^#!'; then # ipf
		cp "$program" "$folder/bin/"
	else
		cp "$program" "$own/programs/" && cp "$own/launcher" "$folder/bin/$name"
	fi
done
for name in $tools; do
	place=$(command -v "$name")
	taken "$place" "libexec/ipf/programs/$name"
	cp -L "$place" "$own/programs/" && cp "$own/launcher" "$own/tools/$name"
done
rm "$own/launcher"

# ---- libraries ----
place_of() { # LIBRARY: where the compiler finds it
	local place
	place=$($cc -print-file-name="$1")
	[ "$place" != "$1" ] || { echo "bundle: $1: not found" >&2; exit 1; }
	echo "$place"
}
needed_by() { # FILE…
	LC_ALL=C readelf -d "$@" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' | sort -u
}
loader=$(LC_ALL=C readelf -l "$own/programs/ipf-fire" | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
# The C library loads libgcc_s when a thread ends.
todo=$(needed_by "$own"/programs/*)$'\nlibgcc_s.so.1'
while [ -n "$todo" ]; do
	found=()
	for library in $todo; do
		[ ! -e "$own/lib/$library" ] || continue
		place=$(place_of "$library")
		name=$([ "$library" = "${loader##*/}" ] && echo loader || echo "$library")
		case $library in libicudata.*) ;; *) taken "$place" "libexec/ipf/lib/$name" ;; esac
		cp -L "$place" "$own/lib/$library"
		found+=("$own/lib/$library")
	done
	todo=$([ ${#found[@]} = 0 ] || needed_by "${found[@]}")
done
mv "$own/lib/${loader##*/}" "$own/lib/loader"

# ICU's tables are three times as large as everything else. libxml2 has them for rare encodings of XML, which no program of ours reads: in
# their place, a library saying there are none.
for icu in "$own"/lib/libicudata.so.*; do
	[ -e "$icu" ] || continue
	version=${icu##*.}
	$cc -shared -nostdlib -s -DICU_DATA="icudt${version}_dat" -Wl,-soname,"libicudata.so.$version" -o "$icu" "$here/no_icu_data.c"
done
"${STRIP:-strip}" "$own"/programs/*
chmod 644 "$own"/lib/*
chmod 755 "$own/lib/loader"

cat >"$folder/README" <<X
ipf with all that it needs, its own C library included, for Linux 4.18 or later. Run bin/ipf-fire and the others, or put bin into PATH; the
folder may be anywhere, as long as its parts stay together. man -M share/man ipf is the overview. Without a model server:

    PATH=\$PWD/bin:\$PATH DEMO=/tmp/demo share/doc/ipf/examples/demo.sh

Names are resolved and certificates are found as this system says (resolv.conf, hosts, its bundle of authorities, SSL_CERT_FILE).
Plots need gnuplot. libexec/ipf/tools has the few programs that the makefiles need; share/doc/ipf/ipf.cdx.json names package and version of each
library and program, share/doc/ipf/copyright its licence. Their sources are Debian's source packages of these versions.
X
