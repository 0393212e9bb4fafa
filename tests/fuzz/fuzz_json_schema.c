/* A schema and a value, with a NUL between them: every schema is compiled or refused with a reason, a check ends, gives
 * a reason unless the value is valid, and gives the same one again. A value is valid by an `enum` that has it. */
#include "fuzz_input.h"
#include "json_schema/json_schema.h"

static void check_by(const char *schema, const struct jdoc *value, struct json_schema_finding *finding)
{
	struct json_schema *s;
	struct ipf_error err = {0};
	struct json_schema_finding again;
	*finding = (struct json_schema_finding){.validity = JSON_UNDECIDED};
	if (json_schema_new(&s, slice_of(schema), &err) < 0) {
		must_explain(&err);
		return;
	}
	json_schema_check(s, value, finding);
	json_schema_check(s, value, &again);
	must(finding->validity == again.validity && !strcmp(finding->reason, again.reason));
	must((finding->validity == JSON_VALID) == !*finding->reason);
	must(finding->validity != JSON_CHECK_NO_MEMORY);
	json_schema_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = {(const char *)data, size};
	char *schema = take_text(&rest), *value = take_text(&rest);
	struct jdoc doc = {0};
	struct ipf_error err = {0};
	struct buffer same = {0};
	struct json_schema_finding finding;
	if (jdoc_parse(&doc, value, strlen(value), &err) == 0) {
		check_by(schema, &doc, &finding);
		buffer_format(&same, "{\"enum\":[%s]}", value);
		check_by(same.data, &doc, &finding);
		must(finding.validity == JSON_VALID || finding.validity == JSON_UNDECIDED);
		buffer_clear(&same);
		buffer_format(&same, "{\"prefixItems\":[true],\"uniqueItems\":true,\"not\":{\"const\":%s}}", value);
		check_by(same.data, &doc, &finding);
		must(finding.validity == JSON_INVALID || finding.validity == JSON_UNDECIDED);
	}
	buffer_release(&same);
	jdoc_release(&doc);
	free(schema);
	free(value);
	return 0;
}
