/* The files of one load: which of them are to be read, which consumer reads them, and with what result. Shared by all
 * consumers, each of which takes the next file when it has finished its own.
 *
 * Threads: any, unless said otherwise. */
#pragma once

#include "config/config.h"
#include "files/file_mark.h"
#include "files/file_reader.h"

G_BEGIN_DECLS

/* In the state directory: rejected records of files. */
#define TIDE_LOAD_DEAD_LETTERS "load-dead-letters.jsonl"

typedef struct TideFileLoadOptions {
  const TideConfigSource *source; /* borrowed: whose readings the files hold */
  const char *marks_directory;    /* copied; NULL: no marks are kept */
  const char *job;                /* copied: tide_file_mark_path() */
  char **destination;             /* copied: the names of all ways to where rows are written */
  gboolean again;                 /* marks are ignored, and begin anew */
  gboolean is_dry;    /* nothing will be written: marks are only reported, and files read from their beginning */
  guint64 rate_per_s; /* records that all consumers take together; 0: no bound */
} TideFileLoadOptions;

typedef enum TideLoadedState {
  TIDE_LOADED_NOT,    /* no consumer has taken it yet */
  TIDE_LOADED_BEFORE, /* a load before this one has finished it */
  TIDE_LOADED_PARTLY, /* it is being read, or could not be read to its end: see problem */
  TIDE_LOADED_READ,   /* to its end */
} TideLoadedState;

/* A file of the load. */
typedef struct TideLoadedFile {
  /* read-only */
  char *path;      /* owned: absolute; "-": standard input */
  char *mark_path; /* owned; NULL: it has no mark; a pipe never has one */
  guint64 device;  /* with inode: which file it is */
  guint64 inode;
  guint64 size_bytes;
  /* its consumer's, once that has taken it */
  TideFileText *text; /* owned: of a pipe, until it is read: what is in it would be lost by closing it */
  TideFileMark mark;
  TideLoadedState marked; /* what its mark said, of a load that is dry */
  /* under the load's lock */
  TideLoadedState state;
  TideFileReader *reader; /* owned */
  char *problem;          /* owned: why it was not read to its end */
  char *mark_problem;     /* owned: why its mark could not be written the last time */
} TideLoadedFile;

typedef struct TideFileLoad TideFileLoad;

TideFileLoad *tide_file_load_new(const TideFileLoadOptions *options);
void tide_file_load_free(TideFileLoad *load); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideFileLoad, tide_file_load_free)

/* Threads: before the load begins. Errors: IO: it cannot be read; DATA: its mark cannot be used; USAGE: it was added,
 * by this name or by another. Blocks: at a FIFO until somebody writes to it. */
gboolean tide_file_load_add(TideFileLoad *load, const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* In the order they were added. (element-type TideLoadedFile). Threads: before the load, and after it. */
const GPtrArray *tide_file_load_files(const TideFileLoad *load);

/* From now on no consumer gets another file, and long reads end. */
void tide_file_load_stop(TideFileLoad *load);

typedef struct TideFileLoadProgress {
  guint64 read_bytes;   /* of the files, as they are compressed */
  guint64 before_bytes; /* of these, what loads before had done */
  guint64 all_bytes;    /* 0: not known, of a pipe */
} TideFileLoadProgress;

TideFileLoadProgress tide_file_load_progress(TideFileLoad *load);

/* Whether every file was read to its end, or as far as it could be. */
gboolean tide_file_load_is_read(TideFileLoad *load);

/* Appends the record of the file at @path as it was handed out. FALSE: it is no longer in memory. */
gboolean tide_file_load_copy(TideFileLoad *load, TideBytes path, gint64 offset, TideBuffer *out);

/* ---- for file_input.c ---- */

/* The next file, opened; NULL: there is none. A file that cannot be read keeps its problem and is skipped.
 * @go_on, @data: as in file_reader.h. Borrowed; the caller's until the load ends. */
TideLoadedFile *tide_file_load_take(TideFileLoad *load, gboolean (*go_on)(gpointer data), gpointer data);

/* @file was read to its end, or as far as it could be. */
void tide_file_load_note_end(TideFileLoad *load, TideLoadedFile *file);

/* @file's mark was written; @problem: why it could not be; NULL: it was. */
void tide_file_load_note_mark(TideFileLoad *load, TideLoadedFile *file, const char *problem);

/* How long the next record must wait; 0: it need not. */
gint64 tide_file_load_wait_for_rate_us(TideFileLoad *load, gint64 now_us);

/* A record was taken. */
void tide_file_load_count_for_rate(TideFileLoad *load, gint64 now_us);

gboolean tide_file_load_is_stopped(const TideFileLoad *load);

G_END_DECLS
