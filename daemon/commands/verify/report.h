/* What a verification found, for people or as JSON, one object a line: samples, then tables, then all together. */
#pragma once

#include "commands/verify/samples.h"

#include <stdio.h>

G_BEGIN_DECLS

typedef struct TideVerifyReport {
  const TideVerifyTables *tables; /* borrowed, all */
  const TideVerifyMessageCounts *counts;
  const GArray *parts;   /* (element-type TideTopicPart) */
  gboolean are_files;    /* the parts: a file each */
  const GArray *samples; /* (element-type TideVerifySample) */
  const char *group;     /* whose offsets bound it; NULL: none's */
  const char *not_whole; /* why cells that no message explains are not unexpected; NULL: they are */
  guint n_passes;
  gint64 elapsed_us;
} TideVerifyReport;

guint64 tide_verify_report_differences(const TideVerifyReport *report);

void tide_verify_report_print_text(const TideVerifyReport *report, FILE *stream);
void tide_verify_report_print_json(const TideVerifyReport *report, FILE *stream);

G_END_DECLS
