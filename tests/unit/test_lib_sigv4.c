#include "aws/sigv4.h"
#include "unit.h"

/* The test cases that Amazon publishes for implementations. */
static const time_t then = 1440938160; /* 2015-08-30T12:36:00Z */

static struct signer *signer_for(const char *service, const char *url)
{
	struct ipf_error err = {0};
	struct signer *s = NULL;
	const struct signer_source from = signer_aws(service, url);
	if (signer_new(&s, &from, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

static struct curl_slist *headers_of(const struct signer *s, const char *method, const char *url, const char *body,
                                     time_t now)
{
	const struct signed_request request = {.method = method, .url = url, .body = slice_of(body), .now = now};
	return signer_headers(s, &request);
}

static void signature(const char *method, const char *url, const char *expected)
{
	struct signer *s = signer_for("service", url);
	char wanted[300];
	for (int again = 0; again < 2; again++) {
		struct curl_slist *list = headers_of(s, method, url, NULL, then);
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

static void signed_as(const char *expected, const char *names, const struct curl_slist *list)
{
	char wanted[400];
	snprintf(wanted, sizeof wanted,
	         "Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/s3/aws4_request, "
	         "SignedHeaders=%s, Signature=%s",
	         names, expected);
	assert_non_null(list);
	assert_string_equal(list->data, wanted);
}

/* Requests of S3, as botocore 1.44.5 signs them: paths are escaped once, and the body's digest is a header. */
static void cases_of_s3(void **state)
{
	struct curl_slist own[] = {{"Content-MD5: kAFQmDzST7DWlj99KOF/cg==", &own[1]},
	                           {"Content-Type: text/plain; charset=utf-8", &own[2]},
	                           {"X-Amz-Checksum-Sha256: ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", NULL}};
	struct signed_request put = {
		.method = "PUT",
		.url = "https://runs.s3.us-east-1.amazonaws.com/a%20b/%C3%A9%2B%2541~.txt?partNumber=3&uploadId=a%2Fb%3D",
		.body_sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		.headers = own,
		.now = then};
	(void)state;
	setenv("AWS_REGION", "us-east-1", 1);
	setenv("AWS_SESSION_TOKEN", "t0ken", 1);
	struct signer *s = signer_for("s3", put.url);
	struct curl_slist *list = signer_headers(s, &put);
	signed_as(
		"797973aacd328e1a3528482a991f2882c34dd4afadadf2e3062b1cc1f34fee35",
		"content-md5;content-type;host;x-amz-checksum-sha256;x-amz-content-sha256;x-amz-date;x-amz-security-token",
		list);
	assert_string_equal(list->next->next->next->next->data, own[0].data); /* they are sent, too */
	assert_true(signer_is_repeated(s, slice_of("a t0ken")));
	assert_false(signer_is_repeated(s, slice_of("AKIDEXAMPLE")));
	curl_slist_free_all(list);
	signer_free(s);
	unsetenv("AWS_SESSION_TOKEN");
	s = signer_for("s3", "http://localhost:9000/runs/");
	list = headers_of(s, "GET", "http://localhost:9000/runs/?prefix=a%2Fb&uploads=", NULL, then);
	signed_as("e488205d58610474410d603aad64d5b84b842582ebe8a2ac93b9d6c94a7dfca2",
	          "host;x-amz-content-sha256;x-amz-date", list);
	curl_slist_free_all(list);
	signer_free(s);
}

static void refused(const char *url, const char *expected)
{
	struct ipf_error err = {0};
	struct signer *s = NULL;
	const struct signer_source from = signer_aws("bedrock", url);
	assert_int_equal(signer_new(&s, &from, &err), -1);
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
	struct curl_slist *list = headers_of(s, "POST", "https://bedrock-runtime.eu-west-3.amazonaws.com/model/x/converse",
	                                     "{}", then);
	assert_non_null(strstr(list->data, "/20150830/eu-west-3/bedrock/aws4_request"));
	curl_slist_free_all(list);
	/* another day has another key; a session token is signed and sent */
	signer_free(s);
	setenv("AWS_SESSION_TOKEN", "t0ken", 1);
	s = signer_for("bedrock", "https://bedrock-runtime.eu-west-3.amazonaws.com/");
	list = headers_of(s, "POST", "https://bedrock-runtime.eu-west-3.amazonaws.com/", "{}", then + 86400);
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
		cmocka_unit_test(cases_of_s3),
		cmocka_unit_test(keys_and_region_are_needed),
	};
	setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", 1);
	unsetenv("AWS_SESSION_TOKEN");
	unsetenv("AWS_DEFAULT_REGION");
	return cmocka_run_group_tests_name("lib/sigv4", tests, NULL, NULL);
}
