/* `tidemark init`: writes a configuration based on sample messages, and shows the rows of one of them. */
#include "commands/cli/commands.h"
#include "commands/cli/load_config.h"
#include "commands/cli/output.h"
#include "commands/cli/time_argument.h"
#include "commands/explain/explained_message.h"
#include "commands/init/draft.h"
#include "commands/init/guess_shape.h"
#include "commands/init/init_samples.h"
#include "config/yaml/secret.h"
#include "config/yaml/yaml_text.h"
#include "decode/avro_container.h"
#include "decode/formats.h"
#include "kafka/kafka_conf.h"
#include "mapping/mapping.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/units.h"

#include <errno.h>
#include <unistd.h>

/* Proposals for settings that the samples do not show: as in the sample of `check --print-defaults`. */
#define BROKERS "127.0.0.1:9092"
#define GATEWAYS "127.0.0.1:9090"
#define TOPIC "metrics"
#define GROUP "tidemark"
#define TABLE "METRIC"

/* Maximum number of guesses of the messages' shape; no message has signs for more. */
#define MAX_SHAPES 12u

#define MAX_SAMPLES 10000u

#define FORMAT_WORD(word, value, name) [value] = word,
static const char *const formats[] = {TIDE_FORMATS(FORMAT_WORD) NULL};
#define FORMAT_IN_HELP(word, value, name) " " word

/* In the order of TideSchemaFraming. */
static const char *const framings[] = {"none", "confluent", NULL};

typedef struct InitRegistry {
  const char *url;
  const char *user;
  const char *password;
  const char *ca;
} InitRegistry;

typedef struct InitOptions {
  gboolean from_topic;
  gboolean yes;
  int format; /* TideReadingFormat */
  const char *columns;
  const char *each;
  const char *schema;
  InitRegistry registry;
  const char *message;
  int framing; /* TideSchemaFraming */
  guint64 count;
  guint64 devices;
  guint64 salt;
  const char *brokers;
  GPtrArray *kafka; /* (element-type utf8) */
  const char *topic;
  const char *group;
  const char *gateways;
  const char *time;
  const char *zone;
  GPtrArray *key;      /* (element-type utf8) */
  GPtrArray *readings; /* (element-type utf8): NAME=YAML */
  gboolean as_is;
  const char *table;
  const char *dead_letters;
} InitOptions;

typedef struct Init {
  const InitOptions *options;
  const char *path;         /* of the file to write */
  const char *samples_path; /* NULL: standard input, or the topic */
  const char *properties;   /* like those of a proposal; NULL: none */
  GPtrArray *said;          /* owned (element-type utf8): settings of `readings` from options */
  GPtrArray *readings;      /* owned (element-type utf8): those, and the guessed ones */
  TideInitSamples *samples; /* owned */
  TideInitDraft draft;
  gboolean is_container; /* samples_path is an Avro container */
  gboolean asks;
} Init;

/* ---- places --------------------------------------------------------------------------------------------------------
 */

/* Converts NAME=VALUE to "name: value" lines; a value in braces is YAML, which may give the file of a secret. NULL:
 * @given is empty, or the error is set. (transfer full) */
static char *
property_lines(const GPtrArray *given, GError **error)
{
  g_autoptr(GString) lines = g_string_new(NULL);
  for (guint i = 0; i < given->len; i++) {
    const char *name = given->pdata[i], *equals = strchr(name, '=');
    if (equals == NULL || equals == name) {
      g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "'--kafka' needs NAME=VALUE, got '%s'", name);
      return NULL;
    }
    g_autofree char *plain = g_strndup(name, (gsize)(equals - name));
    if (equals[1] != '{' && tide_secret_is_name(plain)) {
      g_set_error(
          error, TIDE_ERROR, TIDE_ERROR_USAGE,
          "'--kafka' accepts no secret value, which other users could read: put it into a file (mode 0600), and use "
          "'%s={ file: PATH }', or { credential: NAME } for one of systemd",
          plain);
      return NULL;
    }
    g_string_append_c(lines, '\n');
    tide_yaml_append_scalar(lines, plain, strlen(plain));
    g_string_append(lines, ": ");
    if (equals[1] == '{')
      g_string_append(lines, equals + 1);
    else
      tide_yaml_append_scalar(lines, equals + 1, strlen(equals + 1));
  }
  return lines->len > 0 ? g_strdup(lines->str + 1) : NULL;
}

static void
fill_places(const Init *init, TideInitProposal *proposal)
{
  const InitOptions *options = init->options;
  proposal->brokers = g_strdup(options->brokers != NULL ? options->brokers : BROKERS);
  proposal->properties = g_strdup(init->properties);
  proposal->topic = g_strdup(options->topic != NULL ? options->topic : TOPIC);
  proposal->group = g_strdup(options->group != NULL ? options->group : GROUP);
  proposal->gateways = g_strdup(options->gateways != NULL ? options->gateways : GATEWAYS);
  proposal->table = g_strdup(options->table != NULL ? options->table : TABLE);
  proposal->dead_letters = g_strdup(options->dead_letters);
  proposal->salt = (guint32)options->salt;
  proposal->readings = g_ptr_array_ref(init->readings);
}

/* Parses @text like `check --offline`. @path: of the file that @text is for. NULL: the fault has been printed. */
static TideConfig *
load_text(const char *path, const char *text, GPtrArray **ret_problems, GError **error)
{
  g_autoptr(TideConfig) config = tide_config_load_text(path, tide_bytes_of_string(text), ret_problems);
  if (!tide_config_check_properties(config, *ret_problems)) {
    tide_config_problems_print(stderr, path, *ret_problems);
    g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_CONFIG,
                        "the options and answers do not result in a valid configuration, so nothing is written");
    return NULL;
  }
  if (tide_kafka_check_clients(config, error))
    return g_steal_pointer(&config);
  g_prefix_error(error, "nothing is written: ");
  return NULL;
}

/* Builds a configuration with only the locations: its Kafka connection and its schemas are those of the new file. */
static TideConfig *
load_places(const Init *init, const TideDecodeOptions *decode, const TideRegistrySettings *registry, GError **error)
{
  g_autoptr(GPtrArray) problems = NULL;
  g_auto(TideInitProposal) places = {.decode = decode,
                                     .registry = registry,
                                     .time_format = TIDE_TIME_RECORD,
                                     .key = g_ptr_array_new_with_free_func(g_free)};
  g_ptr_array_add(places.key, g_strdup("any"));
  fill_places(init, &places);
  g_autofree char *text = tide_init_proposal_print(&places, 0);
  return load_text(init->path, text, &problems, error);
}

/* ---- samples -------------------------------------------------------------------------------------------------------
 */

/* Reads the file like `load`: each of its records is a message. */
static gboolean
take_containers(const Init *init, TideConfig *config, GError **error)
{
  return !init->is_container || tide_command_choose_source(config, NULL, error) != NULL;
}

/* The sample file also contains the schema. */
static gboolean
names_own_schema(const Init *init)
{
  return init->is_container && init->options->schema == NULL && init->options->registry.url == NULL;
}

/* Reads samples with the `readings` options known so far. Relative paths are resolved against the current directory and
 * returned as absolute paths, because the new file may be in another directory or be copied. NULL: options for their
 * form are invalid. */
static TideInitSamples *
new_samples(const Init *init, GError **error)
{
  /* csv.decimal_comma requires another delimiter; the samples show which one */
  static char any_but_a_comma[] = ";";
  const InitOptions *options = init->options;
  gboolean is_own = names_own_schema(init), is_csv = options->format == TIDE_FORMAT_CSV;
  g_autofree char *schema = g_strdup(is_own ? init->samples_path : options->schema),
                  *message = g_strdup(options->message);
  g_autofree char *url = g_strdup(options->registry.url), *user = g_strdup(options->registry.user);
  g_autofree char *password = g_strdup(options->registry.password), *ca = g_strdup(options->registry.ca);
  g_auto(GStrv) columns = options->columns != NULL ? g_strsplit(options->columns, ",", -1) : NULL;
  TideDecodeOptions decode = {.format = (TideReadingFormat)options->format,
                              .schema_file = schema,
                              .message = message,
                              .framing = (TideSchemaFraming)options->framing,
                              .csv = {.columns = columns, .delimiter = is_csv ? any_but_a_comma : NULL}};
  const TideRegistrySettings registry = {.url = url, .user = user, .password.file = password, .ca = ca};
  TideConfig *config = load_places(init, &decode, &registry, error);
  if (config == NULL)
    return NULL;
  gboolean good = take_containers(init, config, error);
  TideInitSamples *samples = tide_init_samples_new(config);
  samples->is_container = init->is_container;
  samples->is_delimiter_given = tide_shape_setting(init->readings, "csv.delimiter") != NULL;
  if (!good)
    g_clear_pointer(&samples, tide_init_samples_free);
  return samples;
}

static gboolean
begin_samples(Init *init, GError **error)
{
  init->samples = new_samples(init, error);
  if (init->samples != NULL && names_own_schema(init))
    tide_say("note: the configuration uses the schema in '%s': if you will move or delete that file, "
             "keep its schema in a separate file and name that with '--schema'",
             init->samples_path);
  return init->samples != NULL;
}

static GPtrArray *
copy_settings(const GPtrArray *settings)
{
  GPtrArray *copy = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < settings->len; i++)
    g_ptr_array_add(copy, g_strdup(settings->pdata[i]));
  return copy;
}

/* Replaces settings of the same names by @settings: "NAME=YAML", one per line. FALSE: an option has set one of them. */
static gboolean
add_settings(const Init *init, GPtrArray *readings, const char *settings)
{
  g_auto(GStrv) lines = g_strsplit(settings, "\n", -1);
  for (char **line = lines; *line != NULL; line++) {
    g_autofree char *name = g_strndup(*line, strcspn(*line, "="));
    if (tide_shape_setting(init->said, name) != NULL)
      return FALSE;
    for (guint i = 0; i < readings->len; i++)
      if (strncmp(readings->pdata[i], *line, strlen(name) + 1) == 0)
        g_ptr_array_remove_index(readings, i--);
    g_ptr_array_add(readings, g_strdup(*line));
  }
  return TRUE;
}

/* Applies @settings if all samples can also be read with them. */
static gboolean
try_settings(Init *init, const char *settings)
{
  Init with = *init;
  with.readings = copy_settings(init->readings);
  g_autoptr(TideInitSamples) again =
      settings != NULL && add_settings(init, with.readings, settings) ? new_samples(&with, NULL) : NULL;
  if (again != NULL)
    tide_init_samples_read_again(again, init->samples);
  gboolean good = again != NULL && again->n_bad <= init->samples->n_bad && again->survey->n_readings > 0;
  if (good) {
    tide_init_samples_free(init->samples);
    init->samples = g_steal_pointer(&again);
    g_ptr_array_unref(init->readings);
    init->readings = with.readings;
  } else
    g_ptr_array_unref(with.readings);
  return good;
}

/* Finds the readings in the messages, if the samples show them clearly and can be read accordingly. */
static void
guess_shape(Init *init)
{
  g_autoptr(GPtrArray) tried = g_ptr_array_new_with_free_func(g_free);
  const TideDecodeOptions *decode = init->samples->decode;
  if (!init->options->as_is && decode->csv.delimiter != NULL && tide_guess_decimal_comma(init->samples->survey))
    (void)try_settings(init, "csv.decimal_comma=true");
  gboolean may = !init->options->as_is && (tide_formats[init->options->format].takes & TIDE_TAKES_STRUCTURE) != 0;
  while (may && tried->len < MAX_SHAPES) {
    g_auto(TideShapeGuess) guess = {0};
    const GPtrArray *all = init->samples->all;
    TideBytes unread = all->len > 0 ? ((const TideInitSample *)all->pdata[0])->message.value : TIDE_BYTES_EMPTY;
    may = tide_guess_shape(init->samples->survey, unread, init->readings, tried, &guess);
    if (may && !try_settings(init, guess.settings))
      (void)try_settings(init, guess.instead);
    if (may)
      g_ptr_array_add(tried, g_strdup(guess.settings));
  }
}

static void
tell_shape(const Init *init)
{
  g_autoptr(GString) guessed = g_string_new(NULL);
  for (guint i = 0; i < init->readings->len; i++) {
    const char *setting = init->readings->pdata[i], *equals = strchr(setting, '=');
    g_autofree char *name = g_strndup(setting, (gsize)(equals - setting));
    if (tide_shape_setting(init->said, name) == NULL)
      g_string_append_printf(guessed, "%s'%s: %s'", guessed->len > 0 ? ", " : "", name, equals + 1);
  }
  if (guessed->len > 0)
    tide_say("note: the samples are read by the 'readings' settings %s: '--readings NAME=YAML' changes them, "
             "'--as-is' reads "
             "messages without them",
             guessed->str);
}

/* Applies `--readings` and `--each`. */
static gboolean
take_settings(Init *init, GError **error)
{
  const InitOptions *options = init->options;
  init->said = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < options->readings->len; i++) {
    const char *setting = options->readings->pdata[i];
    if (strchr(setting, '=') == NULL || setting[0] == '=')
      return tide_fail(error, TIDE_ERROR_USAGE, "'--readings' needs NAME=YAML, got '%s'", setting);
    g_ptr_array_add(init->said, g_strdup(setting));
  }
  if (options->each != NULL) {
    GString *each = g_string_new("each=");
    tide_yaml_append_scalar(each, options->each, strlen(options->each));
    g_ptr_array_add(init->said, g_string_free(each, FALSE));
  }
  init->readings = copy_settings(init->said);
  return TRUE;
}

/* Whether it is a regular file, because a pipe can be read only once. */
static gboolean
begins_as_container(const char *path)
{
  guint8 begin[4];
  FILE *file = g_file_test(path, G_FILE_TEST_IS_REGULAR) ? fopen(path, "re") : NULL;
  gsize n = file != NULL ? fread(begin, 1, sizeof begin, file) : 0;
  if (file != NULL)
    fclose(file);
  return tide_avro_is_container(tide_bytes(begin, n));
}

static gboolean
read_text(Init *init, GError **error)
{
  const char *name = init->samples_path != NULL ? init->samples_path : "standard input";
  if (init->is_container)
    return tide_init_samples_read_container(init->samples, name, init->options->count, error);
  FILE *stream = init->samples_path != NULL ? fopen(name, "re") : stdin;
  if (stream == NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO, "cannot open '%s': %s", name, g_strerror(errno));
    return FALSE;
  }
  if (stream == stdin && isatty(STDIN_FILENO))
    tide_say("reading sample messages; end with Ctrl-D");
  gboolean ok = tide_init_samples_read_stream(init->samples, stream, name, init->options->count, error);
  if (stream == stdin)
    clearerr(stdin); /* a terminal can continue after its end */
  else
    fclose(stream);
  return ok;
}

static gboolean
read_topic(Init *init, guint64 count, GError **error)
{
  g_autoptr(TideConfig) config =
      load_places(init, init->samples->decode, &init->samples->config->readings.registry, error);
  return config != NULL &&
         tide_init_samples_read_topic(init->samples, &config->kafka, init->options->topic, count, error);
}

/* The number of devices by the key that would be proposed. */
static guint
count_things(const Init *init)
{
  g_auto(TideInitDraft) draft;
  tide_init_draft_begin(&draft, init->samples, tide_wall_clock_epoch_ms());
  gboolean has_key =
      (tide_init_draft_guess_time(&draft, NULL) || tide_init_draft_set_time(&draft, "$timestamp", NULL)) &&
      (init->options->key->len > 0 ? tide_init_draft_set_key(&draft, init->options->key, NULL)
                                   : tide_init_draft_guess_key(&draft, NULL));
  return has_key ? tide_init_draft_n_things(&draft) : 0;
}

/* Prints which part of the topic the samples cover. */
static void
tell_span(const Init *init)
{
  gint64 first_ms = G_MAXINT64, last_ms = 0;
  gint32 n_partitions = 0;
  const GPtrArray *all = init->samples->all;
  for (guint i = 0; i < all->len; i++) {
    const TideMessage *message = &((const TideInitSample *)all->pdata[i])->message;
    first_ms = MIN(first_ms, message->timestamp_ms);
    last_ms = MAX(last_ms, message->timestamp_ms);
    gboolean is_first = TRUE;
    for (guint k = 0; k < i && is_first; k++)
      is_first = ((const TideInitSample *)all->pdata[k])->message.partition != message->partition;
    n_partitions += is_first ? 1 : 0;
  }
  g_autofree char *first = tide_time_text(first_ms), *last = tide_time_text(last_ms);
  g_autofree char *messages = tide_count_of(all->len, "message", NULL);
  g_autofree char *partitions = tide_count_of((guint64)n_partitions, "partition", NULL);
  if (all->len > 0)
    tide_say("samples: %s of %s, from %s to %s", messages, partitions, first, last);
}

/* Reads the requested number of messages, or as many as are needed to find --devices. */
static gboolean
read_enough(Init *init, GError **error)
{
  const InitOptions *options = init->options;
  for (guint64 count = options->count;; count = MIN(4 * count, MAX_SAMPLES)) {
    if (!read_topic(init, count, error))
      return FALSE;
    gboolean is_all = init->samples->n_of_topic < count || count == MAX_SAMPLES;
    guess_shape(init);
    guint n_things = options->devices > 0 ? count_things(init) : 0;
    if (n_things < options->devices && is_all)
      tide_say("note: %u of the %" G_GUINT64_FORMAT " devices were seen", n_things, options->devices);
    if (n_things >= options->devices || is_all)
      break;
    g_clear_pointer(&init->samples, tide_init_samples_free);
    g_ptr_array_unref(init->readings);
    init->readings = copy_settings(init->said);
    if (!begin_samples(init, error))
      return FALSE;
  }
  tell_span(init);
  return TRUE;
}

static gboolean
read_samples(Init *init, GError **error)
{
  const InitOptions *options = init->options;
  g_autofree char *where = options->from_topic          ? g_strdup_printf("topic '%s'", options->topic)
                           : init->samples_path != NULL ? g_strdup_printf("'%s'", init->samples_path)
                                                        : g_strdup("standard input");
  if (!(options->from_topic ? read_enough(init, error) : read_text(init, error)))
    return FALSE;
  if (!options->from_topic)
    guess_shape(init);
  tell_shape(init);
  return tide_init_samples_check(init->samples, where, error);
}

/* ---- the draft -----------------------------------------------------------------------------------------------------
 */

/* Rejects a doubtful key if nobody can confirm it, because devices that share a key would overwrite each other. */
static gboolean
guess_key(const Init *init, TideInitDraft *draft, GError **error)
{
  if (!tide_init_draft_guess_key(draft, error))
    return FALSE;
  g_autofree char *remedy = NULL;
  g_autofree char *doubt = init->asks ? NULL : tide_init_draft_doubt_of_key(draft, &remedy);
  if (doubt != NULL)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA, "%s; %s", doubt, remedy);
  return doubt == NULL;
}

/* Shows the findings if the operator can change them, else only the problems. */
static gboolean
fill_draft(Init *init, GError **error)
{
  const InitOptions *options = init->options;
  TideInitDraft *draft = &init->draft;
  g_autoptr(GError) unknown = NULL;
  fill_places(init, &draft->proposal);
  gboolean has_time = options->time != NULL ? tide_init_draft_set_time(draft, options->time, &unknown)
                                            : tide_init_draft_guess_time(draft, &unknown);
  gboolean has_zone = options->zone == NULL || tide_init_draft_set_zone(draft, options->zone, &unknown);
  gboolean has_key = has_time && has_zone &&
                     (options->key->len > 0 ? tide_init_draft_set_key(draft, options->key, &unknown)
                                            : guess_key(init, draft, &unknown));
  if (has_key || (init->asks && options->time == NULL && options->zone == NULL && options->key->len == 0))
    return TRUE;
  g_propagate_error(error, g_steal_pointer(&unknown));
  return FALSE;
}

/* ---- the proof -----------------------------------------------------------------------------------------------------
 */

/* Quotes @text for a displayed command. (transfer full) */
static char *
config_words(const char *path)
{
  return tide_config_option(strcmp(path, TIDE_DEFAULT_CONFIG_PATH) == 0 ? NULL : path);
}

/* Shows the rows of one reading; `explain` shows the others of its message. */
static void
tell_unshown(const Init *init, const TideInitSample *sample, guint64 n_unshown)
{
  if (n_unshown == 0)
    return;
  TideBytes text = sample->message.value;
  gboolean is_over_lines = init->options->format == TIDE_FORMAT_JSON && memchr(text.data, '\n', text.len) != NULL;
  const char *source = init->options->from_topic ? " --from-topic" : is_over_lines ? " --whole" : "";
  g_autofree char *config = config_words(init->path);
  g_autofree char *quoted = init->samples_path != NULL ? tide_shell_word(init->samples_path) : NULL;
  g_autofree char *input = quoted != NULL ? g_strdup_printf(" < %s", quoted) : g_strdup("");
  g_autofree char *unshown = tide_count_text(n_unshown);
  printf("and %s more: tidemark explain --offline%s%s%s\n", unshown, config, source, input);
}

/* Whether options or answers have set the time and the key. */
static gboolean
is_said(const Init *init)
{
  return init->asks || (init->options->time != NULL && init->options->key->len > 0);
}

static gboolean
explain_one(const TideCommandCall *call, const Init *init, GError **error)
{
  g_auto(TideInitTrial) trial = {0};
  tide_init_try(call->config, init->samples, init->draft.proposal.topic, init->draft.now_ms, &trial);
  const TideInitSample *sample = trial.taken;
  if (sample == NULL) {
    g_set_error(
        error, TIDE_ERROR, TIDE_ERROR_DATA,
        "no sample would produce a row (%s), so nothing is written: use other samples, or set '--time' and '--key'",
        trial.why != NULL ? trial.why : "they have only the fields of key and time");
    return FALSE;
  }
  if (trial.n_rejected > 0 && !is_said(init)) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA,
                "%u of the samples would be rejected, so nothing is written, the first one: %s; set '--time' and "
                "'--key' if this is intended",
                trial.n_rejected, trial.why);
    return FALSE;
  }
  if (trial.n_rejected > 0)
    tide_say("note: %u of the samples would be rejected, the first one: %s", trial.n_rejected, trial.why);
  TideExplainerOptions options = {.config = call->config,
                                  .problems = call->problems,
                                  .max_readings = 1,
                                  .record_time_is_now = !init->options->from_topic};
  g_autoptr(TideExplainer) explainer = tide_explainer_new(&options);
  TideMessage message = tide_init_sample_message(sample, init->draft.proposal.topic);
  if (!tide_explainer_add(explainer, &message, sample->line, error))
    return FALSE;
  tell_unshown(init, sample, tide_explainer_counts(explainer).n_unshown);
  tide_explainer_finish(explainer);
  return TRUE;
}

/* ---- command -------------------------------------------------------------------------------------------------------
 */

/* FALSE: the option @name is given, but not applicable to the format. */
static gboolean
check_format_takes(const InitOptions *options, const char *name, gboolean is_given, TideFormatOptions wanted,
                   GError **error)
{
  g_autoptr(GString) takers = g_string_new(NULL);
  if (!is_given || (tide_formats[options->format].takes & wanted) != 0)
    return TRUE;
  for (guint format = 0; format < TIDE_N_FORMATS; format++)
    if ((tide_formats[format].takes & wanted) != 0)
      g_string_append_printf(takers, "%s'--format %s'", takers->len > 0 ? ", " : "", formats[format]);
  return tide_fail(error, TIDE_ERROR_USAGE, "'%s' is for %s", name, takers->str);
}

/* A build without the format reports that when it reads the configuration. */
static gboolean
check_schema_options(const InitOptions *options, gboolean is_container, GError **error)
{
  gboolean is_avro = options->format == TIDE_FORMAT_AVRO, is_protobuf = options->format == TIDE_FORMAT_PROTOBUF;
  gboolean is_framed = options->framing == TIDE_FRAMING_CONFLUENT;
  if (options->registry.url == NULL &&
      (options->registry.user != NULL || options->registry.password != NULL || options->registry.ca != NULL))
    return tide_fail(error, TIDE_ERROR_USAGE,
                     "'--registry-user', '--registry-password' and '--registry-ca' are for '--registry'");
  gboolean says_none = options->schema == NULL && options->registry.url == NULL;
  if (is_avro && ((says_none && !is_container) || (options->schema != NULL && options->registry.url != NULL)))
    return tide_fail(error, TIDE_ERROR_USAGE,
                     "'--format avro' needs '--schema', the file with the schema of all messages, or '--registry', "
                     "the registry of the schemas that messages name by number, but not both; an object container file "
                     "needs neither, because it contains its schema");
  if (is_protobuf && (options->schema == NULL || (options->message == NULL && !is_framed)))
    return tide_fail(error, TIDE_ERROR_USAGE,
                     "'--format protobuf' needs '--schema', a descriptor set from protoc --include_imports "
                     "--descriptor_set_out, and '--message', the full name of a message in it, or '--framing "
                     "confluent'");
  return TRUE;
}

static gboolean
check_options(const TideCommandCall *call, const Init *init, GError **error)
{
  const InitOptions *options = call->options;
  gboolean is_framed = options->framing == TIDE_FRAMING_CONFLUENT;
  if (options->from_topic && call->arguments->len > 0)
    return tide_fail(error, TIDE_ERROR_USAGE, "'--from-topic' and a file of samples exclude each other");
  if (options->from_topic && (options->brokers == NULL || options->topic == NULL))
    return tide_fail(error, TIDE_ERROR_USAGE, "'--from-topic' needs '--brokers' and '--topic'");
  if (options->devices > 0 && !options->from_topic)
    return tide_fail(error, TIDE_ERROR_USAGE,
                     "'--devices' is for '--from-topic'; for a file, use '--count' to read more");
  return check_format_takes(options, "--columns", options->columns != NULL, TIDE_TAKES_CSV, error) &&
         check_format_takes(options, "--each", options->each != NULL, TIDE_TAKES_STRUCTURE, error) &&
         check_format_takes(options, "--schema", options->schema != NULL, TIDE_TAKES_SCHEMA, error) &&
         check_format_takes(options, "--registry", options->registry.url != NULL, TIDE_TAKES_REGISTRY, error) &&
         check_format_takes(options, "--message", options->message != NULL, TIDE_TAKES_MESSAGE, error) &&
         check_format_takes(options, "--framing", is_framed, TIDE_TAKES_FRAMING, error) &&
         check_schema_options(options, init->is_container, error);
}

static gboolean
make_proposal(Init *init, GError **error)
{
  if (!fill_draft(init, error))
    return FALSE;
  tide_init_show_findings(init->samples, &init->draft);
  const InitOptions *options = init->options;
  const TideInitGiven given = {.time = options->time != NULL,
                               .key = options->key->len > 0,
                               .table = options->table != NULL,
                               .brokers = options->brokers != NULL,
                               .topic = options->topic != NULL,
                               .gateways = options->gateways != NULL,
                               .dead_letters = options->dead_letters != NULL};
  if (init->asks && !tide_init_ask_all(&init->draft, &given, error))
    return FALSE;
  if (init->draft.needs_zone && init->draft.proposal.zone == NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE,
                "the times in '%s' have no offset from UTC: set their time zone with '--zone UTC', or a name such "
                "as Europe/Berlin",
                init->draft.time->shown);
    return FALSE;
  }
  tide_init_draft_guess_splits(&init->draft);
  g_autoptr(GPtrArray) notes = tide_init_draft_notes(&init->draft);
  for (guint i = 0; i < notes->len; i++)
    tide_say("note: %s", (const char *)notes->pdata[i]);
  return TRUE;
}

static void
show_next(const char *path)
{
  gboolean is_service = strcmp(path, TIDE_DEFAULT_CONFIG_PATH) == 0;
  g_autofree char *option = config_words(path);
  printf("\n%s is written. Next:\n"
         "  tidemark check%s          # checks whether the daemon can start\n"
         "  tidemark tables create%s  # creates the tables\n"
         "  tidemark run%s            # the daemon; as a service: %ssystemctl enable --now tidemark\n",
         path, option, option, option, is_service ? "" : "copy the file to " TIDE_DEFAULT_CONFIG_PATH ", ");
}

static gboolean
write_configuration(TideCommandCall *call, Init *init, GError **error)
{
  g_autofree char *text = tide_init_proposal_print(&init->draft.proposal, init->samples->messages->len);
  call->config = load_text(init->path, text, &call->problems, error);
  if (call->config == NULL || !take_containers(init, call->config, error))
    return FALSE;
  if (!explain_one(call, init, error) || !tide_init_write_file(init->path, text, error))
    return FALSE;
  show_next(init->path);
  return TRUE;
}

static gboolean
init_configuration(TideCommandCall *call, GError **error)
{
  const InitOptions *options = call->options;
  Init init = {.options = options, .path = tide_command_config_path(call)};
  if (call->arguments->len > 0 && strcmp(call->arguments->pdata[0], "-") != 0)
    init.samples_path = call->arguments->pdata[0];
  init.is_container =
      options->format == TIDE_FORMAT_AVRO && init.samples_path != NULL && begins_as_container(init.samples_path);
  init.asks = !init.options->yes && tide_init_can_ask();
  g_autofree char *properties = property_lines(init.options->kafka, error);
  init.properties = properties;
  if ((properties == NULL && init.options->kafka->len > 0) || !check_options(call, &init, error) ||
      !tide_init_check_path(init.path, error))
    return FALSE;
  gboolean ok = take_settings(&init, error) && begin_samples(&init, error) && read_samples(&init, error);
  if (ok) {
    tide_init_draft_begin(&init.draft, init.samples, tide_wall_clock_epoch_ms());
    ok = make_proposal(&init, error) && write_configuration(call, &init, error);
    tide_init_draft_clear(&init.draft);
  }
  g_clear_pointer(&init.samples, tide_init_samples_free);
  g_clear_pointer(&init.said, g_ptr_array_unref);
  g_clear_pointer(&init.readings, g_ptr_array_unref);
  return ok;
}

static const TideOption init_options[] = {
    {"config", "FILE", TIDE_OPTION_CONFIG, 0,
     "output file; an existing file is never overwritten (" TIDE_DEFAULT_CONFIG_PATH ")", .letter = 'c'},
    {"from-topic", NULL, TIDE_FLAG(InitOptions, from_topic),
     "use messages of the whole topic as samples; joins no group and commits nothing"},
    {"format", "FORMAT", TIDE_CHOICE(InitOptions, format),
     "format of the messages, one of" TIDE_FORMATS(FORMAT_IN_HELP) " (json); the delimiter of csv is detected",
     .choices = formats, .letter = 'f'},
    {"columns", "NAMES", TIDE_TEXT(InitOptions, columns),
     "for csv: names of the values in each line, separated by commas (the first line of each message)"},
    {"each", "PATH", TIDE_TEXT(InitOptions, each),
     "path to the readings in each message, as in 'readings.each': payload/metrics, servers/{server}"},
    {"readings", "NAME=YAML", TIDE_LIST(InitOptions, readings),
     "an option of 'readings', such as csv.skip_lines=2 or 'null_values=[\"\", NA]'; may be given several times"},
    {"as-is", NULL, TIDE_FLAG(InitOptions, as_is), "do not look for readings inside messages or texts"},
    {"schema", "FILE", TIDE_TEXT(InitOptions, schema),
     "for avro: schema of all messages; for protobuf: descriptor set with imports, from protoc"},
    {"registry", "URL", TIDE_TEXT(InitOptions, registry.url),
     "for avro, instead of '--schema': registry of the schemas that messages name by number"},
    {"registry-user", "NAME", TIDE_TEXT(InitOptions, registry.user), "user of the registry (anonymous)"},
    {"registry-password", "FILE", TIDE_TEXT(InitOptions, registry.password),
     "file with the user's password (mode 0600)"},
    {"registry-ca", "FILE", TIDE_TEXT(InitOptions, registry.ca),
     "authorities for the registry's certificate (the system's)"},
    {"message", "NAME", TIDE_TEXT(InitOptions, message), "for protobuf: full name of the message"},
    {"framing", "FRAMING", TIDE_CHOICE(InitOptions, framing),
     "for json and protobuf: header before each message, none or confluent (none)", .choices = framings},
    {"count", "N", TIDE_COUNT(InitOptions, count), "maximum number of messages to use (100)", .min = 1,
     .max = MAX_SAMPLES},
    {"devices", "N", TIDE_COUNT(InitOptions, devices),
     "with --from-topic: use more messages, beyond --count, until N row keys of devices were seen", .min = 1,
     .max = MAX_SAMPLES},
    {"brokers", "LIST", TIDE_TEXT(InitOptions, brokers), "Kafka brokers, HOST:PORT (" BROKERS ")", .letter = 'b'},
    {"kafka", "NAME=VALUE", TIDE_LIST(InitOptions, kafka),
     "librdkafka property for brokers that require authentication; for a secret 'NAME={ file: PATH }'; repeatable"},
    {"topic", "NAME", TIDE_TEXT(InitOptions, topic), "topic (" TOPIC ")", .letter = 't'},
    {"group", "NAME", TIDE_TEXT(InitOptions, group), "consumer group (" GROUP ")"},
    {"gateways", "LIST", TIDE_TEXT(InitOptions, gateways), "HBase Thrift gateways, HOST:PORT (" GATEWAYS ")"},
    {"time", "FIELD", TIDE_TEXT(InitOptions, time),
     "field of the time, or '$timestamp' for the Kafka record's own (detected)"},
    {"zone", "ZONE", TIDE_TEXT(InitOptions, zone), "time zone of times without an offset from UTC"},
    {"key", "FIELD", TIDE_LIST(InitOptions, key), "field of the row key; repeatable (detected)"},
    {"salt", "N", TIDE_COUNT(InitOptions, salt), "number of salts at the start of history keys, one region each (none)",
     .min = 2, .max = 256},
    {"table", "NAME", TIDE_TEXT(InitOptions, table),
     "history table; the latest table is CURRENT_ plus this name (" TABLE ")"},
    {"dead-letters", "TOPIC", TIDE_TEXT(InitOptions, dead_letters), "topic for dead letters (a local file)"},
    {"yes", NULL, TIDE_FLAG(InitOptions, yes), "accept every proposal", .letter = 'y'},
};

const TideCommand tide_command_init = {
    .name = "init",
    .arguments = "[FILE]",
    .summary = "Writes a configuration made from sample messages, and shows the rows of one of them.",
    .details =
        "FILE contains messages, one per line (for csv after the header line; for binary formats it is one message). "
        "Without FILE, messages are read from standard input, or from Kafka with --from-topic. On a terminal, init "
        "asks questions and proposes the answers that it found. It writes one new file, and nothing to Kafka or "
        "HBase.\n"
        "\n"
        "Examples:\n"
        "  tidemark init messages.jsonl -c tidemark.yaml\n"
        "  tidemark init --format csv --columns host,ts,cpu samples.csv -c tidemark.yaml\n"
        "  tidemark init --each metrics messages.jsonl -c tidemark.yaml\n"
        "  tidemark init --from-topic -b 127.0.0.1:9092 -t metrics --format avro --registry https://registry:8081\n"
        "  tidemark init --from-topic -b 127.0.0.1:9092 -t metrics --yes",
    .exits = {{TIDE_EXIT_DATA,
               "the samples contain no reading, no unambiguous time or key, or one of them would be lost"},
              {TIDE_EXIT_UNAVAILABLE, "no broker or registry answers, or the topic is missing"},
              {TIDE_EXIT_IO, "the file already exists, or a file or the output cannot be read or written"},
              {TIDE_EXIT_TEMPFAIL, "the input ended at a question: nothing is written"},
              {TIDE_EXIT_CONFIG, "the arguments do not result in a valid configuration"}},
    .max_arguments = 1,
    TIDE_COMMAND_OPTIONS(init_options, InitOptions),
    .defaults = &(const InitOptions){.count = 100},
    .run = init_configuration,
};
