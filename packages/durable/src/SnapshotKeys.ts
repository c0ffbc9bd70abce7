/**
 * Keys for snapshots and decisions that leave the server. The signature is HMAC-SHA-256 over the whole document and its audience, by
 * `effect/crypto/Mac`.
 */
import * as Mac from "effect/crypto/Mac"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Snapshot } from "@kintsugi/core"

/** A key, and the id by which documents name it. */
interface Key {
  readonly id: string
  /** At least 32 bytes; the length of a string is that of its UTF-8. Draw the secret at random: `openssl rand -hex 32`. */
  readonly secret: Redacted.Redacted<string | Uint8Array>
}

/** The options of `layer`: the ring of keys, and how long unsigned documents are accepted. */
interface Options {
  /** The first key signs, each key verifies. Add a new key in front. Remove an old key when no document has its id any more. */
  readonly keys: readonly [Key, ...ReadonlyArray<Key>]
  /** Documents without a signature are read until this time, in milliseconds since the epoch; by default they are never read. */
  readonly acceptUnsignedUntil?: number
}

/**
 * Signs and verifies with a ring of keys. `Snapshot.sign`, `Snapshot.fromJson`, `Snapshot.signDecision` and `Agent.resume` find it. Throws
 * a `TypeError` on a key that is too short, and on an id that is not unique.
 */
export const layer = ({ acceptUnsignedUntil, keys }: Options): Layer.Layer<never> => {
  const ids = new Set(keys.map(({ id }) => id))
  if (keys.length === 0 || ids.size < keys.length) throw new TypeError("SnapshotKeys: each key needs an id of its own")
  for (const { id, secret } of keys) {
    if (bytesOf(secret).length >= shortest) continue
    throw new TypeError(`SnapshotKeys: key '${id}' needs at least ${shortest} bytes, drawn at random`)
  }
  const making = Effect.gen(function* () {
    const mac = yield* Mac.Mac
    const imported = ({ id, secret }: Key) =>
      Effect.map(Effect.orDie(Mac.key(Mac.hmacSha256, bytesOf(secret))), (key) => ({ id, key }))
    // cast: mapping a tuple gives a tuple of the same length
    const ring = (yield* Effect.forEach(keys, imported)) as [Imported, ...Array<Imported>]
    return signer(mac, ring, acceptUnsignedUntil)
  })
  return Layer.effect(Snapshot.Signing, making).pipe(
    Layer.provide(Mac.layerWebCrypto),
    Layer.provide(SecureRandom.layerWebCrypto)
  )
}

interface Imported {
  readonly id: string
  readonly key: Mac.Key
}

/** The least number of bytes of a key: RFC 2104 asks for the length of the code, which is 32 bytes for SHA-256. */
const shortest = 32

const signer = (
  mac: Mac.Mac["Service"],
  ring: readonly [Imported, ...ReadonlyArray<Imported>],
  acceptUnsignedUntil: number | undefined
): Snapshot.Signer => {
  const [first] = ring
  const keysById = new Map(ring.map(({ id, key }) => [id, key]))
  return {
    sign: (text) =>
      Effect.map(Effect.orDie(mac.sign(first.key, utf8.encode(text))), (code) => ({ key: first.id, mac: hex(code) })),
    verify: (text, signature) => {
      const key = keysById.get(signature.key)
      if (key === undefined) return Effect.succeed("unknown-key")
      // a text of another form is no HMAC-SHA-256 code
      if (!/^[0-9a-f]{64}$/.test(signature.mac)) return Effect.succeed("bad-signature")
      const code = Uint8Array.from(signature.mac.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
      // `mac.verify` compares in constant time
      return Effect.map(Effect.orDie(mac.verify(key, code, utf8.encode(text))), (isValid) =>
        isValid ? "valid" : "bad-signature"
      )
    },
    ...(acceptUnsignedUntil === undefined ? {} : { acceptUnsignedUntil })
  }
}

const utf8 = new TextEncoder()

const bytesOf = (secret: Key["secret"]): Uint8Array => {
  const value = Redacted.value(secret)
  return typeof value === "string" ? utf8.encode(value) : value
}

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
