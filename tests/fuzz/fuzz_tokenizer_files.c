/* The files of tokenizers besides tokenizer.json. The first byte chooses.
 *
 * A compiled block of the cache: that of a small tokenizer, in which the input changes values, with the right checksum;
 * it is refused, or whatever it says, using it ends and reads within it. A change is eight bytes: section, how (a
 * value, or the length of the section), place, value.
 *
 * A rank file (tiktoken): refused with a reason, or a tokenizer. */
#include "fuzz_input.h"

#include "tokenizer/compiled_check.h"
#include "tokenizer/pipeline.h"
#include "tokenizer/rank_file.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/tokenizer_json.h"

static const char digest[65] = "0000000000000000000000000000000000000000000000000000000000000000";
static const char *const models[] = {
	"{\"added_tokens\":[{\"id\":4,\"content\":\"<x>\",\"special\":true,\"normalized\":false,\"lstrip\":false,"
	"\"rstrip\":false,\"single_word\":false}],\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"ByteLevel\","
	"\"add_prefix_space\":false,\"use_regex\":true},\"decoder\":{\"type\":\"ByteLevel\"},\"post_processor\":null,"
	"\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2,\"aab\":3},\"merges\":[\"a b\",\"a ab\"]}}",
	"{\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"always\"},"
	"\"decoder\":null,\"post_processor\":null,\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"<unk>\",0],"
	"[\"_\",-2],[\"a\",-3],[\"ab\",-2.5],[\"b\",-3.5]]}}",
	"{\"normalizer\":{\"type\":\"Lowercase\"},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"decoder\":{\"type\":"
	"\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true},\"post_processor\":null,\"model\":{\"type\":\"WordPiece\","
	"\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":100,\"vocab\":{"
	"\"[UNK]\":0,\"a\":1,\"##b\":2,\"ab\":3,\"##a\":4}}}",
};

/* Takes the block over. */
static void use(struct compiled_block block)
{
	struct tokenizer *t = calloc(1, sizeof *t);
	struct ipf_error err = {0};
	struct token_ids ids = {0};
	struct buffer decoded = {0};
	must(t && (t->name = strdup("fuzz")));
	t->block = block;
	if (pipeline_configure(t, &err) < 0) {
		must_explain(&err);
		tokenizer_close(t);
		return;
	}
	struct tokenizer_scratch *s = tokenizer_scratch_new(t);
	must(s != NULL);
	if (tokenizer_encode(t, s, slice_of("aab ab <x>b\xc3\xa9 Aabaab"), TOKENIZER_SPECIAL, &ids, &err) == 0)
		(void)tokenizer_decode(t, ids.ids, ids.count, 0, &decoded, &err);
	tokenizer_scratch_free(s);
	token_ids_release(&ids);
	buffer_release(&decoded);
	tokenizer_close(t);
}

/* Changes bytes of the block, and how long sections say they are, as long as the block remains laid out. */
static void change(struct compiled_block *block, const uint8_t *data, size_t size)
{
	struct compiled_header *h = block->memory;
	for (; size >= 8; data += 8, size -= 8) {
		int section = data[0] % (SECTION_COUNT + 1);
		uint32_t place, value;
		memcpy(&value, data + 4, 4);
		place = (uint32_t)data[2] << 8 | data[3];
		if (section == SECTION_COUNT) { /* the header's members about the vocabulary */
			uint32_t *const numbers[] = {&h->vocabulary_size, &h->vocabulary_count, &h->vocabulary_longest};
			if (place % 5 < 3)
				*numbers[place % 5] = value;
			else
				*(place % 5 == 3 ? &h->byte_mode : &h->bpe) = (uint8_t)value;
			continue;
		}
		uint64_t bytes = h->sections[section].bytes;
		char *at = (char *)block->memory + h->sections[section].offset;
		size_t width = data[1] & 1 ? 1 : 4;
		if (bytes >= width)
			memcpy(at + (place * width % (bytes - width + 1)), &value, width);
	}
}

static void read_block(const uint8_t *data, size_t size)
{
	static struct compiled_block blocks[sizeof models / sizeof *models];
	struct ipf_error err = {0};
	size_t which = data[0] / 2 % (sizeof models / sizeof *models);
	struct compiled_block *from = &blocks[which], copy;
	if (!from->memory)
		must(tokenizer_json_compile(from, slice_of(models[which]), digest, &err) == 0);
	copy = (struct compiled_block){.memory = aligned_alloc(64, from->header->size)};
	must(copy.memory != NULL);
	copy.header = copy.memory;
	memcpy(copy.memory, from->memory, from->header->size);
	change(&copy, data + 1, size - 1);
	compiled_seal(&copy);
	if (compiled_is_sound(copy.memory, copy.header->size, digest) && compiled_is_consistent(&copy))
		use(copy);
	else
		compiled_release(&copy);
	must(size > 9 || !compiled_is_sound(data, size, digest));
}

static void read_ranks(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"cl100k_base.tiktoken", "o200k_base.tiktoken", "r50k_base.tiktoken",
	                                    "p50k_base.tiktoken",   "x.tiktoken",          "tokenizer.json"};
	const char *kind;
	struct compiled_block block;
	struct ipf_error err = {0};
	if (rank_file_kind(names[data[0] / 2 % 6], &kind, &err) < 0 || !*kind)
		return;
	if (rank_file_compile(&block, kind, (struct slice){(const char *)data + 1, size - 1}, digest, &err) == 0)
		use(block);
	else
		must_explain(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	if (data[0] & 1)
		read_ranks(data, size);
	else
		read_block(data, size);
	return 0;
}
