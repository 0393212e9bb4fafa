"""The Unicode character database in several versions, for the scripts making tables (make_*.py).

The data is from the npm packages @unicode/unicode-VERSION, which have one folder per property and one file of ranges
per value:

    npm install --prefix DIR @unicode/unicode-9.0.0 @unicode/unicode-14.0.0 …
    NODE_PATH=DIR/node_modules python3 make_unicode_pins.py

Packages are looked for in the folders of NODE_PATH, then in the folders node_modules of the working folder and those
above it. Nothing of Node.js runs.
"""
import base64
import gzip
import json
import os
import pathlib
import re
import sys

DIGITS = {c: i for i, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")}


def _folder(version):
    package = pathlib.Path("@unicode", f"unicode-{version}")
    here = pathlib.Path.cwd()
    folders = [pathlib.Path(p) for p in os.environ.get("NODE_PATH", "").split(os.pathsep) if p]
    folders += [folder / "node_modules" for folder in (here, *here.parents)]
    for folder in folders:
        if (folder / package / "package.json").exists():
            return folder / package
    print(f"{sys.argv[0]}: the npm package {package} is not installed "
          f"(npm install --prefix DIR {package}, then set NODE_PATH=DIR/node_modules)", file=sys.stderr)
    sys.exit(2)


def _deltas(text):
    """Numbers of 5, 10, 15 or 21 bits in base64 digits; the first digit says how many there are."""
    at = 0
    while at < len(text):
        value = DIGITS[text[at]]
        more = 0 if value < 32 else 1 if value < 48 else 2 if value < 56 else 3
        if more:
            value &= 15 if more == 1 else 7
        for digit in text[at + 1:at + 1 + more]:
            value = value << 6 | DIGITS[digit]
        at += 1 + more
        yield value


class Unicode:
    """One version of the database."""

    def __init__(self, version):
        self.folder = _folder(version)

    def values(self, name):
        """The values of a property the package has."""
        return sorted(path.name for path in (self.folder / name).iterdir() if (path / "ranges.mjs").exists())

    def characters(self, name, value):
        """The set of characters with this value of a property."""
        source = (self.folder / name / value / "ranges.mjs").read_text(encoding="utf-8")
        deltas = list(_deltas(re.search(r"decodeRanges\('([^']*)'\)", source)[1]))
        found = set()
        end = -1
        for skip, length in zip(deltas[::2], deltas[1::2]):
            begin = end + 1 + skip
            end = begin + 1 + length
            found.update(range(begin, end))
        return found

    def binary(self, name):
        return self.characters("Binary_Property", name)

    def lowercase(self):
        """Simple lower case: {character: character}."""
        source = (self.folder / "Simple_Case_Mapping/Lowercase/code-points.mjs").read_text(encoding="utf-8")
        return dict(json.loads(gzip.decompress(base64.b64decode(re.search(r"Buffer.from\('([^']*)'", source)[1]))))

    def category(self):
        """{character: name of its category}."""
        groups = {"Cased_Letter", "Letter", "Mark", "Number", "Punctuation", "Symbol", "Separator", "Other"}
        return {c: name for name in self.values("General_Category") if name not in groups
                for c in self.characters("General_Category", name)}

    def script(self):
        """{character: name of its script}, without characters that have none."""
        return {c: name for name in self.values("Script") if name != "Unknown" for c in self.characters("Script", name)}

    def categories(self, *names):
        return set().union(*(self.characters("General_Category", name) for name in names))


MARKS = ("Nonspacing_Mark", "Spacing_Mark", "Enclosing_Mark")
PUNCTUATION = ("Connector_Punctuation", "Dash_Punctuation", "Open_Punctuation", "Close_Punctuation",
               "Initial_Punctuation", "Final_Punctuation", "Other_Punctuation")


def ranges(characters, value=lambda c: None):
    """(first, last, value) for each run of characters without a gap with the same value."""
    runs = []
    for c in sorted(characters):
        if runs and runs[-1][1] == c - 1 and runs[-1][2] == value(c):
            runs[-1][1] = c
        else:
            runs.append([c, c, value(c)])
    return [tuple(run) for run in runs]


def rows(items):
    """Initializers as lines of 120 columns at most, with a tab of four columns before them."""
    lines = [""]
    for item in items:
        if lines[-1] and len(lines[-1]) + 1 + len(item) + 1 + 4 > 120:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + item + ","
    return "".join(f"\t{line}\n" for line in lines)
