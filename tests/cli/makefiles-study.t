#!/bin/bash
# study.mk: a matrix of models, servers and loads; a failing cell, missing values, one table of all.
. "$TESTS/tap.sh"
SHARE=$(cd "$TESTS/../share/ipf" && pwd)
PATH=$BIN:$PATH
export PATH XDG_RUNTIME_DIR=$PWD
unset MAKEFLAGS MAKELEVEL MODEL DATA V
server_start --step-base 1ms --step-per-seq 0
one=$URL
server_start --step-base 1ms --step-per-seq 0
two=$URL
mkdir "a folder"
cd "a folder" || exit
cell=my-study
study() { run make -s -f "$SHARE/study.mk" OUT="$cell" SERVERS="a=$one b=$two" STAGES_few=constant:rate=40,n=6 REQUESTS=60 INPUT=16 OUTPUT=2 "$@"; }
sent() { sed -n 's/^\(.*\/\)records.zst: .* requests .*/\1/p' "$ERR" | tr '\n' ' '; }

# ---- a failing cell ---------------------------------------------------------------------------------------------
study MODELS=org/m LOADS=few FIRE_OPTIONS_a=--nonsense
status_is 2 "a study with a cell that fails"
yes_if "a study measures the other cells" test -s "my-study/org_m/b/few/records.zst"
contains "$(cat "$ERR")" "unknown option --nonsense" "the cell says why"
contains "$(cat "$ERR")" "study: 1 of 2 cells failed; the next call tries them again" "the study says how many cells failed"
matches "$(cat "$OUT")" '^org_m  a       few   failed +- ' "the table names it"
is "$(ls "my-study/org_m/a/few/records.zst" 2>/dev/null)" "" "a failed cell has no records"
contains "$(cat "my-study/study.csv")" '"org_m","a","few","failed",,,' "study.csv has no figures of a failed cell"
cksum <"my-study/org_m/b/few/records.zst" >kept
study MODELS=org/m LOADS=few
status_is 0 "the next call"
is "$(sent)" "my-study/org_m/a/few/ " "the next call measures only the failed cell"
is "$(cksum <"my-study/org_m/b/few/records.zst")" "$(cat kept)" "the records of the other one are the same"
is "$(cat "my-study/study.txt")" "$(cat "$OUT")" "the table is shown"
is "$(grep -c '^org_m ' "$OUT") $(grep -c failed "my-study/study.csv")" "2 1" "study.csv has no failure after the next call"
is "$(grep -c Verdict "$OUT")" 0 "make study does not show the reports of runs"
study MODELS=org/m LOADS=few
is "$status $(cat "$OUT" "$ERR")" "0 " "make study has nothing to do the second time"

# ---- more of it ----------------------------------------------------------------------------------------------------
study MODELS='org/m other=a%20b' LOADS=few -j4
status_is 0 "another model with -j ends with 0"
is "$(sent)" "my-study/other/a/few/ my-study/other/b/few/ " "another model measures only its cells, in turn"
is "$(jq -c '[.run.model, .run.target]' "my-study/other/b/few/report.json")" "[\"a b\",\"$two/v1/chat/completions\"]" "a model has its name and its server"
is "$(jq -r .run.model "my-study/org_m/b/few/report.json")" org/m "a slash is in the model's name, not in the folder's"
is "$(body "my-study/other/a/few/trace.zst" | cksum)" "$(body "my-study/other/b/few/trace.zst" | cksum)" "servers get the same prompts"
isnt "$(body "my-study/other/a/few/trace.zst" | cksum)" "$(body "my-study/org_m/a/few/trace.zst" | cksum)" "models get others"

# ---- the tables ----------------------------------------------------------------------------------------------------
cd "my-study" || exit
is "$(tail -n +2 study.csv | cut -d , -f 1-3 | tr '\n' ' ')" '"org_m","a","few" "org_m","b","few" "other","a","few" "other","b","few" ' "the table has every cell"
is "$(head -1 study.csv | tr , '\n' | wc -l) $(awk -F , '{print NF}' study.csv | sort -u)" "14 14" "study.csv has 14 columns"
is "$(sed -n 's/^"org_m","a","few","[A-Z]*",\([0-9.]*,[0-9.]*\),.*/\1/p' study.csv)" "$(jq -r '.total.rate | "\(.offered // ""),\(.completed // "")"' org_m/a/few/report.json)" "study.csv has the figures of the reports"
is "$(awk 'length > 100' study.txt)" "" "lines of the text are short"
is "$(grep -c '^| ' study.md) $(awk -F '|' '{print NF}' study.md | sort -u)" "6 13" "Markdown has a heading and the cells"
run python3 -c '
import html.parser, os, sys, urllib.parse
pages = []
class Page(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        pages.extend(value for name, value in attributes if name == "href")
Page().feed(open("index.html").read())
print(len(pages), all(os.path.getsize(urllib.parse.unquote(page)) > 1000 for page in pages))'
is "$(cat "$OUT")" "4 True" "index.html leads to the page of each cell"
if command -v sqlite3 >/dev/null; then
	for _ in 1 2; do sqlite3 -bail runs.db <study.sql; done
	is "$(sqlite3 runs.db "SELECT group_concat(value, ' ') FROM (SELECT value FROM meta JOIN runs USING (run) WHERE key = 'cell' ORDER BY value)")" \
		"org_m/a/few org_m/b/few other/a/few other/b/few" "study.sql has all of them"
else
	skip "study.sql has all of them" "sqlite3 is not installed"
fi
is "$(echo part.*)" "part.*" "a study leaves no part of a file"
cd .. || exit
study show
is "$(cat "$OUT")" "$(cat "my-study/study.txt")" "the table can be shown again"

# ---- names ---------------------------------------------------------------------------------------------------------
study MODELS='org/m org_m'
contains "$status $(cat "$ERR")" "2 study.mk: MODELS: two have the same name" "two entries of one name are refused"
for models in '../x=y' '=y' 'a;b' 'a|b' 'a`b`' '-a'; do
	study MODELS="m $models" LOADS=few
	contains "$status $(cat "$ERR")" "2 study.mk: MODELS: $models: its name has other characters" "a name that is no plain folder is refused: $models"
done
study OUT=names MODELS='x=a;b' SERVERS="$one/" LOADS=few
is "$status $(jq -r .run.model names/x/*/few/report.json)" "0 a;b" "a model with such a name is taken under another name"
is "$(ls names/x)" "127.0.0.1_${one##*:}" "a server without a name is called after its address"
study OUT=secret MODELS=m SERVERS="http://user:secret@${one#http://}" LOADS=few
is "$(ls secret/m)" "127.0.0.1_${one##*:}" "the name of a server's folder has no password"
is "$(grep -c secret@ "$OUT" "$ERR" | tr '\n' ' ')" "$OUT:0 $ERR:0 " "no output has the password of a server"
run make -s -f "$SHARE/study.mk" URL="$one" MODEL="a b" RATE=70 FOR=200ms WARMUP=0 REQUESTS=60 INPUT=16 OUTPUT=2
is "$status $(jq -r .run.model study/a_b/*/70/report.json)" "0 a b" "URL, MODEL and RATE are a study of one"
run make -s -f "$SHARE/study.mk"
is "$status $(grep -c 'URL is missing' "$ERR")" "2 1" "a server must be given"
