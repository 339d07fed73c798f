#include "decode/formats.h"

#include "decode/shaper.h"

#ifdef TIDE_WITHOUT_AVRO
#define AVRO_READER NULL
#else
#define AVRO_READER &tide_avro_reader
#endif

#ifdef TIDE_WITHOUT_PROTOBUF
#define PROTOBUF_READER NULL
#else
#define PROTOBUF_READER &tide_protobuf_reader
#endif

const TideFormat tide_formats[] = {
    [TIDE_FORMAT_JSON] = {.reader = &tide_json_reader,
                          .end = TIDE_ENDS_WITH_LINE,
                          .takes = TIDE_TAKES_STRUCTURE | TIDE_TAKES_FRAMING,
                          .spaces_are_blank = TRUE},
    [TIDE_FORMAT_INFLUX] = {.reader = &tide_influx_reader,
                            .end = TIDE_ENDS_WITH_LINE,
                            .takes = TIDE_TAKES_INFLUX,
                            .has_own_time = TRUE,
                            .lines_are_readings = TRUE,
                            .spaces_are_blank = TRUE,
                            .comment = '#'},
    [TIDE_FORMAT_CSV] = {.reader = &tide_csv_reader,
                         .end = TIDE_ENDS_WITH_LINE,
                         .takes = TIDE_TAKES_CSV,
                         .lines_are_readings = TRUE},
    [TIDE_FORMAT_MSGPACK] = {.reader = &tide_msgpack_reader, .end = TIDE_ENDS_BY_ITSELF, .takes = TIDE_TAKES_STRUCTURE},
    [TIDE_FORMAT_AVRO] = {.reader = AVRO_READER,
                          .end = TIDE_ENDS_IN_CONTAINER,
                          .takes = TIDE_TAKES_STRUCTURE | TIDE_TAKES_SCHEMA | TIDE_TAKES_REGISTRY},
    [TIDE_FORMAT_PROTOBUF] = {.reader = PROTOBUF_READER,
                              .end = TIDE_ENDS_BY_LENGTH,
                              .takes =
                                  TIDE_TAKES_STRUCTURE | TIDE_TAKES_SCHEMA | TIDE_TAKES_MESSAGE | TIDE_TAKES_FRAMING},
};
G_STATIC_ASSERT(G_N_ELEMENTS(tide_formats) == TIDE_N_FORMATS);
