#include "memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESERVE = 1 << 18, LARGEST = 1 << 15, ALIGNMENT = 16 };

/* The functions asked for, and those called in their place. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
void __wrap_free(void *memory);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t len);
int __wrap_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap___asprintf_chk(char **text, int flag, const char *format, ...) __attribute__((format(printf, 3, 4)));

static atomic_bool ran_out;
static _Alignas(ALIGNMENT) char reserve[RESERVE];
static atomic_size_t used;

void memory_note_failure(void)
{
	atomic_store_explicit(&ran_out, true, memory_order_relaxed);
}

void memory_note_errno(int errno_value)
{
	if (errno_value == ENOMEM)
		memory_note_failure();
}

bool memory_ran_out(void)
{
	return atomic_load_explicit(&ran_out, memory_order_relaxed);
}

/* ---- the reserve: each piece follows its size ---- */

static bool is_reserve(const void *memory)
{
	return (uintptr_t)memory >= (uintptr_t)reserve && (uintptr_t)memory < (uintptr_t)reserve + RESERVE;
}

static size_t reserve_size(const void *memory)
{
	size_t size;
	memcpy(&size, (const char *)memory - ALIGNMENT, sizeof size);
	return size;
}

/* Zeroed memory, or NULL. */
static void *from_reserve(size_t size)
{
	memory_note_failure();
	errno = ENOMEM;
	if (size > LARGEST)
		return NULL;
	size_t taken = ALIGNMENT + (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	size_t at = atomic_fetch_add(&used, taken);
	if (at > RESERVE - taken)
		return NULL;
	memcpy(reserve + at, &size, sizeof size);
	return reserve + at + ALIGNMENT;
}

/* ---- the functions ---- */

void *__wrap_malloc(size_t size)
{
	void *memory = __real_malloc(size);
	return memory || !size ? memory : from_reserve(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	void *memory = __real_calloc(count, size);
	if (memory || !count || !size)
		return memory;
	return from_reserve(count > LARGEST || size > LARGEST ? SIZE_MAX : count * size);
}

void *__wrap_realloc(void *old, size_t size)
{
	if (!is_reserve(old)) {
		void *memory = __real_realloc(old, size);
		if (memory || !size)
			return memory;
		if (!old)
			return from_reserve(size);
		memory_note_failure(); /* the size of the old piece is not known: it stays, as after any failure */
		return NULL;
	}
	void *memory = __wrap_malloc(size);
	if (memory)
		memcpy(memory, old, reserve_size(old) < size ? reserve_size(old) : size);
	return memory;
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size) {
		memory_note_failure();
		errno = ENOMEM;
		return NULL;
	}
	return __wrap_realloc(old, count * size);
}

void __wrap_free(void *memory)
{
	if (!is_reserve(memory))
		__real_free(memory);
}

char *__wrap_strndup(const char *text, size_t len)
{
	size_t size = strnlen(text, len);
	char *copy = __wrap_malloc(size + 1);
	if (copy) {
		memcpy(copy, text, size);
		copy[size] = '\0';
	}
	return copy;
}

char *__wrap_strdup(const char *text)
{
	return __wrap_strndup(text, strlen(text));
}

__attribute__((format(printf, 2, 0))) static int print(char **text, const char *format, va_list args)
{
	int len = vasprintf(text, format, args);
	if (len < 0) {
		memory_note_failure();
		*text = NULL;
	}
	return len;
}

int __wrap_asprintf(char **text, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int len = print(text, format, args);
	va_end(args);
	return len;
}

/* As which a program built with _FORTIFY_SOURCE calls it. */
int __wrap___asprintf_chk(char **text, int flag, const char *format, ...)
{
	va_list args;
	(void)flag;
	va_start(args, format);
	int len = print(text, format, args);
	va_end(args);
	return len;
}

void *memory_allocate(size_t size)
{
	return __wrap_malloc(size);
}

void memory_free(void *memory)
{
	__wrap_free(memory);
}
