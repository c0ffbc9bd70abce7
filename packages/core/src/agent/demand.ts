/** Options that are one of a few texts. Their types say so; JavaScript and casts do not. */
import * as Predicate from "effect/Predicate"

/** Throws a `TypeError` on anything else. */
export const demand = (option: string, given: unknown, texts: ReadonlyArray<string>): void => {
  if (given === undefined || texts.some((text) => text === given)) return
  const shown = Predicate.isString(given) ? `'${given}'` : typeof given
  throw new TypeError(`${option} must be '${texts.join("', '")}', got ${shown}`)
}
