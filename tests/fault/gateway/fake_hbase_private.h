/* What the files of the fake HBase share. */
#pragma once

#include "fault/gateway/fake_hbase.h"
#include "fault/gateway/fake_table.h"
#include "util/lock.h"

G_BEGIN_DECLS

struct TideFakeHBase {
  _Atomic int references;
  TideMutex mutex;
  TideCond written; /* broadcast after each change of rows */

  /* under mutex */
  GHashTable *tables;     /* owned: name -> TideFakeTable */
  GHashTable *namespaces; /* owned: names */
  GPtrArray *dropped;     /* owned (element-type TideFakeTable); calls under way may still count on them */
  GPtrArray *writes;      /* owned (element-type TideFakeWrite) */
  guint max_writes;
  gsize max_cell_bytes; /* 0: no limit */
  char *cluster;        /* owned: its id */
};

/* Ownership: (transfer full). */
static inline TideBytes
fake_bytes_copy(TideBytes bytes)
{
  return tide_bytes(g_memdup2(bytes.data, bytes.len), bytes.len);
}

static inline void
fake_bytes_free(TideBytes bytes)
{
  g_free((guint8 *)bytes.data);
}

const char *fake_hbase_plain_name(const char *name); /* without "default:" */
TideFakeTable *fake_hbase_find_table_locked(TideFakeHBase *hbase, const char *name);
/* As find, with the error of a missing table. */
TideFakeTable *fake_hbase_need_table_locked(TideFakeHBase *hbase, const char *name, TideFakeError *error);

void fake_error_set(TideFakeError *error, TideFakeErrorKind kind, gboolean can_retry, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
void fake_write_free(gpointer write);

G_END_DECLS
