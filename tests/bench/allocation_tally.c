/* Counts the allocations of a running process by thread and by calling library, through LD_PRELOAD.
 *
 * TIDEMARK_TALLY=FILE LD_PRELOAD=liballocation-tally.so PROGRAM...
 *
 * What allocates is told by the address that malloc, calloc or realloc returns to: the object that it lies in, of those
 * that were loaded at the start. Threads of one name but for the number behind it count as one. FILE is made, and holds
 * a table of TallyLine, up to date at any time (section_allocations.py reads it); lines without a name are not in use.
 * The thread's name is asked of the kernel at each call, so the process is slower than without.
 *
 * Without TIDEMARK_TALLY all are only counted together, as `tidemark bench` asks: allocation_tally_calls().
 *
 * Nothing in here may allocate. */
#define _GNU_SOURCE /* dl_iterate_phdr() */
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define MAX_OBJECTS 96
#define MAX_LINES 256
#define THREAD_NAME_BYTES 16 /* of Linux, the NUL in it */
#define OBJECT_NAME_BYTES 40

/* section_allocations.py knows this layout. */
typedef struct TallyLine {
  char thread[THREAD_NAME_BYTES];
  char object[OBJECT_NAME_BYTES];
  _Atomic uint64_t n_calls;
} TallyLine;

typedef struct Object {
  uintptr_t start;
  uintptr_t end;
  char name[OBJECT_NAME_BYTES];
} Object;

/* set by the constructor, then read-only */
static Object objects[MAX_OBJECTS];
static size_t n_objects;
static TallyLine *lines; /* mapped; NULL: nothing is counted */

/* under the lock, but for the counts: a line is in use once its thread has a name */
static atomic_flag lock = ATOMIC_FLAG_INIT;
static _Atomic size_t n_lines;

static _Atomic uint64_t n_calls; /* of all threads and objects */

/* glibc's own, under the names that it keeps for those who replace them. */
extern void *__libc_malloc(size_t n_bytes);
extern void *__libc_calloc(size_t n, size_t n_bytes);
extern void *__libc_realloc(void *memory, size_t n_bytes);

static void
copy_name(char *to, size_t capacity, const char *from)
{
  size_t len = strnlen(from, capacity - 1);
  memcpy(to, from, len);
  to[len] = '\0';
}

static int
add_object(struct dl_phdr_info *info, size_t size, void *data)
{
  const char *slash = strrchr(info->dlpi_name, '/');
  const char *name = info->dlpi_name[0] == '\0' ? "program" : slash != NULL ? slash + 1 : info->dlpi_name;
  for (size_t i = 0; i < info->dlpi_phnum && n_objects < MAX_OBJECTS; i++) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD || (info->dlpi_phdr[i].p_flags & PF_X) == 0)
      continue;
    Object *object = &objects[n_objects++];
    object->start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    object->end = object->start + info->dlpi_phdr[i].p_memsz;
    copy_name(object->name, sizeof object->name, name);
  }
  return 0;
}

__attribute__((constructor)) static void
begin(void)
{
  const char *path = getenv("TIDEMARK_TALLY");
  if (path == NULL)
    return;
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0)
    return;
  dl_iterate_phdr(add_object, NULL);
  size_t size = MAX_LINES * sizeof(TallyLine);
  void *mapped =
      ftruncate(fd, (off_t)size) == 0 ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  close(fd);
  if (mapped != MAP_FAILED)
    lines = mapped;
}

static const char *
object_of(const void *address)
{
  for (size_t i = 0; i < n_objects; i++)
    if ((uintptr_t)address >= objects[i].start && (uintptr_t)address < objects[i].end)
      return objects[i].name;
  return "other";
}

/* "tide-writer-3" is "tide-writer-". */
static void
thread_group(char name[THREAD_NAME_BYTES])
{
  memset(name, 0, THREAD_NAME_BYTES);
  prctl(PR_GET_NAME, name);
  size_t len = strnlen(name, THREAD_NAME_BYTES - 1);
  while (len > 0 && name[len - 1] >= '0' && name[len - 1] <= '9')
    name[--len] = '\0';
  if (len == 0)
    copy_name(name, THREAD_NAME_BYTES, "unnamed");
}

static TallyLine *
find_line(const char *thread, const char *object, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp(lines[i].object, object) == 0 && strcmp(lines[i].thread, thread) == 0)
      return &lines[i];
  return NULL;
}

/* The line, begun when there is none; NULL when the table is full. */
static TallyLine *
find_or_add_line(const char *thread, const char *object)
{
  TallyLine *line = find_line(thread, object, atomic_load_explicit(&n_lines, memory_order_acquire));
  if (line != NULL)
    return line;
  while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
    ;
  size_t n = atomic_load_explicit(&n_lines, memory_order_relaxed);
  line = find_line(thread, object, n);
  if (line == NULL && n < MAX_LINES) {
    line = &lines[n];
    copy_name(line->object, sizeof line->object, object);
    copy_name(line->thread, sizeof line->thread, thread);
    atomic_store_explicit(&n_lines, n + 1, memory_order_release);
  }
  atomic_flag_clear_explicit(&lock, memory_order_release);
  return line;
}

static void
count(const void *caller)
{
  atomic_fetch_add_explicit(&n_calls, 1, memory_order_relaxed);
  if (lines == NULL)
    return;
  char thread[THREAD_NAME_BYTES];
  thread_group(thread);
  TallyLine *line = find_or_add_line(thread, object_of(caller));
  if (line != NULL)
    atomic_fetch_add_explicit(&line->n_calls, 1, memory_order_relaxed);
}

void *
malloc(size_t n_bytes)
{
  count(__builtin_return_address(0));
  return __libc_malloc(n_bytes);
}

void *
calloc(size_t n, size_t n_bytes)
{
  count(__builtin_return_address(0));
  return __libc_calloc(n, n_bytes);
}

void *
realloc(void *memory, size_t n_bytes)
{
  count(__builtin_return_address(0));
  return __libc_realloc(memory, n_bytes);
}

uint64_t allocation_tally_calls(void);

uint64_t
allocation_tally_calls(void)
{
  return atomic_load_explicit(&n_calls, memory_order_relaxed);
}
