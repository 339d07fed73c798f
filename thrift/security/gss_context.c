#include "thrift/security/gss_context.h"

#include "thrift/security/kerberos_keytab.h"
#include "util/error.h"

#include <gssapi/gssapi_krb5.h>

/* Encryption is always requested, and used if the layer requires it. */
#define WANTED_FLAGS (GSS_C_MUTUAL_FLAG | GSS_C_INTEG_FLAG | GSS_C_SEQUENCE_FLAG | GSS_C_CONF_FLAG)
#define NEEDED_FLAGS (GSS_C_MUTUAL_FLAG | GSS_C_INTEG_FLAG)

struct TideGssContext {
  TideKerberosSituation situation; /* its principal is NULL until it is known */
  GStringChunk *texts;             /* owned: the texts of situation, and memory_cache */
  const char *memory_cache;        /* NULL if the tickets come from another cache */
  gss_cred_id_t credential;        /* until complete */
  gss_name_t target;               /* until complete */
  gss_ctx_id_t context;
  OM_uint32 flags; /* the context's capabilities; valid once complete */
  TideBuffer first_token;
};

/* ---- errors ---- */

/* Kerberos's text for @minor. Ownership: (transfer full). */
static char *
minor_text(OM_uint32 minor)
{
  OM_uint32 more = 0, ignored;
  gss_buffer_desc text = GSS_C_EMPTY_BUFFER;
  if (gss_display_status(&ignored, minor, GSS_C_MECH_CODE, (gss_OID)gss_mech_krb5, &more, &text) != GSS_S_COMPLETE)
    return g_strdup("");
  char *copy = g_utf8_make_valid(text.value, (gssize)text.length);
  (void)gss_release_buffer(&ignored, &text);
  return copy;
}

/* Always fails. */
static gboolean
set_failure(const TideGssContext *context, gboolean answered, OM_uint32 major, OM_uint32 minor, GError **error)
{
  TideKerberosSituation situation = context->situation;
  situation.answered = answered;
  g_autofree char *text = minor_text(minor);
  g_autofree char *sentence = tide_kerberos_failure_text(&situation, major, minor, text);
  g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_CONNECT, sentence);
  return FALSE;
}

/* ---- lifetime ---- */

static const char *
keep_text(TideGssContext *context, const char *text)
{
  return text != NULL ? g_string_chunk_insert(context->texts, text) : NULL;
}

TideGssContext *
tide_gss_context_new(const TideKerberosSituation *request)
{
  TideGssContext *context = g_new0(TideGssContext, 1);
  context->texts = g_string_chunk_new(256);
  context->situation = (TideKerberosSituation){
      .peer = keep_text(context, request->peer),
      .service = keep_text(context, request->service),
      .host = keep_text(context, request->host),
      .principal = keep_text(context, request->principal),
      .keytab = keep_text(context, request->keytab),
      .cache = keep_text(context, request->cache),
  };
  context->credential = GSS_C_NO_CREDENTIAL;
  context->target = GSS_C_NO_NAME;
  context->context = GSS_C_NO_CONTEXT;
  return context;
}

static void
release_credential(TideGssContext *context)
{
  OM_uint32 ignored;
  (void)gss_release_cred(&ignored, &context->credential);
  (void)gss_release_name(&ignored, &context->target);
}

void
tide_gss_context_free(TideGssContext *context)
{
  if (context == NULL)
    return;
  OM_uint32 ignored;
  release_credential(context);
  (void)gss_delete_sec_context(&ignored, &context->context, GSS_C_NO_BUFFER);
  tide_buffer_clear_memory(&context->first_token);
  g_string_chunk_free(context->texts);
  g_free(context);
}

TideBytes
tide_gss_context_first_token(const TideGssContext *context)
{
  return tide_buffer_bytes(&context->first_token);
}

const char *
tide_gss_context_memory_cache(const TideGssContext *context)
{
  return context->memory_cache;
}

const char *
tide_gss_context_principal(const TideGssContext *context)
{
  return context->situation.principal;
}

/* ---- credentials ---- */

static gboolean
import_name(const TideGssContext *context, const char *text, gss_const_OID type, gss_name_t *ret_name, GError **error)
{
  OM_uint32 minor;
  gss_buffer_desc buffer = {strlen(text), (void *)text};
  OM_uint32 major = gss_import_name(&minor, &buffer, (gss_OID)type, ret_name);
  return !GSS_ERROR(major) || set_failure(context, FALSE, major, minor, error);
}

static gboolean
acquire(TideGssContext *context, const char *memory_cache, GError **error)
{
  TideKerberosSituation *situation = &context->situation;
  if (situation->keytab != NULL) {
    g_autofree char *principal = tide_kerberos_keytab_find(situation->keytab, situation->principal, error);
    if (principal == NULL)
      return FALSE;
    situation->principal = keep_text(context, principal);
  }
  gss_name_t name = GSS_C_NO_NAME;
  if (situation->principal != NULL &&
      !import_name(context, situation->principal, GSS_KRB5_NT_PRINCIPAL_NAME, &name, error))
    return FALSE;
  g_autofree char *keytab_name = g_strconcat("FILE:", situation->keytab, NULL);
  if (situation->cache == NULL && situation->keytab != NULL)
    context->memory_cache = keep_text(context, memory_cache);
  const char *cache = situation->cache != NULL ? situation->cache : context->memory_cache;
  gss_key_value_element_desc elements[2];
  gss_key_value_set_desc store = {.elements = elements};
  if (situation->keytab != NULL)
    elements[store.count++] = (gss_key_value_element_desc){"client_keytab", keytab_name};
  if (cache != NULL)
    elements[store.count++] = (gss_key_value_element_desc){"ccache", cache};
  gss_OID_set_desc mechanisms = {1, (gss_OID)gss_mech_krb5};
  OM_uint32 minor, ignored;
  OM_uint32 major = gss_acquire_cred_from(&minor, name, GSS_C_INDEFINITE, &mechanisms, GSS_C_INITIATE,
                                          store.count > 0 ? &store : NULL, &context->credential, NULL, NULL);
  (void)gss_release_name(&ignored, &name);
  return !GSS_ERROR(major) || set_failure(context, FALSE, major, minor, error);
}

/* ---- authentication ---- */

/* Calls gss_init_sec_context() once. @token: NULL at the beginning. */
static gboolean
turn(TideGssContext *context, const TideBytes *token, TideBuffer *out, gboolean *ret_complete, GError **error)
{
  gss_buffer_desc input = GSS_C_EMPTY_BUFFER, output = GSS_C_EMPTY_BUFFER;
  if (token != NULL)
    input = (gss_buffer_desc){token->len, (void *)token->data};
  OM_uint32 minor, ignored;
  OM_uint32 major =
      gss_init_sec_context(&minor, context->credential, &context->context, context->target, (gss_OID)gss_mech_krb5,
                           WANTED_FLAGS, 0, GSS_C_NO_CHANNEL_BINDINGS, &input, NULL, &output, &context->flags, NULL);
  tide_buffer_append(out, output.value, output.length);
  (void)gss_release_buffer(&ignored, &output);
  if (GSS_ERROR(major))
    return set_failure(context, token != NULL, major, minor, error);
  *ret_complete = major == GSS_S_COMPLETE;
  return TRUE;
}

gboolean
tide_gss_context_begin(TideGssContext *context, const char *memory_cache, GError **error)
{
  g_autofree char *target = g_strdup_printf("%s@%s", context->situation.service, context->situation.host);
  gboolean complete = FALSE;
  return acquire(context, memory_cache, error) &&
         import_name(context, target, GSS_C_NT_HOSTBASED_SERVICE, &context->target, error) &&
         turn(context, NULL, &context->first_token, &complete, error);
}

/* A cache's principal is only known now. gss_inquire_cred() would know it earlier, but leaks when the ticket has
 * expired. */
static void
note_principal(TideGssContext *context)
{
  OM_uint32 ignored;
  gss_name_t name = GSS_C_NO_NAME;
  gss_buffer_desc text = GSS_C_EMPTY_BUFFER;
  if (gss_inquire_context(&ignored, context->context, &name, NULL, NULL, NULL, NULL, NULL, NULL) == GSS_S_COMPLETE &&
      gss_display_name(&ignored, name, &text, NULL) == GSS_S_COMPLETE) {
    g_autofree char *principal = g_utf8_make_valid(text.value, (gssize)text.length);
    context->situation.principal = keep_text(context, principal);
  }
  (void)gss_release_buffer(&ignored, &text);
  (void)gss_release_name(&ignored, &name);
}

static gboolean
step(gpointer data, TideBytes token, TideBuffer *out, gboolean *ret_complete, GError **error)
{
  TideGssContext *context = data;
  if (!turn(context, &token, out, ret_complete, error))
    return FALSE;
  if (!*ret_complete)
    return TRUE;
  release_credential(context);
  note_principal(context);
  return (context->flags & NEEDED_FLAGS) == NEEDED_FLAGS || set_failure(context, TRUE, GSS_S_FAILURE, 0, error);
}

static guint
layers(gpointer data)
{
  const TideGssContext *context = data;
  guint all = TIDE_SASL_AUTH | TIDE_SASL_AUTH_INT;
  return (context->flags & GSS_C_CONF_FLAG) != 0 ? all | TIDE_SASL_AUTH_CONF : all;
}

/* ---- messages ---- */

/* Always fails. */
static gboolean
set_message_failure(const TideGssContext *context, const char *what, OM_uint32 minor, GError **error)
{
  g_autofree char *text = minor_text(minor);
  return tide_fail(error, TIDE_ERROR_PROTOCOL, "gateway '%s': %s ('%s')", context->situation.peer, what, text);
}

/* A token consists of header, data and trailer in this order; the data is encrypted in place. */
static gboolean
wrap(gpointer data, gboolean encrypt, const TideBytes *parts, gsize n_parts, TideBuffer *out, GError **error)
{
  TideGssContext *context = data;
  gsize plain_bytes = 0;
  for (gsize i = 0; i < n_parts; i++)
    plain_bytes += parts[i].len;
  gss_iov_buffer_desc iov[] = {
      {GSS_IOV_BUFFER_TYPE_HEADER, GSS_C_EMPTY_BUFFER},
      {GSS_IOV_BUFFER_TYPE_DATA, {plain_bytes, NULL}},
      {GSS_IOV_BUFFER_TYPE_PADDING, GSS_C_EMPTY_BUFFER},
      {GSS_IOV_BUFFER_TYPE_TRAILER, GSS_C_EMPTY_BUFFER},
  };
  OM_uint32 minor;
  OM_uint32 major =
      gss_wrap_iov_length(&minor, context->context, encrypt, GSS_C_QOP_DEFAULT, NULL, iov, G_N_ELEMENTS(iov));
  if (GSS_ERROR(major))
    return set_message_failure(context, "a request could not be wrapped", minor, error);
  gsize token_bytes = 0;
  for (gsize i = 0; i < G_N_ELEMENTS(iov); i++)
    token_bytes += iov[i].buffer.length;
  guint8 *at = tide_buffer_reserve(out, token_bytes);
  for (gsize i = 0; i < G_N_ELEMENTS(iov); i++) {
    iov[i].buffer.value = at;
    at += iov[i].buffer.length;
  }
  guint8 *to = iov[1].buffer.value;
  for (gsize i = 0; i < n_parts; i++) {
    tide_memory_copy(to, parts[i].data, parts[i].len);
    to += parts[i].len;
  }
  int encrypted = 0;
  major = gss_wrap_iov(&minor, context->context, encrypt, GSS_C_QOP_DEFAULT, &encrypted, iov, G_N_ELEMENTS(iov));
  if (GSS_ERROR(major) || (encrypt && !encrypted))
    return set_message_failure(context, "a request could not be wrapped", minor, error);
  out->len += token_bytes;
  return TRUE;
}

static gboolean
unwrap(gpointer data, gboolean encrypted, guint8 *token, gsize len, TideBytes *ret_plain, GError **error)
{
  TideGssContext *context = data;
  gss_iov_buffer_desc iov[] = {
      {GSS_IOV_BUFFER_TYPE_STREAM, {len, token}},
      {GSS_IOV_BUFFER_TYPE_DATA, GSS_C_EMPTY_BUFFER},
  };
  int was_encrypted = 0;
  OM_uint32 minor;
  OM_uint32 major = gss_unwrap_iov(&minor, context->context, &was_encrypted, NULL, iov, G_N_ELEMENTS(iov));
  if (GSS_ERROR(major))
    return set_message_failure(context, "its message was changed in transit, or is not wrapped", minor, error);
  if (major != GSS_S_COMPLETE) /* old, repeated, or one is missing before it */
    return set_message_failure(context, "its message is out of sequence", minor, error);
  if (encrypted && !was_encrypted)
    return set_message_failure(context, "it sent a message without the negotiated encryption", minor, error);
  *ret_plain = tide_bytes(iov[1].buffer.value, iov[1].buffer.length);
  return TRUE;
}

const TideSaslMechanism tide_gss_mechanism = {.step = step, .layers = layers, .wrap = wrap, .unwrap = unwrap};
