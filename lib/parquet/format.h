/* The numbers of the Parquet format: types, encodings, pages and compressions.
 *
 * Specification: github.com/apache/parquet-format, src/main/thrift/parquet.thrift and Encodings.md.
 */
#ifndef IPF_PARQUET_FORMAT_H
#define IPF_PARQUET_FORMAT_H

#define PARQUET_MAGIC "PAR1" /* begins and ends a file */

/* The groups within the group of a list, LogicalTypes.md. */
#define PARQUET_LIST_GROUP   "list"
#define PARQUET_LIST_ELEMENT "element"

enum physical_type {
	TYPE_BOOLEAN,
	TYPE_INT32,
	TYPE_INT64,
	TYPE_INT96,
	TYPE_FLOAT,
	TYPE_DOUBLE,
	TYPE_BYTE_ARRAY,
	TYPE_FIXED,
	PHYSICAL_TYPES
};

enum repetition { REPETITION_REQUIRED, REPETITION_OPTIONAL, REPETITION_REPEATED };

enum encoding {
	ENCODING_PLAIN = 0,
	ENCODING_PLAIN_DICTIONARY = 2,
	ENCODING_RLE = 3,
	ENCODING_BIT_PACKED = 4,
	ENCODING_DELTA = 5,
	ENCODING_DELTA_LENGTH = 6,
	ENCODING_DELTA_BYTES = 7,
	ENCODING_DICTIONARY = 8,
	ENCODING_SPLIT = 9
};

enum page_kind { PAGE_DATA, PAGE_INDEX, PAGE_DICTIONARY, PAGE_DATA_V2 };

enum codec { CODEC_NONE, CODEC_SNAPPY, CODEC_GZIP, CODEC_LZO, CODEC_BROTLI, CODEC_LZ4, CODEC_ZSTD, CODEC_LZ4_RAW };

#endif
