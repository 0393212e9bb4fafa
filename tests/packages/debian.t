#!/bin/bash
# examples/debian: the packages are made, installed in a bare Debian 12, used there as its page says, and purged.
. "$TESTS/tap.sh"
. "$TESTS/packages/systems.sh"
ROOT=$(cd "$TESTS/.." && pwd)
lacks=$(systems_lack dpkg-buildpackage dh lintian)
[ -z "$lacks" ] || skip_all "$lacks is missing"
unset DESTDIR prefix DEBFULLNAME DEBEMAIL DEB_BUILD_OPTIONS
version=$(sed -n 's/^.define IPF_VERSION "\(.*\)"/\1/p' "$ROOT/lib/version.h")
major=${version%%.*}

# ---- made ----------------------------------------------------------------------------------------------------------
run make -C "$ROOT" BUILD="$BUILD" deb
status_is 0 "make deb ends with 0"
[ "$status" = 0 ] || exit 1
is "$(grep -h '^[EW]: ' "$OUT" "$ERR")" "" "lintian finds neither an error nor a warning"
is "$(cd "$BUILD/deb" && for deb in *.deb; do echo "${deb%%_*}"; done | sort | tr '\n' ' ')" "ipf ipf-dbgsym libipf-dev libipf$major libipf$major-dbgsym " \
	"three packages, and their symbols for debuggers"
is "$(dpkg-deb -f "$BUILD"/deb/ipf_*.deb Version)" "$version-0ipf1" "the packages have this version"
contains "$(dpkg-deb -f "$BUILD"/deb/libipf-dev_*.deb Depends)" "libipf$major (= $version-0ipf1)" "headers are for the library of their version"

# ---- installed -----------------------------------------------------------------------------------------------------
root=$PWD/debian12
if ! system_make "$root" bookworm gcc,libc6-dev,pkg-config,make,jq,ca-certificates; then
	skip "the packages install" "mmdebstrap makes no root file system: $(tail -1 system.log)"
	exit
fi
mkdir "$root/debs"
cp "$BUILD"/deb/*.deb "$root/debs"
rm "$root"/debs/*dbgsym*
system_run "$root" 'dpkg-query -f "\${Package}\n" -W | sort' >packages.before
run system_run "$root" 'apt-get update -qq && apt-get install -y -qq --no-install-recommends /debs/*.deb'
status_is 0 "the packages install in a bare system"
[ "$status" = 0 ] || exit 1
run system_run "$root" 'for p in prep sched fire collect report twin sim; do
	ipf-$p --version && test -s /usr/share/man/man1/ipf-$p.1.gz && bash -c ". /usr/share/bash-completion/completions/ipf-$p && complete -p ipf-$p" || exit
	test -s /usr/share/zsh/vendor-completions/_ipf-$p && test -s /usr/share/fish/vendor_completions.d/ipf-$p.fish || exit; done'
status_is 0 "programs of the packages run, with manual pages and completions"
contains "$(head -1 "$OUT")" "$version" "programs of the packages have this version"
run system_user "$root" 'DEMO=~/demo /usr/share/doc/ipf/examples/demo.sh'
status_is 0 "the demo runs from the package, as a user"
is "$(grep -c '^Verdict ' "$OUT")" 2 "the demo of the package shows two reports"
is "$(jq .total.requests.failed "$root/home/user/demo/chat.report.json")" 0 "no request of the demo of the package failed"
run system_user "$root" 'rm -f sim.txt; ipf-sim --die-with-parent >sim.txt & for _ in $(seq 300); do [ ! -s sim.txt ] || break; sleep 0.1; done
	make -f /usr/share/ipf/run.mk URL=$(grep -o "http[^ ]*" sim.txt) MODEL=sim REQUESTS=100 INPUT=20 OUTPUT=4 RATE=20 FOR=2s WARMUP=0'
status_is 0 "a makefile runs from there"
contains "$(cat "$OUT")" "Verdict " "the makefile of the package shows its report"

# ---- the library ---------------------------------------------------------------------------------------------------
run system_user "$root" 'cp -rL /usr/share/doc/ipf/examples/library . && cd library || exit
	for p in measure benchmark; do cc -Wall -Werror -o $p $p.c $(pkg-config --cflags --libs ipf) || exit; done
	ldd benchmark | grep -o "libipf.so.[0-9]*" && ./measure ~/demo/chat.records.zst'
status_is 0 "programs build with libipf-dev, and measure"
contains "$(cat "$OUT")" "libipf.so.$major" "programs use the shared library of the package"
run system_user "$root" 'rm -f sim.txt; ipf-sim --die-with-parent >sim.txt & for _ in $(seq 300); do [ ! -s sim.txt ] || break; sleep 0.1; done
	library/benchmark $(grep -o "http[^ ]*" sim.txt) sim 20 2'
status_is 0 "a benchmark as code runs"
run system_user "$root" 'cd library && cc -o static measure.c -l:libipf.a -lm $(pkg-config --cflags --libs $(pkg-config --print-requires-private ipf)) &&
	! ldd static | grep libipf && ./static ~/demo/chat.records.zst'
status_is 0 "programs build with the static library of the package"

# ---- purged --------------------------------------------------------------------------------------------------------
run system_run "$root" "apt-get purge -y -qq ipf libipf$major libipf-dev && apt-get autoremove --purge -y -qq && dpkg --audit"
status_is 0 "the packages are purged"
system_run "$root" 'dpkg-query -f "\${Package}\n" -W | sort' >packages.after
same packages.before packages.after "purged packages leave the packages that were installed before"
is "$(cd "$root" && find usr etc var opt run -path '*ipf*')" "" "purged packages leave no file"
