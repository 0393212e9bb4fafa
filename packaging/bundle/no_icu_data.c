/* In place of libicudata in the image: a table of contents without entries, in the format of ICU's common data ("CmnD",
 * udata.h), so ICU answers U_FILE_ACCESS_ERROR to whoever asks for a converter. */
#include <stdint.h>

__attribute__((visibility("default"))) const struct {
	uint16_t header_size;
	uint8_t magic[2];
	struct {
		uint16_t size, reserved;
		uint8_t big_endian, charset_family, char_size, zero;
		uint8_t format[4], format_version[4], data_version[4];
	} info;
	uint8_t padding[8];
	uint32_t entries, reserved;
} ICU_DATA = {
	32, {0xda, 0x27}, {20, 0, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, 0, 2, 0, {'C', 'm', 'n', 'D'}, {1}, {0}}, {0}, 0,
	0,
};
