/** Encryption of what the store of conversations writes: AES-256-GCM by `effect/crypto/Aead`, with a ring of keys. */
import * as Context from "effect/Context"
import * as Aead from "effect/crypto/Aead"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"

/** A key, and the id by which rows name it. */
export interface EncryptionKey {
  /** Without a dot. */
  readonly id: string
  /** 32 bytes, drawn at random. */
  readonly secret: Redacted.Redacted<Uint8Array>
}

/** How rows are encrypted. `location` is signed with the row: at another location it cannot be decrypted. */
interface Cipher {
  readonly encrypt: (text: string, location: string) => Effect.Effect<string, unknown>
  readonly decrypt: (row: string, location: string) => Effect.Effect<string, unknown>
}

/** The encryption of this program; none by default. */
export const Encryption = Context.Reference<Cipher>("@kintsugi/durable/Conversations/Encryption", {
  defaultValue: () => ({ encrypt: Effect.succeed, decrypt: Effect.succeed })
})

/**
 * Encrypts the messages and documents of conversations. Ids, subjects, kinds, names and times stay readable, because the storage searches
 * by them. The first key encrypts, each key decrypts: add a new key in front, and remove an old one when no row has its id any more. Throws a
 * `TypeError` for a key of another length, and for an id that is not unique.
 */
export const layerEncryption = (
  keys: readonly [EncryptionKey, ...ReadonlyArray<EncryptionKey>]
): Layer.Layer<never> => {
  if (new Set(keys.map(({ id }) => id)).size < keys.length) {
    throw new TypeError("Conversations.layerEncryption: each key needs an id of its own")
  }
  for (const { id, secret } of keys) {
    if (id.includes(".")) throw new TypeError(`Conversations.layerEncryption: the id '${id}' has a dot`)
    if (Redacted.value(secret).length === bytes) continue
    throw new TypeError(`Conversations.layerEncryption: key '${id}' needs ${bytes} bytes, drawn at random`)
  }
  const making = Effect.gen(function* () {
    const aead = yield* Aead.Aead
    const random = yield* SecureRandom.SecureRandom
    const ring = new Map<string, Aead.Key>()
    for (const { id, secret } of keys) {
      ring.set(id, yield* Effect.orDie(Aead.key(Aead.aes256Gcm, Redacted.value(secret))))
    }
    const [{ id }] = keys
    return cipherOf(aead, random, ring, id)
  })
  return Layer.effect(Encryption, making).pipe(
    Layer.provide(Aead.layerWebCrypto),
    Layer.provide(SecureRandom.layerWebCrypto)
  )
}

const bytes = 32

const cipherOf = (
  aead: Aead.Aead["Service"],
  random: SecureRandom.SecureRandom["Service"],
  ring: ReadonlyMap<string, Aead.Key>,
  first: string
): Cipher => {
  const keyOf = (id: string) => {
    const key = ring.get(id)
    return key === undefined ? Effect.fail(new Error(`no key has the id '${id}'`)) : Effect.succeed(key)
  }
  return {
    encrypt: (text, location) =>
      Effect.gen(function* () {
        const nonce = yield* random.randomBytes(Aead.aes256Gcm.nonceLength)
        const aad = utf8.encode(location)
        const sealed = yield* aead.encrypt(yield* keyOf(first), utf8.encode(text), { nonce, aad })
        return `${first}.${Base64.encode(nonce)}.${Base64.encode(sealed)}`
      }),
    decrypt: (row, location) =>
      Effect.gen(function* () {
        // Mutant `"Stryker was here!"` survives: a text always has a first part
        const [id = "", ...parts] = row.split(".")
        const [nonce, sealed] = parts.map((text) => Result.getOrUndefined(Base64.decode(text)))
        // what is no encrypted row is not quoted: a person may have written it
        if (nonce === undefined || sealed === undefined)
          return yield* Effect.fail(new Error("the row is not encrypted"))
        const key = yield* keyOf(id)
        const opened = yield* aead.decrypt(key, sealed, { nonce, aad: utf8.encode(location) })
        return new TextDecoder().decode(opened)
      })
  }
}

const utf8 = new TextEncoder()
