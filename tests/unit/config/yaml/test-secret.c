#include "config/yaml/secret.h"

static void
test_names_of_secrets_are_known(void)
{
  static const char *const secrets[] = {"sasl.password",
                                        "ssl.key.password",
                                        "ssl.key.pem",
                                        "ssl.keystore.password",
                                        "sasl.oauthbearer.client.secret",
                                        "sasl.oauthbearer.config",
                                        "new.password"};
  static const char *const others[] = {"sasl.username", "ssl.ca.location", "client.id", "security.protocol"};

  for (gsize i = 0; i < G_N_ELEMENTS(secrets); i++)
    g_assert_true(tide_secret_is_name(secrets[i]));
  for (gsize i = 0; i < G_N_ELEMENTS(others); i++)
    g_assert_false(tide_secret_is_name(others[i]));
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/secret/names-of-secrets-are-known", test_names_of_secrets_are_known);
  return g_test_run();
}
