#include "decode/formats.h"

#ifdef TIDE_WITHOUT_AVRO
#define HAS_AVRO FALSE
#else
#define HAS_AVRO TRUE
#endif

#ifdef TIDE_WITHOUT_PROTOBUF
#define HAS_PROTOBUF FALSE
#else
#define HAS_PROTOBUF TRUE
#endif

const TideFormat tide_formats[TIDE_N_FORMATS] = {
    [TIDE_FORMAT_JSON] = {.end = TIDE_ENDS_WITH_LINE,
                          .takes = TIDE_TAKES_STRUCTURE | TIDE_TAKES_FRAMING,
                          .is_built_in = TRUE,
                          .spaces_are_blank = TRUE},
    [TIDE_FORMAT_INFLUX] = {.end = TIDE_ENDS_WITH_LINE,
                            .is_built_in = TRUE,
                            .has_own_time = TRUE,
                            .lines_are_readings = TRUE,
                            .spaces_are_blank = TRUE,
                            .comment = '#'},
    [TIDE_FORMAT_CSV] = {.end = TIDE_ENDS_WITH_LINE,
                         .takes = TIDE_TAKES_CSV,
                         .is_built_in = TRUE,
                         .lines_are_readings = TRUE},
    [TIDE_FORMAT_MSGPACK] = {.end = TIDE_ENDS_BY_ITSELF, .takes = TIDE_TAKES_STRUCTURE, .is_built_in = TRUE},
    [TIDE_FORMAT_AVRO] = {.end = TIDE_ENDS_IN_CONTAINER,
                          .takes = TIDE_TAKES_STRUCTURE | TIDE_TAKES_SCHEMA | TIDE_TAKES_REGISTRY,
                          .is_built_in = HAS_AVRO},
    [TIDE_FORMAT_PROTOBUF] = {.end = TIDE_ENDS_BY_LENGTH,
                              .takes =
                                  TIDE_TAKES_STRUCTURE | TIDE_TAKES_SCHEMA | TIDE_TAKES_MESSAGE | TIDE_TAKES_FRAMING,
                              .is_built_in = HAS_PROTOBUF},
};
