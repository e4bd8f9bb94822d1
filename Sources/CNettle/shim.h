#ifndef URLCACHE_ADMIN_CNETTLE_SHIM_H
#define URLCACHE_ADMIN_CNETTLE_SHIM_H

#include <nettle/md5.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <nettle/version.h>

/* The functions that write a digest lost their length in Nettle 4. Swift sees one form of them. */

#if NETTLE_VERSION_MAJOR >= 4
#define CNETTLE_DIGEST(name, size) name##_digest(context, digest)
#else
#define CNETTLE_DIGEST(name, size) name##_digest(context, size, digest)
#endif

static inline void cnettle_md5_digest(struct md5_ctx *context, uint8_t *digest) {
  CNETTLE_DIGEST(md5, MD5_DIGEST_SIZE);
}

static inline void cnettle_sha1_digest(struct sha1_ctx *context, uint8_t *digest) {
  CNETTLE_DIGEST(sha1, SHA1_DIGEST_SIZE);
}

static inline void cnettle_sha256_digest(struct sha256_ctx *context, uint8_t *digest) {
  CNETTLE_DIGEST(sha256, SHA256_DIGEST_SIZE);
}

static inline void cnettle_sha512_digest(struct sha512_ctx *context, uint8_t *digest) {
  CNETTLE_DIGEST(sha512, SHA512_DIGEST_SIZE);
}

#endif
