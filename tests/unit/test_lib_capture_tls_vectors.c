/* Captured TLS against RFC 8448, "Example Handshake Traces for TLS 1.3": its records with its secrets, and records
 * encrypted here with its keys. */
#include "tls_capture.h"

#include <openssl/evp.h>

/* ---- section 3: a full handshake ---- */

#define FULL_RANDOM " cb34ecb1e78163ba1c38c6dacb196a6dffa21a8d9912ec18a2ef6283024dece7 "

static const char full_keys[] =
	"CLIENT_HANDSHAKE_TRAFFIC_SECRET" FULL_RANDOM "b3eddb126e067f35a780b3abf45e2d8f3b1a950738f52e9600746a0e27a55a21\n"
	"SERVER_HANDSHAKE_TRAFFIC_SECRET" FULL_RANDOM "b67b7d690cc16c4e75e54213cb2d37b4e9c912bcded9105d42befd59d391ad38\n"
	"CLIENT_TRAFFIC_SECRET_0" FULL_RANDOM "9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5\n"
	"SERVER_TRAFFIC_SECRET_0" FULL_RANDOM "a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643\n";

static const char full_client_hello[] = /* ClientHello */
	"16030100c4010000c00303cb34ecb1e78163ba1c38c6dacb196a6dffa21a8d9912ec18a2ef6283024dece7000006130113031302"
	"010000910000000b0009000006736572766572ff01000100000a00140012001d0017001800190100010101020103010400230000"
	"003300260024001d002099381de560e4bd43d23d8e435a7dbafeb3c06e51c13cae4d5413691e529aaf2c002b0003020304000d00"
	"20001e040305030603020308040805080604010501060102010402050206020202002d00020101001c00024001";
static const char full_server_hello[] = /* ServerHello */
	"160303005a020000560303a6af06a4121860dc5e6e60249cd34c95930c8ac5cb1434dac155772ed3e2692800130100002e003300"
	"24001d0020c9828876112095fe66762bdbf7c672e156d6cc253b833df1dd69b1b04e751f0f002b00020304";
static const char full_server_flight[] = /* EncryptedExtensions to Finished */
	"17030302a2d1ff334a56f5bff6594a07cc87b580233f500f45e489e7f33af35edf7869fcf40aa40aa2b8ea73f848a7ca07612ef9"
	"f945cb960b4068905123ea78b111b429ba9191cd05d2a389280f526134aadc7fc78c4b729df828b5ecf7b13bd9aefb0e57f27158"
	"5b8ea9bb355c7c79020716cfb9b1183ef3ab20e37d57a6b9d7477609aee6e122a4cf51427325250c7d0e509289444c9b3a648f1d"
	"71035d2ed65b0e3cdd0cbae8bf2d0b227812cbb360987255cc744110c453baa4fcd610928d809810e4b7ed1a8fd991f06aa62482"
	"04797e36a6a73b70a2559c09ead686945ba246ab66e5edd8044b4c6de3fcf2a89441ac66272fd8fb330ef8190579b3684596c960"
	"bd596eea520a56a8d650f563aad27409960dca63d3e688611ea5e22f4415cf9538d51a200c27034272968a264ed6540c84838d89"
	"f72c24461aad6d26f59ecaba9acbbb317b66d902f4f292a36ac1b639c637ce343117b659622245317b49eeda0c6258f100d7d961"
	"ffb138647e92ea330faeea6dfa31c7a84dc3bd7e1b7a6c7178af36879018e3f252107f243d243dc7339d5684c8b0378bf30244da"
	"8c87c843f5e56eb4c5e8280a2b48052cf93b16499a66db7cca71e4599426f7d461e66f99882bd89fc50800becca62d6c74116dbd"
	"2972fda1fa80f85df881edbe5a37668936b335583b599186dc5c6918a396fa48a181d6b6fa4f9d62d513afbb992f2b992f67f8af"
	"e67f76913fa388cb5630c8ca01e0c65d11c66a1e2ac4c85977b7c7a6999bbf10dc35ae69f5515614636c0b9b68c19ed2e31c0b3b"
	"66763038ebba42f3b38edc0399f3a9f23faa63978c317fc9fa66a73f60f0504de93b5b845e275592c12335ee340bbc4fddd50278"
	"4016e4b3be7ef04dda49f4b440a30cb5d2af939828fd4ae3794e44f94df5a631ede42c1719bfdabf0253fe5175be898e750edc53"
	"370d2b";
static const char full_client_finished[] = /* Finished */
	"170303003575ec4dc238cce60b298044a71e219c56cc77b0517fe9b93c7a4bfc44d87f38f80338ac98fc46deb384bd1caeacab68"
	"67d726c40546";
static const char full_ticket[] = /* NewSessionTicket */
	"17030300de3a6b8f90414a97d6959c3487680de5134a2b240e6cffac116e95d41d6af8f6b580dcf3d11d63c758db289a01594025"
	"2f55713e061dc13e078891a38efbcf5753ad8ef170ad3c7353d16d9da773b9ca7f2b9fa1b6c0d4a3d03f75e09c30ba1e62972ac4"
	"6f75f7b981be63439b2999ce13064615139891d5e4c5b406f16e3fc181a77ca475840025db2f0a77f81b5ab05b94c01346755f69"
	"232c86519d86cbeeac87aac347d143f9605d64f650db4d023e70e952ca49fe5137121c74bc2697687e248746d6df353005f3bce1"
	"8696129c8153556b3b6c6779b37bf15985684f";
static const char full_client_data[] = /* 50 bytes */
	"1703030043a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b9819a8a5b46b395bd54a9a20441e2b62974e1f"
	"5a6292a2977014bd1e3deae63aeebb21694915e4";
static const char full_server_data[] = /* 50 bytes */
	"17030300432e937e11ef4ac740e538ad36005fc4a46932fc3225d05f82aa1b36e30efaf97d90e6dffc602dcb501a59a8fcc49c4b"
	"f2e5f0a21c0047c2abf332540dd032e167c2955d";
static const char full_client_close[] = /* close_notify */
	"1703030013c9872760655666b74d7ff1153efd6db6d0b0e3";
static const char full_server_close[] = /* close_notify */
	"1703030013b58fd67166ebf599d24720cfbe7efa7a8864a9";

/* Keys and nonces as the RFC derives them, of the client and of the server. */
static const char *const full_derived[][2][2] = {
	/* traffic */
	{{"17422dda596ed5d9acd890e3c63f5051", "5b78923dee08579033e523d9"},
     {"9f02283b6c9c07efc26bb9f2ac92e356", "cf782b88dd83549aadf1e984"}},
	/* handshake */
	{{"dbfaa693d1762c5b666af5d950258d01", "5bd3c71b836e0b76bb73265f"},
     {"3fce516009c21727d0f2e4e86ee403bc", "5d313eb2671276ee13000b30"}},
};

/* ---- section 4: resumption with 0-RTT data ---- */

#define RESUMED_RANDOM " 1bc3ceb6bbe39cff938355b5a50adb6db21b7a6af649d7b4bc419d7876487d95 "

static const char resumed_early_key[] = "CLIENT_EARLY_TRAFFIC_SECRET" RESUMED_RANDOM
										"3fbbe6a60deb66c30a32795aba0eff7eaa10105586e7be5c09678d63b6caab62\n";
static const char resumed_keys[] = "CLIENT_HANDSHAKE_TRAFFIC_SECRET" RESUMED_RANDOM
								   "2faac08f851d35fea3604fcb4de82dc62c9b164a70974d0462e27f1ab278700f\n"
								   "SERVER_HANDSHAKE_TRAFFIC_SECRET" RESUMED_RANDOM
								   "fe927ae271312e8bf0275b581c54eef020450dc4ecffaa05a1a35d27518e7803\n"
								   "CLIENT_TRAFFIC_SECRET_0" RESUMED_RANDOM
								   "2abbf2b8e381d23dbebe1dd2a7d16a8bf484cb4950d23fb7fb7fa8547062d9a1\n"
								   "SERVER_TRAFFIC_SECRET_0" RESUMED_RANDOM
								   "cc21f1bf8feb7dd5fa505bd9c4b468a9984d554a993dc49e6d285598fb672691\n";

static const char resumed_client_hello[] = /* ClientHello */
	"1603010200010001fc03031bc3ceb6bbe39cff938355b5a50adb6db21b7a6af649d7b4bc419d7876487d95000006130113031302"
	"010001cd0000000b0009000006736572766572ff01000100000a00140012001d0017001800190100010101020103010400330026"
	"0024001d0020e4ffb68ac05f8d96c99da26698346c6be16482badddafe051a66b4f18d668f0b002a0000002b0003020304000d00"
	"20001e040305030603020308040805080604010501060102010402050206020202002d00020101001c0002400100150057000000"
	"00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
	"0000000000000000000000000000000000000000000000000000000000000000002900dd00b800b22c035d829359ee5ff7af4ec9"
	"00000000262a6494dc486d2c8a34cb33fa90bf1b0070ad3c498883c9367c09a2be785abc55cd226097a3a982117283f82a03a143"
	"efd3ff5dd36d64e861be7fd61d2827db279cce145077d454a3664d4e6da4d29ee03725a6a4dafcd0fc67d2aea70529513e3da267"
	"7fa5906c5b3f7d8f92f228bda40dda721470f9fbf297b5aea617646fac5c03272e970727c621a79141ef5f7de6505e5bfbc388e9"
	"3343694093934ae4d357fad6aacb0021203add4fb2d8fdf822a0ca3cf7678ef5e88dae990141c5924d57bb6fa31b9e5f9d";
static const char resumed_early_data[] = /* 6 bytes */
	"1703030017ab1df420e75c457a7cc5d2844f76d5aee4b4edbf049be0";
static const char resumed_server_hello[] = /* ServerHello */
	"16030300600200005c03033ccfd2dec890222763472ae8136777c9d7358777bb66e91ea5122495f559ea2d001301000034002900"
	"02000000330024001d0020121761ee42c333e1b9e77b60dd57c2053cd94512ab47f115e86eff50942cea31002b00020304";
static const char resumed_server_flight[] = /* EncryptedExtensions, Finished */
	"1703030061dc48237b4b879f50d0d4d262ea8b4716eb40ddc1eb957e11126e8a7149c2d012d37a7115957e64ce30008b9e0323f2"
	"c05a9c1c77b4f37849a695ab255060a33fee770ca95cb8486bfd0843b87024865ca35cc41c4e515c64dcb1369f98635bc7a5";
static const char resumed_client_finished[] = /* EndOfEarlyData, Finished: two records */
	"1703030015aca6fc944841298df99593725f9bf9754429b12f09170303003500f8b467d14cf22a4b3f0b6ae0d8e6cc8d08e0db35"
	"15ef5c2bdf1922eafbb70009964716d834fb70c3d2a56c5b1f5f6bdba6c333cf";
static const char resumed_client_data[] = /* 50 bytes */
	"1703030043b1cebce242aa201be9ae5e1cb2a9aa4b33d4e866af1edb068919237741aa031d7a74d491c99b9d4e232b74206bc6fb"
	"aa04fe78be44a9b4f54320a17eb76992afac3103";
static const char resumed_server_data[] = /* 50 bytes */
	"1703030043275e9f20acff57bc000657d3867df039cccf79047884cf75771746f740b5a83f462a0954c3581393a203a25a7dd141"
	"41ef1a37900cdb62ff62dee1ba39ab2590cbf194";
static const char resumed_client_close[] = /* close_notify */
	"17030300130facce3246bdfc6369838d6a82ae6de5d422dc";
static const char resumed_server_close[] = /* close_notify */
	"17030300135b18af444e8e1eec7158fb62d8f2577d37ba5d";

enum { CLIENT, SERVER };

struct flight {
	bool from_server;
	const char *hex;
};

static const struct flight full[] = {
	{CLIENT, full_client_hello},    {SERVER, full_server_hello}, {SERVER, full_server_flight},
	{CLIENT, full_client_finished}, {SERVER, full_ticket},       {CLIENT, full_client_data},
	{SERVER, full_server_data},     {CLIENT, full_client_close}, {SERVER, full_server_close},
};

static const struct flight resumed[] = {
	{CLIENT, resumed_client_hello},  {CLIENT, resumed_early_data},      {SERVER, resumed_server_hello},
	{SERVER, resumed_server_flight}, {CLIENT, resumed_client_finished}, {CLIENT, resumed_client_data},
	{SERVER, resumed_server_data},   {CLIENT, resumed_client_close},    {SERVER, resumed_server_close},
};

#define FULL_HANDSHAKE 4 /* flights */

static struct buffer bytes_of(const char *hex)
{
	struct buffer out = {0};
	for (unsigned byte; *hex; hex += 2) {
		assert_int_equal(sscanf(hex, "%2x", &byte), 1);
		buffer_byte(&out, (char)byte);
	}
	return out;
}

/* A stream, its key log and its listener. */
struct rig {
	struct tls_keys *keys;
	struct listener *heard;
	struct tls_stream *stream;
	int64_t now;
	uint64_t sent[2];  /* records sealed */
	bool in_handshake; /* its keys seal them */
};

static struct rig rig_new(const char *keys)
{
	struct rig r = {.keys = keys_of(keys), .heard = listener_new()};
	r.stream = tls_stream_new(r.keys, &listener_sink, r.heard);
	assert_non_null(r.stream);
	return r;
}

static void rig_free(struct rig *r)
{
	tls_stream_free(r->stream);
	listener_free(r->heard);
	keys_close(r->keys);
}

static enum tls_stream_state give(struct rig *r, bool from_server, struct buffer *bytes)
{
	const enum tls_stream_state state = tls_stream_bytes(r->stream, from_server, bytes->data, bytes->len, ++r->now);
	buffer_release(bytes);
	return state;
}

static enum tls_stream_state give_flights(struct rig *r, const struct flight *flights, size_t count)
{
	enum tls_stream_state state = TLS_STREAM_MORE;
	for (size_t i = 0; i < count; i++) {
		struct buffer bytes = bytes_of(flights[i].hex);
		state = give(r, flights[i].from_server, &bytes);
	}
	return state;
}

static void counts_up(const struct buffer *plain, size_t from, size_t count)
{
	assert_int_equal(plain->len, from + count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(plain->data[from + i], i);
}

#define COUNT(list_) (sizeof(list_) / sizeof *(list_))

static void the_full_handshake_of_rfc_8448_is_decrypted(void **state)
{
	(void)state;
	char why[TLS_WHY_SIZE];
	struct rig r = rig_new(full_keys);
	assert_int_equal(give_flights(&r, full, COUNT(full)), TLS_STREAM_MORE);
	const struct heard *c = &r.heard->sides[CLIENT], *s = &r.heard->sides[SERVER];
	counts_up(&c->plain, 0, 50);
	counts_up(&s->plain, 0, 50);
	assert_true(c->calls[0].t_ns == 6 && s->calls[0].t_ns == 7);
	assert_true(c->alert == 0 && c->closed_ns == 8 && s->alert == 0 && s->closed_ns == 9);
	assert_string_equal(tls_stream_server_name(r.stream), "server");
	assert_int_equal(tls_stream_end(r.stream), TLS_STREAM_MORE);
	assert_string_equal(tls_stream_fault(r.stream), "");
	tls_stream_why(r.stream, why, sizeof why);
	assert_string_equal(why, "TLS 1.3, TLS_AES_128_GCM_SHA256, server server, client random "
	                         "cb34ecb1e78163ba1c38c6dacb196a6dffa21a8d9912ec18a2ef6283024dece7");
	rig_free(&r);
}

static void early_data_of_rfc_8448_has_the_time_of_its_record(void **state)
{
	(void)state;
	char keys[1024];
	snprintf(keys, sizeof keys, "%s%s", resumed_early_key, resumed_keys);
	struct rig r = rig_new(keys);
	assert_int_equal(give_flights(&r, resumed, COUNT(resumed)), TLS_STREAM_MORE);
	const struct heard *c = &r.heard->sides[CLIENT], *s = &r.heard->sides[SERVER];
	assert_memory_equal(c->plain.data, "ABCDEF", 6);
	counts_up(&c->plain, 6, 50);
	counts_up(&s->plain, 0, 50);
	/* although it was decrypted when the server's extensions came */
	assert_true(c->count == 2 && c->calls[0].end == 6 && c->calls[0].t_ns == 2 && c->calls[1].t_ns == 6);
	assert_true(c->alert == 0 && s->alert == 0);
	rig_free(&r);
}

static void early_data_without_its_secret_is_no_keys(void **state)
{
	(void)state;
	char why[TLS_WHY_SIZE];
	struct rig r = rig_new(resumed_keys);
	assert_int_equal(give_flights(&r, resumed, COUNT(resumed)), TLS_STREAM_NO_KEYS);
	tls_stream_why(r.stream, why, sizeof why);
	assert_string_equal(why,
	                    "the key log lacks a secret (CLIENT_EARLY_TRAFFIC_SECRET): TLS 1.3, TLS_AES_128_GCM_SHA256, "
	                    "server server, client random "
	                    "1bc3ceb6bbe39cff938355b5a50adb6db21b7a6af649d7b4bc419d7876487d95");
	rig_free(&r);
}

/* Only the server's extensions say whether 0-RTT data counts. */
static void early_data_without_the_servers_extensions_is_no_keys(void **state)
{
	(void)state;
	char keys[1024], why[TLS_WHY_SIZE];
	snprintf(keys, sizeof keys, "%s%s", resumed_early_key, resumed_keys);
	memcpy(strstr(keys, "SERVER_HANDSHAKE"), "ABSENT", 6);
	struct rig r = rig_new(keys);
	assert_int_equal(give_flights(&r, resumed, COUNT(resumed)), TLS_STREAM_MORE);
	assert_int_equal(tls_stream_end(r.stream), TLS_STREAM_NO_KEYS);
	tls_stream_why(r.stream, why, sizeof why);
	assert_non_null(strstr(why, "(SERVER_HANDSHAKE_TRAFFIC_SECRET)"));
	assert_int_equal(r.heard->sides[CLIENT].plain.len + r.heard->sides[SERVER].plain.len, 0);
	rig_free(&r);
}

static void bytes_of_any_pieces_and_order_give_the_same(void **state)
{
	(void)state;
	char keys[1024];
	uint64_t random = test_seed("pieces");
	snprintf(keys, sizeof keys, "%s%s", resumed_early_key, resumed_keys);
	for (int round = 0; round < few_or_many(200, 20000); round++) {
		struct rig r = rig_new(keys);
		struct buffer sides[2] = {{0}, {0}};
		size_t at[2] = {0, 0};
		for (size_t i = 0; i < COUNT(resumed); i++) {
			struct buffer more = bytes_of(resumed[i].hex);
			buffer_slice(&sides[resumed[i].from_server], buffer_all(&more));
			buffer_release(&more);
		}
		while (at[0] < sides[0].len || at[1] < sides[1].len) {
			const size_t side = test_random(&random) % 2, left = sides[side].len - at[side];
			size_t len = 1 + test_random(&random) % (round % 2 ? 7 : 300);
			len = len < left ? len : left;
			assert_int_equal(tls_stream_bytes(r.stream, side, sides[side].data + at[side], len, ++r.now),
			                 TLS_STREAM_MORE);
			at[side] += len;
		}
		counts_up(&r.heard->sides[CLIENT].plain, 6, 50);
		counts_up(&r.heard->sides[SERVER].plain, 0, 50);
		assert_true(r.heard->sides[CLIENT].alert == 0 && r.heard->sides[SERVER].alert == 0);
		buffer_release(&sides[0]);
		buffer_release(&sides[1]);
		rig_free(&r);
	}
}

/* ---- records no library sends ---- */

/* Encrypts content, with its type and padding, as the next record: RFC 8446 section 5.2. */
static struct buffer seal(struct rig *r, bool from_server, const void *content, size_t len)
{
	const char *const *derived = full_derived[r->in_handshake][from_server];
	struct buffer record = {0}, key = bytes_of(derived[0]), iv = bytes_of(derived[1]);
	const uint64_t number = r->sent[from_server]++;
	const uint8_t header[] = {23, 3, 3, (uint8_t)((len + 16) >> 8), (uint8_t)(len + 16)};
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	int n;
	for (size_t i = 0; i < 8; i++)
		iv.data[11 - i] = (char)(iv.data[11 - i] ^ (char)(number >> (8 * i)));
	buffer_append(&record, header, sizeof header);
	uint8_t *to = (uint8_t *)buffer_reserve(&record, len + 16);
	assert_int_equal(EVP_EncryptInit_ex(c, EVP_aes_128_gcm(), NULL, (uint8_t *)key.data, (uint8_t *)iv.data), 1);
	assert_int_equal(EVP_EncryptUpdate(c, NULL, &n, header, sizeof header), 1);
	assert_int_equal(EVP_EncryptUpdate(c, to, &n, content, (int)len), 1);
	assert_int_equal(EVP_EncryptFinal_ex(c, to + len, &n), 1);
	assert_int_equal(EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, 16, to + len), 1);
	record.len += len + 16;
	EVP_CIPHER_CTX_free(c);
	buffer_release(&key);
	buffer_release(&iv);
	return record;
}

static struct rig rig_connected(void)
{
	struct rig r = rig_new(full_keys);
	assert_int_equal(give_flights(&r, full, FULL_HANDSHAKE), TLS_STREAM_MORE);
	return r;
}

static enum tls_stream_state give_sealed(struct rig *r, bool from_server, const void *content, size_t len)
{
	struct buffer record = seal(r, from_server, content, len);
	return give(r, from_server, &record);
}

static void empty_and_padded_records_are_read(void **state)
{
	(void)state;
	struct rig r = rig_connected();
	char large[16385], padded[16385] = "padded\x17";
	memset(large, 'x', sizeof large - 1);
	large[sizeof large - 1] = 23;
	assert_int_equal(give_sealed(&r, SERVER, "\x17", 1), TLS_STREAM_MORE);
	assert_int_equal(give_sealed(&r, SERVER, "one\x17\0\0\0", 7), TLS_STREAM_MORE);
	assert_int_equal(give_sealed(&r, SERVER, "\x17\0\0\0\0", 5), TLS_STREAM_MORE);
	assert_int_equal(give_sealed(&r, SERVER, padded, sizeof padded), TLS_STREAM_MORE);
	assert_int_equal(give_sealed(&r, SERVER, large, sizeof large), TLS_STREAM_MORE);
	const struct heard *s = &r.heard->sides[SERVER];
	assert_true(s->count == 3 && s->plain.len == 9 + 16384);
	assert_memory_equal(s->plain.data, "onepaddedx", 10);
	rig_free(&r);
}

static void messages_after_the_handshake_span_records(void **state)
{
	(void)state;
	struct rig r = rig_connected();
	/* a ticket in three records, the last of which has another whole one */
	assert_int_equal(give_sealed(&r, SERVER, "\x04\0\x16", 3), TLS_STREAM_MORE);
	assert_int_equal(give_sealed(&r, SERVER, "\0\x06tic\x16", 6), TLS_STREAM_MORE);
	assert_int_equal(give_sealed(&r, SERVER, "ket\x04\0\0\x02yz\x16", 10), TLS_STREAM_MORE);
	assert_int_equal(give_sealed(&r, SERVER, "data\x17", 5), TLS_STREAM_MORE);
	/* an unknown type, and longer than a kept message */
	assert_int_equal(give_sealed(&r, SERVER, "\xfe\xff\0\0\x16", 5), TLS_STREAM_MORE);
	assert_memory_equal(r.heard->sides[SERVER].plain.data, "data", 5);
	rig_free(&r);
}

static const struct refused {
	bool from_server;
	const char *content;
	size_t len;
	const char *fault;
} refused[] = {
	{SERVER, "\0\0\0", 3, "the content of a record has an unknown type"},
	{SERVER, "data\x14", 5, "the content of a record has an unknown type"},
	{CLIENT, "data\x18", 5, "the content of a record has an unknown type"},
	{SERVER, "\x18\0\0\x01\0\x04\0\0\0\x16", 10, "a record continues behind a change of keys"},
	{CLIENT, "\x02\x15", 2, "an alert is malformed"},
};

static void malformed_contents_break_the_stream(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(refused); i++) {
		struct rig r = rig_connected();
		assert_int_equal(give_sealed(&r, refused[i].from_server, refused[i].content, refused[i].len),
		                 TLS_STREAM_BROKEN);
		assert_string_equal(tls_stream_fault(r.stream), refused[i].fault);
		/* the state stays */
		assert_int_equal(give_sealed(&r, SERVER, "data\x17", 5), TLS_STREAM_BROKEN);
		assert_int_equal(r.heard->sides[SERVER].plain.len, 0);
		rig_free(&r);
	}
	struct rig r = rig_connected();
	char long_content[16386];
	memset(long_content, 'x', sizeof long_content);
	long_content[sizeof long_content - 1] = 23;
	assert_int_equal(give_sealed(&r, SERVER, long_content, sizeof long_content), TLS_STREAM_BROKEN);
	assert_string_equal(tls_stream_fault(r.stream), "a record is too long");
	rig_free(&r);
}

static void malformed_handshakes_break_the_stream(void **state)
{
	(void)state;
	static const struct refused cases[] = {
		{SERVER, "\x08\0\0\3\0\5a\x16", 8, "the server's encrypted extensions are malformed"},
		{SERVER, "\x14\0\0\0\4\0\0\0\x16", 9, "a record continues behind a change of keys"},
		{CLIENT, "\x14\0\0\0\4\0\0\0\x16", 9, "a record continues behind a change of keys"},
		{CLIENT, "data\x17", 5, "application data has the keys of the handshake"},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct rig r = rig_new(full_keys);
		r.in_handshake = true;
		assert_int_equal(give_flights(&r, full, 2), TLS_STREAM_MORE);
		assert_int_equal(give_sealed(&r, cases[i].from_server, cases[i].content, cases[i].len), TLS_STREAM_BROKEN);
		assert_string_equal(tls_stream_fault(r.stream), cases[i].fault);
		rig_free(&r);
	}
}

static void malformed_beginnings_break_the_stream(void **state)
{
	(void)state;
	static const struct {
		const char *hex, *fault;
	} cases[] = {
		{"1703030001ff", "application data comes before the handshake ends"},
		{"160303000401010001", "a handshake message is too long"},
		{"160303000402000000", "the client's first message is no hello"},
		{"16030300060100000203ff", "the client's hello is malformed"},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct rig r = rig_new(full_keys);
		struct buffer bytes = bytes_of(cases[i].hex);
		assert_int_equal(give(&r, CLIENT, &bytes), TLS_STREAM_BROKEN);
		assert_string_equal(tls_stream_fault(r.stream), cases[i].fault);
		rig_free(&r);
	}
}

static void malformed_records_break_the_stream(void **state)
{
	(void)state;
	static const struct {
		const char *hex, *fault;
	} cases[] = {
		{"1803030005", "bytes are not a record of TLS"},
		{"1702030005", "bytes are not a record of TLS"},
		{"1703034101", "bytes are not a record of TLS"},
		{"170303000501020304ff", "a record does not authenticate"},
		{"17030300150102030405060708090a0b0c0d0e0f101112131415", "a record does not authenticate"},
		{"160303000400000000", "a handshake message is not encrypted"},
		{"1403030001ff", "a change_cipher_spec record is malformed"},
		{"15030300020100", "an alert is not encrypted"},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct rig r = rig_connected();
		struct buffer bytes = bytes_of(cases[i].hex);
		give_sealed(&r, CLIENT, "data\x17", 5);
		assert_int_equal(give(&r, CLIENT, &bytes), TLS_STREAM_BROKEN);
		assert_string_equal(tls_stream_fault(r.stream), cases[i].fault);
		rig_free(&r);
	}
}

static void a_change_cipher_spec_for_middleboxes_is_skipped(void **state)
{
	(void)state;
	struct rig r = rig_new(full_keys);
	for (size_t i = 0; i < COUNT(full); i++) {
		if (i > 0) {
			struct buffer compat = bytes_of("140303000101");
			assert_int_equal(give(&r, full[i].from_server, &compat), TLS_STREAM_MORE);
		}
		assert_int_equal(give_flights(&r, full + i, 1), TLS_STREAM_MORE);
	}
	counts_up(&r.heard->sides[CLIENT].plain, 0, 50);
	counts_up(&r.heard->sides[SERVER].plain, 0, 50);
	rig_free(&r);
}

static void alerts_end_a_direction(void **state)
{
	(void)state;
	struct rig r = rig_connected();
	assert_int_equal(give_sealed(&r, SERVER, "\x01\x5a\x15", 3),
	                 TLS_STREAM_MORE); /* user_canceled is followed by another */
	assert_int_equal(r.heard->sides[SERVER].alert, -1);
	assert_int_equal(give_sealed(&r, SERVER, "\x02\x50\x15", 3), TLS_STREAM_MORE);
	assert_int_equal(r.heard->sides[SERVER].alert, 80); /* internal_error */
	assert_int_equal(give_sealed(&r, SERVER, "late\x17", 5), TLS_STREAM_MORE);
	assert_int_equal(give_sealed(&r, CLIENT, "data\x17", 5), TLS_STREAM_MORE);
	assert_true(r.heard->sides[SERVER].plain.len == 0 && r.heard->sides[CLIENT].plain.len == 4);
	rig_free(&r);
}

static void warnings_before_the_handshake_are_skipped(void **state)
{
	(void)state;
	struct rig r = rig_new(full_keys);
	struct buffer warning = bytes_of("15030300020170"), fatal = bytes_of("15030300020228");
	give_flights(&r, full, 1);
	assert_int_equal(give(&r, SERVER, &warning), TLS_STREAM_MORE);
	assert_int_equal(r.heard->sides[SERVER].alert, -1); /* unrecognized_name */
	assert_int_equal(give(&r, SERVER, &fatal), TLS_STREAM_MORE);
	assert_int_equal(r.heard->sides[SERVER].alert, 40); /* handshake_failure */
	assert_int_equal(tls_stream_end(r.stream), TLS_STREAM_MORE);
	rig_free(&r);
}

static void a_sink_stops_the_stream(void **state)
{
	(void)state;
	struct rig r = rig_connected();
	r.heard->refuse_after = 2;
	assert_int_equal(give_sealed(&r, SERVER, "one\x17", 4), TLS_STREAM_MORE);
	assert_int_equal(give_sealed(&r, CLIENT, "two\x17", 4), TLS_STREAM_STOPPED);
	assert_int_equal(give_sealed(&r, SERVER, "three\x17", 6), TLS_STREAM_STOPPED);
	assert_int_equal(r.heard->sides[SERVER].plain.len, 3);
	rig_free(&r);
}

/* A server's record cannot be decrypted before its client's hello is known. */
static void bytes_that_wait_are_bounded(void **state)
{
	(void)state;
	struct rig r = rig_new(full_keys);
	char record[5 + 16384] = {23, 3, 3, 64, 0};
	for (int i = 0; i < 3; i++)
		assert_int_equal(tls_stream_bytes(r.stream, SERVER, record, sizeof record, 1), TLS_STREAM_MORE);
	assert_int_equal(tls_stream_bytes(r.stream, SERVER, record, sizeof record, 1), TLS_STREAM_BROKEN);
	assert_string_equal(tls_stream_fault(r.stream), "the client's hello is missing");
	rig_free(&r);
}

static void a_hello_is_recognised_by_its_first_bytes(void **state)
{
	(void)state;
	struct buffer hello = bytes_of(full_client_hello), server = bytes_of(full_server_hello);
	for (size_t len = 1; len <= hello.len; len++)
		assert_true(tls_looks_like(hello.data, len));
	assert_false(tls_looks_like(hello.data, 0) || tls_looks_like(server.data, server.len));
	assert_false(tls_looks_like("GET / HTTP/1.1", 14) || tls_looks_like("PRI", 3) || tls_looks_like("\x16\x02\x01", 3));
	buffer_release(&hello);
	buffer_release(&server);
}

/* Without the handshake's secrets, the handshake is passed over; but no record of this capture has the log's keys. */
static void traffic_secrets_without_a_fitting_record_are_no_keys(void **state)
{
	(void)state;
	char why[TLS_WHY_SIZE];
	struct rig r = rig_new("CLIENT_TRAFFIC_SECRET_0" FULL_RANDOM RESUMED_RANDOM
	                       "\nSERVER_TRAFFIC_SECRET_0" FULL_RANDOM RESUMED_RANDOM "\n");
	assert_int_equal(give_flights(&r, full, COUNT(full)), TLS_STREAM_MORE);
	assert_int_equal(tls_stream_end(r.stream), TLS_STREAM_NO_KEYS);
	tls_stream_why(r.stream, why, sizeof why);
	assert_non_null(strstr(why, "(CLIENT_HANDSHAKE_TRAFFIC_SECRET): TLS 1.3, "));
	rig_free(&r);
}

static void records_without_a_fitting_secret_are_skipped_up_to_a_limit(void **state)
{
	(void)state;
	struct rig r = rig_new("CLIENT_TRAFFIC_SECRET_0" FULL_RANDOM RESUMED_RANDOM
	                       "\nSERVER_TRAFFIC_SECRET_0" FULL_RANDOM RESUMED_RANDOM "\n");
	char record[5 + 16384] = {23, 3, 3, 64, 0};
	size_t given = 0;
	assert_int_equal(give_flights(&r, full, FULL_HANDSHAKE), TLS_STREAM_MORE);
	while (given < (size_t)2 * TLS_SKIPPED_MOST &&
	       tls_stream_bytes(r.stream, SERVER, record, sizeof record, ++r.now) == TLS_STREAM_MORE)
		given += sizeof record;
	assert_true(given > TLS_SKIPPED_MOST - 2 * sizeof record && given <= TLS_SKIPPED_MOST);
	assert_string_equal(tls_stream_fault(r.stream), "records do not authenticate by the key log's secret");
	rig_free(&r);
}

static void other_versions_are_named(void **state)
{
	(void)state;
	static const struct {
		uint16_t version;
		const char *why;
	} cases[] = {
		{0x0300, "a version other than TLS 1.2 and 1.3: SSL 3.0, TLS_AES_128_GCM_SHA256, "},
		{0x0301, "a version other than TLS 1.2 and 1.3: TLS 1.0, TLS_AES_128_GCM_SHA256, "},
		{0x7f1c, "a version other than TLS 1.2 and 1.3: version 0x7f1c, TLS_AES_128_GCM_SHA256, "},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		char why[TLS_WHY_SIZE];
		struct rig r = rig_new(full_keys);
		struct buffer hello = bytes_of(full_server_hello); /* it ends in the version */
		hello.data[hello.len - 2] = (char)(cases[i].version >> 8);
		hello.data[hello.len - 1] = (char)cases[i].version;
		give_flights(&r, full, 1);
		assert_int_equal(give(&r, SERVER, &hello), TLS_STREAM_UNSUPPORTED);
		tls_stream_why(r.stream, why, sizeof why);
		assert_memory_equal(why, cases[i].why, strlen(cases[i].why));
		rig_free(&r);
	}
}

/* As in an OpenSSL restricted to a module without the cipher. */
static void a_cipher_missing_from_openssl_is_unsupported(void **state)
{
	(void)state;
	struct rig r = rig_new(full_keys);
	assert_int_equal(EVP_set_default_properties(NULL, "provider=absent"), 1);
	assert_int_equal(give_flights(&r, full, FULL_HANDSHAKE), TLS_STREAM_UNSUPPORTED);
	assert_int_equal(EVP_set_default_properties(NULL, ""), 1);
	assert_string_equal(tls_stream_fault(r.stream), "a cipher that this OpenSSL does not provide");
	rig_free(&r);
	r = rig_connected();
	assert_int_equal(give_sealed(&r, SERVER, "data\x17", 5), TLS_STREAM_MORE);
	struct buffer update = seal(&r, SERVER, "\x18\0\0\1\0\x16", 6);
	assert_int_equal(EVP_set_default_properties(NULL, "provider=absent"), 1);
	assert_int_equal(give(&r, SERVER, &update), TLS_STREAM_UNSUPPORTED);
	assert_int_equal(EVP_set_default_properties(NULL, ""), 1);
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_full_handshake_of_rfc_8448_is_decrypted),
		cmocka_unit_test(early_data_of_rfc_8448_has_the_time_of_its_record),
		cmocka_unit_test(early_data_without_its_secret_is_no_keys),
		cmocka_unit_test(early_data_without_the_servers_extensions_is_no_keys),
		cmocka_unit_test(bytes_of_any_pieces_and_order_give_the_same),
		cmocka_unit_test(empty_and_padded_records_are_read),
		cmocka_unit_test(messages_after_the_handshake_span_records),
		cmocka_unit_test(malformed_contents_break_the_stream),
		cmocka_unit_test(malformed_handshakes_break_the_stream),
		cmocka_unit_test(malformed_beginnings_break_the_stream),
		cmocka_unit_test(malformed_records_break_the_stream),
		cmocka_unit_test(a_change_cipher_spec_for_middleboxes_is_skipped),
		cmocka_unit_test(alerts_end_a_direction),
		cmocka_unit_test(warnings_before_the_handshake_are_skipped),
		cmocka_unit_test(a_sink_stops_the_stream),
		cmocka_unit_test(bytes_that_wait_are_bounded),
		cmocka_unit_test(traffic_secrets_without_a_fitting_record_are_no_keys),
		cmocka_unit_test(records_without_a_fitting_secret_are_skipped_up_to_a_limit),
		cmocka_unit_test(other_versions_are_named),
		cmocka_unit_test(a_cipher_missing_from_openssl_is_unsupported),
		cmocka_unit_test(a_hello_is_recognised_by_its_first_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
