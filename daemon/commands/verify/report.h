/* What a verification found, for people or as JSON, one object a line: samples, then tables, then all together. */
#pragma once

#include "commands/verify/samples.h"

#include <stdio.h>

G_BEGIN_DECLS

/* Offsets of a partition that the group never had written: no cell is expected of them, and none can be looked for. */
typedef enum TideVerifyGapKind {
  TIDE_VERIFY_GAP_LOST,      /* deleted by Kafka; what is committed lies before them, or at them */
  TIDE_VERIFY_GAP_NOT_BEGUN, /* the group has committed nothing of this partition, though of others */
  TIDE_VERIFY_GAP_HALTED,    /* halted: an operator must decide where to go on */
} TideVerifyGapKind;

typedef struct TideVerifyGap {
  TideVerifyGapKind kind;
  guint part;
  gint64 from; /* offsets [from, to) */
  gint64 to;
  const char *halt_text; /* borrowed, a literal: why; HALTED */
} TideVerifyGap;

typedef struct TideVerifyReport {
  const TideVerifyTables *tables; /* borrowed, all */
  const TideVerifyMessageCounts *counts;
  const GArray *parts;        /* (element-type TideTopicPart) */
  gboolean are_files;         /* the parts: a file each */
  const GArray *samples;      /* (element-type TideVerifySample) */
  const GArray *gaps;         /* (element-type TideVerifyGap) */
  const char *group;          /* whose offsets bound it; NULL: none's */
  gboolean allow_overwritten; /* they are no differences */
  const char *not_whole;      /* why cells that no message explains are not unexpected; NULL: they are */
  guint n_passes;
  gint64 elapsed_us;
} TideVerifyReport;

/* In cells. */
guint64 tide_verify_report_differences(const TideVerifyReport *report);

void tide_verify_report_print_text(const TideVerifyReport *report, FILE *stream);
void tide_verify_report_print_json(const TideVerifyReport *report, FILE *stream);

G_END_DECLS
