"""Compares a page of ipf-report compare -f html with the JSON of the same comparison: compare_page.py PAGE COMPARISON.json. Prints a line
for each thing that is wrong: settings, figures in their order, conditions, pictures."""
import json, math, re, sys
from html.parser import HTMLParser

RANKS = {"slower": 0, "faster": 0, "more": 0, "fewer": 0, "not enough runs": 1, "no difference": 2, "not judged": 3}


class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tables, self.row, self.cell, self.sections, self.text = {}, None, None, [], {}
        self.pictures, self.div = [], None

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if tag == "section": self.sections.append(a["id"])
        if tag == "table": self.tables[a["id"]] = []
        if tag == "tr": self.row = []
        if tag in ("td", "th"): self.cell = [a.get("data-v"), ""]
        if tag == "div": self.div = a.get("class")
        if tag == "svg": self.pictures.append({"ids": a["aria-labelledby"], "style": self.div, "marks": 0, "curves": 0})
        if tag in ("rect", "circle") and a.get("class") == "mark": self.pictures[-1]["marks"] += 1
        if tag == "polyline" and len(a["points"].split()) == 100: self.pictures[-1]["curves"] += 1

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.row.append(self.cell)
            self.cell = None
        if tag == "tr": list(self.tables.values())[-1].append(self.row)

    def handle_data(self, data):
        if self.cell: self.cell[1] += data
        if self.sections: self.text[self.sections[-1]] = self.text.get(self.sections[-1], "") + data


page, truth = Page(), json.load(open(sys.argv[2], encoding="utf-8"))
page.feed(open(sys.argv[1], encoding="utf-8").read())


def check(what, got, wanted):
    if got != wanted: print(what, "is", got, "and in JSON", wanted)


check("result", truth["outcome"] in page.text["result"] or truth["outcome"] == "mixed", True)
check("first sections", page.sections[:2], ["result", "settings"])
WORDS = {"target": "server", "targets": "servers", "stages": "load", "trace.sha256": "trace", "trace.requests": "requests of the trace", "http": "HTTP",
         "api": "API", "itl": "sample of ITL"}
rows = []
for s in truth["settings"]:
    rest = s["name"].split(".", 1)[-1]
    word = WORDS.get(rest, rest.replace(".", " ").replace("_", " ")) if "." in s["name"] else rest
    row = [word] + [s.get(side, "–").replace('["', "").replace('"]', "").replace('","', ", ") for side in ("base", "new")]
    if row not in rows: rows.append(row)
check("settings", [[c[1] for c in r] for r in page.tables.get("settings-table", [[]])[1:]], rows)
check("conditions", re.findall(r"failed|passed|undecided", page.text.get("conditions", "")), ["undecided" if c.get("undecided") else "failed" if c["failed"] else "passed" for c in truth.get("fail_if", [])])
figures = sorted(truth["figures"], key=lambda f: RANKS[f["finding"]])
rows = page.tables.get("figures-table", [[], []])[2:]  # below a head of two rows
check("figures", [r[0][1].split(",")[0] for r in rows], [f["label"] for f in figures])
for f, r in zip(figures, rows):
    change = f.get("change") if f["unit"] != "share" else f.get("difference")
    for name, cell, value in (("base", r[1], f.get("base")), ("new", r[2], f.get("new")), ("change", r[3], change),
                              ("p", r[5], f.get("p")), ("visible", r[7], f.get("visible")),
                              ("runs", r[8], f.get("runs_needed", math.inf if "p" in f else None))):
        shown = None if cell[0] is None else float(cell[0])
        if (shown is None) != (value is None) or (value is not None and not math.isclose(shown, value, rel_tol=1e-12)):
            print(f["name"], name, "is", shown, "and in JSON", value)
    check(f["name"] + " finding", r[6][1], f["finding"])
drawn = sum(f["unit"] != "share" and ("low" in f or "p" in f) for f in figures)
check("style of the pictures", {p["style"] for p in page.pictures} <= {"pictures"}, True)
check("intervals", [p["marks"] for p in page.pictures if p["ids"].startswith("forest")], [drawn] if drawn else [])
check("curves", {p["curves"] for p in page.pictures if p["ids"].startswith("curve")} <= {2}, True)
