#include "config/option/time_options.h"

#include "model/time/time_spec.h"

#define AT(member) .offset = offsetof(TideTimeSpec, member), .size = sizeof(((TideTimeSpec *)NULL)->member)
#define DAY (86400 * G_GINT64_CONSTANT(1000))

#define CHOICE(name, word) {word, TIDE_TIME_##name},
static const TideConfigChoice time_formats[] = {TIDE_TIME_FORMATS(CHOICE){NULL, 0}};
#undef CHOICE

static const TideConfigChoice plus_units[] = {
    {"s", TIDE_PLUS_S}, {"ms", TIDE_PLUS_MS}, {"us", TIDE_PLUS_US}, {"ns", TIDE_PLUS_NS}, {NULL, 0}};

static const TideConfigChoice future_policies[] = {
    {"reject", TIDE_FUTURE_REJECT}, {"history", TIDE_FUTURE_HISTORY}, {NULL, 0}};

static const TideConfigChoice ambiguous_policies[] = {{"record", TIDE_AMBIGUOUS_RECORD},
                                                      {"earlier", TIDE_AMBIGUOUS_EARLIER},
                                                      {"later", TIDE_AMBIGUOUS_LATER},
                                                      {"reject", TIDE_AMBIGUOUS_REJECT},
                                                      {NULL, 0}};

static const TideConfigOption date_options[] = {
    {"field", TIDE_CONFIG_FIELD, AT(date_field), .example = "day", .sentence = "Field that contains the date."},
    {"pattern", TIDE_CONFIG_PATTERN, AT(date_pattern), .example = "yyyyMMdd",
     .sentence = "Pattern of the date, without a time of day."},
};

static const TideConfigOption plus_options[] = {
    {"field", TIDE_CONFIG_FIELD, AT(plus_field), .example = "nanos", .sentence = "Field that contains the number."},
    {"unit", TIDE_CONFIG_CHOICE, AT(plus), .example = "ns", .choices = plus_units, .sentence = "Unit of the number."},
};

static const TideConfigGroup date_group = {"readings.time.date", NULL, NULL, date_options, G_N_ELEMENTS(date_options)};

static const TideConfigGroup plus_group = {"readings.time.plus", NULL, NULL, plus_options, G_N_ELEMENTS(plus_options)};

static const TideConfigOption time_options[] = {
    {"field", TIDE_CONFIG_FIELD, AT(field), .example = "ts", .flags = TIDE_CONFIG_IN_SAMPLE,
     .sentence = "Field that contains the event time."},
    {"format", TIDE_CONFIG_CHOICE, AT(format), .example = "epoch_ms", .choices = time_formats,
     .flags = TIDE_CONFIG_IN_SAMPLE,
     .sentence = "Format of the time; see *Event time*. record means the Kafka record's own time and needs no field; "
                 "`time: record` is short for it."},
    {"pattern", TIDE_CONFIG_PATTERN, AT(pattern), .example = "\"yyyy-MM-dd HH:mm:ss.SSS\"",
     .sentence = "Pattern for `format: pattern`, in the letters of Java's DateTimeFormatter; see *Event time*. A zone "
                 "is required unless the pattern contains an offset (X)."},
    {"local", TIDE_CONFIG_BOOLEAN, AT(is_local), .default_text = "false",
     .sentence = "The number counts local time in `zone` instead of UTC, as in Debezium's times without a zone."},
    {"zone", TIDE_CONFIG_ZONE, AT(zone), .example = "Europe/Berlin",
     .sentence = "Time zone of times that do not contain one: a name, UTC, or an offset such as \"+02:00\"."},
    {"ambiguous", TIDE_CONFIG_CHOICE, AT(on_ambiguous), .example = "record", .choices = ambiguous_policies,
     .sentence = "Meaning of a local time that occurs twice, when clocks are set back. The default, record, takes the "
                 "moment that fits the record's time. A moment fits if the record is later by less than the time "
                 "between the two (usually an hour). It also fits if the record is earlier by at most `max_future` and "
                 "half of that hour. If both or neither fit, the reading is rejected: with 10m, a reading of the first "
                 "pass that arrives more than 50 minutes late."},
    {"date", TIDE_CONFIG_SECTION, .section = &date_group,
     .sentence = "Source of the date for a time of day. Default: the record's time in the zone."},
    {"plus", TIDE_CONFIG_SECTION, .section = &plus_group,
     .sentence = "Number in another field that is added to the time, from 0 to less than a day. Examples are "
                 "nanoseconds beside seconds, or the time since midnight beside a date."},
    {"earliest", TIDE_CONFIG_TIME, AT(earliest_epoch_ms), 0, G_GINT64_CONSTANT(7258118400000), "2000-01-01",
     .sentence = "Earliest event time; an earlier one rejects the reading. It detects seconds that are read as "
                 "milliseconds, because they are in January 1970."},
    {"max_past", TIDE_CONFIG_DURATION, AT(max_past_ms), 0, 36500 * DAY, "0s",
     .sentence = "Maximum time by which the event time may precede the record time; more rejects the reading. 0s means "
                 "no limit. A limit prevents a wrong clock from creating a dated table for each day since `earliest`."},
    {"max_future", TIDE_CONFIG_DURATION, AT(max_future_ms), 0, 3650 * DAY, "10m",
     .sentence =
         "Maximum time by which the event time may follow the record time; more rejects the reading, because it would "
         "hide all later ones in a latest table. It also applies against the host clock, unless the broker set the "
         "record time. Choose it above the drift of clocks and below the smallest time zone error."},
    {"on_future", TIDE_CONFIG_CHOICE, AT(on_future), .default_text = "reject", .choices = future_policies,
     .sentence = "Handling of a reading that exceeds `max_future`. history keeps it out of latest tables only; other "
                 "tables accept it up to ten years ahead. A reading that no other table uses is rejected, and so is "
                 "one that is ahead of the host clock only."},
};

const TideConfigGroup tide_time_options = {"readings.time", "When was it measured?", "format", time_options,
                                           G_N_ELEMENTS(time_options)};
