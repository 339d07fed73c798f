/* limits.memory and kafka.threads where a container bounds what the process may take. */
#include "unit/config-texts.h"
#include "unit/test_case.h"
#include "util/cgroup_bound.h"

#define MIB ((guint64)1 << 20)
#define WARNING "the process needs up to 64MiB more, but its cgroup allows "

static guint64 bound_bytes;
static guint bound_cpus;

/* In place of util's, which ask the machine. */
guint
tide_cpu_bound(const char *root)
{
  return bound_cpus;
}

guint64
tide_memory_bound_bytes(const char *root)
{
  return bound_bytes;
}

TEST("/config-cgroup/memory")
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
      {48, "", 16, "'limits.memory' is 16MiB and " WARNING "48MiB: the kernel kills the process"},
      {512, "limits: { memory: 448MiB }\n", 448, NULL},
      {512, "limits: { memory: 449MiB }\n", 449,
       "'limits.memory' is 449MiB and " WARNING "512MiB: the kernel kills the process"},
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

TEST("/config-cgroup/threads")
{
  static const struct {
    guint n_cpus; /* 0: nothing bounds them */
    const char *kafka;
    guint threads;
    const char *warning; /* NULL: none */
  } cases[] = {
      {0, "", 2, NULL},
      {0, ", threads: 8", 8, NULL},
      {1, "", 1, NULL},
      {16, "", 2, NULL},
      {4, ", threads: 4", 4, NULL},
      {1, ", threads: 2", 2, "'kafka.threads' is 2, and the process may use 1 CPU: "},
  };
  bound_bytes = 0;
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    bound_cpus = cases[i].n_cpus;
    g_autofree char *text =
        g_strdup_printf("kafka: { brokers: b, group: g, topics: [t]%s }\n" READINGS HBASE TABLES, cases[i].kafka);
    g_autoptr(GPtrArray) problems = NULL;
    g_autoptr(TideConfig) config = load_config(text, &problems);
    g_assert_nonnull(config);
    g_assert_cmpuint(config->kafka.threads, ==, cases[i].threads);
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
