#!/bin/bash
# The wheels: their files, and what pip makes of them in bare systems, without a compiler.
. "$TESTS/tap.sh"
. "$TESTS/packages/systems.sh"
ROOT=$(cd "$TESTS/.." && pwd)
lacks=$(systems_lack musl-gcc python3)
[ -z "$lacks" ] || skip_all "$lacks is missing"
unset DESTDIR prefix
version=$(sed -n 's/^.define IPF_VERSION "\(.*\)"/\1/p' "$ROOT/lib/version.h")
architecture=$(uname -m)

run make -C "$ROOT" BUILD="$BUILD" wheel
status_is 0 "make wheel ends with 0"
[ "$status" = 0 ] || exit 1
glibc=ipf-$version-py3-none-manylinux_2_17_$architecture.whl musl=ipf-$version-py3-none-musllinux_1_1_$architecture.whl
cp "$BUILD/$glibc" "$BUILD/$musl" .
between "$(stat -c %s "$glibc")" 1000000 25000000 "the wheel has less than 25 MB"

# ---- its files ----
is "$(python3 - "$glibc" <<'X'
import base64, csv, hashlib, io, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
names = wheel.namelist()
record = [name for name in names if name.endswith(".dist-info/RECORD")][0]
rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(wheel.read(record).decode()))}
print(len(names) == len(set(names)) and set(names) == set(rows))
print(all(rows[name] == ["sha256=" + base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=").decode(), str(len(wheel.read(name)))]
          for name in names if name != record))
# The system starts the scripts without any library; programs of libexec/ipf are started by the loader beside them.
scripts = [name for name in names if ".data/scripts/" in name]
print(len(scripts), all(b"libc.so" not in wheel.read(name) and b"ld-linux" not in wheel.read(name) for name in scripts if not name.endswith("/ipf")))
X
)" "$(printf 'True\nTrue\n8 True')" "its record has the digest of each file, and its programs need no library of the system"
python3 -m zipfile -e "$glibc" unpacked
is "$(jq -r '.bomFormat + " " + (.components | map(select(.name == "libcurl.so.4")) | length | tostring)' "unpacked/ipf-$version.dist-info/sboms/ipf.cdx.json")" \
	"CycloneDX 1" "the bill of materials is in it"
yes_if "the man pages are in it" test -s "unpacked/ipf-$version.data/data/share/man/man7/ipf.7"

# ---- in bare systems ----
in_system() { # NAME SUITE [OPTION]…
	local label=$1 root=$PWD/$2
	if ! system_make "$root" "$2" python3-venv "${@:3}"; then
		skip "$label" "no root file system: $(tail -1 system.log)"
		return
	fi
	cp "$glibc" "$root/opt"
	run system_user "$root" "python3 -m venv venv && time venv/bin/pip install -q --no-index /opt/$glibc"
	status_is 0 "$label: pip installs the wheel"
	echo "# $label: $(grep -o 'real.*' "$ERR") to install"
	run system_user "$root" "PATH=\$PWD/venv/bin:\$PATH && $measure_simulated"
	status_is 0 "$label: ipf run measures"
	contains "$(cat "$OUT")" "Verdict " "$label: ipf run shows its report"
	run system_user "$root" "venv/bin/python -c 'import ipf; r = ipf.results(\"run/results.zst\"); print(len(list(r)) == r.report().total.requests.scheduled)'"
	is "$(tail -1 "$OUT")" True "$label: the module reads the results"
	run system_user "$root" "venv/bin/pip uninstall -q -y ipf && find venv -type f -name '*ipf*' | grep -v __pycache__"
	is "$(cat "$OUT")" "" "$label: pip removes all of it"
	rm -rf "$root"
}
in_system "Debian 11" bullseye
in_system "Debian 12" bookworm
if system_make_musl "$PWD/musl"; then
	run python3 -m venv host
	run host/bin/pip install -q --no-index --no-deps --only-binary :all: --platform "musllinux_1_1_$architecture" --target "$PWD/musl/opt/ipf" "./$musl"
	status_is 0 "musl: pip installs the wheel"
	run system_run "$PWD/musl" "cd /tmp && PATH=/opt/ipf/bin:\$PATH && $measure_simulated"
	status_is 0 "musl: ipf run measures"
	contains "$(cat "$OUT")" "Verdict " "musl: ipf run shows its report"
else
	skip "musl: ipf run measures" "busybox-static and musl are missing"
fi

# ---- as users install it, with packages of the registry ----
if python3 -m venv user && timeout 500 user/bin/pip install -q "$PWD/${glibc}[pandas,polars]" matplotlib nbconvert ipykernel uv auditwheel 2>pip.log; then
	BUILD=$PWD/user PYTHON=$PWD/user/bin/python bash "$TESTS/cli/python-module.t" >module.tap 2>&1
	is "$(grep -cE '^ok .*notebook' module.tap) $(grep -E '^not ok|# skip' module.tap)" "2 " "the module does with the wheel what it does with a build"
	run env HOME="$PWD" user/bin/uvx --offline --python user/bin/python --from "./$glibc" ipf-fire --version
	contains "$(cat "$OUT")" "ipf-fire $version" "uvx runs a program"
	# auditwheel takes the C library of the wheel for the system's: it is asked about what the system loads, the rest left out.
	python3 - "$glibc" <<'X'
import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
with zipfile.ZipFile("loaded-" + sys.argv[1], "w") as loaded:
    for name in wheel.namelist():
        data = wheel.read(name)
        if name.endswith("/RECORD"):
            data = b"".join(line for line in data.splitlines(True) if b"/libexec/" not in line)
        if "/libexec/" not in name:
            loaded.writestr(wheel.getinfo(name), data)
X
	mkdir audited && mv "loaded-$glibc" "audited/$glibc"
	run user/bin/auditwheel show "audited/$glibc"
	contains "$(tr '\n' ' ' <"$OUT")" "manylinux_2_5_$architecture" "auditwheel: what the system loads fits older systems, too"
else
	skip "the module does with the wheel what it does with a build" "pip installs nothing: $(tail -1 pip.log)"
fi
