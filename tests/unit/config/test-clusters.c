/* Files of config/examples/clusters load, with keys that are made here in place of those in /etc/tidemark. Those with
 * certificates are tried in tests/integration/test_tls.py. */
#include "unit/config-texts.h"

#include <glib/gstdio.h>

#define FOLDER TIDE_TEST_SOURCE_DIR "/config/examples/clusters"
#define KEYS "/etc/tidemark"

typedef struct Fixture {
  char *directory;
} Fixture;

/* Of tidemark@EXAMPLE.COM, as MIT Kerberos's file format has it: version 2, one entry with a key of 16 bytes. */
static void
write_keytab(const char *path)
{
  static const char entry[] = "\5\2\0\0\0\x36"
                              "\0\1\0\x0b"
                              "EXAMPLE.COM\0\x08tidemark"
                              "\0\0\0\1\0\0\0\0\1\0\x11\0\x10"
                              "0123456789abcdef";
  g_assert_true(g_file_set_contents_full(path, entry, sizeof entry - 1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

static void
setup(Fixture *fixture, gconstpointer data)
{
  fixture->directory = g_dir_make_tmp("tidemark-clusters-XXXXXX", NULL);
  g_autofree char *keytab = g_build_filename(fixture->directory, "tidemark.keytab", NULL);
  write_keytab(keytab);
}

static void
teardown(Fixture *fixture, gconstpointer data)
{
  g_autofree char *keytab = g_build_filename(fixture->directory, "tidemark.keytab", NULL);
  g_assert_cmpint(g_remove(keytab), ==, 0);
  g_assert_cmpint(g_rmdir(fixture->directory), ==, 0);
  g_free(fixture->directory);
}

static void
test_loads(Fixture *fixture, gconstpointer data)
{
  const char *name = data;
  g_autofree char *path = g_build_filename(FOLDER, name, NULL), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_auto(GStrv) parts = g_strsplit(text, KEYS "/", -1);
  g_autofree char *folder = g_strconcat(fixture->directory, "/", NULL), *local = g_strjoinv(folder, parts);
  g_autoptr(TideConfig) config = load_good(local);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add("/clusters/loopback", Fixture, "loopback.yaml", setup, test_loads, teardown);
  g_test_add("/clusters/kerberised-sasl", Fixture, "kerberised-sasl.yaml", setup, test_loads, teardown);
  return g_test_run();
}
