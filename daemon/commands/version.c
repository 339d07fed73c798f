/* `tidemark version`: prints the versions of this program and of the libraries that affect its behaviour. */
#include "commands/cli/version.h"
#include "commands/cli/commands.h"
#include "commands/cli/output.h"
#include "commands/cli/revision.h"
#include "config/option/option_table.h"
#include "decode/formats.h"
#include "kafka/kafka_library.h"
#include "thrift/client/tls_stream.h"

#include <stdio.h>

static void
print_formats(void)
{
  const TideConfigOption *readings = tide_config_option_find(&tide_config_top, "readings");
  const TideConfigChoice *formats = tide_config_option_find(readings->section, "format")->choices;
  const char *before = "  readings       ";
  for (const TideConfigChoice *format = formats; format->name != NULL; format++)
    if (tide_format_is_built_in((TideReadingFormat)format->value)) {
      printf("%s%s", before, format->name);
      before = ", ";
    }
  before = "\n                 built without: ";
  for (const TideConfigChoice *format = formats; format->name != NULL; format++)
    if (!tide_format_is_built_in((TideReadingFormat)format->value)) {
      printf("%s%s", before, format->name);
      before = ", ";
    }
  printf("\n");
}

static gboolean
print_versions(TideCommandCall *call, GError **error)
{
  const TideKafkaLibrary library = tide_kafka_library();
  g_autofree char *lacks = tide_kafka_library_lacks(&library);
  printf("tidemark %s (%s)\n", TIDE_VERSION, TIDE_REVISION);
  g_auto(GStrv) parts = g_strsplit(library.features, ",", -1);
  g_autofree char *features = g_strjoinv(", ", parts);
  g_autoptr(GString) kafka = g_string_new("  librdkafka     ");
  g_string_append_printf(kafka, "%s with ", library.name);
  tide_text_fill(kafka, features, 17);
  printf("%s\n", kafka->str);
  if (lacks != NULL)
    printf("                 lacks: %s\n", lacks);
  printf("  thrift         %s (C GLib), built with\n", TIDE_THRIFT_BUILT);
  printf("  glib           %u.%u.%u, built with %s\n", glib_major_version, glib_minor_version, glib_micro_version,
         TIDE_GLIB_BUILT);
  printf("  simdjson       %s, built with\n", TIDE_SIMDJSON_BUILT);
  printf("  libcrypt       %s, built with\n", TIDE_LIBCRYPT_BUILT);
  printf("  openssl        %s\n", tide_tls_version());
  printf("  kerberos       %s (MIT), built with\n", TIDE_KERBEROS_BUILT);
  printf("  gateway        thrift2; framed, unframed and SASL (GSSAPI), binary and compact;\n"
         "                 TCP, Unix sockets and TLS\n");
  print_formats();
  return TRUE;
}

const TideCommand tide_command_version = {
    .name = "version",
    .summary = "Prints the versions of tidemark and of the libraries it uses.",
    .details = "Example:\n  tidemark version",
    .run = print_versions,
};
