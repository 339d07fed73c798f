/* service.http and its options: who can reach it, and how clients authenticate. */
#include "config/load/load_pieces.h"
#include "http/access_list.h"
#include "util/listen_address.h"

static void
check_users(TideLoad *load, TideSecretSource *users)
{
  g_autoptr(GError) error = NULL;
  tide_load_resolve(load, &users->file);
  if (tide_load_check_one_source(load, "service.http_users", users, "read the users") &&
      tide_secret_source_is_set(users)) {
    g_autofree char *path = tide_secret_path(users, &error);
    g_autoptr(TideAccessList) list = path != NULL ? tide_access_list_read(path, &error) : NULL;
    if (list == NULL)
      tide_load_option_error(load, "service.http_users", "%s", error->message);
  }
}

/* Whether hosts other than this one can reach @address. */
static void
check_open(TideLoad *load, const TideServiceConfig *service)
{
  gboolean has_tls = tide_load_is_written(load, "service.http_tls"),
           has_users = tide_load_is_written(load, "service.http_users");
  TideSourcePosition position = tide_load_position(load, "service.http");
  if (!has_tls && !has_users && !service->http_allow_open)
    tide_problems_add_error(load->problems, position,
                            "'service.http' ('%s') is reachable from other machines without a password and without "
                            "TLS: set 'service.http_users' or 'service.http_tls', listen on 127.0.0.1 or a Unix "
                            "socket, or set 'service.http_allow_open: true'",
                            service->http_listen);
  if (has_users && !has_tls)
    tide_problems_add_warning(load->problems, position,
                              "'service.http' ('%s') is reachable from other machines, and passwords are sent to it in "
                              "clear text: set 'service.http_tls'",
                              service->http_listen);
}

void
tide_load_http(TideLoad *load)
{
  TideServiceConfig *service = &load->config->service;
  TideListenAddress address;
  if (!tide_listen_address_parse(service->http_listen, &address, NULL))
    return; /* reported when it was read */
  if (tide_load_certificate(load, "service.http_tls", &service->http_tls) && service->http_tls.certificate != NULL)
    tide_load_check_tls_files(load, "service.http_tls", &service->http_tls);
  check_users(load, &service->http_users);
  static const char *const options[] = {"service.http_tls", "service.http_users"};
  for (gsize i = 0; address.is_off && i < G_N_ELEMENTS(options); i++)
    if (tide_load_is_written(load, options[i]))
      tide_load_option_error(load, options[i], "'%s' has no effect: 'service.http' is off", options[i]);
  if (!tide_listen_address_is_local(&address))
    check_open(load, service);
}
