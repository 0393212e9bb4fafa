#!/bin/bash
# Each call of ipf-report fails once, in every command and format.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/once.sh"

once_inputs
# In gnuplot's place: a picture of its, in a hundredth of the time.
ipf-sched stat -q --plot rate.svg chat.sched >/dev/null
mkdir bin
cat >bin/gnuplot <<'END'
#!/bin/sh
[ "$1" != --version ] || exec echo 'gnuplot 5.4 patchlevel 4'
exec cat "${0%/*}/../rate.svg"
END
chmod +x bin/gnuplot
PATH=$PWD/bin:$PATH
ipf-collect -q --events --every 1s chat.records -o events.results
for format in text md html; do
	once 0 ipf-report -q -f "$format" "$PWD/chat.results" -o out
done
for format in $(ipf-report export --help | sed -n '/^FORMAT: /,/^$/ { s/^FORMAT: //; p }'); do
	once 0 ipf-report export "$format" -q "$PWD/events.results" -o out
done
for file in "$(cd "$TESTS/data/imports" && pwd)"/*.json*; do
	once 0 ipf-report -q "$file"
done
for table in requests events windows; do
	once 0 ipf-report export parquet -q --table $table "$PWD/events.results" -o out
done
once 0 ipf-report --full --as all "$PWD/chat.results"
once 0 ipf-report --by model --trace "$PWD/chat.trace" "$PWD/chat.results" -o out.zst
once 0 ipf-report "$PWD/chat.results" -o out.html --plots pictures
once 0 ipf-report plot pictures "$PWD/chat.results"
once 0 ipf-report certificate "$PWD/chat.results"
once 0 ipf-report definitions
for format in text md html json; do
	once 0 ipf-report compare -f $format "$PWD/chat.results" -o out -- "$PWD/chat.results"
done
python3 "$TESTS/helpers/gateway_truth.py" "$ROOT/lib/api/apis/openai-chat.json" front.records back.records n=20 retries=2 limited=1 sessions=2
for side in front back; do
	ipf-collect -q --events $side.records -o $side.results
done
for format in text json; do
	once 0 ipf-report gateway -f $format -o out "$PWD/front.results" "$PWD/back.results"
done
ipf-report -q -f json chat.results -o saved.json
once 0 ipf-report "$PWD/saved.json"
once 3 ipf-report "$PWD/chat.trace"
