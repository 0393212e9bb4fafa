#!/usr/bin/env python3
"""Makes wheels of a bundle: `make wheel` calls it.

    make_wheel.py BUNDLE VERSION ARCHITECTURE FOLDER

BUNDLE is the folder that packaging/bundle/bundle.sh made. The two wheels have the same files and other names, since pip asks for
one of them on systems with glibc, for the other on those with musl. The programs bring their own C library, so the first is for any glibc. Files are
installed below the prefix (venv/bin, venv/libexec/ipf, venv/share), where the launchers and ipf find each other. The same bundle gives the same bytes.
"""

import base64
import hashlib
import os
import stat
import sys
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
METADATA = """Metadata-Version: 2.4
Name: ipf
Version: {version}
Summary: Measures how fast and how reliably model servers serve large language models
License-Expression: Apache-2.0
License-File: LICENSE
Requires-Python: >=3.9
Provides-Extra: arrow
Requires-Dist: pyarrow; extra == "arrow"
Provides-Extra: pandas
Requires-Dist: pandas>=2; extra == "pandas"
Requires-Dist: pyarrow; extra == "pandas"
Provides-Extra: polars
Requires-Dist: polars; extra == "polars"
Description-Content-Type: text/markdown

"""
# Of the bundle: what is for other ways of installing it, or would be installed twice.
LEFT_OUT = ("README", "share/doc/ipf/examples/grafana")


class Wheel:
    def __init__(self, path, when):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.when = time.gmtime(max(when, 315532800))[:6]  # a zip file begins in 1980
        self.record = []

    def add(self, name, data, executable=False):
        info = zipfile.ZipInfo(name, self.when)
        info.external_attr = (stat.S_IFREG | (0o755 if executable else 0o644)) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}\n")

    def close(self, name):
        self.add(name, ("".join(self.record) + f"{name},,\n").encode())
        self.zip.close()


def files_of(folder):
    """Files below a folder in a fixed order, with their names in it."""
    for path, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            yield os.path.relpath(os.path.join(path, name), folder), os.path.join(path, name)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def make(bundle, version, tag, path, when):
    wheel = Wheel(path, when)
    info = f"ipf-{version}.dist-info"
    for name, file in files_of(os.path.join(HERE, "ipf")):
        if "__pycache__" not in name:
            wheel.add(f"ipf/{name}", read(file))
    for name, file in files_of(bundle):
        if not name.startswith(LEFT_OUT):
            place = f"scripts/{name[4:]}" if name.startswith("bin/") else f"data/{name}"
            wheel.add(f"ipf-{version}.data/{place}", read(file), os.access(file, os.X_OK))
    wheel.add(f"{info}/licenses/LICENSE", read(os.path.join(HERE, "../../LICENSE")))
    wheel.add(f"{info}/sboms/ipf.cdx.json", read(os.path.join(bundle, "share/doc/ipf/ipf.cdx.json")))
    wheel.add(f"{info}/METADATA", METADATA.format(version=version).encode() + read(os.path.join(HERE, "README.md")))
    wheel.add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: ipf ({version})\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
    wheel.close(f"{info}/RECORD")


def main():
    bundle, version, architecture, folder = sys.argv[1:]
    when = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    for platform in ("manylinux_2_17", "musllinux_1_1"):
        tag = f"py3-none-{platform}_{architecture}"
        path = os.path.join(folder, f"ipf-{version}-{tag}.whl")
        make(bundle, version, tag, path, when)
        print(path)


main()
