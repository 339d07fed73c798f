/* The options of the daemon: one table that makes the parser, the checks, the sample and the reference. */
#pragma once

#include "config/config.h"
#include "config/option/option.h"

G_BEGIN_DECLS

/* The top of the file; its options are the sections. Values are stored in a TideConfig. */
extern const TideConfigGroup tide_config_top;

/* Of `readings`: a TideReadingsConfig. */
extern const TideConfigGroup tide_readings_options;

/* Of a source: a TideConfigSource, but for `readings` and `when`. */
extern const TideConfigGroup tide_source_options;

/* As the option readings.format names it. */
const char *tide_config_format_name(TideReadingFormat format);

/* The largest request a framed gateway takes is 2 MiB (hbase.regionserver.thrift.framed.max_frame_size_in_mb); what is
 * left is for the call's header and for a last row that is a little larger than reckoned. */
#define TIDE_BATCH_MAX_BYTES (1984 * 1024)

G_END_DECLS
