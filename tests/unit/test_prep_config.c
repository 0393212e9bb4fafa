#include "config/prep_config.h"

#include "absent.h"
#include "unit.h"

#include <string.h>

static int check(struct prep_config *config, int argc, const char **argv, struct ipf_error *err)
{
	struct operands operands;
	int status;
	assert_true(program_start(&prep_program, argc, (char **)argv, config, &operands, &status));
	return prep_config_check(config, err);
}
#define CHECK(config_, err_, ...)                                                                                      \
	check(config_, (int)(sizeof(const char *[]){"ipf-prep", "sharegpt", __VA_ARGS__} / sizeof(char *)),                \
	      (const char *[]){"ipf-prep", "sharegpt", __VA_ARGS__, NULL}, err_)

static void defaults_keep_the_data_and_one_turn(void **state)
{
	(void)state;
	struct prep_config c = PREP_CONFIG_DEFAULTS;
	struct ipf_error err = {0};
	assert_int_equal(CHECK(&c, &err, "-"), 0);
	assert_true(c.first_turn_only);
	assert_int_equal(c.input.distribution.kind, DISTRIBUTION_DATASET);
	assert_int_equal(c.wait.distribution.kind, DISTRIBUTION_DATASET);
	assert_int_equal(c.limits.max_total, IPF_ABSENT);
	assert_int_equal(c.sample, SAMPLE_ALL);
	prep_config_release(&c);
}

static void single_options_override_preset_and_profile(void **state)
{
	(void)state;
	struct prep_config c = PREP_CONFIG_DEFAULTS;
	struct ipf_error err = {0};
	assert_int_equal(CHECK(&c, &err, "--preset", "vllm-sharegpt", "--max-input", "9", "--profile", "fixed-length",
	                       "--output-tokens", "7"),
	                 0);
	assert_int_equal(c.limits.max_input, 9);
	assert_int_equal(c.limits.min_input, 4);
	assert_int_equal(c.limits.max_total, 2048);
	assert_int_equal(c.input.distribution.min, 200);
	assert_int_equal(c.output.distribution.min, 7);
	prep_config_release(&c);
}

static void the_last_of_several_values_counts(void **state)
{
	(void)state;
	struct prep_config c = PREP_CONFIG_DEFAULTS;
	struct ipf_error err = {0};
	assert_int_equal(CHECK(&c, &err, "--models", "a=0.5,b=0.5", "--models", "c", "--prefixes", "3x9", "--prefixes",
	                       "1x5=0.5,2x7=0.5", "--turns", "histogram:x", "--turns", "2"),
	                 0);
	assert_int_equal(c.models.count, 1);
	assert_string_equal(c.models.items[0].name, "c");
	assert_int_equal(c.prefixes.count, 3);
	assert_int_equal(c.prefixes.groups[1].first, 1);
	assert_null(c.turns.histogram);
	assert_false(c.first_turn_only);
	prep_config_release(&c);
}

static void shuffle_is_a_sample_without_replacement(void **state)
{
	(void)state;
	struct prep_config c = PREP_CONFIG_DEFAULTS;
	struct ipf_error err = {0};
	assert_int_equal(CHECK(&c, &err, "--shuffle"), 0);
	assert_int_equal(c.sample, SAMPLE_WITHOUT);
	prep_config_release(&c);
}

static void options_that_exclude_each_other_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *first, *second, *third, *fourth, *text;
	} cases[] = {
		{"--sample", "with", "-q", "-q", "--sample: requires -n or --sessions"},
		{"--shuffle", "-q", "--scale", "2", "--scale: cannot be combined with --sample or --shuffle"},
		{"--preset", "lpg-sharegpt", "--profile", "chat",
	     "--preset: cannot be combined with --turns or --profile chat"},
		{"--prompt", "text", "--turns", "all",
	     "--prompt: sessions need messages or ids; remove --turns or --prompt text"},
		{"--prompt", "none", "--salt", "x", "--salt: cannot be combined with --prompt none, which writes no text"},
		{"--prompt", "ids", "--template-tokens", "3", "--template-tokens: requires --prompt messages, got ids"},
		{"--min-output", "5", "--max-output", "4", "--min-output: 5 is more than --max-output 4"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct prep_config c = PREP_CONFIG_DEFAULTS;
		struct ipf_error err = {0};
		assert_int_equal(CHECK(&c, &err, cases[i].first, cases[i].second, cases[i].third, cases[i].fourth), -1);
		assert_int_equal(err.kind, IPF_USAGE);
		assert_string_equal(err.text, cases[i].text);
		prep_config_release(&c);
	}
}

static void the_last_rule_that_applies_gives_the_objectives(void **state)
{
	(void)state;
	struct slo_rules rules = {0};
	struct jdoc scratch = {0};
	struct ipf_error err = {0};
	assert_int_equal(slo_rules_add(&rules, "ttft=1s", &err), 0);
	assert_int_equal(slo_rules_add(&rules, "model=b:ttft=2s", &err), 0);
	assert_int_equal(slo_rules_add(&rules, "tier=3:e2e=9s", &err), 0);
	const struct slice none = {0}, tags = slice_of("{\"tier\":3}");
	assert_true(slice_is(slo_rules_apply(&rules, none, none, &scratch), "{\"ttft\":\"1s\"}"));
	assert_true(slice_is(slo_rules_apply(&rules, slice_of("b"), none, &scratch), "{\"ttft\":\"2s\"}"));
	assert_true(slice_is(slo_rules_apply(&rules, slice_of("b"), tags, &scratch), "{\"e2e\":\"9s\"}"));
	jdoc_release(&scratch);
	slo_rules_release(&rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_keep_the_data_and_one_turn),
		cmocka_unit_test(single_options_override_preset_and_profile),
		cmocka_unit_test(the_last_of_several_values_counts),
		cmocka_unit_test(shuffle_is_a_sample_without_replacement),
		cmocka_unit_test(options_that_exclude_each_other_are_refused),
		cmocka_unit_test(the_last_rule_that_applies_gives_the_objectives),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
