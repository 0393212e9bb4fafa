#include "endpoint/sigv4.h"
#include "unit.h"

/* The test cases that Amazon publishes for implementations. */
static const time_t then = 1440938160; /* 2015-08-30T12:36:00Z */

static struct signer *signer_for(const char *service, const char *url)
{
	struct ipf_error err = {0};
	struct signer *s = NULL;
	if (signer_new(&s, service, url, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

static void signature(const char *method, const char *url, const char *expected)
{
	struct signer *s = signer_for("service", url);
	char wanted[300];
	for (int again = 0; again < 2; again++) {
		struct curl_slist *list = signer_headers(s, method, url, (struct slice){0}, then);
		snprintf(wanted, sizeof wanted,
		         "Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
		         "SignedHeaders=host;x-amz-date, Signature=%s",
		         expected);
		assert_non_null(list);
		assert_string_equal(list->data, wanted);
		assert_string_equal(list->next->data, "X-Amz-Date: 20150830T123600Z");
		assert_null(list->next->next);
		curl_slist_free_all(list);
	}
	signer_free(s);
}

static void published_cases(void **state)
{
	(void)state;
	setenv("AWS_REGION", "us-east-1", 1);
	signature("GET", "https://example.amazonaws.com/",
	          "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
	signature("GET", "https://example.amazonaws.com",
	          "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
	signature("GET", "https://example.amazonaws.com:443/",
	          "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
	signature("POST", "https://example.amazonaws.com/",
	          "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
	signature("GET", "https://example.amazonaws.com/?Param2=value2&Param1=value1",
	          "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
}

static void refused(const char *url, const char *expected)
{
	struct ipf_error err = {0};
	struct signer *s = NULL;
	assert_int_equal(signer_new(&s, "bedrock", url, &err), -1);
	assert_int_equal(err.kind, IPF_USAGE);
	assert_string_equal(err.text, expected);
	signer_free(s);
}

static void keys_and_region_are_needed(void **state)
{
	(void)state;
	unsetenv("AWS_REGION");
	static const char no_region[] =
		"AWS_REGION is not set in the environment, and the host of the URL does not contain the region";
	refused("https://localhost/", no_region);
	refused("https://amazonaws.com/", no_region);
	refused("https://localhost/x.amazonaws.com", no_region);
	struct signer *s = signer_for("bedrock", "https://bedrock-runtime.eu-west-3.amazonaws.com/model/x/converse");
	struct curl_slist *list = signer_headers(
		s, "POST", "https://bedrock-runtime.eu-west-3.amazonaws.com/model/x/converse", slice_of("{}"), then);
	assert_non_null(strstr(list->data, "/20150830/eu-west-3/bedrock/aws4_request"));
	curl_slist_free_all(list);
	/* another day has another key; a session token is signed and sent */
	signer_free(s);
	setenv("AWS_SESSION_TOKEN", "t0ken", 1);
	s = signer_for("bedrock", "https://bedrock-runtime.eu-west-3.amazonaws.com/");
	list = signer_headers(s, "POST", "https://bedrock-runtime.eu-west-3.amazonaws.com/", slice_of("{}"), then + 86400);
	assert_non_null(strstr(list->data, "/20150831/"));
	assert_non_null(strstr(list->data, "SignedHeaders=host;x-amz-date;x-amz-security-token"));
	assert_string_equal(list->next->next->data, "X-Amz-Security-Token: t0ken");
	curl_slist_free_all(list);
	signer_free(s);
	setenv("AWS_SECRET_ACCESS_KEY", "", 1);
	refused("https://a.us-east-1.amazonaws.com/",
	        "AWS_SECRET_ACCESS_KEY is not set in the environment: this API requires it to sign requests");
	setenv("AWS_SECRET_ACCESS_KEY", "a\nb", 1);
	refused("https://a.us-east-1.amazonaws.com/", "AWS_SECRET_ACCESS_KEY: the key has several lines, expected one");
	unsetenv("AWS_ACCESS_KEY_ID");
	refused("https://a.us-east-1.amazonaws.com/",
	        "AWS_ACCESS_KEY_ID is not set in the environment: this API requires it to sign requests");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_cases),
		cmocka_unit_test(keys_and_region_are_needed),
	};
	setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", 1);
	unsetenv("AWS_SESSION_TOKEN");
	unsetenv("AWS_DEFAULT_REGION");
	return cmocka_run_group_tests_name("fire/sigv4", tests, NULL, NULL);
}
