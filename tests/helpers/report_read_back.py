"""Reads the tables of one report back: report_read_back.py FULL.txt REPORT.md PAGE.html. Each row and each cell of a table in the
text (--full) and in Markdown must be in the table of the same caption of the page, in the row of the same name. Prints a line for each
thing that is not, and at the end "N tables, N cells" of the text and "N tables, N cells" of Markdown."""
import html, re, sys
from html.parser import HTMLParser

DASHES = {"-", "–", ""}


class Page(HTMLParser):
    """Tables by their caption, in the order of the page: lists of rows, each a list of texts."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tables, self.into, self.table = [], None, None

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.table = {"caption": "", "rows": []}
            self.tables.append(self.table)
        elif tag == "caption":
            self.into = "caption"
        elif tag == "tr" and self.table:
            self.table["rows"].append([])
        elif tag in ("td", "th") and self.table:
            self.table["rows"][-1].append("")
            self.into = "cell"

    def handle_endtag(self, tag):
        if tag in ("caption", "td", "th"): self.into = None
        if tag == "table": self.table = None

    def handle_data(self, data):
        if self.into == "caption": self.table["caption"] += data
        elif self.into == "cell": self.table["rows"][-1][-1] += data


def words(text):
    return " ".join(text.split())


def number(text):
    """The value of a cell, for one that the text shortens; None if it is no number."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def same(shown, on_page):
    shown, on_page = words(shown), words(on_page)
    if shown == on_page or (shown in DASHES and on_page in DASHES): return True
    if shown.rstrip("~") == on_page.rstrip("~") and shown[-1:] == on_page[-1:]: return True
    a, b = number(shown.rstrip("~")), number(on_page.rstrip("~"))
    return a is not None and b is not None and abs(a - b) <= 0.005 * abs(b)


# ---- Markdown -------------------------------------------------------------------------------------------------------

def plain(cell):
    return html.unescape(re.sub(r"`([^`]*)`", r"\1", cell.strip())).replace("**", "")


def tables_of_markdown(text):
    tables, caption, rows = [], None, None
    for line in text.split("\n"):
        if line.startswith("|"):
            if rows is None:
                rows = []
                tables.append({"caption": caption, "rows": rows})
            if not re.fullmatch(r"[|: -]+", line): rows.append([plain(c) for c in line.strip("|").split("|")])
            continue
        rows = None
        heading = re.fullmatch(r"\*\*(.+)\*\*|### (.+)|<details><summary>(.+)</summary>", line)
        if heading: caption = plain(next(g for g in heading.groups() if g))
    return tables


def check_markdown(path, page, problems):
    cells, tables = 0, tables_of_markdown(open(path, encoding="utf-8").read())
    taken = list(page)
    for table in tables:
        found = next((t for t in taken if words(t["caption"]) == words(table["caption"])), None)
        if not found:
            problems.append(f"Markdown: no table {table['caption']} in the page")
            continue
        taken.remove(found)
        body = list(found["rows"])
        for row in table["rows"][1:]:
            name = words(row[0].replace(",", " "))
            at = next((i for i, r in enumerate(body) if words(r[0].replace(",", " ")) == name), None)
            if at is None:
                problems.append(f"Markdown: no row {row[0]} in {table['caption']}")
                continue
            left = body[at][1:]
            for cell in row[1:]:
                cells += 1
                # columns that Markdown leaves out are passed over
                hit = next((i for i, c in enumerate(left) if same(cell, c)), None)
                if hit is None: problems.append(f"Markdown: {table['caption']}, {row[0]}: {cell} is not in {left}")
                else: left = left[hit + 1:]
            del body[:at + 1]
    return f"{len(tables)} tables, {cells} cells"


# ---- text -----------------------------------------------------------------------------------------------------------

def is_text_of(rest, cells):
    """Do the cells, without those left out, make up the rest of a line?"""
    tokens = rest.split()
    for cell in cells:
        parts = words(cell).split()
        if not tokens: break
        if parts and parts == tokens[:len(parts)]: tokens = tokens[len(parts):]
        elif same(tokens[0], cell): tokens = tokens[1:]
    return not tokens


def check_text(path, page, problems):
    """A table begins with its caption; the lines of its rows are indented and begin with the name of a row. Parts of a wide table follow
    with the names again; words that are long are below."""
    lines = open(path, encoding="utf-8").read().split("\n")
    taken, cells, tables, at = list(page), 0, 0, 0
    while at < len(lines):
        found = next((t for t in taken if lines[at] and not lines[at].startswith(" ") and
                      (lines[at] == words(t["caption"]) or lines[at].startswith(words(t["caption"]) + "  "))), None)
        at += 1
        if not found: continue
        rows = {}
        for row in found["rows"]: rows.setdefault(words(row[0]), []).append(row)
        heads = {words(r[0]) for r in found["rows"] if r}
        hits, name = {}, None
        while at < len(lines) and (lines[at].startswith(" ") or (not lines[at] and at + 1 < len(lines) and lines[at + 1].startswith("    "))):
            line = lines[at]
            at += 1
            named = max((n for n in heads if n and re.match(re.escape(n).replace(r"\ ", r"\s+") + r"(\s|$)", words(line).replace("(", "").replace(")", ""))),
                        key=len, default=None)
            if not named: continue
            plain_line = words(line).replace("(" + named + ")", named)
            rest = plain_line[len(named):]
            candidates = [r for r in rows[named] if is_text_of(rest, r[1:])]
            if candidates and rest.strip(): cells += len(rest.split())
            if candidates or not rest.strip(): hits[named] = True
            else: hits.setdefault(named, rest)
        if not any(h is True for h in hits.values()): continue
        tables += 1
        taken.remove(found)
        for named, hit in hits.items():
            if hit is not True: problems.append(f"text: {found['caption']}, {named}: {hit} is not in the page")
    return f"{tables} tables, {cells} cells"


def main():
    page, problems = Page(), []
    page.feed(open(sys.argv[3], encoding="utf-8").read())
    tables = [t for t in page.tables if t["rows"]]
    counts = [check_text(sys.argv[1], tables, problems), check_markdown(sys.argv[2], tables, problems)]
    for problem in problems: print(problem)
    print("; ".join(counts))


main()
