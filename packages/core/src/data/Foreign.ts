/** Looking at values that nobody vouches for: foreign objects may throw when they are looked at. */
import * as Result from "effect/Result"

export const quietly = <A>(look: () => A, otherwise: A): A => Result.getOrElse(Result.try(look), () => otherwise)

/** A property of anything, or `undefined`. */
export const property = (value: unknown, key: string): unknown =>
  (typeof value === "object" && value !== null) || typeof value === "function"
    ? quietly(() => (key in value ? Reflect.get(value, key) : undefined), undefined)
    : undefined

/** The value; in the place of one that throws whenever it is looked at, as a revoked proxy does, an error that says so. */
export const approachable = (value: unknown): unknown =>
  quietly(() => Object.isExtensible(value) || true, false) ? value : new TypeError("a value that cannot be looked at")

/** Whether a value of JSON is nested so deeply that writing it down would reach the end of the stack. */
export const isDeep = (value: unknown, levels = 1000): boolean => {
  if (typeof value !== "object" || value === null) return false
  return levels === 0 || Object.values(value).some((item) => isDeep(item, levels - 1))
}
