#include "canary/canary.h"
#include "json/jout.h"

void canary_tag(const struct canary *c, struct buffer *json)
{
	struct jout w = {.out = json};
	jout_begin_map(&w);
	jout_key(&w, "kind");
	jout_string0(&w, canary_kind_names[c->kind]);
	jout_key(&w, "answer");
	jout_string(&w, buffer_all(&c->answer));
	jout_end_map(&w);
}

bool canary_is_tagged(struct slice tags, struct jdoc *scratch)
{
	static const char name[] = "\"canary\"";
	struct ipf_error ignored = {0};
	return tags.data && memmem(tags.data, tags.len, name, sizeof name - 1) &&
	       jdoc_parse(scratch, tags.data, tags.len, &ignored) == 0 &&
	       jdoc_get(scratch, JDOC_ROOT, "canary") != JDOC_NONE;
}

bool canary_tag_read(const struct jdoc *doc, jdoc_id tags, struct canary_expected *expected)
{
	jdoc_id tag = jdoc_get(doc, tags, "canary");
	jdoc_id kind = jdoc_get(doc, tag, "kind"), answer = jdoc_get(doc, tag, "answer");

	buffer_clear(&expected->answer);
	if (jdoc_type_of(doc, answer) != JDOC_TEXT)
		return false;
	for (int i = 0; i < CANARY_KINDS; i++)
		if (jdoc_text_is(doc, kind, canary_kind_names[i])) {
			expected->kind = (enum canary_kind)i;
			jdoc_text(doc, answer, &expected->answer);
			return true;
		}
	return false;
}

void canary_expected_release(struct canary_expected *expected)
{
	buffer_release(&expected->answer);
}
