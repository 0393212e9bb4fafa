#!/bin/sh
# curl's view of the odd responses the HTTP/1.1 reader is tested with: the table has every difference, and why.
. "$TESTS/tap.sh"

command -v python3 >/dev/null || skip_all "python3 is not installed"
case $(curl --version 2>/dev/null) in
"curl 7.88."*) ;;
*) skip_all "the table has what curl 7.88 says" ;;
esac
table=$TESTS/data/http1_responses.txt
python3 "$TESTS/helpers/response_table.py" serve "$table" ready &
stop_at_exit $!
wait_for test -s ready
# curl ends when it meets headers beyond its limit: it goes on with the next.
: >said
from=-1
while [ "$(wc -l <said)" -gt "$from" ]; do
	from=$(wc -l <said)
	python3 "$TESTS/helpers/response_table.py" config "$table" "$(cat ready)" "$from" >config
	curl -q -K config >>said 2>errors
done
is "$(wc -l <said)" "$(grep -vc '^#' "$table")" "curl answers for each response"
python3 "$TESTS/helpers/response_table.py" compare "$table" <said >different
is "$(cat different)" "" "curl says what the table says that it says"
