/** Size limits for schemas and values from outside. Code checks them before it expands such a value. */
import { isDeep } from "./Foreign.ts"

/**
 * The bounds of a schema or a value. Options take some of them; the others have their defaults.
 *
 * @hidden
 */
export interface Bounds {
  /** Levels of nesting, of a schema after its references and of a value; 128 by default, 512 at most. */
  readonly depth: number
  /** Nodes of a schema after its references; 20,000 by default. */
  readonly nodes: number
  /** Bytes of a schema as JSON in UTF-8; 256 KiB by default. */
  readonly bytes: number
}

/** 128 levels, 20,000 nodes, 256 KiB. */
const defaults: Bounds = { depth: 128, nodes: 20_000, bytes: 256 * 1024 }

/** The largest bound of the depth. Recursive code comes near the end of the stack if a schema or a value is deeper. */
const deepest = 512

/** Whether JSON has more than `levels` nested levels. The default is 512. A list or an object is one level. Does not recurse. */
export const isDeeper = (value: unknown, levels = deepest): boolean => isDeep(value, levels)

/** Adds the defaults to the given bounds. Throws a `RangeError` for a bound that is no integer from 1 to its maximum: 512 for `depth`. */
export const resolve = (given: Partial<Bounds> = {}): Bounds => {
  const bounds = { ...defaults, ...given }
  for (const [bound, limit] of Object.entries(bounds)) {
    const most = bound === "depth" ? deepest : Number.MAX_SAFE_INTEGER
    if (Number.isSafeInteger(limit) && limit >= 1 && limit <= most) continue
    throw new RangeError(`Bounds: ${bound} must be an integer from 1 to ${most}, got ${String(limit)}`)
  }
  return bounds
}

/**
 * Whether JSON in UTF-8 is longer than a number of bytes. Stops once it is, and does not recurse.
 *
 * @internal
 */
export const isLonger = (value: unknown, bytes: number): boolean => {
  const encoder = new TextEncoder()
  const lengthOf = (text: string) => (text.length > bytes ? text.length : encoder.encode(JSON.stringify(text)).length)
  const stack: Array<unknown> = [value]
  let length = 0
  while (stack.length > 0 && length <= bytes) {
    const one = stack.pop()
    if (Array.isArray(one)) {
      length += one.length + 1
      for (const item of one) stack.push(item)
    } else if (typeof one === "object" && one !== null) {
      const entries = Object.entries(one)
      // a colon and a comma for each
      length += 2 * entries.length + 1
      for (const [key, item] of entries) {
        length += lengthOf(key)
        stack.push(item)
      }
    } else length += typeof one === "string" ? lengthOf(one) : String(one).length
  }
  return length > bytes
}
