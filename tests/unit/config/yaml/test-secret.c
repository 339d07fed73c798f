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
                                        "sasl.oauthbearer.assertion.private.key.passphrase",
                                        "new.password"};
  static const char *const others[] = {"sasl.username", "ssl.ca.location", "client.id", "security.protocol"};

  for (gsize i = 0; i < G_N_ELEMENTS(secrets); i++)
    g_assert_true(tide_secret_is_name(secrets[i]));
  for (gsize i = 0; i < G_N_ELEMENTS(others); i++)
    g_assert_false(tide_secret_is_name(others[i]));
}

static void
test_values_are_found_behind_whatever_sounds_secret(void)
{
  static const struct {
    const char *line, *value;
  } lines[] = {
      {"    sasl.password: x", "x"},
      {"    sasl.pasword: x", "x"},
      {"    SASL.PASSWORD : x", "x"},
      {"sasl.password=x", "x"},
      {"a: b, 'api_token': x", "x"},
      {"ssl.key: x", "x"},
      {"  key: \"-----BEGIN EC PRIVATE KEY-----", "-----BEGIN EC PRIVATE KEY-----"},
      {"    sasl.username: x", NULL},
      {"    key: [ { field: host } ]", NULL},
      {"    # passes: none", "none"},
      {"sasl.password x", "x"},
      {"? password", NULL},
      {"compasses", NULL},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(lines); i++)
    g_assert_cmpstr(tide_secret_find_value(lines[i].line), ==, lines[i].value);
}

static void
test_passwords_in_addresses_are_masked(void)
{
  static const char *const texts[][2] = {
      {"'https://user:x@h:1/'", "'https://***@h:1/'"},
      {"a://x@h,b://h2,c://y:z@", "a://***@h,b://h2,c://***@"},
      {"got 'u:x@h:9092,v:y@h2'", "got '***@h:9092,***@h2'"},
      {"https://u:x/y@z@h/", "https://***@h/"},
      {"'http://h:1/a?k=x'; http://h/?", "'http://h:1/a?***'; http://h/?"},
      {"what?x", "what?x"},
      {"http://h:1/a", "http://h:1/a"},
      {"me@h", "me@h"},
      {"http://h/a@b", "http://h/a@b"},
      {"thrift://h and me@b", "thrift://h and me@b"},
      {"://", "://"},
      {"", ""},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autofree char *masked = tide_secret_mask_addresses(texts[i][0]);
    g_assert_cmpstr(masked, ==, texts[i][1]);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/secret/names-of-secrets-are-known", test_names_of_secrets_are_known);
  g_test_add_func("/secret/values-are-found-behind-whatever-sounds-secret",
                  test_values_are_found_behind_whatever_sounds_secret);
  g_test_add_func("/secret/E2-passwords-in-addresses-are-masked", test_passwords_in_addresses_are_masked);
  return g_test_run();
}
