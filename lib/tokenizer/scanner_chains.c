/* Finds the scanner of a chain of pre-tokenizers. */
#include "tokenizer/scanner.h"

#include <string.h>

#define SPACES       "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define UPPER_SET    "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER_SET    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define BEFORE       "[^\\r\\n\\p{L}\\p{N}]?"

const char scan_regex_gpt2[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
const char scan_regex_cl100k[] = CONTRACTIONS "|" BEFORE "\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" SPACES;
const char scan_regex_qwen[] = CONTRACTIONS "|" BEFORE "\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" SPACES;
const char scan_regex_o200k[] = BEFORE UPPER_SET "*" LOWER_SET "+" CONTRACTIONS "?|" BEFORE UPPER_SET "+" LOWER_SET
												 "*" CONTRACTIONS
												 "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACES;
const char scan_regex_tekken[] = BEFORE UPPER_SET "*" LOWER_SET "+|" BEFORE UPPER_SET "+" LOWER_SET
												  "*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACES;
const char *const scan_regex_deepseek[3] = {
	"\\p{N}{1,3}",
	"[一-龥぀-ゟ゠-ヿ]+",
	("[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| "
     "?[\\p{P}\\p{S}]+[\r\n]*|"
     "\\s*[\r\n]+|\\s+(?!\\S)|\\s+"),
};

static const char *type_of(const json_t *step)
{
	const char *type = json_string_value(json_object_get(step, "type"));
	return type ? type : "";
}

static bool is_true(const json_t *step, const char *name, bool otherwise)
{
	const json_t *value = json_object_get(step, name);
	return value ? json_is_true(value) : otherwise;
}

static bool is_byte_level(const json_t *step, bool regex)
{
	return strcmp(type_of(step), "ByteLevel") == 0 && !is_true(step, "add_prefix_space", true) &&
	       is_true(step, "use_regex", true) == regex;
}

/* If an expression matches everywhere, Isolated and an inverted Removed give the same words. DeepSeek's expressions do
 * not. */
static bool is_split(const json_t *step, const char *regex, bool everywhere)
{
	const json_t *pattern = json_object_get(json_object_get(step, "pattern"), "Regex");
	const char *behaviour = json_string_value(json_object_get(step, "behavior"));
	if (strcmp(type_of(step), "Split") != 0 || !behaviour || !json_is_string(pattern) ||
	    strcmp(json_string_value(pattern), regex) != 0)
		return false;
	bool invert = is_true(step, "invert", false);
	return (strcmp(behaviour, "Isolated") == 0 && (!invert || everywhere)) ||
	       (everywhere && invert && strcmp(behaviour, "Removed") == 0);
}

static scan_function *one_split(const json_t *step)
{
	static const struct {
		const char *regex;
		scan_function *scan;
	} known[] = {{scan_regex_cl100k, scan_cl100k},
	             {scan_regex_qwen, scan_qwen},
	             {scan_regex_o200k, scan_o200k},
	             {scan_regex_tekken, scan_tekken},
	             {scan_regex_gpt2, scan_gpt2}};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (is_split(step, known[i].regex, true))
			return known[i].scan;
	return NULL;
}

scan_function *scanner_for_chain(const json_t *config)
{
	const json_t *steps = json_object_get(config, "pretokenizers");
	size_t count = json_array_size(steps);

	if (is_byte_level(config, true))
		return scan_gpt2;
	if (strcmp(type_of(config), "Sequence") != 0 || count == 0)
		return NULL;
	const json_t *first = json_array_get(steps, 0), *last = json_array_get(steps, count - 1);
	if (count == 1)
		return is_byte_level(first, true) ? scan_gpt2 : NULL;
	if (count == 2 && strcmp(type_of(first), "Digits") == 0 && is_true(first, "individual_digits", false) &&
	    is_byte_level(last, true))
		return scan_gpt2_digit;
	if (!is_byte_level(last, false))
		return NULL;
	if (count == 2)
		return one_split(first);
	if (count == 4 && is_split(first, scan_regex_deepseek[0], false) &&
	    is_split(json_array_get(steps, 1), scan_regex_deepseek[1], false) &&
	    is_split(json_array_get(steps, 2), scan_regex_deepseek[2], false))
		return scan_deepseek;
	return NULL;
}
