/* What a gateway answers to the two questions of a probe, in the binary protocol, unframed. */
#pragma once

/* getThriftServerType says TWO. */
#define TYPE_CALL_BYTES 32
#define TYPE_REPLY "\x80\x01\0\x02\0\0\0\x13getThriftServerType\0\0\0\0\x08\0\0\0\0\0\x02\0"

/* getClusterId is a call that it does not know. */
#define CLUSTER_CALL_BYTES 25
#define CLUSTER_REPLY "\x80\x01\0\x03\0\0\0\x0cgetClusterId\0\0\0\0\x08\0\x02\0\0\0\x01\0"
