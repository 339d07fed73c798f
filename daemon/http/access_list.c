#include "http/access_list.h"

#include "util/clock.h"
#include "util/error.h"
#include "util/secret_file.h"

#include <crypt.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <sys/random.h>

#define DIGEST_HEX_LEN 64u
#define KEY_BYTES 32u
#define TRY_INTERVAL_US TIDE_US_PER_S
/* A quarter of a second on a machine of 2020; each further step doubles it. */
#define MAX_BCRYPT_COST 12

typedef struct Entry {
  char *name;                    /* owned */
  char *hash;                    /* owned */
  gboolean is_token;             /* hash is a digest, in lower case */
  gboolean is_first_of_kind;     /* first line with a password hash of this kind and cost */
  char good[DIGEST_HEX_LEN + 1]; /* keyed digest of the last correct password; empty: none yet */
} Entry;

struct TideAccessList {
  GArray *entries; /* (element-type Entry) */
  gboolean has_users;
  gboolean has_tokens;
  guint8 key[KEY_BYTES];
  gint64 next_try_us; /* when the next try no longer counts against the burst */
};

static void
clear_entry(gpointer data)
{
  Entry *entry = data;
  g_free(entry->name);
  g_free(entry->hash);
}

void
tide_access_list_free(TideAccessList *list)
{
  if (list == NULL)
    return;
  g_array_unref(list->entries);
  explicit_bzero(list->key, sizeof list->key);
  g_free(list);
}

/* ---- the file ---- */

#define HASH_CHARACTERS "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/* "$2y$10$" and 22 characters of salt with 31 of the hash. Password hashes have a cost of at least 04. */
static gboolean
is_bcrypt(const char *hash)
{
  return hash[0] == '$' && hash[1] == '2' && hash[2] != '\0' && strchr("aby", hash[2]) != NULL && hash[3] == '$' &&
         g_ascii_isdigit(hash[4]) && g_ascii_isdigit(hash[5]) && hash[6] == '$' && strlen(hash) == 60 &&
         strspn(hash + 7, HASH_CHARACTERS) == 53 && strncmp(hash + 4, "04", 2) >= 0;
}

/* Returns NULL if @hash is a password hash that can be checked in reasonable time. */
static const char *
fault_of_hash(const char *hash)
{
  static const char too_costly[] =
      "takes too long to check: use a lower cost ('htpasswd -B -C 10', 'mkpasswd -m yescrypt', 'openssl passwd -6')";
  static const char unknown[] = "is neither a bcrypt ('htpasswd -B'), yescrypt ('mkpasswd') or SHA-512 ('openssl "
                                "passwd -6') hash of a password, nor the SHA-256 of a token in hex ('sha256sum')";
  if (is_bcrypt(hash))
    return g_ascii_strtoll(hash + 4, NULL, 10) <= MAX_BCRYPT_COST ? NULL : too_costly;
  if (g_str_has_prefix(hash, "$6$rounds="))
    return too_costly;
  gboolean is_sha512 = g_str_has_prefix(hash, "$6$"), is_yescrypt = g_str_has_prefix(hash, "$y$");
  if (!is_sha512 && !is_yescrypt)
    return unknown;
  const char *end = strrchr(hash, '$') + 1;
  gsize len = is_sha512 ? 86 : 43;
  if (end < hash + 4 || strlen(end) != len || strspn(end, HASH_CHARACTERS) != len)
    return unknown;
  /* The third character after "$y$" is its cost: j9T is mkpasswd's own choice, and B needs 64 MiB. */
  gboolean is_cheap = hash[3] == 'j' && hash[4] != '\0' && strchr("./0123456789AB", hash[4]) != NULL &&
                      hash[5] != '\0' && strchr("./0123456789ABCDEFGHIJKLMNOPQRST", hash[5]) != NULL && hash[6] == '$';
  return is_sha512 || is_cheap ? NULL : too_costly;
}

static Entry *
find_entry(const TideAccessList *list, const char *name)
{
  for (guint i = 0; i < list->entries->len; i++) {
    Entry *entry = &g_array_index(list->entries, Entry, i);
    if (strcmp(entry->name, name) == 0)
      return entry;
  }
  return NULL;
}

/* TRUE if both are equal before the salt, "$2y$10$": hashes of one kind take equally long. */
static gboolean
is_same_kind(const char *a, const char *b)
{
  gsize kind_len = g_str_has_prefix(a, "$6$") ? 3 : (gsize)(strchr(a + 3, '$') + 1 - a);
  return strncmp(a, b, kind_len) == 0;
}

static gboolean
is_first_of_kind(const TideAccessList *list, const char *hash)
{
  for (guint i = 0; i < list->entries->len; i++) {
    const Entry *entry = &g_array_index(list->entries, Entry, i);
    if (!entry->is_token && is_same_kind(entry->hash, hash))
      return FALSE;
  }
  return TRUE;
}

/* Returns NULL, or the problem of the line: a literal, because lines are secret. */
static const char *
add_line(TideAccessList *list, const char *line)
{
  const char *colon = strchr(line, ':');
  if (colon == NULL || colon == line)
    return "is not of the form NAME:HASH";
  const char *hash = colon + 1;
  gboolean is_token = strlen(hash) == DIGEST_HEX_LEN && strspn(hash, "0123456789abcdefABCDEF") == DIGEST_HEX_LEN;
  const char *fault = is_token ? NULL : fault_of_hash(hash);
  if (fault != NULL)
    return fault;
  g_autofree char *name = g_strndup(line, (gsize)(colon - line));
  if (find_entry(list, name) != NULL)
    return "has a name that another line already has";
  Entry entry = {.name = g_steal_pointer(&name),
                 .hash = is_token ? g_ascii_strdown(hash, -1) : g_strdup(hash),
                 .is_token = is_token,
                 .is_first_of_kind = !is_token && is_first_of_kind(list, hash)};
  g_array_append_val(list->entries, entry);
  if (is_token)
    list->has_tokens = TRUE;
  else
    list->has_users = TRUE;
  return NULL;
}

TideAccessList *
tide_access_list_parse(const char *text, const char *name, GError **error)
{
  g_autoptr(TideAccessList) list = g_new0(TideAccessList, 1);
  list->entries = g_array_new(FALSE, TRUE, sizeof(Entry));
  g_array_set_clear_func(list->entries, clear_entry);
  gssize n = getrandom(list->key, sizeof list->key, 0);
  g_assert(n == (gssize)sizeof list->key); /* up to 256 bytes are returned at once */

  const char *begin = g_str_has_prefix(text, "\xef\xbb\xbf") ? text + 3 : text; /* a byte order mark is not part of a
                                                                                 * name */
  g_auto(GStrv) lines = g_strsplit(begin, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++) {
    char *line = g_strchomp(lines[i]);
    const char *fault = *line == '\0' || *line == '#' ? NULL : add_line(list, line);
    if (fault != NULL) {
      (void)tide_fail(error, TIDE_ERROR_CONFIG, "line %u of '%s' %s", i + 1, name, fault);
      return NULL;
    }
  }
  if (list->entries->len > 0)
    return g_steal_pointer(&list);
  (void)tide_fail(error, TIDE_ERROR_CONFIG,
                  "'%s' has no users: add a line with 'htpasswd -nB NAME', or NAME:DIGEST of a token", name);
  return NULL;
}

TideAccessList *
tide_access_list_read(const char *path, GError **error)
{
  char *text = tide_secret_read_file(path, error);
  TideAccessList *list = text != NULL ? tide_access_list_parse(text, path, error) : NULL;
  tide_secret_free(text);
  return list;
}

void
tide_access_list_follow(TideAccessList *list, const TideAccessList *old)
{
  memcpy(list->key, old->key, sizeof list->key);
  list->next_try_us = old->next_try_us;
  for (guint i = 0; i < list->entries->len; i++) {
    Entry *entry = &g_array_index(list->entries, Entry, i);
    const Entry *before = find_entry(old, entry->name);
    if (before != NULL && strcmp(before->hash, entry->hash) == 0)
      memcpy(entry->good, before->good, sizeof entry->good);
  }
}

/* ---- a request ---- */

typedef struct Digest {
  char hex[DIGEST_HEX_LEN + 1];
} Digest;

static Digest
digest_of(const guint8 bytes[SHA256_DIGEST_SIZE])
{
  Digest digest = {0};
  for (gsize i = 0; i < SHA256_DIGEST_SIZE; i++)
    g_snprintf(digest.hex + 2 * i, 3, "%02x", bytes[i]);
  return digest;
}

/* GLib's functions are not used here and below: they leave hashed data in freed memory. */
static Digest
hash_of(const char *text)
{
  struct sha256_ctx state;
  guint8 bytes[SHA256_DIGEST_SIZE];
  sha256_init(&state);
  sha256_update(&state, strlen(text), (const guint8 *)text);
  sha256_digest(&state, sizeof bytes, bytes);
  explicit_bzero(&state, sizeof state);
  return digest_of(bytes);
}

static Digest
keyed_hash_of(const TideAccessList *list, const char *text)
{
  struct hmac_sha256_ctx state;
  guint8 bytes[SHA256_DIGEST_SIZE];
  hmac_sha256_set_key(&state, sizeof list->key, list->key);
  hmac_sha256_update(&state, strlen(text), (const guint8 *)text);
  hmac_sha256_digest(&state, sizeof bytes, bytes);
  explicit_bzero(&state, sizeof state);
  return digest_of(bytes);
}

static gboolean
is_known_token(const TideAccessList *list, const char *token)
{
  Digest digest = hash_of(token);
  gboolean is_known = FALSE;
  for (guint i = 0; i < list->entries->len; i++) {
    const Entry *entry = &g_array_index(list->entries, Entry, i);
    if (entry->is_token && memeql_sec(entry->hash, digest.hex, DIGEST_HEX_LEN))
      is_known = TRUE;
  }
  return is_known;
}

static gboolean
is_password(const char *hash, const char *password)
{
  struct crypt_data *room = g_new0(struct crypt_data, 1);
  const char *made = crypt_r(password, hash, room);
  gsize len = strlen(hash);
  gboolean is_it = made != NULL && strlen(made) == len && memeql_sec(made, hash, len);
  explicit_bzero(room, sizeof *room);
  g_free(room);
  return is_it;
}

/* Computes one hash of each kind in the list for every client, so that the time is the same for each name and for
 * unknown names. NULL: @user is unknown. */
static gboolean
is_password_of(const TideAccessList *list, const Entry *user, const char *password)
{
  gboolean is_it = FALSE;
  for (guint i = 0; i < list->entries->len; i++) {
    const Entry *entry = &g_array_index(list->entries, Entry, i);
    if (!entry->is_first_of_kind)
      continue;
    gboolean is_user_s = user != NULL && is_same_kind(user->hash, entry->hash);
    if (is_password(is_user_s ? user->hash : entry->hash, password) && is_user_s)
      is_it = TRUE;
  }
  return is_it;
}

static TideAccess
judge_password(TideAccessList *list, const char *name, const char *password, const char *digest, gint64 now_us)
{
  if (!list->has_users)
    return TIDE_ACCESS_WRONG;
  Entry *user = find_entry(list, name);
  if (user != NULL && user->is_token)
    user = NULL;
  if (user != NULL && user->good[0] != '\0' && memeql_sec(user->good, digest, DIGEST_HEX_LEN))
    return TIDE_ACCESS_GRANTED;
  gint64 next_us = MAX(list->next_try_us, now_us);
  if (next_us - now_us > (TIDE_ACCESS_BURST - 1) * TRY_INTERVAL_US)
    return TIDE_ACCESS_TOO_OFTEN;
  list->next_try_us = next_us + TRY_INTERVAL_US;
  if (!is_password_of(list, user, password))
    return TIDE_ACCESS_WRONG;
  memcpy(user->good, digest, sizeof user->good);
  return TIDE_ACCESS_GRANTED;
}

/* @encoded: "dXNlcjpwYXNz" */
static TideAccess
judge_basic(TideAccessList *list, const char *encoded, gint64 now_us)
{
  gsize encoded_len = strlen(encoded), room = encoded_len / 4 * 3 + 4; /* as required by g_base64_decode_step() */
  char *pair = g_malloc0(room + 1);
  int state = 0;
  guint save = 0;
  gsize len = g_base64_decode_step(encoded, encoded_len, (guchar *)pair, &state, &save);
  char *colon = strchr(pair, ':');
  TideAccess access = TIDE_ACCESS_WRONG;
  if (colon != NULL && strlen(pair) == len) {
    Digest digest = keyed_hash_of(list, pair);
    *colon = '\0';
    access = judge_password(list, pair, colon + 1, digest.hex, now_us);
  }
  explicit_bzero(pair, room);
  g_free(pair);
  return access;
}

/* Returns the text after the word @scheme and blanks; NULL if @text does not begin with it. */
static const char *
after_scheme(const char *text, const char *scheme)
{
  gsize len = strlen(scheme);
  if (g_ascii_strncasecmp(text, scheme, len) != 0 || text[len] != ' ')
    return NULL;
  return text + len + strspn(text + len, " ");
}

TideAccess
tide_access_list_judge(TideAccessList *list, TideBytes authorization, gint64 now_us)
{
  if (authorization.data == NULL)
    return TIDE_ACCESS_MISSING;
  char *text = g_strndup((const char *)authorization.data, authorization.len);
  const char *basic = after_scheme(text, "Basic"), *token = after_scheme(text, "Bearer");
  TideAccess access = TIDE_ACCESS_WRONG;
  if (basic != NULL)
    access = judge_basic(list, basic, now_us);
  else if (token != NULL && is_known_token(list, token))
    access = TIDE_ACCESS_GRANTED;
  explicit_bzero(text, authorization.len);
  g_free(text);
  return access;
}

char *
tide_access_list_challenge(const TideAccessList *list)
{
  return g_strconcat(list->has_users ? "WWW-Authenticate: Basic realm=\"tidemark\", charset=\"UTF-8\"\r\n" : "",
                     list->has_tokens ? "WWW-Authenticate: Bearer realm=\"tidemark\"\r\n" : "", NULL);
}
