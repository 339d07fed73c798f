/* The files of one load: those to be read, the consumer of each, and the result. All consumers share it, and each takes
 * the next file when it has finished its own.
 *
 * Threads: any, unless stated otherwise. */
#pragma once

#include "config/config.h"
#include "files/file_mark.h"
#include "files/file_reader.h"

G_BEGIN_DECLS

/* File in the state directory with the rejected records. */
#define TIDE_LOAD_DEAD_LETTERS "load-dead-letters.jsonl"

typedef struct TideFileLoadOptions {
  const TideConfigSource *source; /* borrowed: the source whose readings the files contain */
  const char *marks_directory;    /* copied; NULL: no marks are kept */
  const char *job;                /* copied: tide_file_mark_path() */
  char **destination;             /* copied: all addresses of the place that rows are written to */
  gboolean again;                 /* ignore marks and start new ones */
  gboolean is_dry;    /* nothing is written: marks are only reported, and files are read from the beginning */
  guint64 rate_per_s; /* records per second for all consumers; 0: unlimited */
} TideFileLoadOptions;

typedef enum TideLoadedState {
  TIDE_LOADED_NOT,    /* no consumer has taken it yet */
  TIDE_LOADED_BEFORE, /* an earlier load has finished it */
  TIDE_LOADED_PARTLY, /* it is being read, or could not be read to its end: see problem */
  TIDE_LOADED_READ,   /* to its end */
} TideLoadedState;

/* A file of the load. */
typedef struct TideLoadedFile {
  /* read-only */
  char *path;      /* owned: absolute; "-": standard input */
  char *mark_path; /* owned; NULL: it has no mark, as for a pipe */
  guint64 device;  /* with inode: identifies the file */
  guint64 inode;
  guint64 size_bytes;
  /* owned by its consumer, once taken */
  TideFileText *text; /* owned: for a pipe, until it is read, because closing it would lose its content */
  TideFileMark mark;
  TideLoadedState marked; /* the state in its mark, for a dry load */
  /* under the load's lock */
  TideLoadedState state;
  TideFileReader *reader; /* owned */
  char *problem;          /* owned: why it was not read to its end */
  char *mark_problem;     /* owned: why the last write of its mark failed */
} TideLoadedFile;

typedef struct TideFileLoad TideFileLoad;

TideFileLoad *tide_file_load_new(const TideFileLoadOptions *options);
void tide_file_load_free(TideFileLoad *load); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideFileLoad, tide_file_load_free)

/* Threads: before the load begins. Errors: IO: it cannot be read; DATA: its mark cannot be used; USAGE: the file was
 * already added, by this name or another. Blocks: at a FIFO until a writer opens it. */
gboolean tide_file_load_add(TideFileLoad *load, const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* In the order of addition. (element-type TideLoadedFile). Threads: before the load, and after it. */
const GPtrArray *tide_file_load_files(const TideFileLoad *load);

/* From now on no consumer gets another file, and long reads end. */
void tide_file_load_stop(TideFileLoad *load);

typedef struct TideFileLoadProgress {
  guint64 read_bytes;   /* of the files as stored, before decompression */
  guint64 before_bytes; /* of these, completed by earlier loads */
  guint64 all_bytes;    /* 0: unknown, as for a pipe */
} TideFileLoadProgress;

TideFileLoadProgress tide_file_load_progress(TideFileLoad *load);

/* TRUE if every file was read to its end, or as far as possible. */
gboolean tide_file_load_is_read(TideFileLoad *load);

/* Appends the record of the file at @path as it was delivered. FALSE: it is no longer in memory. */
gboolean tide_file_load_copy(TideFileLoad *load, TideBytes path, gint64 offset, TideBuffer *out);

/* ---- for file_input.c ---- */

/* Opens and returns the next file; NULL: there is none. A file that cannot be read keeps its problem and is skipped.
 * @go_on, @data: as in file_reader.h. Borrowed; the caller may use it until the load ends. */
TideLoadedFile *tide_file_load_take(TideFileLoad *load, gboolean (*go_on)(gpointer data), gpointer data);

/* Call when @file was read to its end, or as far as possible. */
void tide_file_load_note_end(TideFileLoad *load, TideLoadedFile *file);

/* Call after writing @file's mark; @problem: why that failed; NULL: it succeeded. */
void tide_file_load_note_mark(TideFileLoad *load, TideLoadedFile *file, const char *problem);

/* Returns how long the next record must wait; 0: it need not. */
gint64 tide_file_load_wait_for_rate_us(TideFileLoad *load, gint64 now_us);

/* Counts one record. */
void tide_file_load_count_for_rate(TideFileLoad *load, gint64 now_us);

gboolean tide_file_load_is_stopped(const TideFileLoad *load);

G_END_DECLS
