/* The options of the daemon: one table that makes the parser, the checks, the sample and the reference. */
#pragma once

#include "config/config.h"
#include "config/option/option.h"

G_BEGIN_DECLS

/* The top of the file; its options are the sections. It fills a TideConfig. */
extern const TideConfigGroup tide_config_top;

/* Options of `readings`; they fill a TideReadingsConfig. */
extern const TideConfigGroup tide_readings_options;

/* Options of a source except `readings` and `when`; they fill a TideConfigSource. */
extern const TideConfigGroup tide_source_options;

/* The name of @format in the option readings.format. */
const char *tide_config_format_name(TideReadingFormat format);

/* The largest request of a framed gateway is 2 MiB (hbase.regionserver.thrift.framed.max_frame_size_in_mb). The rest is
 * for the call's header and for a last row that is slightly larger than calculated. */
#define TIDE_BATCH_MAX_BYTES (1984 * 1024)

G_END_DECLS
