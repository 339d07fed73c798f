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
    {"field", TIDE_CONFIG_FIELD, AT(date_field), .example = "day", .sentence = "The field that holds the date."},
    {"pattern", TIDE_CONFIG_PATTERN, AT(date_pattern), .example = "yyyyMMdd",
     .sentence = "How it is written: a pattern of a date, without a time of day."},
};

static const TideConfigOption plus_options[] = {
    {"field", TIDE_CONFIG_FIELD, AT(plus_field), .example = "nanos", .sentence = "The field that holds the number."},
    {"unit", TIDE_CONFIG_CHOICE, AT(plus), .example = "ns", .choices = plus_units, .sentence = "What it counts."},
};

static const TideConfigGroup date_group = {"readings.time.date", NULL, NULL, date_options, G_N_ELEMENTS(date_options)};

static const TideConfigGroup plus_group = {"readings.time.plus", NULL, NULL, plus_options, G_N_ELEMENTS(plus_options)};

static const TideConfigOption time_options[] = {
    {"field", TIDE_CONFIG_FIELD, AT(field), .example = "ts", .flags = TIDE_CONFIG_IN_SAMPLE,
     .sentence = "The field that holds the event time."},
    {"format", TIDE_CONFIG_CHOICE, AT(format), .example = "epoch_ms", .choices = time_formats,
     .flags = TIDE_CONFIG_IN_SAMPLE,
     .sentence = "How it is written: see *Event time*. record takes the Kafka record's own time, and no field; `time: "
                 "record` is short for it."},
    {"pattern", TIDE_CONFIG_PATTERN, AT(pattern), .example = "\"yyyy-MM-dd HH:mm:ss.SSS\"",
     .sentence = "With `format: pattern`: letters as in Java's DateTimeFormatter, see *Event time*. It needs a zone, "
                 "unless it has an offset (X)."},
    {"local", TIDE_CONFIG_BOOLEAN, AT(is_local), .default_text = "false",
     .sentence =
         "The number counts by a local clock, that of `zone`, not by UTC, as Debezium's times without a zone do."},
    {"zone", TIDE_CONFIG_ZONE, AT(zone), .example = "Europe/Berlin",
     .sentence = "The zone of times that do not carry one: a name, UTC, or an offset such as \"+02:00\"."},
    {"ambiguous", TIDE_CONFIG_CHOICE, AT(on_ambiguous), .example = "record", .choices = ambiguous_policies,
     .sentence = "Which moment a local time means that happens twice, because the zone's clocks go back. Without it, "
                 "record: the "
                 "one to which the record's time fits, if it does to one alone: it is later by less than lies between "
                 "the two (an "
                 "hour, mostly), or earlier by `max_future` at the most (and half of that hour). Where it fits to both "
                 "or to none, "
                 "the reading is rejected: with 10m, one of the first pass that takes longer than 50 minutes."},
    {"date", TIDE_CONFIG_SECTION, .section = &date_group,
     .sentence = "Where a time of day takes its date from; without it, from the record's time in the zone."},
    {"plus", TIDE_CONFIG_SECTION, .section = &plus_group,
     .sentence = "A number in another field that is added to the time, from 0 to less than a day: nanoseconds beside "
                 "seconds, or the time since midnight beside a date."},
    {"earliest", TIDE_CONFIG_TIME, AT(earliest_epoch_ms), 0, G_GINT64_CONSTANT(7258118400000), "2000-01-01",
     .sentence = "An earlier event time rejects the reading. Seconds taken for milliseconds are in January 1970, so "
                 "they are found out."},
    {"max_past", TIDE_CONFIG_DURATION, AT(max_past_ms), 0, 36500 * DAY, "0s",
     .sentence =
         "An event time earlier than the record's by more rejects the reading; 0s: no late reading is too late. A "
         "bound keeps a wrong clock from making a dated table for each day since `earliest`."},
    {"max_future", TIDE_CONFIG_DURATION, AT(max_future_ms), 0, 3650 * DAY, "10m",
     .sentence = "An event time later than the record's by more rejects the reading: in a latest table it would hide "
                 "all that follows; so does one that is later by more than this host's clock, unless the broker gave "
                 "the record its time. Above the drift of clocks, below the smallest mistake of a zone."},
    {"on_future", TIDE_CONFIG_CHOICE, AT(on_future), .default_text = "reject", .choices = future_policies,
     .sentence =
         "history keeps a reading that is later than its record out of latest tables only: the others get it, up to "
         "ten "
         "years ahead. One that no other table takes is rejected, and so is one that is too late by this host's clock "
         "alone."},
};

const TideConfigGroup tide_time_options = {"readings.time", "When was it measured?", "format", time_options,
                                           G_N_ELEMENTS(time_options)};
