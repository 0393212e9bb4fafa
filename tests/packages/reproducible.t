#!/bin/bash
# The same sources give the same bytes: archive, bill of materials, programs, library, bundle and Debian's packages, made twice of the
# same commit, in folders of other names, with another umask, locale, time zone, order of compilation and home.
. "$TESTS/tap.sh"
ROOT=$(cd "$TESTS/.." && pwd)
command -v musl-gcc >/dev/null || skip_all "musl-gcc is missing"
git -C "$ROOT" rev-parse --git-dir >/dev/null 2>&1 || skip_all "the sources are not a clone"
unset DESTDIR prefix DEBFULLNAME DEBEMAIL DEB_BUILD_OPTIONS SOURCE_DATE_EPOCH
targets=(all dist wheel)
! command -v dh >/dev/null || targets+=(deb)

# BUILD, which tests have, names another folder.
made_in() ( # FOLDER COMMAND…
	git clone -q "$ROOT" "$1" && cd "$1" && shift && env -u BUILD "$@" "${targets[@]}" >make.log 2>&1
)
mkdir one another home
run made_in one/ipf make -j2
status_is 0 "the targets are made in a clone"
# shellcheck disable=SC2016 # for the inner shell
run made_in another/sources-of-ipf env LC_ALL=C.UTF-8 TZ=Asia/Tokyo HOME="$PWD/home" USER=somebody sh -c 'umask 077; make "$@"' -
status_is 0 "made once more, elsewhere"

same() { # WHAT FILE
	local a=one/ipf/.build/$2 b=another/sources-of-ipf/.build/$2
	if [ -e "$a" ] || [ -e "$b" ]; then
		is "$(sha256sum <"$a")" "$(sha256sum <"$b")" "$1"
	else
		skip "$1" "it was not made"
	fi
}
version=$(sed -n 's/^.define IPF_VERSION "\(.*\)"/\1/p' "$ROOT/lib/version.h")
for program in prep sched fire collect report twin sim; do same "ipf-$program" "bin/ipf-$program"; done
same "the shared library" "library/libipf.so.${version%%.*}"
same "the static library" library/libipf.a
same "the sources" "ipf-$version.tar.gz"
same "their bill of materials" "ipf-$version.cdx.json"
same "the bundle" "ipf-$version-linux-$(uname -m).tar.gz"
same "the wheel" "ipf-$version-py3-none-manylinux_2_17_$(uname -m).whl"
for package in ipf libipf0 libipf-dev; do
	same "Debian's package $package" "deb/${package}_$version-0ipf1_$(dpkg --print-architecture 2>/dev/null).deb"
done

# The bill lists the bundle's real contents.
bundle=one/ipf/.build/ipf-$version-linux-$(uname -m)
bill=$bundle/share/doc/ipf/ipf.cdx.json
is "$(jq -r '.components[] | select(.name | test("[.]so")) | "\(.hashes[0].content)  \(.name)"' "$bill" | sort -k 2)" \
	"$(cd "$bundle/libexec/ipf/lib" && sha256sum -- * | sed 's/  loader$/  ld-linux-x86-64.so.2/' | grep -v libicudata | sort -k 2)" \
	"the bill of the bundle has each library with its digest"
is "$(jq -r '[.components[].name | select(test("^(make|jq|sh|libc[.]a)$"))] | sort | join(" ")' "$bill")" "jq libc.a make sh" "the bill of the bundle has its tools, and what is linked to the launcher"
is "$(jq '[.components[] | select(has("purl") | not)] | length' "$bill")" 0 "the bill of the bundle has the package of each library"
