#include "unit.h"

#include "absent.h"
#include "clock.h"
#include "stages.h"

#include <math.h>
#include <string.h>

static struct stages parse(const char *specs, struct ipf_error *err)
{
	static char text[1000];
	char *list[16];
	struct stages stages;
	int count = 0;

	snprintf(text, sizeof text, "%s", specs);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		list[count++] = word;
	stages_parse(&stages, list, count, NULL, err);
	return stages;
}

static void test_values(void **state)
{
	struct ipf_error err = {0};
	struct stages s = parse("poisson:rate=300/m,for=1m30s,slots=1.5k,name=main,warmup gamma:cv=2.5,n=2k,rate=0.5 "
	                        "replay:speed=1.25,from=0,to=10m,n=5,for=2h closed:users=32,for=60s rest:for=250ms",
	                        &err);

	(void)state;
	assert_int_equal(err.kind, IPF_OK);
	assert_int_equal(s.count, 5);
	assert_string_equal(s.list[0].kind->name, "poisson");
	assert_true(s.list[0].rate == 5);
	assert_int_equal(s.list[0].for_ns, 90 * NS_PER_S);
	assert_int_equal(s.list[0].slots, 1500);
	assert_int_equal(s.list[0].n, IPF_ABSENT);
	assert_string_equal(s.list[0].name, "main");
	assert_true(s.list[0].warmup);
	assert_true(s.list[1].rate == 0.5 && s.list[1].cv == 2.5);
	assert_int_equal(s.list[1].n, 2000);
	assert_false(s.list[1].warmup);
	assert_int_equal(s.list[2].speed.num, 125);
	assert_int_equal(s.list[2].from_ns, 0);
	assert_int_equal(s.list[2].to_ns, 600 * NS_PER_S);
	assert_int_equal(s.list[3].slots, 32);
	assert_true(isnan(s.list[3].rate));
	assert_int_equal(s.list[4].for_ns, 250 * NS_PER_MS);
	stages_release(&s);
}

static void test_lists_of_rates(void **state)
{
	struct ipf_error err = {0};
	struct stages s = parse(
		"steps:rates=1,2.5,0,300/m,1k,each=30s steps:each=1s,rates=7 steps:warmup,rates=0,1,process=uniform,each=2s",
		&err);
	static const double rates[] = {1, 2.5, 0, 5, 1000};

	(void)state;
	assert_int_equal(err.kind, IPF_OK);
	assert_int_equal(s.list[0].rates.count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_true(s.list[0].rates.list[i] == rates[i]);
	assert_int_equal(s.list[0].every_ns, 30 * NS_PER_S);
	assert_int_equal(s.list[1].rates.count, 1);
	assert_int_equal(s.list[2].rates.count, 2);
	assert_int_equal(s.list[2].process, GAPS_UNIFORM);
	assert_string_equal(s.list[1].name, "steps-2");
	stages_release(&s);
}

static void test_a_sweep_is_several_stages(void **state)
{
	static const char *const names[] = {"poisson",     "sweep 1/s",   "sweep rest 1",  "sweep 2.5/s", "sweep rest 2",
	                                    "sweep 1/s-2", "load 1 user", "load 32 users", "sweep 9/s"};
	static const char *const kinds[] = {"poisson", "poisson", "rest",   "poisson", "rest",
	                                    "poisson", "closed",  "closed", "gamma"};
	struct ipf_error err = {0};
	struct stages s = parse(
		"poisson:rate=9,n=1 sweep:rates=1,2.5,1,for=10s,rest=2s,slots=7,warmup sweep:users=1,32,n=5,name=load "
		"sweep:rates=9,n=4,process=gamma,cv=2",
		&err);

	(void)state;
	assert_int_equal(err.kind, IPF_OK);
	assert_int_equal(s.count, 9);
	for (size_t i = 0; i < s.count; i++) {
		assert_string_equal(s.list[i].name, names[i]);
		assert_string_equal(s.list[i].kind->name, kinds[i]);
	}
	assert_true(s.list[3].rate == 2.5 && s.list[3].for_ns == 10 * NS_PER_S && s.list[3].slots == 7 && s.list[3].warmup);
	assert_string_equal(s.list[3].spec, "poisson:rate=2.5,for=10s,slots=7,warmup");
	assert_string_equal(s.list[4].spec, "rest:for=2s");
	assert_string_equal(s.list[7].spec, "closed:users=32,n=5");
	assert_string_equal(s.list[8].spec, "gamma:rate=9,cv=2,n=4");
	assert_int_equal(s.list[3].ordinal, 2);
	assert_int_equal(s.list[4].for_ns, 2 * NS_PER_S);
	assert_int_equal(s.list[7].slots, 32);
	assert_int_equal(s.list[7].n, 5);
	assert_true(s.list[8].cv == 2);
	stages_release(&s);
}

static void test_names_and_ordinals(void **state)
{
	static const char *const names[] = {"poisson-3", "rest", "poisson", "constant", "poisson-2", "again"};
	static const uint64_t ordinals[] = {0, 0, 1, 0, 2, 1};
	struct ipf_error err = {0};
	struct stages s = parse(
		"poisson:rate=1 rest:for=1s poisson:rate=2,name=poisson constant:rate=1 poisson:rate=3,name=poisson-2 "
		"constant:rate=1,name=again",
		&err);

	(void)state;
	assert_int_equal(err.kind, IPF_OK);
	for (size_t i = 0; i < s.count; i++) {
		assert_string_equal(s.list[i].name, names[i]);
		assert_int_equal(s.list[i].ordinal, ordinals[i]);
	}
	stages_release(&s);
}

static const struct {
	const char *spec, *error;
} misuses[] = {
	{"poisson:rate=0", "rate: expected a rate above 0, got \"0\""},
	{"poisson:rate=0,for=1s", "rate: expected a rate above 0, got \"0\""},
	{"poisson:rate=fast", "rate: expected a rate such as 5, 1.5k or 300/m, got \"fast\""},
	{"poisson:rate=2G", "rate: expected a rate between 0.000000001 and 1G per second, got \"2G\""},
	{"poisson:rate=", "rate: expected a rate such as 5, 1.5k or 300/m, got \"\""},
	{"poisson:rate", "rate: expected rate=RATE"},
	{"poisson:for=1s", "rate=RATE is required"},
	{"poisson", "rate=RATE is required"},
	{"poisson:", "expected key=value after the colon, got nothing"},
	{"poisson:rate=1,", "expected key=value after the comma, got nothing"},
	{"poisson:rate=1,,n=2", "expected key=value after the comma, got nothing"},
	{"poisson:rate=1,rate=2", "rate: given twice"},
	{"poisson:rate=1,warmup=yes", "warmup: takes no value, got \"yes\""},
	{"poisson:rate=1,for=0", "for: expected a duration above 0, got \"0\""},
	{"poisson:rate=1,for=10", "for: expected a duration such as 250ms or 2m, got \"10\""},
	{"poisson:rate=1,for=200000d", "for: expected a duration of less than 292 years, got \"200000d\""},
	{"poisson:rate=1,for=100000d", "for: expected a duration of less than 73 years, got \"100000d\""},
	{"poisson:rate=1,n=0", "n: expected a count of at least 1, got \"0\""},
	{"poisson:rate=1,for=1s,n=2", "for= and n= cannot be combined"},
	{"poisson:rate=1,name=", "name: expected a name, got \"\""},
	{"poisson:rate=1,cv=2",
     "unknown key \"cv\" (poisson takes: rate= for= n= slots= name= warmup cooldown drain overlap cache=)"},
	{"poisson:rat=1",
     "unknown key \"rat\", did you mean \"rate\"? (poisson takes: rate= for= n= slots= name= warmup cooldown drain overlap cache=)"},
	{"poison:rate=1",
     "unknown kind of stage \"poison\", did you mean \"poisson\"? "
     "(known: constant poisson gamma weibull uniform ramp steps sine spike onoff rates replay closed burst rest sweep search alone)"},
	{"",
     "unknown kind of stage \"\" (known: constant poisson gamma weibull uniform ramp steps sine spike onoff rates replay closed burst rest sweep search alone)"},
	{"gamma:rate=1", "cv=NUMBER is required"},
	{"gamma:rate=1,cv=0", "cv: expected a number above 0, got \"0\""},
	{"gamma:rate=1,cv=101", "cv: expected a number between 0.001 and 100, got 101"},
	{"replay:speed=0", "speed: expected a decimal number above 0 such as 2 or 0.5, got \"0\""},
	{"replay:speed=2x", "speed: expected a decimal number above 0 such as 2 or 0.5, got \"2x\""},
	{"replay:from=2m,to=1m", "to: expected a time after from= (2 m 0 s), got 1 m 0 s"},
	{"closed:users=0", "users: expected a count of at least 1, or two such as 1..32, got \"0\""},
	{"closed:users=1..x,steps=2", "users: expected two counts of at least 1 such as 1..32, got \"1..x\""},
	{"closed", "users=COUNT or concurrency=COUNT is required"},
	{"closed:users=1,concurrency=1", "concurrency: expected either users= or concurrency=, got both"},
	{"closed:concurrency=1,users=1", "users: expected either users= or concurrency=, got both"},
	{"closed:concurrency=0", "concurrency: expected a count of at least 1, or two such as 1..32, got \"0\""},
	{"closed:concurrency=1..4", "concurrency=1..4 requires steps=COUNT"},
	{"closed:concurrency=4,steps=2", "steps: requires concurrency= with two counts, such as 1..32"},
	{"closed:concurrency=4,middle", "middle: requires users=COUNT"},
	{"closed:users=1..4,steps=2,middle", "middle: requires users=COUNT"},
	{"closed:users=1..4", "users=1..4 requires steps=COUNT"},
	{"closed:users=4,steps=2", "steps: requires users= with two counts, such as 1..32"},
	{"closed:users=1..4,steps=5", "steps: expected a count between 2 and 4, got 5"},
	{"closed:users=4,n=1,rampup=1x", "rampup: expected a duration such as 250ms or 2m, got \"1x\""},
	{"closed:users=4,for=1s,rampup=2s", "rampup: expected at most for= (1 s), got 2 s"},
	{"closed:users=4,n=1,process=gamma,cv=2", "process: requires think=TIME"},
	{"closed:users=4,n=1,think=1s,cv=2", "cv: requires think=TIME and process=NAME"},
	{"closed:users=4,n=1,think=1s,process=gamma", "process=gamma requires cv=NUMBER"},
	{"closed:users=4,n=1,drain,overlap", "drain and overlap cannot be combined"},
	{"closed:users=4,n=1,for=1s", "for= and n= cannot be combined"},
	{"closed:users=4,slots=4",
     "unknown key \"slots\" (closed takes: users= concurrency= steps= for= n= rampup= think= process= cv= middle idle-max= salt rate= name= warmup cooldown drain overlap cache=)"},
	{"rest", "for=TIME is required"},
	{"uniform:rate=1,cv=0.6", "cv: expected a number between 0.001 and 0.5774, got 0.6"},
	{"weibull:rate=1,cv=0.01", "cv: expected a number between 0.02 and 100, got 0.01"},
	{"ramp:from=1,to=2", "for=TIME is required"},
	{"ramp:from=1,to=fast,for=1s", "to: expected a rate such as 5, 1.5k or 300/m, got \"fast\""},
	{"ramp:from=0,to=0,for=1s", "to: expected a rate above 0, since from= is 0"},
	{"ramp:from=1,to=2,for=1s,process=even",
     "process: expected one of poisson, constant, gamma, weibull and uniform, got \"even\""},
	{"ramp:from=1,to=2,for=1s,process=gamma", "process=gamma requires cv=NUMBER"},
	{"ramp:from=1,to=2,for=1s,cv=2", "cv: does not apply to process=poisson or process=constant"},
	{"steps:rates=1,x,each=1s",
     "rates: expected another value or a key after the comma, got \"x\" "
     "(steps takes: rates= each= process= cv= slots= name= warmup cooldown drain overlap cache=)"},
	{"steps:rates=1,warmpu,each=1s",
     "rates: expected another value or a key after the comma, got \"warmpu\", did you mean \"warmup\"? "
     "(steps takes: rates= each= process= cv= slots= name= warmup cooldown drain overlap cache=)"},
	{"steps:rates=1,,2,each=1s", "rates: expected another value or a key after the comma, got nothing"},
	{"steps:rates=1,2y,each=1s", "rates: expected a rate such as 5, 1.5k or 300/m, got \"2y\""},
	{"steps:rates=0,0,each=1s", "rates: expected at least one rate above 0"},
	{"steps:rates=,each=1s", "rates: expected a rate such as 5, 1.5k or 300/m, got \"\""},
	{"sine:low=3,high=2,every=1m,for=1m", "high: expected at least low= (3/s), got 2/s"},
	{"sine:low=0,high=2,every=1us,for=1m", "every: expected at least 1 ms, got 1 us"},
	{"spike:base=1,peak=2,every=1m,width=1m,for=1h", "width: expected less than every= (1 m 0 s), got 1 m 0 s"},
	{"spike:base=1,peak=0,every=1m,width=1s", "peak: expected a rate above 0, got \"0\""},
	{"sweep:for=1s", "rates=RATE,…, users=COUNT,…, concurrency=COUNT,… or from=FILE is required"},
	{"sweep:rates=1,2", "for=TIME or n=COUNT is required"},
	{"sweep:rates=1,0,n=2", "rates: expected rates above 0"},
	{"sweep:rates=1,users=2,for=1s", "users: rates=, users= and concurrency= cannot be combined"},
	{"sweep:users=1,2.5,for=1s", "users: expected a whole number such as 1000 or 1.5k, got \"2.5\""},
	{"sweep:users=0,for=1s", "users: expected a count of at least 1, got \"0\""},
	{"sweep:users=1,for=1s,slots=3", "slots: does not apply to a closed loop"},
	{"sweep:users=1,n=5,process=constant", "process: does not apply to a closed loop"},
	{"sweep:rates=1,n=5,process=gamma", "process=gamma requires cv=NUMBER"},
	{"sweep:rates=1,n=5,for=1s", "for= and n= cannot be combined"},
	{"sweep:rates=1,2,from=x,for=1s", "from= and rates= cannot be combined"},
	{"sweep:rates=1,2,points=3,for=1s", "points: requires from=FILE"},
	{"rates:linear", "file=FILE is required"},
	{"search:low=1,high=2,for=1s", "slo=GOAL,… is required"},
	{"search:slo=p100:ttft=1s,low=1,high=2,for=1s",
     "slo: expected objectives such as ttft=500ms or p99:ttft=500ms, got \"p100:ttft=1s\""},
	{"search:slo=ttft=1s@p99,low=1,high=2,for=1s",
     "slo: ttft: expected a duration such as 250ms or 2m, got \"1s@p99\""},
	{"search:slo=p9:ttft=fast,low=1,high=2,for=1s", "slo: ttft: expected a duration such as 250ms or 2m, got \"fast\""},
	{"search:slo=p9:load=1s,low=1,high=2,for=1s",
     "slo: expected ttft, ttfa, e2e, tpot, ntpot or itl_mean before the \"=\", got \"p9:load=1s\""},
	{"search:slo=p9:ttft=1s,p9:tpot=1s,low=3,high=2,for=1s", "high: expected more than low= (3), got 2"},
	{"search:slo=p9:ttft=1s,low=1,for=1s", "high=RATE is required with for="},
	{"search:slo=p9:ttft=1s,n=100", "low=RATE is required with n="},
	{"search:slo=p9:ttft=1s,time=5m,for=1s", "time= and for= cannot be combined"},
	{"search:slo=p9:ttft=1s,time=5s", "time: expected at least 20s for a search"},
	{"search:slo=p99:ttft=1s,low=1,high=2,n=40", "n: 40 requests cannot judge the percentile of slo=: 459 are needed"},
	{"search:slo=p9:ttft=1s,low=1.5,high=2,for=1s,users", "low: expected a whole number of users, got 1.5"},
	{"onoff:peak=2,on=1s,off=1us,n=5", "off: expected at least 1 ms, got 1 us"},
};

static void test_misuse_names_stage_kind_key_and_value(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof misuses / sizeof *misuses; i++) {
		struct ipf_error err = {0};
		struct stages stages;
		char *spec = (char *)(uintptr_t)misuses[i].spec, expected[600];
		assert_int_equal(stages_parse(&stages, &spec, 1, NULL, &err), -1);
		assert_int_equal(err.kind, IPF_USAGE);
		snprintf(expected, sizeof expected, "stage 1 (%.*s): %s", (int)strcspn(spec, ":"), spec, misuses[i].error);
		assert_string_equal(err.text, expected);
		stages_release(&stages);
	}
}

/* Every key of every kind, wrong in every way its type knows. */
static const char *const *wrong_values(enum key_type type)
{
	static const char *const rates[] = {"fast", "-1", "", "2G", "1x", NULL}, *const counts[] = {"many", "0", "-1",
	                                                                                            "1.5",  "",  NULL};
	static const char *const times[] = {"soon", "10", "-1s", "", "100000d", NULL}, *const numbers[] = {"big", "0", "-1",
	                                                                                                   "", NULL};
	static const char *const names[] = {"even", "", NULL}, *const texts[] = {"", "\xff", NULL},
							 *const shares[] = {"half", "1.5", "101%", "", NULL};
	static const char *const goals[] = {"ttft", "p0:ttft=1s", "p9:ttft=x", "", NULL}, *const none[] = {NULL};
	switch (type) {
	case KEY_RATE:
	case KEY_RATE_0:
	case KEY_RATES:
		return rates;
	case KEY_COUNT:
	case KEY_COUNTS:
	case KEY_SLOTS_OR_RANGE:
		return counts;
	case KEY_DURATION:
	case KEY_TIME:
		return times;
	case KEY_NUMBER:
	case KEY_RATIO:
		return numbers;
	case KEY_GAPS:
	case KEY_BY:
	case KEY_CACHE:
		return names;
	case KEY_TEXT:
		return texts;
	case KEY_SHARE:
		return shares;
	case KEY_GOALS:
		return goals;
	case KEY_FLAG:
		return none;
	}
	return none;
}

static void assert_blames(const char *spec, const char *kind, const char *key)
{
	struct ipf_error err = {0};
	struct stages stages;
	char *specs[] = {(char *)(uintptr_t) "rest:for=1s", (char *)(uintptr_t)spec}, begin[100];

	snprintf(begin, sizeof begin, "stage 2 (%s): %s: ", kind, key);
	assert_int_equal(stages_parse(&stages, specs, 2, NULL, &err), -1);
	assert_int_equal(err.kind, IPF_USAGE);
	if (strncmp(err.text, begin, strlen(begin)) != 0)
		fail_msg("%s: %s", spec, err.text);
	stages_release(&stages);
}

static void test_misuse_of_every_key(void **state)
{
	char spec[300];
	size_t tried = 0;

	(void)state;
	for (size_t i = 0; stage_kinds[i]; i++)
		for (const struct stage_key *key = stage_kinds[i]->keys; key->name; key++) {
			const char *kind = stage_kinds[i]->name;
			for (const char *const *value = wrong_values(key->type); *value; value++, tried++) {
				snprintf(spec, sizeof spec, "%s:%s=%s", kind, key->name, *value);
				assert_blames(spec, kind, key->name);
			}
			snprintf(spec, sizeof spec, key->type == KEY_FLAG ? "%s:%s=yes" : "%s:%s", kind, key->name);
			assert_blames(spec, kind, key->name);
			if (key->type == KEY_FLAG) {
				snprintf(spec, sizeof spec, "%s:%s,%s", kind, key->name, key->name);
				assert_blames(spec, kind, key->name);
			}
		}
	assert_true(tried > 300);
}

static void test_a_name_stands_once(void **state)
{
	struct ipf_error err = {0};
	struct stages s = parse("poisson:rate=1,name=a rest:for=1s,name=a", &err);

	(void)state;
	assert_int_equal(err.kind, IPF_USAGE);
	assert_string_equal(err.text, "stage 2 (rest): name: another stage is already called \"a\"");
	stages_release(&s);
}

/* Whatever is typed: an error or a stage, never a crash; and a long spec is cut in its message. */
static void test_noise(void **state)
{
	static const char alphabet[] = "poisrate=,:1n0.kms/\xc3\xa4\xff for%";
	uint64_t seed = test_seed(__func__);
	char spec[4000], *list[] = {spec};

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct ipf_error err = {0};
		struct stages stages;
		size_t len = i % 100 == 0 ? sizeof spec - 1 : (size_t)(test_random(&seed) % 40), from = 0;
		if (i % 2)
			from = (size_t)snprintf(spec, sizeof spec, "poisson:rate=1,");
		for (size_t k = from; k < len; k++)
			spec[k] = alphabet[test_random(&seed) % (sizeof alphabet - 1)];
		spec[len > from ? len : from] = '\0';
		if (stages_parse(&stages, list, 1, NULL, &err) < 0)
			assert_int_equal(err.kind, IPF_USAGE);
		stages_release(&stages);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_lists_of_rates),
		cmocka_unit_test(test_a_sweep_is_several_stages),
		cmocka_unit_test(test_names_and_ordinals),
		cmocka_unit_test(test_misuse_names_stage_kind_key_and_value),
		cmocka_unit_test(test_misuse_of_every_key),
		cmocka_unit_test(test_a_name_stands_once),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
