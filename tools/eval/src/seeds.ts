/** Random choices of one run: the same seed and the same labels give the same ones, no matter what other code draws. */
import { Draw } from "../../soak/src/Draw.ts"

/** FNV-1a of the seed and the labels is the seed of the choices. */
export const drawOf = (seed: number, ...labels: ReadonlyArray<string | number>): Draw => {
  let hash = 0x811c9dc5
  for (const character of [seed, ...labels].join("/")) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  }
  return new Draw(hash)
}
