/* The gateway's side of SASL GSSAPI, by the same library, in the test's process: bytes in, bytes out. For tests only.
 */
#pragma once

#include "thrift/security/sasl_negotiation.h"

#include <gssapi/gssapi_krb5.h>
#include <stdlib.h>

typedef struct GssAcceptor {
  gss_cred_id_t credential;
  gss_ctx_id_t context;
  gboolean is_complete;
} GssAcceptor;

static inline void
gss_acceptor_open(GssAcceptor *acceptor, const char *keytab)
{
  OM_uint32 minor;
  g_autofree char *name = g_strconcat("FILE:", keytab, NULL);
  gss_key_value_element_desc element = {"keytab", name};
  gss_key_value_set_desc store = {1, &element};
  *acceptor = (GssAcceptor){0};
  OM_uint32 major = gss_acquire_cred_from(&minor, GSS_C_NO_NAME, GSS_C_INDEFINITE, GSS_C_NO_OID_SET, GSS_C_ACCEPT,
                                          &store, &acceptor->credential, NULL, NULL);
  g_assert_cmpuint(major, ==, GSS_S_COMPLETE);
}

static inline void
gss_acceptor_close(GssAcceptor *acceptor)
{
  OM_uint32 minor;
  (void)gss_release_cred(&minor, &acceptor->credential);
  (void)gss_delete_sec_context(&minor, &acceptor->context, GSS_C_NO_BUFFER);
}

/* Takes the client's token; appends the answer to @out. FALSE: it is refused. */
static inline gboolean
gss_acceptor_step(GssAcceptor *acceptor, TideBytes token, TideBuffer *out)
{
  OM_uint32 minor;
  gss_buffer_desc input = {token.len, (void *)token.data}, output = GSS_C_EMPTY_BUFFER;
  OM_uint32 major = gss_accept_sec_context(&minor, &acceptor->context, acceptor->credential, &input,
                                           GSS_C_NO_CHANNEL_BINDINGS, NULL, NULL, &output, NULL, NULL, NULL);
  tide_buffer_append(out, output.value, output.length);
  (void)gss_release_buffer(&minor, &output);
  acceptor->is_complete = major == GSS_S_COMPLETE;
  return !GSS_ERROR(major);
}

static inline void
gss_acceptor_wrap(GssAcceptor *acceptor, gboolean encrypt, TideBytes plain, TideBuffer *out)
{
  OM_uint32 minor;
  int encrypted = 0;
  gss_buffer_desc input = {plain.len, (void *)plain.data}, output = GSS_C_EMPTY_BUFFER;
  g_assert_cmpuint(gss_wrap(&minor, acceptor->context, encrypt, GSS_C_QOP_DEFAULT, &input, &encrypted, &output), ==,
                   GSS_S_COMPLETE);
  g_assert_cmpint(encrypted, ==, encrypt);
  tide_buffer_append(out, output.value, output.length);
  (void)gss_release_buffer(&minor, &output);
}

/* FALSE: not what the client can have sent, or other than @encrypted. */
static inline gboolean
gss_acceptor_unwrap(GssAcceptor *acceptor, gboolean encrypted, TideBytes token, TideBuffer *out)
{
  OM_uint32 minor;
  int was_encrypted = 0;
  gss_buffer_desc input = {token.len, (void *)token.data}, output = GSS_C_EMPTY_BUFFER;
  OM_uint32 major = gss_unwrap(&minor, acceptor->context, &input, &output, &was_encrypted, NULL);
  tide_buffer_append(out, output.value, output.length);
  if (output.length == 0) /* which gss_release_buffer() does not free */
    free(output.value);
  else
    (void)gss_release_buffer(&minor, &output);
  return major == GSS_S_COMPLETE && was_encrypted == encrypted;
}

/* ---- messages of the negotiation ---- */

static inline void
sasl_append(TideBuffer *out, guint8 code, TideBytes payload)
{
  guint32 length = GUINT32_TO_BE((guint32)payload.len);
  tide_buffer_append_byte(out, code);
  tide_buffer_append(out, &length, sizeof length);
  tide_buffer_append_bytes(out, payload);
}

/* Takes the first message off @bytes. FALSE when it is not whole. */
static inline gboolean
sasl_take(TideBytes *bytes, guint8 *ret_code, TideBytes *ret_payload)
{
  if (bytes->len < 5)
    return FALSE;
  gsize length = GUINT32_FROM_BE(tide_load_u32(bytes->data + 1));
  if (bytes->len - 5 < length)
    return FALSE;
  *ret_code = bytes->data[0];
  *ret_payload = tide_bytes(bytes->data + 5, length);
  *bytes = tide_bytes(bytes->data + 5 + length, bytes->len - 5 - length);
  return TRUE;
}
