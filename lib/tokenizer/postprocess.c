#include "tokenizer/postprocess.h"

#include "tokenizer/part_config.h"

#include <string.h>

static const char part[] = "post_processor";

static int add_id(struct token_ids *ids, const json_t *id, const char *name, struct ipf_error *err)
{
	if (!json_is_integer(id) || json_integer_value(id) < 0 || json_integer_value(id) > UINT32_MAX - 1)
		return config_refuse(part, name, "an id", err);
	return token_ids_push(ids, (uint32_t)json_integer_value(id)) ? 0 : ipf_error_memory(err);
}

/* Puts a step of a sequence around the result of the steps before it. */
static int around(struct postprocess *post, const struct postprocess *step, struct ipf_error *err)
{
	size_t n = step->before.count;
	if (!token_ids_grow(&post->before, n ? n : 1) ||
	    !token_ids_grow(&post->after, step->after.count ? step->after.count : 1))
		return ipf_error_memory(err);
	memmove(post->before.ids + n, post->before.ids, post->before.count * sizeof *post->before.ids);
	if (n)
		memcpy(post->before.ids, step->before.ids, n * sizeof *step->before.ids);
	post->before.count += n;
	for (size_t i = 0; i < step->after.count; i++)
		token_ids_push(&post->after, step->after.ids[i]);
	return 0;
}

static int template_token(struct token_ids *ids, const json_t *config, const json_t *piece, struct ipf_error *err)
{
	const char *name = json_string_value(json_object_get(piece, "id"));
	const json_t *list = json_object_get(json_object_get(json_object_get(config, "special_tokens"), name ? name : ""),
	                                     "ids");
	const json_t *id;
	size_t i;

	if (!name || !json_is_array(list))
		return ipf_error_set(err, IPF_INPUT, "%s: TemplateProcessing: \"%.60s\" is not among its special_tokens", part,
		                     name ? name : "");
	json_array_foreach(list, i, id) if (add_id(ids, id, "TemplateProcessing: special_tokens", err) < 0) return -1;
	return 0;
}

/* Sets `*pieces` to the number of pieces in the result. */
static int add_template(struct postprocess *step, const json_t *config, size_t *pieces, struct ipf_error *err)
{
	const json_t *single = json_object_get(config, "single"), *piece;
	size_t i;
	bool seen = false;

	if (!json_is_array(single))
		return config_refuse(part, "TemplateProcessing: single", "a list", err);
	json_array_foreach(single, i, piece)
	{
		const json_t *sequence = json_object_get(piece, "Sequence"), *token = json_object_get(piece, "SpecialToken");
		if (token) {
			if (template_token(seen ? &step->after : &step->before, config, token, err) < 0)
				return -1;
			continue;
		}
		const char *id = json_string_value(json_object_get(sequence, "id"));
		if (!id || strcmp(id, "A") != 0 || seen)
			return config_refuse(part, "TemplateProcessing: single", "the text once ($A) among special tokens", err);
		seen = true;
	}
	if (!seen)
		return config_refuse(part, "TemplateProcessing: single", "the text once ($A) among special tokens", err);
	*pieces = json_array_size(single);
	return 0;
}

/* BertProcessing and RobertaProcessing: ["[SEP]", 102] and ["[CLS]", 101]. */
static int add_ends(struct postprocess *step, const json_t *config, struct ipf_error *err)
{
	const json_t *cls = json_object_get(config, "cls"), *sep = json_object_get(config, "sep");
	if (json_array_size(cls) != 2 || json_array_size(sep) != 2)
		return config_refuse(part, "cls and sep", "[token, id] each", err);
	if (add_id(&step->before, json_array_get(cls, 1), "cls", err) < 0)
		return -1;
	return add_id(&step->after, json_array_get(sep, 1), "sep", err);
}

/* `*pieces` is the number of pieces so far; only ByteLevel accepts more than one. */
static int add_step(struct postprocess *post, const json_t *config, size_t *pieces, int depth, struct ipf_error *err)
{
	static const char *const names[] = {"ByteLevel", "TemplateProcessing", "BertProcessing", "RobertaProcessing",
	                                    "Sequence"};
	const json_t *list, *entry;
	struct postprocess step = {{0}, {0}};
	size_t i;
	int status = -1, k = config_type(config, part, names, sizeof names / sizeof *names, err);

	if (k < 0 || depth > 20)
		return ipf_error_set(err, IPF_INPUT, "%s: Sequence: nested too deep", part);
	if (k == 0)
		return 0;
	if (k == 4) {
		list = json_object_get(config, "processors");
		if (!json_is_array(list))
			return config_refuse(part, "Sequence: processors", "a list", err);
		json_array_foreach(list, i, entry) if (add_step(post, entry, pieces, depth + 1, err) < 0) return -1;
		return 0;
	}
	if (*pieces > 1)
		return ipf_error_set(err, IPF_INPUT, "%s: Sequence: %s after a TemplateProcessing is not supported", part,
		                     names[k]);
	status = k == 1 ? add_template(&step, config, pieces, err) : add_ends(&step, config, err);
	if (status == 0)
		status = around(post, &step, err);
	postprocess_release(&step);
	return status;
}

int postprocess_new(struct postprocess *post, const json_t *config, struct ipf_error *err)
{
	size_t pieces = 1;
	*post = (struct postprocess){{0}, {0}};
	if (!config || json_is_null(config))
		return 0;
	if (add_step(post, config, &pieces, 0, err) == 0)
		return 0;
	postprocess_release(post);
	return -1;
}

void postprocess_release(struct postprocess *post)
{
	token_ids_release(&post->before);
	token_ids_release(&post->after);
}
