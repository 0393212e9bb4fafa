/* Tables of fields: as many as FIELDS_MAX are read, each remembered by itself. */
#include "absent.h"
#include "stream/fields.h"
#include "unit.h"

enum { MANY = FIELDS_MAX };

struct wide {
	int64_t values[MANY + 1];
};

static char names[MANY + 1][8], keys[MANY + 1][12];
static struct field table[MANY + 1];
static struct ipf_error err;

static int make_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < MANY + 1; i++) {
		snprintf(names[i], sizeof names[i], "f%zu", i);
		int len = snprintf(keys[i], sizeof keys[i], ",\"%s\":", names[i]);
		table[i] = (struct field){
			.name = names[i], .key = keys[i], .key_len = (size_t)len, .type = FIELD_INT, .offset = i * sizeof(int64_t)};
	}
	return 0;
}

static int read_from(const char *text, size_t count, struct wide *to)
{
	struct jdoc doc = {0};
	ipf_error_clear(&err);
	assert_int_equal(jdoc_parse(&doc, text, strlen(text), &err), 0);
	int status = fields_read(table, count, to, &doc, JDOC_ROOT, &err);
	jdoc_release(&doc);
	return status;
}

static void every_field_comes_back(void **state)
{
	(void)state;
	struct wide from, to;
	struct buffer line = {0};
	struct jout w = {.out = &line};
	for (int64_t i = 0; i < MANY; i++)
		from.values[i] = i * 7 - 3;
	jout_begin_map(&w);
	fields_write(table, MANY, &from, &w);
	jout_end_map(&w);
	assert_int_equal(read_from(line.data, MANY, &to), 0);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(to.values[i], from.values[i]);
	buffer_release(&line);
}

/* Fields that are a word of the mask apart are not mistaken for each other. */
static void the_first_of_a_name_counts(void **state)
{
	(void)state;
	struct wide to;
	assert_int_equal(read_from("{\"f1\":1,\"f65\":2,\"f127\":3,\"f63\":4,\"f65\":9,\"f1\":9,\"f64\":5}", MANY, &to), 0);
	assert_int_equal(to.values[1], 1);
	assert_int_equal(to.values[65], 2);
	assert_int_equal(to.values[127], 3);
	assert_int_equal(to.values[63], 4);
	assert_int_equal(to.values[64], 5);
	assert_int_equal(to.values[0], IPF_ABSENT);
	assert_int_equal(to.values[66], IPF_ABSENT);
}

static void a_required_field_beyond_64_is_missed(void **state)
{
	(void)state;
	struct wide to;
	table[100].required = true;
	assert_int_equal(read_from("{\"f36\":1}", MANY, &to), -1);
	assert_string_equal(err.text, "f100: missing");
	assert_int_equal(read_from("{\"f100\":1}", MANY, &to), 0);
	table[100].required = false;
}

static void a_longer_table_is_refused(void **state)
{
	(void)state;
	struct wide to;
	assert_int_equal(read_from("{}", MANY + 1, &to), -1);
	assert_non_null(strstr(err.text, "fields is too long"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_comes_back),
		cmocka_unit_test(the_first_of_a_name_counts),
		cmocka_unit_test(a_required_field_beyond_64_is_missed),
		cmocka_unit_test(a_longer_table_is_refused),
	};
	return cmocka_run_group_tests(tests, make_table, NULL);
}
