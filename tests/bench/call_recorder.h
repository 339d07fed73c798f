/* A file of putMultiple calls in their wire form: written by null-gateway, sent again by bare-sender.
 *
 * The file is a TideCallFileHead, then for each call a TideCallHead and the call's bytes: in the order in which the
 * calls ended, the frame's length in front where the gateway is framed. All numbers are in this machine's byte order:
 * the file does not outlive the benchmark that wrote it. */
#pragma once

#include "util/bytes.h"
#include "util/lock.h"

#include <stdio.h>

G_BEGIN_DECLS

#define TIDE_CALL_FILE_MAGIC "tidecal1"

typedef struct TideCallFileHead {
  char magic[8];
  gboolean framed;
  gboolean compact;
} TideCallFileHead;

typedef struct TideCallHead {
  guint32 n_bytes;
  guint32 n_rows;
  gint64 received_epoch_us; /* wall clock: when the whole call was there */
} TideCallHead;

typedef struct TideCallRecorder {
  TideMutex lock;
  FILE *file;     /* owned; under lock */
  gsize max_size; /* bytes; calls that would exceed it are left out, so the file is always whole */
  gsize size;     /* under lock */
  guint64 n_left_out;
} TideCallRecorder;

/* Threads: one recorder for all connections. A file that cannot be written ends the program. */
void tide_call_recorder_open(TideCallRecorder *recorder, const char *path, gsize max_size, gboolean framed,
                             gboolean compact);
/* Calls for the daemon's own tables ("tidemark_...") are no readings, and left out. */
void tide_call_recorder_add(TideCallRecorder *recorder, TideBytes call, guint32 n_rows);
/* Later calls are left out. */
void tide_call_recorder_close(TideCallRecorder *recorder);

G_END_DECLS
