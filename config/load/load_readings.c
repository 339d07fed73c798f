/* readings: which options a format takes. One that changes nothing would be a false promise. */
#include "config/load/load.h"

#include "config/option/option_table.h"

#define OF(format) (1u << (format))

/* Those that not every format takes. */
static const struct {
  const char *option;
  guint formats;
} choosy[] = {
    {"root", OF(TIDE_FORMAT_JSON)},
    {"each", OF(TIDE_FORMAT_JSON)},
    {"separator", OF(TIDE_FORMAT_JSON) | OF(TIDE_FORMAT_MSGPACK)},
    {"arrays", OF(TIDE_FORMAT_JSON) | OF(TIDE_FORMAT_MSGPACK)},
    {"max_depth", OF(TIDE_FORMAT_JSON) | OF(TIDE_FORMAT_MSGPACK)},
};

gboolean
tide_load_format_takes(TideReadingFormat format, const char *option)
{
  for (gsize i = 0; i < G_N_ELEMENTS(choosy); i++)
    if (strcmp(choosy[i].option, option) == 0)
      return (choosy[i].formats & OF(format)) != 0;
  return TRUE;
}

void
tide_load_readings(TideLoad *load)
{
  const TideYamlNode *readings = tide_yaml_get(load->root, "readings");
  TideReadingFormat format = load->config->readings.decode.format;
  for (gsize i = 0; readings != NULL && readings->kind == TIDE_YAML_MAPPING && i < G_N_ELEMENTS(choosy); i++) {
    const TideYamlNode *node = tide_yaml_get(readings, choosy[i].option);
    if (!tide_yaml_is_null(node) && !tide_load_format_takes(format, choosy[i].option))
      tide_problems_add_error(load->problems, node->position,
                              "'readings.%s' has no effect with 'format: %s': remove it", choosy[i].option,
                              tide_config_format_name(format));
  }
}
