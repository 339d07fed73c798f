/* readings: which options a format takes. One that changes nothing would be a false promise. */
#include "config/load/load.h"

#include "config/option/option_table.h"
#include "decode/avro_schema.h"
#include "decode/csv_lines.h"
#include "decode/protobuf_walk.h"

/* Of a descriptor set: those of whole companies have less. */
#define SCHEMA_MAX_BYTES (16 * 1024 * 1024)

#define OF(format) (1u << (format))

/* Those that not every format takes. */
static const struct {
  const char *option;
  guint formats;
} choosy[] = {
    {"root", OF(TIDE_FORMAT_JSON)},
    {"each", OF(TIDE_FORMAT_JSON)},
    {"csv", OF(TIDE_FORMAT_CSV)},
    {"schema", OF(TIDE_FORMAT_AVRO) | OF(TIDE_FORMAT_PROTOBUF)},
    {"message", OF(TIDE_FORMAT_PROTOBUF)},
    {"framing", OF(TIDE_FORMAT_PROTOBUF)},
    {"separator", OF(TIDE_FORMAT_JSON) | OF(TIDE_FORMAT_MSGPACK) | OF(TIDE_FORMAT_AVRO) | OF(TIDE_FORMAT_PROTOBUF)},
    {"arrays", OF(TIDE_FORMAT_JSON) | OF(TIDE_FORMAT_MSGPACK) | OF(TIDE_FORMAT_AVRO) | OF(TIDE_FORMAT_PROTOBUF)},
    {"max_depth", OF(TIDE_FORMAT_JSON) | OF(TIDE_FORMAT_MSGPACK) | OF(TIDE_FORMAT_AVRO) | OF(TIDE_FORMAT_PROTOBUF)},
    {"max_readings", ~OF(TIDE_FORMAT_PROTOBUF)},
    {"on_bad_reading", ~OF(TIDE_FORMAT_PROTOBUF)},
};

gboolean
tide_load_format_takes(TideReadingFormat format, const char *option)
{
  for (gsize i = 0; i < G_N_ELEMENTS(choosy); i++)
    if (strcmp(choosy[i].option, option) == 0)
      return (choosy[i].formats & OF(format)) != 0;
  return TRUE;
}

static void
check_columns(TideLoad *load, TideSourcePosition position)
{
  const TideDecodeOptions *decode = &load->config->readings.decode;
  char **columns = decode->csv.columns;
  if (columns[0] == NULL)
    tide_problems_add_error(load->problems, position, "'readings.csv.columns' must not be empty");
  if (g_strv_length(columns) > decode->max_fields)
    tide_problems_add_error(load->problems, position,
                            "'readings.csv.columns' has more names than 'readings.max_fields' (%u) allows",
                            decode->max_fields);
  for (; *columns != NULL; columns++) {
    g_autofree char *name = tide_problem_quote(*columns);
    if (**columns == '\0' || tide_field_name_is_of_record(tide_bytes_of_string(*columns)))
      tide_problems_add_error(load->problems, position,
                              "'readings.csv.columns' has a name that no column can have: '%s'", name);
  }
}

/* What names the fields, and what stands between their values. */
static void
check_csv(TideLoad *load)
{
  const TideCsvOptions *csv = &load->config->readings.decode.csv;
  if (csv->columns == NULL && !csv->header && !tide_load_is_written(load, "readings.csv.columns"))
    tide_problems_add_error(
        load->problems, tide_load_position(load, "readings.csv"),
        "'readings.csv' does not say what the values are: write 'csv: { columns: [host, ts, cpu] }', "
        "or 'csv: { header: true }' where the first line of each message names them");
  else if (csv->columns != NULL && csv->header)
    tide_problems_add_error(
        load->problems, tide_load_position(load, "readings.csv.header"),
        "'readings.csv.header' and 'readings.csv.columns' both name the fields: remove one of them");
  if (csv->columns != NULL)
    check_columns(load, tide_load_position(load, "readings.csv.columns"));
  if (csv->delimiter != NULL && (csv->delimiter[1] != '\0' || !tide_csv_is_delimiter(csv->delimiter[0])))
    tide_problems_add_error(
        load->problems, tide_load_position(load, "readings.csv.delimiter"),
        "'readings.csv.delimiter' must be one byte of ASCII, no letter, digit, quote, line break, or "
        "one of + - .");
}

/* What Avro's messages were written by. */
static void
load_avro(TideLoad *load, TideDecodeOptions *decode)
{
  g_autoptr(GError) error = NULL;
  if (!tide_avro_is_built_in()) {
    tide_problems_add_error(
        load->problems, tide_load_position(load, "readings.format"),
        "'readings.format: avro' cannot be read: this program was built without Avro; take one that has "
        "it ('tidemark version' tells), or build with -Davro=enabled");
    return;
  }
  if (decode->schema_file == NULL) {
    tide_problems_add_error(load->problems, tide_load_position(load, "readings.format"),
                            "'readings.format: avro' needs 'readings.schema', the file with the schema");
    return;
  }
  tide_load_resolve(load, &decode->schema_file);
  decode->schema = tide_avro_schema_read(decode->schema_file, &error);
  if (decode->schema == NULL)
    tide_problems_add_error(load->problems, tide_load_position(load, "readings.schema"),
                            "'readings.schema': the schema '%s' cannot be used: %s", decode->schema_file,
                            error->message);
}

/* FALSE with the error added. */
static gboolean
says_schema(TideLoad *load, const TideDecodeOptions *decode)
{
  const char *missing = decode->schema_file == NULL ? "schema" : "message";
  if (decode->schema_file != NULL && (decode->message != NULL || decode->framing == TIDE_FRAMING_CONFLUENT))
    return TRUE;
  tide_problems_add_error(
      load->problems, tide_load_position(load, "readings.format"),
      "'readings.%s' is missing: 'format: protobuf' needs a descriptor set (schema), as protoc "
      "--include_imports --descriptor_set_out writes it, and the full name of a message in it (message)",
      missing);
  return FALSE;
}

static void
load_protobuf(TideLoad *load, TideDecodeOptions *decode)
{
  g_autofree char *reason = NULL;
  g_autoptr(GError) error = NULL;
  if (!tide_protobuf_is_built_in()) {
    tide_problems_add_error(
        load->problems, tide_load_position(load, "readings.format"),
        "'readings.format: protobuf' cannot be read: this program was built without protobuf; take one that "
        "has it ('tidemark version' tells), or build with -Dprotobuf=enabled");
    return;
  }
  if (!says_schema(load, decode))
    return;
  tide_load_resolve(load, &decode->schema_file);
  g_autofree char *shown = tide_problem_quote(decode->schema_file);
  g_autoptr(GByteArray) set = tide_load_file(decode->schema_file, SCHEMA_MAX_BYTES, &reason);
  if (set != NULL)
    decode->protobuf =
        tide_protobuf_schema_new(tide_bytes(set->data, set->len), decode->message, decode->framing, &error);
  if (decode->protobuf == NULL)
    tide_problems_add_error(load->problems, tide_load_position(load, "readings.schema"),
                            "'readings.schema': the descriptor set '%s' cannot be used: %s", shown,
                            set == NULL ? reason : error->message);
}

void
tide_load_readings(TideLoad *load)
{
  const TideYamlNode *readings = tide_yaml_get(load->root, "readings");
  TideReadingFormat format = load->config->readings.decode.format;
  if (format == TIDE_FORMAT_CSV)
    check_csv(load);
  for (gsize i = 0; readings != NULL && readings->kind == TIDE_YAML_MAPPING && i < G_N_ELEMENTS(choosy); i++) {
    const TideYamlNode *node = tide_yaml_get(readings, choosy[i].option);
    if (!tide_yaml_is_null(node) && !tide_load_format_takes(format, choosy[i].option))
      tide_problems_add_error(load->problems, node->position,
                              "'readings.%s' has no effect with 'format: %s': remove it", choosy[i].option,
                              tide_config_format_name(format));
  }
  if (format == TIDE_FORMAT_AVRO)
    load_avro(load, &load->config->readings.decode);
  if (format == TIDE_FORMAT_PROTOBUF)
    load_protobuf(load, &load->config->readings.decode);
}
