/* limits.memory where a container bounds what the process may take. */
#include "unit/config-texts.h"
#include "unit/test_case.h"
#include "util/memory_bound.h"

#define MIB ((guint64)1 << 20)
#define WARNING "the process needs up to 64MiB besides, and its cgroup may take "

static guint64 bound_bytes;

/* In place of util's, which asks the machine. */
guint64
tide_memory_bound_bytes(const char *root)
{
  return bound_bytes;
}

TEST("/config-memory/the-cgroup-bounds-it")
{
  static const struct {
    guint64 bound_mib; /* 0: none */
    const char *limits;
    guint64 memory_mib;
    const char *warning; /* NULL: none */
  } cases[] = {
      {0, "", 256, NULL},
      {0, "limits: { memory: 4GiB }\n", 4096, NULL},
      {4096, "", 256, NULL},
      {512, "", 128, NULL},
      {96, "", 24, NULL},
      {48, "", 16, "'limits.memory' is 16MiB, " WARNING "48MiB: the kernel kills it"},
      {512, "limits: { memory: 448MiB }\n", 448, NULL},
      {512, "limits: { memory: 449MiB }\n", 449, "'limits.memory' is 449MiB, " WARNING "512MiB: the kernel kills it"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    bound_bytes = cases[i].bound_mib * MIB;
    g_autofree char *text = g_strconcat(KAFKA READINGS HBASE TABLES, cases[i].limits, NULL);
    g_autoptr(GPtrArray) problems = NULL;
    g_autoptr(TideConfig) config = load_config(text, &problems);
    g_assert_nonnull(config);
    g_assert_cmpuint(config->limits.memory_bytes, ==, cases[i].memory_mib * MIB);
    g_autofree char *said = describe_problems(problems);
    if (cases[i].warning == NULL)
      g_assert_cmpstr(said, ==, "");
    else
      g_assert_nonnull(strstr(said, cases[i].warning));
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  return g_test_run();
}
