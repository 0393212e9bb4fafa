#include "stream/media_list.h"

#include "absent.h"

#define NUMBER_MOST (INT64_C(1) << 44) /* bytes, or ns (4.9 hours): sums of them never overflow */

static void add(int64_t *sum, int64_t value)
{
	*sum = *sum == IPF_ABSENT ? value : *sum + value;
}

/* A member from 0 to NUMBER_MOST. */
static bool number(const struct jdoc *doc, jdoc_id medium, const char *member, int64_t *value)
{
	return jdoc_to_int(doc, jdoc_get(doc, medium, member), value) && *value >= 0 && *value <= NUMBER_MOST;
}

struct media_sums media_list_sum(struct jdoc *doc, struct slice list)
{
	struct media_sums s = {IPF_ABSENT, IPF_ABSENT, IPF_ABSENT, IPF_ABSENT, IPF_ABSENT};
	struct ipf_error ignored = {0};
	if (!list.data || jdoc_parse(doc, list.data, list.len, &ignored) < 0)
		return s;
	for (struct jdoc_each e = jdoc_each(doc, JDOC_ROOT); jdoc_step(&e);) {
		jdoc_id kind = jdoc_get(doc, e.value, "kind");
		bool audio = jdoc_text_is(doc, kind, "audio");
		int64_t value;
		if (jdoc_text_is(doc, kind, "image"))
			add(&s.images, 1);
		else if (audio)
			add(&s.audio_clips, 1);
		else if (jdoc_text_is(doc, kind, "video"))
			add(&s.video_clips, 1);
		else
			continue;
		if (number(doc, e.value, "bytes", &value))
			add(&s.bytes, value);
		if (audio && number(doc, e.value, "duration_ns", &value))
			add(&s.audio_ns, value);
	}
	return s;
}
