#include "capture/tls_suite.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* In the order of their numbers. */
static const struct tls_suite suites[] = {
	{0x009c, false, TLS_GCM, 16, 16, 32, "TLS_RSA_WITH_AES_128_GCM_SHA256"},
	{0x009d, false, TLS_GCM, 32, 16, 48, "TLS_RSA_WITH_AES_256_GCM_SHA384"},
	{0x009e, false, TLS_GCM, 16, 16, 32, "TLS_DHE_RSA_WITH_AES_128_GCM_SHA256"},
	{0x009f, false, TLS_GCM, 32, 16, 48, "TLS_DHE_RSA_WITH_AES_256_GCM_SHA384"},
	{0x00a0, false, TLS_GCM, 16, 16, 32, "TLS_DH_RSA_WITH_AES_128_GCM_SHA256"},
	{0x00a1, false, TLS_GCM, 32, 16, 48, "TLS_DH_RSA_WITH_AES_256_GCM_SHA384"},
	{0x00a2, false, TLS_GCM, 16, 16, 32, "TLS_DHE_DSS_WITH_AES_128_GCM_SHA256"},
	{0x00a3, false, TLS_GCM, 32, 16, 48, "TLS_DHE_DSS_WITH_AES_256_GCM_SHA384"},
	{0x00a4, false, TLS_GCM, 16, 16, 32, "TLS_DH_DSS_WITH_AES_128_GCM_SHA256"},
	{0x00a5, false, TLS_GCM, 32, 16, 48, "TLS_DH_DSS_WITH_AES_256_GCM_SHA384"},
	{0x00a6, false, TLS_GCM, 16, 16, 32, "TLS_DH_anon_WITH_AES_128_GCM_SHA256"},
	{0x00a7, false, TLS_GCM, 32, 16, 48, "TLS_DH_anon_WITH_AES_256_GCM_SHA384"},
	{0x00a8, false, TLS_GCM, 16, 16, 32, "TLS_PSK_WITH_AES_128_GCM_SHA256"},
	{0x00a9, false, TLS_GCM, 32, 16, 48, "TLS_PSK_WITH_AES_256_GCM_SHA384"},
	{0x00aa, false, TLS_GCM, 16, 16, 32, "TLS_DHE_PSK_WITH_AES_128_GCM_SHA256"},
	{0x00ab, false, TLS_GCM, 32, 16, 48, "TLS_DHE_PSK_WITH_AES_256_GCM_SHA384"},
	{0x00ac, false, TLS_GCM, 16, 16, 32, "TLS_RSA_PSK_WITH_AES_128_GCM_SHA256"},
	{0x00ad, false, TLS_GCM, 32, 16, 48, "TLS_RSA_PSK_WITH_AES_256_GCM_SHA384"},
	{0x1301, true, TLS_GCM, 16, 16, 32, "TLS_AES_128_GCM_SHA256"},
	{0x1302, true, TLS_GCM, 32, 16, 48, "TLS_AES_256_GCM_SHA384"},
	{0x1303, true, TLS_CHACHA20, 32, 16, 32, "TLS_CHACHA20_POLY1305_SHA256"},
	{0x1304, true, TLS_CCM, 16, 16, 32, "TLS_AES_128_CCM_SHA256"},
	{0x1305, true, TLS_CCM, 16, 8, 32, "TLS_AES_128_CCM_8_SHA256"},
	{0xc02b, false, TLS_GCM, 16, 16, 32, "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"},
	{0xc02c, false, TLS_GCM, 32, 16, 48, "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"},
	{0xc02d, false, TLS_GCM, 16, 16, 32, "TLS_ECDH_ECDSA_WITH_AES_128_GCM_SHA256"},
	{0xc02e, false, TLS_GCM, 32, 16, 48, "TLS_ECDH_ECDSA_WITH_AES_256_GCM_SHA384"},
	{0xc02f, false, TLS_GCM, 16, 16, 32, "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"},
	{0xc030, false, TLS_GCM, 32, 16, 48, "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"},
	{0xc031, false, TLS_GCM, 16, 16, 32, "TLS_ECDH_RSA_WITH_AES_128_GCM_SHA256"},
	{0xc032, false, TLS_GCM, 32, 16, 48, "TLS_ECDH_RSA_WITH_AES_256_GCM_SHA384"},
	{0xc09c, false, TLS_CCM, 16, 16, 32, "TLS_RSA_WITH_AES_128_CCM"},
	{0xc09d, false, TLS_CCM, 32, 16, 32, "TLS_RSA_WITH_AES_256_CCM"},
	{0xc09e, false, TLS_CCM, 16, 16, 32, "TLS_DHE_RSA_WITH_AES_128_CCM"},
	{0xc09f, false, TLS_CCM, 32, 16, 32, "TLS_DHE_RSA_WITH_AES_256_CCM"},
	{0xc0a0, false, TLS_CCM, 16, 8, 32, "TLS_RSA_WITH_AES_128_CCM_8"},
	{0xc0a1, false, TLS_CCM, 32, 8, 32, "TLS_RSA_WITH_AES_256_CCM_8"},
	{0xc0a2, false, TLS_CCM, 16, 8, 32, "TLS_DHE_RSA_WITH_AES_128_CCM_8"},
	{0xc0a3, false, TLS_CCM, 32, 8, 32, "TLS_DHE_RSA_WITH_AES_256_CCM_8"},
	{0xc0a4, false, TLS_CCM, 16, 16, 32, "TLS_PSK_WITH_AES_128_CCM"},
	{0xc0a5, false, TLS_CCM, 32, 16, 32, "TLS_PSK_WITH_AES_256_CCM"},
	{0xc0a6, false, TLS_CCM, 16, 16, 32, "TLS_DHE_PSK_WITH_AES_128_CCM"},
	{0xc0a7, false, TLS_CCM, 32, 16, 32, "TLS_DHE_PSK_WITH_AES_256_CCM"},
	{0xc0a8, false, TLS_CCM, 16, 8, 32, "TLS_PSK_WITH_AES_128_CCM_8"},
	{0xc0a9, false, TLS_CCM, 32, 8, 32, "TLS_PSK_WITH_AES_256_CCM_8"},
	{0xc0aa, false, TLS_CCM, 16, 8, 32, "TLS_PSK_DHE_WITH_AES_128_CCM_8"},
	{0xc0ab, false, TLS_CCM, 32, 8, 32, "TLS_PSK_DHE_WITH_AES_256_CCM_8"},
	{0xc0ac, false, TLS_CCM, 16, 16, 32, "TLS_ECDHE_ECDSA_WITH_AES_128_CCM"},
	{0xc0ad, false, TLS_CCM, 32, 16, 32, "TLS_ECDHE_ECDSA_WITH_AES_256_CCM"},
	{0xc0ae, false, TLS_CCM, 16, 8, 32, "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8"},
	{0xc0af, false, TLS_CCM, 32, 8, 32, "TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8"},
	{0xcca8, false, TLS_CHACHA20, 32, 16, 32, "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"},
	{0xcca9, false, TLS_CHACHA20, 32, 16, 32, "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"},
	{0xccaa, false, TLS_CHACHA20, 32, 16, 32, "TLS_DHE_RSA_WITH_CHACHA20_POLY1305_SHA256"},
	{0xccab, false, TLS_CHACHA20, 32, 16, 32, "TLS_PSK_WITH_CHACHA20_POLY1305_SHA256"},
	{0xccac, false, TLS_CHACHA20, 32, 16, 32, "TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256"},
	{0xccad, false, TLS_CHACHA20, 32, 16, 32, "TLS_DHE_PSK_WITH_CHACHA20_POLY1305_SHA256"},
	{0xccae, false, TLS_CHACHA20, 32, 16, 32, "TLS_RSA_PSK_WITH_CHACHA20_POLY1305_SHA256"},
	{0xd001, false, TLS_GCM, 16, 16, 32, "TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256"},
	{0xd002, false, TLS_GCM, 32, 16, 48, "TLS_ECDHE_PSK_WITH_AES_256_GCM_SHA384"},
	{0xd003, false, TLS_CCM, 16, 8, 32, "TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256"},
	{0xd005, false, TLS_CCM, 16, 16, 32, "TLS_ECDHE_PSK_WITH_AES_128_CCM_SHA256"},
};

/* Often met, without authenticated encryption: their names are better known than their numbers. */
static const struct {
	uint16_t number;
	const char *name;
} others[] = {
	{0x0005, "TLS_RSA_WITH_RC4_128_SHA"},
	{0x000a, "TLS_RSA_WITH_3DES_EDE_CBC_SHA"},
	{0x002f, "TLS_RSA_WITH_AES_128_CBC_SHA"},
	{0x0033, "TLS_DHE_RSA_WITH_AES_128_CBC_SHA"},
	{0x0035, "TLS_RSA_WITH_AES_256_CBC_SHA"},
	{0x0039, "TLS_DHE_RSA_WITH_AES_256_CBC_SHA"},
	{0x003c, "TLS_RSA_WITH_AES_128_CBC_SHA256"},
	{0x003d, "TLS_RSA_WITH_AES_256_CBC_SHA256"},
	{0x0067, "TLS_DHE_RSA_WITH_AES_128_CBC_SHA256"},
	{0x006b, "TLS_DHE_RSA_WITH_AES_256_CBC_SHA256"},
	{0xc009, "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"},
	{0xc00a, "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA"},
	{0xc013, "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"},
	{0xc014, "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"},
	{0xc023, "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256"},
	{0xc024, "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384"},
	{0xc027, "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256"},
	{0xc028, "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384"},
};

static int by_number(const void *number, const void *suite)
{
	return (int)*(const uint16_t *)number - (int)((const struct tls_suite *)suite)->number;
}

const struct tls_suite *tls_suite_find(uint16_t number)
{
	return bsearch(&number, suites, sizeof suites / sizeof *suites, sizeof *suites, by_number);
}

const char *tls_suite_name(uint16_t number, char room[TLS_SUITE_NAME])
{
	const struct tls_suite *suite = tls_suite_find(number);
	if (suite)
		return suite->name;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (others[i].number == number)
			return others[i].name;
	snprintf(room, TLS_SUITE_NAME, "cipher suite 0x%04x", number);
	return room;
}
