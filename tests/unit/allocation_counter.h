/* Counts the calls of malloc and its kin in this program, for tests that claim "allocates nothing". Include
 * it in one file of a program. Under sanitizers, which bring an allocator of their own, it counts nothing and
 * says so. */
#pragma once

#include <glib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ALLOCATION_COUNTER_WORKS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define ALLOCATION_COUNTER_WORKS 0
#else
#define ALLOCATION_COUNTER_WORKS 1
#endif
#else
#define ALLOCATION_COUNTER_WORKS 1
#endif

static G_GNUC_UNUSED guint64 allocation_count;
static G_GNUC_UNUSED guint64 allocation_bytes; /* asked for by them */

#if ALLOCATION_COUNTER_WORKS
/* glibc's own, under the names that it keeps for those who replace them. */
extern void *__libc_malloc(size_t n_bytes);
extern void *__libc_calloc(size_t n, size_t n_bytes);
extern void *__libc_realloc(void *memory, size_t n_bytes);
void *malloc(size_t n_bytes);
void *calloc(size_t n, size_t n_bytes);
void *realloc(void *memory, size_t n_bytes);

void *
malloc(size_t n_bytes)
{
  allocation_count++;
  allocation_bytes += n_bytes;
  return __libc_malloc(n_bytes);
}

void *
calloc(size_t n, size_t n_bytes)
{
  allocation_count++;
  allocation_bytes += n * n_bytes;
  return __libc_calloc(n, n_bytes);
}

void *
realloc(void *memory, size_t n_bytes)
{
  allocation_count++;
  allocation_bytes += n_bytes;
  return __libc_realloc(memory, n_bytes);
}
#endif
