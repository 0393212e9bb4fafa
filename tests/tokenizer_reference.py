#!/usr/bin/env python3
"""Compares `ipf-prep tokenize` with the reference implementation (PyPI `tokenizers`) on mixed text.

    IPF_TOKENIZERS=FOLDER tests/tokenizer_reference.py [--seed N] [--bytes N] [--binary PATH] [NAME…]
    tests/tokenizer_reference.py --trained [--seed N] [--bytes N] [--binary PATH] [NAME…]

The tokenizers are FOLDER/NAME/models/tokenizer.json or FOLDER/NAME/tokenizer.json; --trained trains them
(tokenizer_trained.py). The seed determines the texts: sentences of many languages, code, emoji sequences, combining
marks, right-to-left text, control characters, runs, texts of special tokens, random Unicode, and random concatenations
of vocabulary entries. Prints one line for each tokenizer: how much was compared, and the first difference. The exit
status is 1 if anything differs.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

SENTENCES = """
All human beings are born free and equal in dignity and rights. They're endowed with reason; we'll see that it's so, don't they?
Tous les êtres humains naissent libres et égaux en dignité et en droits. L'été, c'est aujourd'hui à Besançon.
Alle Menschen sind frei und gleich an Würde und Rechten geboren. Straßenbahnhaltestellenschild, GROẞ, Öl.
Todos los seres humanos nacen libres e iguales en dignidad y derechos. ¿Qué? ¡Mañana!
Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Perché no?
Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Ação, coração.
Alle mensen worden vrij en gelijk in waardigheid en rechten geboren. IJsselmeer.
Alla människor är födda fria och lika i värde och rättigheter. Åäö.
Alle mennesker er født frie og med samme menneskeverd. Ærlig, øl.
Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan. Hääyöaie.
Wszyscy ludzie rodzą się wolni i równi pod względem swej godności. Zażółć gęślą jaźń.
Všichni lidé rodí se svobodní a sobě rovní. Příliš žluťoučký kůň úpěl ďábelské ódy.
Minden emberi lény szabadon születik. Árvíztűrő tükörfúrógép.
Toate ființele umane se nasc libere și egale. Țară, mâine.
Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. İstanbul'da ılık.
Tất cả mọi người sinh ra đều được tự do và bình đẳng. Nguyễn Phước.
Semua orang dilahirkan merdeka dan mempunyai martabat yang sama.
Все люди рождаются свободными и равными в своём достоинстве. Съешь ещё этих мягких булок.
Всі люди народжуються вільними і рівними. Їжак, ґанок, п'ять.
Всички хора се раждат свободни и равни. Щъркел.
Όλοι οι άνθρωποι γεννιούνται ελεύθεροι. Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.
כל בני האדם נולדו בני חורין ושווים בערכם. שָׁלוֹם עוֹלָם
يولد جميع الناس أحرارًا ومتساوين في الكرامة والحقوق. ٱلسَّلَامُ عَلَيْكُمْ ١٢٣
همه انسان‌ها آزاد به دنیا می‌آیند. می‌خواهم ۴۵۶
تمام انسان آزاد اور حقوق و عزت کے اعتبار سے برابر پیدا ہوئے ہیں۔
सभी मनुष्य जन्म से स्वतन्त्र हैं। क्षत्रिय ज्ञान ०१२३
সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা নিয়ে জন্মগ্রহণ করে।
மனிதப் பிறவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்.
ప్రతిపత్తిస్వత్వముల విషయమున మానవులెల్లరును స్వతంత్రులు.
มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกัน น้ำ กำลัง
ມະນຸດທຸກຄົນເກີດມາມີສິດເສລີພາບ
មនុស្សទាំងអស់កើតមកមានសេរីភាព
လူတိုင်းသည် တူညီလွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့် မွေးဖွားလာသူများ
ყველა ადამიანი იბადება თავისუფალი. საქართველო
Բոլոր մարդիկ ծնվում են ազատ ու հավասար։
ሁሉም ሰዎች ነፃና እኩል ሆነው ይወለዳሉ።
人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心。2024年3月15日，星期五。
人人生而自由,在尊嚴和權利上一律平等。臺灣話
すべての人間は、生まれながらにして自由であり、ガギグゲゴ、かつ平等である。カタカナ・ー
모든 인간은 태어날 때부터 자유로우며 존엄과 권리에 있어 동등하다. 한국어
བོད་སྐད་ཀྱི་ཡི་གེ།
᠎ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ
for (int i = 0; i < n; i++) {\\n\\tif (a[i] != b[i])\\n\\t\\treturn -1; // différent\\n}\\n
def f(x, *args, **kw):\\n    \"\"\"Doc.\"\"\"\\n    return {k: v**2 for k, v in kw.items() if v >= 0x1F}\\n\\n\\n
SELECT id, COUNT(*) FROM users WHERE name LIKE '%O''Brien%' GROUP BY id;\\r\\n
<div class="x-y_z" id='a'>&nbsp;&lt;b&gt;</div>\\n<!-- TODO -->\\n
{"key": [1, 2.5e-10, null, true], "url": "https://example.org/a?b=c&d=%20#e"}
#include <stdio.h>\\nint main(void){printf("%5.2f\\\\n",3.14159);return 0;}
$ grep -rn --include='*.py' "TODO" ~/src | awk -F: '{print $1}' | sort -u > /tmp/x 2>&1
HTTPServer getURLFromXMLDoc camelCaseWord snake_case_word SCREAMING_CASE iPhone13 x86_64 3D
👩‍👩‍👧‍👦👍🏽🇩🇪🇫🇷🏳️‍🌈❤️‍🔥☺️✊🏿 1️⃣#️⃣ 🫠🥲
e\u0301a\u0308o\u0302\u0323n\u0303 \u0301 A\u030a Å \u1e9b\u0323 \ufb01 ﬀ ｶﾞ ﷺ ½ ² Ⅷ ㎏ \u2126
""".strip().split("\n")
SENTENCES = [s.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r") for s in SENTENCES]
SPACES = [" ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", "\t\t", " \n", "\n ", "\u00a0", "\u3000", "\u2003", "\u0085", "\u2028", "\u200b",
          "\u1680", "\u180e", "\x0b", "\x0c", "\x1c", "\x1f"]
PIECES = ["'s", "'S", "'t", "'LL", "'ll", "'Ve", "'re", "'M", "'d", "'\u017f", "\u2019s", "''", "'", "a", "A", "I", "1", "12", "123", "1234", "٣",
          "½", "Ⅷ", "一", "龥", "\u9fa6", "ー", "ぁ", "ゟ", "・", "゠", "\u3040", "\u3099", "_", "-", "--", "...", "/", "//", "\\", "▁", "▁▁", "Ġ", "Ċ",
          "<", ">", "|", "\u0301", "\u0300\u0301", "\u0345", "\ufffd", "\u200d", "\ufe0f", "\u00ad", "\ufeff", "\x00", "\x01", "\x7f", "ß", "ǅ", "ǆ", "ʰ",
          "ª", "ﬁ", "K", "İ", "ı", "\u0897", "\u1c89", "\ua7cd", "\U000105c0", "\U0001e5f1", "\U0001cc00", "\ue000", "\U0010ffff", "<0x41>", "<0xE2>",
          "\u1100\u1161\u11a8", "\uac00\u11a8", "\u0958", "\u0344", "\u212b", "\u1f71", "\u0f73", "\U0001d15e", "\u1b06"]
RIGHT_TO_LEFT = [s for s in SENTENCES if any("\u0590" <= c < "\u0700" for c in s)]
DIRECTIONS = ["", "", "", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069", "\u061c"]


def make_text(rng, specials, vocabulary):
    kind = rng.randrange(19)
    if kind == 0:
        return rng.choice(SENTENCES)
    if kind == 1:
        return rng.choice(SPACES).join(rng.choice(SENTENCES) for _ in range(rng.randrange(1, 12)))
    if kind == 2:
        words = " ".join(rng.choice(SENTENCES) for _ in range(6)).split(" ")
        rng.shuffle(words)
        return " ".join(words)
    if kind == 3:
        return "".join(rng.choice(PIECES) if rng.random() < 0.7 else rng.choice(SPACES) for _ in range(rng.randrange(1, 60)))
    if kind == 4:
        return "".join(rng.choice(SENTENCES)[: rng.randrange(1, 30)] + rng.choice(PIECES + SPACES) for _ in range(rng.randrange(1, 20)))
    if kind == 5:
        return "".join(rng.choice(["a", " ", "1", "\n", "-", "=", "中", "é", "\t", "A", "▁", "\r\n", "<", "ا", "😀"]) * rng.randrange(1, 90)
                       for _ in range(rng.randrange(1, 8)))
    if kind == 6 and specials:
        return "".join(rng.choice(specials) if rng.random() < 0.4 else rng.choice(SENTENCES + SPACES + PIECES)[: rng.randrange(1, 40)]
                       for _ in range(rng.randrange(1, 12)))
    if kind == 7:
        return "".join(random_character(rng) for _ in range(rng.randrange(1, 80)))
    if kind == 8:
        return "".join(chr(rng.randrange(0, 256)) for _ in range(rng.randrange(1, 80)))
    if kind == 9:
        return "".join(rng.choice(vocabulary) for _ in range(rng.randrange(1, 40)))
    if kind == 10:
        return " ".join(rng.choice(vocabulary) for _ in range(rng.randrange(1, 40)))
    if kind == 11:
        alphabet = rng.choice(["ab", "abc", "et ", "0123456789", "éa\u0301", "中文字", "\n \t", "aAbB'", "กำ", "-_ .", "zqxjk"])
        return "".join(rng.choice(alphabet) for _ in range(rng.randrange(1, 400)))
    if kind == 12:
        block = rng.randrange(0, 0x300) * 0x100
        return "".join(scalar(block + rng.randrange(256)) for _ in range(rng.randrange(1, 60)))
    if kind == 13:
        return "".join(emoji(rng) + rng.choice(["", "", "", " ", "a", "\n"]) for _ in range(rng.randrange(1, 30)))
    if kind == 14:
        return "".join(marked(rng) for _ in range(rng.randrange(1, 40)))
    if kind == 15:
        return damaged(rng, " ".join(rng.choice(SENTENCES) for _ in range(rng.randrange(1, 4))))
    if kind == 16:
        return "".join(rng.choice(DIRECTIONS) + rng.choice(RIGHT_TO_LEFT)[: rng.randrange(1, 30)] + rng.choice(["", " ", "(12)", "3.5", "a-b"])
                       for _ in range(rng.randrange(1, 12)))
    if kind == 17 and rng.random() < 0.1:
        return "".join(rng.choice([" ", "\n", "0", "7", "\t", "\r\n", "=", "a", "中", "\u00a0", "👍🏽", "\u0301"]) * rng.randrange(100, 3000)
                       for _ in range(rng.randrange(1, 4)))
    letters = rng.choice(["abcdefghijklmnopqrstuvwxyz", "ab", "etaoinsh", "abcdefghijklmnopqrstuvwxyz0123456789", "一二三四五六七八九十"])
    return "".join(rng.choices(letters, k=rng.randrange(65000, 90000) if rng.random() < 0.01 else rng.randrange(1, 700)))


def emoji(rng):
    """A sequence: with skin, hair and sex, joined, a flag of letters or of tags, a keycap; not always a sensible one."""
    kind = rng.randrange(6)
    base = chr(rng.choice([rng.randrange(0x1F300, 0x1FB00), rng.randrange(0x2600, 0x27C0), rng.choice([0x1F468, 0x1F469, 0x1F9D1])]))
    if kind == 0:
        return chr(rng.randrange(0x1F1E6, 0x1F200)) * rng.randrange(1, 3) + chr(rng.randrange(0x1F1E6, 0x1F200))
    if kind == 1:
        return "\U0001f3f4" + "".join(chr(0xE0000 + rng.randrange(0x61, 0x7B)) for _ in range(5)) + "\U000e007f"
    if kind == 2:
        return rng.choice("0123456789#*") + rng.choice(["", "\ufe0f"]) + "\u20e3"
    if kind == 3:
        return base + rng.choice(["", "\ufe0f", "\ufe0e", chr(rng.randrange(0x1F3FB, 0x1F400))])
    return "\u200d".join(base + rng.choice(["", chr(rng.randrange(0x1F3FB, 0x1F400)), "\ufe0f"]) if rng.random() < 0.6 else
                         rng.choice(["\u2640\ufe0f", "\u2642\ufe0f", "\U0001f9b0", "\u2764\ufe0f", "\U0001f466"]) for _ in range(rng.randrange(2, 5)))


def marked(rng):
    """A letter and marks upon it, in any order."""
    base = rng.choice(["a", "e", "O", "n", " ", "я", "ω", "ا", "ש", "क", "ก", "か", "\uac00", "ệ", "Å", "1"])
    marks = [rng.randrange(0x300, 0x370), rng.randrange(0x591, 0x5C0), rng.randrange(0x64B, 0x660), rng.randrange(0x93A, 0x950),
             rng.randrange(0x1AB0, 0x1ACF), rng.randrange(0x1DC0, 0x1E00), rng.randrange(0x20D0, 0x20F1), 0x3099, 0x309A, 0xE31, 0xFE20]
    return base + "".join(chr(rng.choice(marks)) for _ in range(rng.choice([0, 1, 1, 2, 3, rng.randrange(1, 30)])))


def damaged(rng, text):
    """Replaces bytes that are no UTF-8 any more."""
    data = bytearray(text.encode())
    for _ in range(rng.randrange(1, 8)):
        at = rng.randrange(len(data) + 1)
        what = rng.randrange(3)
        if what == 0:
            del data[at:at + rng.randrange(1, 3)]
        elif what == 1:
            data[at:at] = bytes(rng.randrange(0x80, 0x100) for _ in range(rng.randrange(1, 4)))
        elif at < len(data):
            data[at] ^= 1 << rng.randrange(8)
    return data.decode(errors="replace")


ROUND_BYTES = 2000000  # compared at a time


def scalar(c):
    return chr(c) if not 0xD800 <= c < 0xE000 and c <= 0x10FFFF else "\ufffd"


def random_character(rng):
    top = rng.choice([0x80, 0x250, 0x800, 0x3000, 0xA000, 0x10000, 0x20000, 0x110000])
    return scalar(rng.randrange(top))


def find(folder, name):
    for path in (f"{folder}/{name}/models/tokenizer.json", f"{folder}/{name}/tokenizer.json"):
        if os.path.exists(path):
            return path
    return None


def run(binary, arguments, lines):
    with tempfile.TemporaryFile() as source:
        source.write("".join(line + "\n" for line in lines).encode())
        source.seek(0)
        done = subprocess.run([binary, "tokenize"] + arguments, stdin=source, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.decode().split("\n")[:-1]]


def difference(name, what, texts, ours, theirs):
    if len(ours) != len(theirs):
        return f"{name}: {what}: {len(ours)} lines for {len(theirs)}"
    wrong = [i for i in range(len(theirs)) if ours[i] != theirs[i]]
    if not wrong:
        return None
    i = min(wrong, key=lambda n: len(texts[n]))
    at = next((k for k, (a, b) in enumerate(zip(ours[i], theirs[i])) if a != b), min(len(ours[i]), len(theirs[i])))
    return (f"{name}: {what}: {len(wrong)} of {len(theirs)} differ, the shortest at {at}: {texts[i]!r:.300}\n"
            f"    ours   …{ours[i][max(0, at - 3):at + 8]!r}\n    theirs …{theirs[i][max(0, at - 3):at + 8]!r}")


def compare(name, path, options):
    from tokenizers import Tokenizer

    reference = Tokenizer.from_file(path)
    reference.no_truncation()
    reference.no_padding()
    rng = random.Random(f"{options.seed} {name}")
    specials = [t.content for t in reference.get_added_tokens_decoder().values()]
    model = json.loads(open(path, encoding="utf-8").read())["model"]["vocab"]
    vocabulary = list(model) if isinstance(model, dict) else [entry[0] for entry in model]
    vocabulary = vocabulary + [reference.decode([reference.token_to_id(t)]) for t in rng.sample(vocabulary, min(len(vocabulary), 5000))]
    found, count, size = [], 0, 0
    while size < options.bytes and not found:
        texts, enough = [], min(options.bytes, size + ROUND_BYTES)
        while size < enough:
            texts.append(make_text(rng, specials, vocabulary))
            size += len(texts[-1].encode())
        count += len(texts)
        found = compare_texts(name, path, options, reference, rng, texts)
    print(f"{name}: {count} texts, {size} bytes: " + ("equal" if not found else "DIFFERENT"), flush=True)
    for f in found:
        print(f, flush=True)
    return not found


def compare_texts(name, path, options, reference, rng, texts):
    lines = [json.dumps(t) for t in texts]
    found = []
    for flag in (False, True):
        encoded = [e.ids for e in reference.encode_batch_fast(texts, add_special_tokens=flag)]
        ours = run(options.binary, ["-t", path, "--json"] + ["--special"] * flag, lines)
        found.append(difference(name, "ids with specials" if flag else "ids", texts, ours, encoded))
        if flag:
            continue
        found.append(difference(name, "counts", texts, [[n] for n in run(options.binary, ["-t", path, "--json", "--count"], lines)],
                                [[len(ids)] for ids in encoded]))
        # Ids that no text gives: beyond the end, in any order.
        odd = [[rng.randrange(reference.get_vocab_size() + 10) for _ in range(rng.randrange(12))] for _ in range(2000)]
        rows = [json.dumps(ids) for ids in encoded + odd]
        for keep in (False, True):
            decoded = reference.decode_batch(encoded + odd, skip_special_tokens=not keep)
            ours = run(options.binary, ["-t", path, "--json", "--decode"] + ["--special"] * keep, rows)
            found.append(difference(name, "texts of ids with specials" if keep else "texts of ids", texts + [str(o) for o in odd], ours, decoded))
    return [f for f in found if f]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", default="1")
    parser.add_argument("--bytes", type=int, default=200000)
    parser.add_argument("--binary", default=os.environ.get("BUILD", ".build") + "/bin/ipf-prep")
    parser.add_argument("--trained", action="store_true", help="tokenizers that are trained here, in place of IPF_TOKENIZERS")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = scratch if options.trained else os.environ.get("IPF_TOKENIZERS")
        if not folder:
            sys.exit("IPF_TOKENIZERS: expected the folder of the tokenizers")
        if options.trained:
            from tokenizer_trained import save_all
            save_all(SENTENCES, folder)
        names = options.names or sorted(n for n in os.listdir(folder) if find(folder, n))
        equal = [compare(name, find(folder, name), options) for name in names]
    sys.exit(0 if equal and all(equal) else 1)


if __name__ == "__main__":
    main()
