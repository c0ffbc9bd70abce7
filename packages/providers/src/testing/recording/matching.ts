/** Finds the recorded exchange for a request. If there is none, finds the most similar exchange and how it differs. */
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import { type Exchange, fieldOf, type Request } from "./format.ts"
import { mark } from "./secrets.ts"

/** A field in which two requests differ. */
export interface Difference {
  /** The name of the field: `method`, `path`, or a field of the body such as `body.messages[1].content`. */
  readonly field: string
  /** The recorded value, as text for error messages. */
  readonly recorded: string
  readonly asked: string
}

export type Match =
  | { readonly kind: "found"; readonly index: number; readonly exchange: Exchange }
  /** All exchanges with an equal request were already used. */
  | { readonly kind: "used up"; readonly index: number; readonly times: number }
  | { readonly kind: "different"; readonly index: number; readonly first: Difference }
  | { readonly kind: "nothing" }

/** Finds the first unused exchange with an equal request, else the most similar one. */
export const find = (exchanges: ReadonlyArray<Exchange>, used: ReadonlySet<number>, asked: Request): Match => {
  let nearest:
    | { readonly index: number; readonly found: ReadonlyArray<Difference>; readonly distance: number }
    | undefined
  let like = 0
  let last = 0
  for (const [index, exchange] of exchanges.entries()) {
    const found = differences(exchange.request, asked)
    if (found.length === 0) {
      if (!used.has(index)) return { kind: "found", index, exchange }
      like++
      last = index
      continue
    }
    const distance = distanceOf(found, used.has(index))
    if (nearest === undefined || distance < nearest.distance) nearest = { index, found, distance }
  }
  if (like > 0) return { kind: "used up", index: last, times: like }
  const [first] = nearest?.found ?? []
  return nearest === undefined || first === undefined
    ? { kind: "nothing" }
    : { kind: "different", index: nearest.index, first }
}

/**
 * How different an exchange is from the request: the number of different fields. A different path or method counts more than any body. An
 * unused exchange counts as nearer than a used one.
 */
const distanceOf = (found: ReadonlyArray<Difference>, isUsed: boolean): number =>
  found.length + (isUsed ? 0.5 : 0) + (found.some(({ field }) => field === "path" || field === "method") ? 1000 : 0)

const differences = (recorded: Request, asked: Request): ReadonlyArray<Difference> => [
  ...texts("method", recorded.method, asked.method),
  ...texts("path", recorded.path, asked.path),
  ...values(recorded.json ?? recorded.text ?? null, asked.json ?? asked.text ?? null, [])
]

const texts = (field: string, recorded: string, asked: string): ReadonlyArray<Difference> =>
  isLike(recorded, asked) ? [] : [{ field, recorded: show(recorded), asked: show(asked) }]

/** Whether two texts are equal. A redacted secret in the recorded text equals any text. */
const isLike = (recorded: string, asked: string): boolean => {
  if (recorded === asked) return true
  if (!recorded.includes(mark)) return false
  const pieces = recorded.split(mark)
  let at = 0
  for (const [index, piece] of pieces.entries()) {
    const found = index === pieces.length - 1 ? asked.lastIndexOf(piece) : asked.indexOf(piece, at)
    if (found < at || (index === 0 && found !== 0)) return false
    at = found + piece.length
  }
  return at === asked.length
}

type Path = ReadonlyArray<string | number>

/** Lists the differences of two JSON values. The order of object fields does not count. */
const values = (recorded: Side, asked: Side, path: Path): ReadonlyArray<Difference> => {
  if (Predicate.isString(recorded) && Predicate.isString(asked)) return texts(inBody(path), recorded, asked)
  if (Array.isArray(recorded) && Array.isArray(asked)) {
    // Mutant `recorded.length >= asked.length` survives: of two lists of one length either has it
    const longer = recorded.length > asked.length ? recorded : asked
    return longer.flatMap((_, index) => values(recorded[index], asked[index], [...path, index]))
  }
  if (isFields(recorded) && isFields(asked)) {
    const names = new Set([...Object.keys(recorded), ...Object.keys(asked)])
    return [...names].flatMap((name) => values(ownOf(recorded, name), ownOf(asked, name), [...path, name]))
  }
  return recorded === asked ? [] : [{ field: inBody(path), recorded: show(recorded), asked: show(asked) }]
}

type Side = Schema.Json | undefined

type Fields = Readonly<Record<string, Schema.Json>>

const isFields = (value: Side): value is Fields => Predicate.isObject(value)

const ownOf = (fields: Fields, name: string): Side => (Object.hasOwn(fields, name) ? fields[name] : undefined)

const inBody = (path: Path): string => fieldOf(["body", ...path])

const maxShown = 80

const show = (value: Side): string =>
  value === undefined ? "nothing" : ErrorCause.cut(JSON.stringify(value) ?? "nothing", maxShown)
