#include "tokenizer/normalizer.h"

#include "tokenizer/normalizer_sequence.h"
#include "tokenizer/part_config.h"

static int sequence_new(struct normalizer **normalizer, const json_t *config, struct ipf_error *err)
{
	const json_t *list = json_object_get(config, "normalizers");
	size_t count = json_array_size(list);

	if (!json_is_array(list))
		return config_refuse("normalizer: Sequence", "normalizers", "a list", err);
	struct normalizer *s = normalizer_sequence_new(count, err);
	if (!s)
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct normalizer *part;
		const json_t *entry = json_array_get(list, i);
		if (json_is_null(entry) || normalizer_new(&part, entry, err) < 0) {
			s->free(s);
			return json_is_null(entry) ? config_refuse("normalizer: Sequence", "normalizers", "objects", err) : -1;
		}
		normalizer_sequence_add(s, part);
	}
	*normalizer = s;
	return 0;
}

int normalizer_new(struct normalizer **normalizer, const json_t *config, struct ipf_error *err)
{
	static const char *const names[] = {
		"Sequence", "BertNormalizer", "Lowercase",   "StripAccents", "Nmt", "ByteLevel", "Strip",
		"Prepend",  "Replace",        "Precompiled", "NFC",          "NFD", "NFKC",      "NFKD"};
	static normalizer_maker *const makers[] = {
		sequence_new,          normalizer_bert,  normalizer_lowercase, normalizer_strip_accents, normalizer_nmt,
		normalizer_byte_level, normalizer_strip, normalizer_prepend,   normalizer_replace,       normalizer_charsmap,
		normalizer_nfc,        normalizer_nfd,   normalizer_nfkc,      normalizer_nfkd};
	*normalizer = NULL;
	if (!config || json_is_null(config))
		return 0;
	int k = config_type(config, "normalizer", names, sizeof names / sizeof *names, err);
	return k < 0 ? -1 : makers[k](normalizer, config, err);
}
