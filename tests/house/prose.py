"""Measures the English of comments, documents, manual pages and texts of the programs: prose.py [--list] [FILE…]; without files, the whole tree.

Prints for each kind of text its words, "what" and "that" per 1,000 words, the share of sentences over 30 words, and the sentences that begin with
What, Of, Also or So. Ends with 1 above a limit, with the ten worst files of that kind. --list prints each such sentence: FILE:LINE: sentence.
Code, identifiers and literal output are not counted: lines of a comment indented by four columns, backquotes, fenced and literal blocks, arguments
of macros."""
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict

LIMITS = {"what": 1.0, "that": 8.0, "long": 3.0, "begin": 0}
LONGEST = 30
KINDS = ["comments of C", "comments of scripts", "documents", "manual pages", "texts of C"]
BAD_BEGIN = re.compile(r"\W*([Ww]hat|[Oo]f|[Aa]lso|[Ss]o)\b")
BAD_TEXT = re.compile(r"\W*(What|Of|Also|So)\b")  # texts are often parts of sentences
C_TOKEN = re.compile(r"""(?P<block>/\*.*?\*/)|(?P<line>//[^\n]*)|(?P<string>"(?:\\.|[^"\\\n])*")|'(?:\\.|[^'\\\n])+'|(?P<include>^\#\s*include[^\n]*)""", re.S | re.M)
# An end of a sentence; "e.g. ", "1. " and "…" are none.
SENTENCE_END = re.compile(r"""(?<![.\s].)(?<!\b[a-zA-Z])(?<!\d)(?<!\be\.g)(?<!\bi\.e)(?<!\betc)[.?!]+["')\]]*\s+(?=\S)|(?<=\d)\.\s+(?=[A-Z])""")
LITERAL = re.compile(r"`[^`]*`")


def columns(text):
    return len(text.expandtabs(4))


def paragraphs(lines, base=None):
    """Paragraphs of the lines [(number, text)] of a comment, as [(number, text)]: lines indented by four columns more than others are code."""
    if base is None:
        base = min((columns(text) - columns(text.lstrip()) for _, text in lines[1:] if text.strip()), default=0)
    found, open_ = [], False
    for index, (number, text) in enumerate(lines):
        stripped = text.strip()
        indent = columns(text[:len(text) - len(text.lstrip())])
        if not stripped or index and indent >= base + 4 or re.search(r"\S {3,}\S", stripped):
            open_ = False
        elif open_ and not re.match(r"([-*]|\d+\.)\s|-{4}", stripped):
            found[-1] = (found[-1][0], found[-1][1] + " " + stripped)
        else:
            found.append((number, stripped))
            open_ = not stripped.startswith("----")
    return found


def c_tokens(source):
    """Comments and strings of C: (kind, first line, column, text, alone on its line)."""
    line, at = 1, 0
    for token in C_TOKEN.finditer(source):
        line += source.count("\n", at, token.start())
        at = token.start()
        kind = token.lastgroup
        if kind in ("block", "line", "string"):
            start = source.rfind("\n", 0, at) + 1
            before = source[start:at]
            yield kind, line, columns(before), token[0], not before.strip(), token.end()


def c_comments(source):
    """Comments as lists of lines [(number, text)]; successive // comments are one."""
    joined, last = [], None
    for kind, line, column, text, alone, _ in c_tokens(source):
        if kind == "block":
            lines = text[2:-2].split("\n")
            stripped = [lines[0]] + [re.sub(r"^\s*\* ?", "", each) if re.match(r"\s*\*", each) else each.strip() for each in lines[1:]]
            yield [(line + i, each) for i, each in enumerate(stripped)]
        elif kind == "line":
            if joined and last == (line - 1, column) and alone:
                joined.append((line, text[2:]))
            else:
                if joined:
                    yield joined
                joined = [(line, text[2:])]
            last = (line, column)
    if joined:
        yield joined


def c_texts(source):
    """Strings for people: neighbours are one, and macros between them a word."""
    texts, end = [], None
    for kind, line, _, text, _, after in c_tokens(source):
        if kind != "string":
            continue
        between = source[end:after - len(text)] if end is not None else None
        if between is not None and re.fullmatch(r"\s*(?:[A-Z][A-Za-z0-9_]*\s*)?", between):
            texts[-1] = (texts[-1][0], texts[-1][1] + ("N" if between.strip() else "") + text[1:-1])
        else:
            texts.append((line, text[1:-1]))
        end = after
    for line, text in texts:
        text = re.sub(r"%(?!%)[-+#0]*[\d*]*(\.[\d*]+)?[hlzjt]*[a-zA-Z]", "N", text.replace("%%", "percent")).replace('\\"', '"').replace("\\t", " ")
        if len(re.findall(r"(?<![\w.\"-])[A-Za-z][a-z']*(?=[ ,.:;)]|$)", text)) < 4 or re.search(r'[{};<>=]\S|[\[{]"|":|\\x|^/\*|\b(SELECT|FROM)\b', text):
            continue
        for paragraph in text.split("\\n"):
            if " " in paragraph.strip():
                yield line, paragraph.strip()


def script_comments(source, python):
    lines, joined, last = source.split("\n"), [], None
    if python:
        for found in re.finditer(r'^[ \t]*[rf]?"""(.*?)"""', source, re.S | re.M):
            line = source.count("\n", 0, found.start()) + 1
            yield [(line + i, each) for i, each in enumerate(found[1].split("\n"))]
            lines[line - 1:line + found[0].count("\n")] = [""] * (found[0].count("\n") + 1)
    for number, line in enumerate(lines, 1):
        found = re.match(r"(\s*)#+:?(?![!#\w]) ?(?!shellcheck )(.*)|(.*?(?:\s|^))#(?!\d) (?!shellcheck )(.*)", line)
        trailing = found and found[3] is not None
        if not found or trailing and (found[3].count("'") % 2 or found[3].count('"') % 2):
            continue
        text = found[4] if trailing else found[2]
        column = columns(found[3] if trailing else found[1])
        if joined and not trailing and last == (number - 1, column):
            joined.append((number, text))
        else:
            if joined:
                yield joined
            joined = [(number, text)]
        last = (number, column)
    if joined:
        yield joined


def document_blocks(source):
    """Paragraphs, items and cells of Markdown."""
    fenced, open_, found = False, False, []
    for number, line in enumerate(source.split("\n"), 1):
        stripped = line.strip()
        if stripped.startswith("```"):
            fenced, open_ = not fenced, False
        elif fenced or not stripped or line.startswith("    ") and not open_ or re.match(r"[-|: ]+$|#|<", stripped):
            open_ = False
        elif stripped.startswith("|"):
            found.extend((number, cell.strip()) for cell in LITERAL.sub("NN", stripped).split("|") if " " in cell.strip())
            open_ = False
        elif open_ and not re.match(r"([-*>]|\d+\.)\s", stripped):
            found[-1] = (found[-1][0], found[-1][1] + " " + stripped)
        else:
            found.append((number, re.sub(r"^([-*>]|\d+\.)\s+", "", stripped)))
            open_ = True
    return [(number, re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)) for number, text in found]


def manual_blocks(source):
    """Paragraphs of mdoc: a macro with its arguments is a word, and those that make no text end a paragraph."""
    literal, found, open_ = False, [], False
    for number, line in enumerate(source.split("\n"), 1):
        if literal or line.startswith(".Bd"):
            literal = not line.startswith(".Ed")
            open_ = False
            continue
        macro = re.match(r"\.\s*(\w+|\\\")\s*(.*)", line)
        if not macro:
            text = line
        elif macro[1] in ("Fl", "Ic", "Cm", "Va", "Vt", "Pa", "Xr", "Op", "Nm", "Sy", "Fa", "Bq", "Sx", "Ql", "Li", "Ar", "Fn", "Ev", "Er", "Dv", "Em", "Lk", "Pq", "Dq", "Sq", "No"):
            text = re.sub(r"^\w.*?(?=( [.,;:)]+)?$)", "NN", macro[2]).replace(" ", "") if macro[1] not in ("Em", "Sy", "Bq", "Pq", "Dq", "No") else macro[2]
            text = text or "NN"
        else:
            open_ = False
            continue
        if not text.strip():
            open_ = False
        elif open_:
            found[-1] = (found[-1][0], found[-1][1] + " " + re.sub(r"\\[&e]", "", text))
        else:
            found.append((number, re.sub(r"\\[&e]", "", text)))
            open_ = True
    return found


def script(path, source):
    return re.search(r"\.(sh|t|mk)$|(^|/)Makefile$", path) or re.match(r"#!.*\b(ba)?sh\b", source)


def blocks(path, source):
    """(kind, line, text) of each paragraph for people in a file."""
    if re.search(r"\.[ch]$", path):
        for comment in c_comments(source):
            yield from ((KINDS[0], number, text) for number, text in paragraphs(comment, 0))
        if not re.match(r"tests|examples", path):
            yield from ((KINDS[4], number, text) for number, text in c_texts(source))
    elif path.endswith(".md"):
        yield from ((KINDS[2], number, text) for number, text in document_blocks(source))
    elif re.search(r"\.[1357](\.in)?$", path):
        yield from ((KINDS[3], number, text) for number, text in manual_blocks(source))
    elif path.endswith("definitions.txt"):
        text_lines = re.sub(r"(?m)^\S.*$", "", source).replace("\t", "")
        yield from ((KINDS[2], number, text) for number, text in document_blocks(text_lines))
    elif path.endswith(".py") or script(path, source):
        for comment in script_comments(source, path.endswith(".py")):
            yield from ((KINDS[1], number, text) for number, text in paragraphs(comment))


def sentences(text):
    text = LITERAL.sub("NN", text)
    return [each for each in SENTENCE_END.split(text) if each]


def measure(sentence, kind):
    """Words of a sentence, and its breaches."""
    words = re.findall(r"\S*\w\S*", sentence)
    plain = [word.strip("\"'(),.:;?") for word in words]
    return len(words), {
        "what": plain.count("what") + plain.count("What"),
        "that": plain.count("that") + plain.count("That"),
        "long": int(len(words) > LONGEST),
        "begin": int(bool((BAD_TEXT if kind == KINDS[4] else BAD_BEGIN).match(sentence))),
    }


def sources():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=False).stdout.split("\n")
    if not any(listed):
        listed = [os.path.join(folder, name)[2:] for folder, _, names in os.walk(".") for name in names]
    roots = re.compile(r"(lib|libipf|ipf-\w+|tests|examples|share|\.ci|\.github)/|Makefile$|[A-Z]+\.md$")
    return [path for path in listed if roots.match(path) and not re.match(r"tests/(data|fuzz/corpus)/", path) and os.path.isfile(path)]


def read(path):
    if not re.search(r"\.([ch]|md|[1357](\.in)?|sh|t|mk|py|txt)$|(^|/)[\w-]+$", path):
        return ""
    with open(path, "rb") as file:
        return file.read().decode("utf-8", "replace")


def main():
    arguments = [each for each in sys.argv[1:] if each != "--list"]
    listing = len(arguments) < len(sys.argv) - 1
    totals, files = defaultdict(Counter), defaultdict(lambda: defaultdict(Counter))
    for path in arguments or sources():
        for kind, line, text in blocks(path, read(path)):
            for sentence in sentences(text):
                words, breaches = measure(sentence, kind)
                if listing and any(breaches.values()):
                    print(f"{path}:{line}: {sentence}")
                for count in (totals[kind], files[kind][path]):
                    count.update(breaches)
                    count.update(words=words, sentences=1)
    failed = False
    for kind in KINDS if not listing else []:
        total = totals[kind]
        if not total["words"]:
            continue
        rates = {
            "what": 1000 * total["what"] / total["words"],
            "that": 1000 * total["that"] / total["words"],
            "long": 100 * total["long"] / total["sentences"],
            "begin": total["begin"],
        }
        print(f"{kind}: {total['words']} words; what {rates['what']:.1f} and that {rates['that']:.1f} per 1,000 words, limits {LIMITS['what']:.0f} and"
              f" {LIMITS['that']:.0f}; over {LONGEST} words {rates['long']:.1f} %, limit {LIMITS['long']:.0f}; begin with What, Of, Also, So {rates['begin']}, limit 0")
        for rule in [rule for rule in LIMITS if rates[rule] > LIMITS[rule]]:
            failed = True
            worst = sorted((-count[rule], path) for path, count in files[kind].items() if count[rule])[:10]
            print(f"\t{rule}: " + ", ".join(f"{path} {-count}" for count, path in worst))
    sys.exit(failed)


if __name__ == "__main__":
    main()
