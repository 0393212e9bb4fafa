#include "commands/run_meta.h"

#include "memory.h"
#include "safe_text.h"

#include <string.h>

enum { KEY_MOST = 63 };

int run_meta_add(json_t **meta, const char *text, struct ipf_error *err)
{
	static const char *const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_", *const digits =
																									"0123456789";
	char key[KEY_MOST + 1];
	size_t len = strspn(text, letters) ? strcspn(text, "=") : 0, good = 0;
	while (good < len && (strchr(letters, text[good]) || strchr(digits, text[good])))
		good++;
	if (len == 0 || len > KEY_MOST || good < len || text[len] != '=')
		return ipf_error_set(err, IPF_USAGE,
		                     "expected KEY=VALUE, with a key of at most %d letters, digits and _, got \"%s\"", KEY_MOST,
		                     shown(text).text);
	snprintf(key, sizeof key, "%.*s", (int)len, text);
	if (!*meta && !(*meta = json_object()))
		return ipf_error_memory(err);
	if (json_object_size(*meta) >= RUN_META_MOST && !json_object_get(*meta, key))
		return ipf_error_set(err, IPF_USAGE, "at most %d keys are possible", RUN_META_MOST);
	json_t *value = json_string(text + len + 1);
	if (!value)
		return memory_ran_out() ? ipf_error_memory(err)
		                        : ipf_error_set(err, IPF_USAGE, "%s: the value is not UTF-8", key);
	json_object_set_new(*meta, key, value);
	return 0;
}
