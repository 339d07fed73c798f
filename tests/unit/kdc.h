/* A Kerberos realm of the test's own on the loopback: TEST.REALM, with a KDC that can be stopped, and made to hang. For
 * tests only; a test of it is skipped where the KDC is not installed (krb5-kdc, krb5-admin-server).
 *
 * Kerberos's library reads KRB5_CONFIG, so a process has one realm, made before its first thread. */
#pragma once

#include <arpa/inet.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define KDC_REALM "TEST.REALM"

typedef struct Kdc {
  char *folder; /* owned; all files are in it */
  guint16 port;
  GPid process; /* 0: not running */
  int hang_fd;  /* -1: not hanging */
} Kdc;

static inline char *
kdc_path(const Kdc *kdc, const char *name)
{
  return g_build_filename(kdc->folder, name, NULL);
}

static inline char *
kdc_program(const char *name)
{
  char *found = g_find_program_in_path(name);
  if (found != NULL)
    return found;
  g_autofree char *path = g_strconcat("/usr/sbin/", name, NULL);
  return g_file_test(path, G_FILE_TEST_IS_EXECUTABLE) ? g_steal_pointer(&path) : NULL;
}

static inline gboolean
kdc_is_installed(void)
{
  static const char *const programs[] = {"krb5kdc", "kdb5_util", "kadmin.local"};
  for (gsize i = 0; i < G_N_ELEMENTS(programs); i++) {
    g_autofree char *path = kdc_program(programs[i]);
    if (path == NULL)
      return FALSE;
  }
  return TRUE;
}

static inline void
kdc_write(const Kdc *kdc, const char *name, const char *text)
{
  g_autofree char *path = kdc_path(kdc, name);
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

/* Listens at the port of @address; or at a free one where it is 0, and writes that down. */
static inline int
kdc_listen(struct sockaddr_in *address)
{
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  g_assert_cmpint(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), ==, 0);
  socklen_t len = sizeof *address;
  g_assert_cmpint(bind(fd, (struct sockaddr *)address, len), ==, 0);
  g_assert_cmpint(getsockname(fd, (struct sockaddr *)address, &len), ==, 0);
  g_assert_cmpint(listen(fd, 16), ==, 0);
  return fd;
}

static inline struct sockaddr_in
kdc_address(guint16 port)
{
  return (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* Runs @program with @arguments (NULL at the end) and @input, to its end. */
static inline void
kdc_run(const char *program, const char *const *arguments, const char *input)
{
  g_autofree char *path = kdc_program(program);
  g_autoptr(GPtrArray) argv = g_ptr_array_new();
  g_ptr_array_add(argv, path);
  for (gsize i = 0; arguments[i] != NULL; i++)
    g_ptr_array_add(argv, (gpointer)arguments[i]);
  g_ptr_array_add(argv, NULL);
  GPid child;
  int input_fd, status;
  g_autoptr(GError) error = NULL;
  GSpawnFlags flags = G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL;
  g_spawn_async_with_pipes(NULL, (char **)argv->pdata, NULL, flags, NULL, NULL, &child, &input_fd, NULL, NULL, &error);
  g_assert_no_error(error);
  gssize len = (gssize)strlen(input);
  g_assert_cmpint(write(input_fd, input, (gsize)len), ==, len);
  close(input_fd);
  g_assert_cmpint(waitpid(child, &status, 0), ==, child);
  g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* kadmin's commands, one a line. */
static inline void
kdc_admin(const char *commands)
{
  kdc_run("kadmin.local", (const char *const[]){"-r", KDC_REALM, NULL}, commands);
}

static inline gboolean
kdc_answers(const Kdc *kdc)
{
  struct sockaddr_in address = kdc_address(kdc->port);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  gboolean connected = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
  close(fd);
  return connected;
}

/* In the child: a test that aborts leaves no KDC behind. */
static inline void
kdc_die_with_test(gpointer data)
{
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static inline void
kdc_start(Kdc *kdc)
{
  g_autofree char *path = kdc_program("krb5kdc");
  char *argv[] = {path, (char *)"-n", (char *)"-r", (char *)KDC_REALM, NULL};
  g_autoptr(GError) error = NULL;
  GSpawnFlags flags = G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL;
  g_spawn_async(NULL, argv, NULL, flags, kdc_die_with_test, NULL, &kdc->process, &error);
  g_assert_no_error(error);
  while (!kdc_answers(kdc)) {
    g_assert_cmpint(waitpid(kdc->process, NULL, WNOHANG), ==, 0); /* it still runs */
    g_thread_yield();
  }
}

static inline void
kdc_stop(Kdc *kdc)
{
  if (kdc->process == 0)
    return;
  g_assert_cmpint(kill(kdc->process, SIGTERM), ==, 0);
  g_assert_cmpint(waitpid(kdc->process, NULL, 0), ==, kdc->process);
  kdc->process = 0;
}

/* In the KDC's place: accepts, and never answers. */
static inline void
kdc_hang(Kdc *kdc)
{
  kdc_stop(kdc);
  struct sockaddr_in address = kdc_address(kdc->port);
  kdc->hang_fd = kdc_listen(&address);
}

/* What waits for the hanging KDC fails, and nobody listens any more. */
static inline void
kdc_stop_hanging(Kdc *kdc)
{
  close(kdc->hang_fd);
  kdc->hang_fd = -1;
}

static inline void
kdc_write_configuration(const Kdc *kdc)
{
  g_autofree char *client =
      g_strdup_printf("[libdefaults]\n default_realm = %s\n dns_lookup_kdc = false\n dns_lookup_realm = false\n"
                      " dns_canonicalize_hostname = false\n rdns = false\n udp_preference_limit = 1\n"
                      " default_ccache_name = FILE:%s/default.cache\n"
                      "[realms]\n %s = {\n  kdc = 127.0.0.1:%u\n }\n[domain_realm]\n localhost = %s\n vm = %s\n",
                      KDC_REALM, kdc->folder, KDC_REALM, kdc->port, KDC_REALM, KDC_REALM);
  kdc_write(kdc, "krb5.conf", client);
  g_autofree char *server = g_strdup_printf(
      "[kdcdefaults]\n kdc_listen = 127.0.0.1:%u\n kdc_tcp_listen = 127.0.0.1:%u\n[realms]\n %s = {\n"
      "  database_name = %s/principal\n  key_stash_file = %s/stash\n  acl_file = %s/acl\n  max_life = 10h\n"
      "  supported_enctypes = aes256-cts-hmac-sha1-96:normal aes128-cts-hmac-sha1-96:normal\n }\n"
      "[logging]\n kdc = FILE:%s/kdc.log\n default = FILE:%s/kdc.log\n",
      kdc->port, kdc->port, KDC_REALM, kdc->folder, kdc->folder, kdc->folder, kdc->folder, kdc->folder);
  kdc_write(kdc, "kdc.conf", server);
}

/* Makes the realm and starts its KDC. Sets KRB5_CONFIG and KRB5_KDC_PROFILE. */
static inline void
kdc_create(Kdc *kdc)
{
  *kdc = (Kdc){.folder = g_dir_make_tmp("tide-kdc-XXXXXX", NULL), .hang_fd = -1};
  struct sockaddr_in address = kdc_address(0);
  close(kdc_listen(&address));
  kdc->port = ntohs(address.sin_port);
  kdc_write_configuration(kdc);
  g_autofree char *client = kdc_path(kdc, "krb5.conf"), *server = kdc_path(kdc, "kdc.conf");
  g_setenv("KRB5_CONFIG", client, TRUE);
  g_setenv("KRB5_KDC_PROFILE", server, TRUE);
  g_unsetenv("KRB5CCNAME");
  g_unsetenv("KRB5_CLIENT_KTNAME");
  kdc_run("kdb5_util", (const char *const[]){"create", "-s", "-r", KDC_REALM, "-P", "master", NULL}, "");
  kdc_start(kdc);
}

/* A principal with a new key, in a keytab of its own: NAME.keytab. @name: without "/". Ownership: (transfer full). */
static inline char *
kdc_add(const Kdc *kdc, const char *principal, const char *name)
{
  g_autofree char *file = g_strconcat(name, ".keytab", NULL);
  char *keytab = kdc_path(kdc, file);
  g_autofree char *commands = g_strdup_printf("addprinc -randkey %s\nktadd -k %s %s\n", principal, keytab, principal);
  kdc_admin(commands);
  return keytab;
}

/* How many have logged in, by keytab: a new ticket-granting ticket each time. */
static inline guint
kdc_n_logins(const Kdc *kdc)
{
  g_autofree char *path = kdc_path(kdc, "kdc.log"), *log = NULL;
  g_assert_true(g_file_get_contents(path, &log, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(log, "\n", -1);
  guint n = 0;
  for (gsize i = 0; lines[i] != NULL; i++)
    n += strstr(lines[i], " AS_REQ ") != NULL && strstr(lines[i], " ISSUE: ") != NULL ? 1 : 0;
  return n;
}

static inline void
kdc_destroy(Kdc *kdc)
{
  kdc_stop(kdc);
  if (kdc->hang_fd >= 0)
    kdc_stop_hanging(kdc);
  g_autoptr(GDir) folder = g_dir_open(kdc->folder, 0, NULL);
  for (const char *name = g_dir_read_name(folder); name != NULL; name = g_dir_read_name(folder)) {
    g_autofree char *path = kdc_path(kdc, name);
    g_assert_cmpint(g_unlink(path), ==, 0);
  }
  g_assert_cmpint(g_rmdir(kdc->folder), ==, 0);
  g_free(kdc->folder);
}
