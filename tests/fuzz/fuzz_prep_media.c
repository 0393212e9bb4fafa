/* Media of data sets: the first byte gives the kind of the rest, a medium's bytes or a message with media. A medium's
 * facts are possible; a message stays JSON, and its list has as many media as parts were changed, or an error says why.
 */
#include "fuzz_input.h"

#include "media/media_store.h"

#include "absent.h"

static void check_facts(struct slice bytes)
{
	struct media_facts f = media_facts(bytes, (int64_t)bytes.len);
	must(f.width == IPF_ABSENT || f.width >= 0);
	must(f.height == IPF_ABSENT || f.height >= 0);
	must(f.duration_ns == IPF_ABSENT || f.duration_ns >= 0);
	must(f.type || f.width == IPF_ABSENT);
}

static void check_message(struct slice message)
{
	struct media_options none = {0};
	struct media_store store;
	struct ipf_error err = {0}, why = {0};
	struct buffer out = {0};
	struct jout w = {.out = &out};
	struct jdoc doc = {0};
	if (jdoc_parse(&doc, message.data, message.len, &why) < 0) {
		jdoc_release(&doc);
		return;
	}
	media_store_init(&store, &none, 1);
	media_store_begin(&store);
	if (media_store_message(&store, message, &w, &err) < 0) {
		must_explain(&err);
	} else {
		must(jdoc_parse(&doc, out.data, out.len, &err) == 0);
		struct slice list = media_store_list(&store);
		must(!list.data || (jdoc_parse(&doc, list.data, list.len, &err) == 0 && jdoc_count(&doc, JDOC_ROOT) > 0));
	}
	media_store_close(&store, &err);
	jdoc_release(&doc);
	buffer_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	struct slice rest = {(const char *)data + 1, size - 1};
	if (data[0] & 1)
		check_facts(rest);
	else
		check_message(rest);
	return 0;
}
