#!/bin/bash
# examples/debian: its files agree with the sources. `make check-packages` makes and tries the packages.
. "$TESTS/tap.sh"

ROOT=$(cd "$TESTS/.." && pwd)
debian=$ROOT/examples/debian
version=$(sed -n 's/^.define IPF_VERSION "\(.*\)"/\1/p' "$ROOT/lib/version.h")
major=${version%%.*}

is "$(sed -n 's/^Package: //p' "$debian/control" | tr '\n' ' ')" "ipf libipf$major libipf-dev " "the library's package has the number of its soname"
is "$(sed -n '1s/ .*//p' "$debian/libipf$major.symbols")" "libipf.so.$major" "the list of symbols has the number of the soname"
is "$(sed -n 's/^ (symver)\([^ ]*\) .*/\1/p' "$debian/libipf$major.symbols")" "$(sed -n 's/^\(LIBIPF_[0-9.]*\) {.*/\1/p' "$ROOT/libipf/libipf.map")" \
	"the list of symbols has the versions of the map"
is "$(make -pn -C "$ROOT" help 2>/dev/null | sed -n 's/^DEBS := //p' | tr ' ' '\n' | grep -- '-dev$' | sort)" \
	"$(sed -n '/^Build-Depends:/,/^Rules/p' "$debian/control" | grep -oE '[a-z0-9.-]+-dev' | sort)" "the package is built with what the Makefile needs"
run make -n -f "$debian/rules" -C "$ROOT" override_dh_auto_install
contains "$(cat "$OUT")" "dh_auto_install -- prefix=/usr libdir=/usr/lib/" "the rules are a makefile, which installs under /usr"
# each file of `make install` goes into one package
unset DESTDIR prefix
run make -n -C "$ROOT" install prefix=/usr libdir=/usr/lib/any zshcompletions=/usr/share/zsh/vendor-completions
status_is 0 "make install says what it would do"
for folder in $(grep -oE ' /usr/[^ ;$]+' "$OUT" | grep -v '/man$' | sed 's,^ /,,' | sort -u); do
	cat "$debian"/*.install | while read -r pattern; do
		# shellcheck disable=SC2254 # patterns
		case $folder/x in $pattern/* | $pattern) echo found ;; esac
	done | grep -q found || echo "$folder"
done >left
is "$(grep -vE '^usr/lib/any(/libipf.*)?$' left)" "" "every folder of make install is in a package"
is "$(cat "$debian"/*.install | sort | uniq -d)" "" "no folder of make install is in two packages"
while read -r target link; do
	yes_if "$link is a link to what is installed" grep -q "/${target##*/}\b" "$OUT"
	yes_if "$link is a folder of the examples" test -d "$ROOT/examples/${link##*/}"
done <"$debian/ipf.links"
