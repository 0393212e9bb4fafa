#include "draft/flat_prompt.h"

#include "json/jout.h"

static void join(struct flat_prompt *flat, const struct draft_message *messages, size_t count)
{
	buffer_clear(&flat->text);
	buffer_clear(&flat->json);
	for (size_t i = 0; i < count; i++) {
		buffer_text(&flat->text, i ? "\n\n" : "");
		buffer_slice(&flat->text, messages[i].text);
	}
	flat->json.failed |= flat->text.failed;
}

int64_t flat_prompt_text(struct flat_prompt *flat, const struct token_counter *tokens,
                         const struct draft_message *messages, size_t count)
{
	struct jout w = {.out = &flat->json};
	join(flat, messages, count);
	struct slice text = flat->text.data ? buffer_all(&flat->text) : slice_of("");
	jout_string(&w, text);
	return token_counter_count(tokens, text.data, text.len);
}

static void write_ids(struct flat_prompt *flat, const struct token_counter *tokens, struct slice text,
                      struct buffer *json)
{
	struct jout w = {.out = json};
	buffer_clear(json);
	flat->ids.count = 0;
	if (text.len > 0 && !token_counter_encode(tokens, text.data, text.len, &flat->ids))
		json->failed = true;
	jout_begin_list(&w);
	for (size_t i = 0; i < flat->ids.count; i++)
		jout_int(&w, flat->ids.ids[i]);
	jout_end_list(&w);
}

int64_t flat_prompt_ids(struct flat_prompt *flat, const struct token_counter *tokens,
                        const struct draft_message *messages, size_t count)
{
	join(flat, messages, count);
	write_ids(flat, tokens, buffer_all(&flat->text), &flat->json);
	flat->json.failed |= flat->text.failed;
	return (int64_t)flat->ids.count;
}

struct slice flat_answer_ids(struct flat_prompt *flat, const struct token_counter *tokens, struct slice text,
                             struct buffer *json)
{
	write_ids(flat, tokens, text, json);
	return buffer_all(json);
}

void flat_prompt_release(struct flat_prompt *flat)
{
	buffer_release(&flat->text);
	buffer_release(&flat->json);
	token_ids_release(&flat->ids);
}
