/** Pseudo-random numbers: the same seed gives the same numbers. */
import type * as Random from "effect/Random"

/**
 * A generator of random numbers for a seed. It hashes the seed to 128 bits (`cyrb128`), and draws with `sfc32`. Different seeds give
 * independent numbers, which are not secret.
 *
 * Source: `cyrb128` and `sfc32`, both in the public domain (bryc, "PRNGs"; C. Doty-Humphrey, PractRand).
 */
export const seeded = (seed: string): Random.Random => {
  let [a, b, c, d] = hashOf(seed)
  const next32 = (): number => {
    const sum = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + sum) | 0
    return sum >>> 0
  }
  // the first numbers still show the pattern of the seed, so they are dropped
  for (let i = 0; i < 12; i++) next32()
  const next53 = (): number => (next32() >>> 5) * 2 ** 26 + (next32() >>> 6)
  return {
    nextIntUnsafe: () => (next32() & 1 ? 1 : -1) * next53(),
    nextDoubleUnsafe: () => next53() / 2 ** 53
  }
}

/** A hash of a text: 128 bits in hexadecimal. It tells texts apart, and is not cryptographic. */
export const fingerprint = (text: string): string =>
  hashOf(text)
    .map((part) => (part >>> 0).toString(16).padStart(8, "0"))
    .join("")

const hashOf = (text: string): [number, number, number, number] => {
  let [h1, h2, h3, h4] = [1779033703, 3144134277, 1013904242, 2773480762]
  for (let i = 0; i < text.length; i++) {
    const k = text.charCodeAt(i)
    h1 = h2 ^ Math.imul(h1 ^ k, 597399067)
    h2 = h3 ^ Math.imul(h2 ^ k, 2869860233)
    h3 = h4 ^ Math.imul(h3 ^ k, 951274213)
    h4 = h1 ^ Math.imul(h4 ^ k, 2716044179)
  }
  h1 = Math.imul(h3 ^ (h1 >>> 18), 597399067)
  h2 = Math.imul(h4 ^ (h2 >>> 22), 2869860233)
  h3 = Math.imul(h1 ^ (h3 >>> 17), 951274213)
  h4 = Math.imul(h2 ^ (h4 >>> 19), 2716044179)
  return [(h1 ^ h2 ^ h3 ^ h4) | 0, (h2 ^ h1) | 0, (h3 ^ h1) | 0, (h4 ^ h1) | 0]
}
