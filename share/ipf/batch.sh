#!/bin/sh
# The steps of batch.mk, each of which makes a file:
#   batch.sh render REQUESTS.jsonl TRACE
#   batch.sh submit SUBMITTED.json REQUESTS.jsonl
#   batch.sh follow BATCH.json SUBMITTED.json
#   batch.sh report REPORT.txt
# for the variables of batch.mk.
step=$1 file=$2
shift 2
folder=$(dirname "$file")
part=$folder/part.$(basename "$file")
fail() {
	echo "batch.mk: $*" >&2
	rm -f "$part"
	exit 2
}
command -v jq >/dev/null || fail "jq is not installed"
case $TIMEOUT in '' | *[!0-9]*) fail "TIMEOUT: expected seconds, got \"$TIMEOUT\"" ;; esac

# The key goes to curl by its standard input, where no list of processes shows it.
ask() { # ARGUMENTS OF curl…: the body of the answer in $folder/part.answer
	key=$(printenv "$KEY_ENV")
	{
		[ -z "$key" ] || printf 'header = "Authorization: Bearer %s"\n' "$(printf %s "$key" | sed 's/[\\"]/\\&/g')"
	} | curl -sS -K - --max-time 600 --fail-with-body -o "$folder/part.answer" "$@" 2>"$folder/part.error" && return
	fail "$(tr '\n' ' ' <"$folder/part.error")$(jq -r '.error.message? // empty' "$folder/part.answer" 2>/dev/null | head -c 300)"
}

render() { # TRACE
	{ zstd -dcfq <"$1" || fail "$1: cannot be read"; } | jq -c --arg endpoint "$ENDPOINT" --arg model "$MODEL" '
		select(has("id")) | if .media then error("request \(.id): images, audio and video cannot be part of a batch") else . end |
		(if $model != "" then $model else .model end) as $model |
		{custom_id: .id, method: "POST", url: $endpoint, body: (
			(if $model then {model: $model} else {} end) +
			if $endpoint | endswith("/chat/completions") then
				{messages: (.messages // [{role: "user", content: .prompt}]), max_tokens: .output_tokens}
				+ ({tools, response_format} | with_entries(select(.value != null)))
			elif $endpoint | endswith("/embeddings") then {input: (.inputs // .prompt // ([.messages[].content] | join("\n\n")))}
			else {prompt: (.prompt // .prompt_token_ids // ([.messages[].content] | join("\n\n"))), max_tokens: .output_tokens} end)}' >"$part" ||
		fail "the requests of $1 cannot be rendered"
	[ -s "$part" ] || fail "$1 has no requests"
	[ -z "$(jq -r .custom_id "$part" | sort | uniq -d | head -1)" ] || fail "$1: two requests have the same id"
}

submit() { # REQUESTS
	echo "batch.mk: hands $(wc -l <"$1") requests over to $(printf '%s\n' "$URL" | sed 's,//[^/@]*@,//,'), which has $WINDOW for them" >&2
	begin=$(date +%s.%N)
	ask -F purpose=batch -F "file=@\"$1\";type=application/jsonl;filename=requests.jsonl" --url "$URL/v1/files"
	input=$(jq -er .id "$folder/part.answer") || fail "$URL/v1/files: the answer has no id"
	uploaded=$(date +%s.%N)
	jq -n --arg input "$input" --arg endpoint "$ENDPOINT" --arg window "$WINDOW" \
		'{input_file_id: $input, endpoint: $endpoint, completion_window: $window}' >"$folder/part.body"
	ask -H 'Content-Type: application/json' --data-binary "@$folder/part.body" --url "$URL/v1/batches"
	jq -e --argjson begin "$begin" --argjson uploaded "$uploaded" --argjson requests "$(wc -l <"$1")" \
		'{id: (.id // error), begin: $begin, uploaded: $uploaded, requests: $requests}' "$folder/part.answer" >"$part" 2>/dev/null ||
		fail "$URL/v1/batches: the answer has no id"
	rm -f "$folder/progress.jsonl"
	echo "batch.mk: batch $(jq -r .id "$part") of $(wc -l <"$1") requests" >&2
}

fetch() { # FILE-ID OUTPUT
	: >"$2"
	[ -n "$1" ] || return 0
	ask --url "$URL/v1/files/$1/content"
	mv -f "$folder/part.answer" "$2"
}

follow() { # SUBMITTED
	id=$(jq -r .id "$1")
	until=$(($(date +%s) + TIMEOUT))
	while :; do
		ask --url "$URL/v1/batches/$id"
		seen=$(date +%s.%N)
		status=$(jq -er .status "$folder/part.answer") || fail "$URL/v1/batches/$id: the answer has no status"
		jq -c --argjson t "$seen" '{t: $t, status} + (.request_counts // {})' "$folder/part.answer" >>"$folder/progress.jsonl"
		case $status in completed | failed | expired | cancelled) break ;; esac
		[ "$(date +%s)" -lt "$until" ] || fail "batch $id is $status after TIMEOUT seconds; the next call goes on waiting"
		sleep "$POLL"
	done
	jq --argjson seen "$seen" --slurpfile submitted "$1" '{submitted: $submitted[0], seen: $seen, batch: .}' "$folder/part.answer" >"$part" || fail "no memory"
	[ "$status" != failed ] || fail "batch $id failed: $(jq -r '[.batch.errors.data[]?.message] | join("; ")' "$part" | head -c 300)"
	fetch "$(jq -r '.batch.output_file_id // empty' "$part")" "$folder/outputs.jsonl"
	fetch "$(jq -r '.batch.error_file_id // empty' "$part")" "$folder/errors.jsonl"
}

# Times of the server are whole seconds. An answer counts once, and only if it was asked for.
report() {
	jq -n --slurpfile all "$folder/batch.json" --slurpfile asked "$folder/requests.jsonl" --slurpfile outputs "$folder/outputs.jsonl" \
		--slurpfile errors "$folder/errors.jsonl" --arg price "$PRICE" '
		$all[0] as $a | $a.batch as $b | ($asked | map({key: .custom_id, value: 1}) | from_entries) as $ids |
		($outputs | map(select($ids[.custom_id] and .response.status_code == 200)) | unique_by(.custom_id)) as $ok |
		($outputs + $errors | map(select($ids[.custom_id])) | unique_by(.custom_id) | length) as $answered |
		(def span($from; $to): if $b[$from] and $b[$to] then $b[$to] - $b[$from] else null end;
		($ok | map(.response.body.usage // {})) as $usage |
		($b.completed_at // $b.expired_at // $b.cancelled_at) as $ended |
		($a.seen - $a.submitted.begin) as $makespan |
		{ipf: "batch", version: 1, id: $b.id, status: $b.status, requests: ($asked | length), ok: ($ok | length),
		failed: ($answered - ($ok | length)), unanswered: (($asked | length) - $answered),
		makespan_s: $makespan, upload_s: ($a.submitted.uploaded - $a.submitted.begin),
		server: {makespan_s: (if $ended and $b.created_at then $ended - $b.created_at else null end), validating_s: span("created_at"; "in_progress_at"),
			in_progress_s: span("in_progress_at"; "finalizing_at"), finalizing_s: span("finalizing_at"; "completed_at")},
		input_tokens: ($usage | map(.prompt_tokens // 0) | add // 0), output_tokens: ($usage | map(.completion_tokens // 0) | add // 0)} |
		. + {requests_per_s: (.ok / .makespan_s), output_tokens_per_s: (.output_tokens / .makespan_s)} |
		if $price == "" then . else ($price | split(",") | map(tonumber)) as $p |
			. + {cost: (.input_tokens * $p[0] / 1e6 + .output_tokens * ($p[1] // 0) / 1e6)} end)' >"$folder/part.report.json" ||
		fail "the answers of the batch cannot be read, or PRICE is no pair of numbers: $PRICE"
	mv -f "$folder/part.report.json" "$folder/report.json"
	jq -r 'def s: if . == null then "unknown" else (. * 10 | round / 10 | tostring) + " s" end;
		"batch \(.id): \(.status)",
		"requests    \(.requests): \(.ok) answered, \(.failed) failed, \(.unanswered) without an answer",
		"makespan    \(.makespan_s | s) from the upload (\(.upload_s | s)) to the end that was seen; \(.server.makespan_s | s) by the server",
		"phases      validating \(.server.validating_s | s), in progress \(.server.in_progress_s | s), finalizing \(.server.finalizing_s | s)",
		"tokens      \(.input_tokens) input, \(.output_tokens) output",
		"throughput  \(.requests_per_s * 100 | round / 100) requests/s, \(.output_tokens_per_s * 10 | round / 10) output tokens/s over the makespan",
		(if .cost != null then "cost        \(.cost * 10000 | round / 10000)" else empty end)' "$folder/report.json" >"$part" || fail "no memory"
	cat "$part"
}

"$step" "$@"
rm -f "$folder/part.answer" "$folder/part.error" "$folder/part.body"
mv -f "$part" "$file" || exit 1
