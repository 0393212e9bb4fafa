#!/bin/bash
# Copies of a replay: the server's prompts begin differently, and the earlier messages in a session are the copy's own.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

{
	for s in 0 1 2; do
		printf '{"id":"%d.0","session":"s%d","turn":0,"messages":[{"role":"user","content":"first %d"}],"answer":"yes %d","output_tokens":2,"at_ns":%d}\n' $s $s $s $s $((s * 100000000))
		printf '{"id":"%d.1","session":"s%d","turn":1,"context":"session","messages":[{"role":"user","content":"second %d"}],"output_tokens":2}\n' $s $s $s
	done
} >lines
trace_of lines >made.trace
server_start --log server.log --step-base 1ms
# 3 sessions in 0.3 s, and two copies of them
ipf-sched replay:rate=30,by=copies -t made.trace -q -o copies.sched
run ipf-fire -q -u "$URL" -m sim -t made.trace copies.sched -H 'X-Request-Id: $id'
status_is 0 "copies are sent"
requests "$OUT" >rows
is "$(jq -s -c 'map([.copy, .session] | join(" ")) | sort | group_by(.) | map([.[0], length])' rows)" \
	'[[" s0",2],[" s1",2],[" s2",2],["1 s0-copy01",2],["1 s1-copy01",2],["1 s2-copy01",2],["2 s0-copy02",2],["2 s1-copy02",2],["2 s2-copy02",2]]' \
	"the record says which copy, and sessions are their own"
sha() { printf '%s' "$1" | sha256sum | cut -d ' ' -f 1; }
for s in 0 1 2; do
	for copy in "" 01 02; do
		echo "$s.0${copy:+-copy$copy} $(sha "${copy:+$copy }first $s")"
		echo "$s.1${copy:+-copy$copy} $(sha "${copy:+$copy }first $s
yes $s
second $s")"
	done
done | sort >expected
logged() { [ "$(wc -l <server.log)" -ge "$1" ]; } # after an answer was sent
wait_for logged 18
jq -r '[.id, .prompt_sha256] | join(" ")' server.log | sort >asked
same asked expected "the server receives every prompt with the number of its copy once"

: >server.log
run ipf-fire -q -u "$URL" -m sim -t made.trace copies.sched -H 'X-Request-Id: $id' --history live
status_is 0 "--history live with copies ends with 0"
wait_for logged 18
is "$(jq -r 'select(.id | startswith("0.1")) | .prompt_sha256' server.log | sort -u |
	wc -l)" 3 "every copy goes on with its own conversation"

printf '{"id":"a","prompt_token_ids":[1,2,3],"output_tokens":2,"at_ns":0}\n{"id":"b","prompt_token_ids":[1,2],"output_tokens":2,"at_ns":100000000}\n' >lines
trace_of lines >ids.trace
ipf-sched replay:rate=10,by=copies -t ids.trace -q -o ids.sched
run ipf-fire -q -u "$URL" -m sim -t ids.trace ids.sched --api openai-completions
status_is 0 "token ids without copies are sent"
ipf-sched replay:rate=20,by=copies -t ids.trace -q -o ids.sched
run ipf-fire -q -u "$URL" -m sim -t ids.trace ids.sched --api openai-completions
status_is 3 "token ids with copies end with 3"
complains ipf-fire "copy: request 0 of the trace has token ids, which cannot be copied" "ipf-fire says that token ids cannot be copied"

# Stages with prompts of their own, also where users go round.
: >server.log
ipf-sched burst:n=3 closed:users=2,n=3 closed:users=1,for=2s -t made.trace -q --new-prompts -o stages.sched
run ipf-fire -q -u "$URL" -m sim -t made.trace stages.sched -H 'X-Request-Id: $id'
status_is 0 "stages with prompts of their own are sent"
wait_for logged "$(body "$OUT" | grep -c '^{"n":')"
is "$(jq -r .prompt_sha256 server.log | sort -u | grep -c -e "$(sha "first 0")" -e "$(sha "01 first 0")" -e "$(sha "02 first 0")")" 3 "every stage begins its prompts differently"
