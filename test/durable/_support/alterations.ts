/** What an attacker may do to a JSON document on its way: at any place, to any field. */
import fc from "fast-check"

export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** Where, by how far through all places of the document, and what. */
export interface Alteration {
  readonly at: number
  readonly does:
    | { readonly kind: "set"; readonly value: Json }
    | { readonly kind: "remove" | "swap" | "nudge" | "double" }
    | { readonly kind: "add"; readonly key: string; readonly value: Json }
}

const json = fc.oneof(
  fc.constantFrom<Json>(null, true, false, 0, 1, -1, 1e9, "", "Infinity", "NaN", [], {}, "approve", Infinity, -0),
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>
)

export const alteration: fc.Arbitrary<Alteration> = fc.record({
  at: fc.noBias(fc.nat({ max: 999_999 })).map((n) => n / 1_000_000),
  does: fc.oneof(
    fc.record({ kind: fc.constant("set" as const), value: json }),
    fc.record({ kind: fc.constantFrom("remove" as const, "swap" as const, "nudge" as const, "double" as const) }),
    fc.record({
      kind: fc.constant("add" as const),
      key: fc.constantFrom("id", "signature", "nested", "skill", "again", "__proto__", "x", "grants"),
      value: json
    })
  )
})

type Path = ReadonlyArray<string | number>

const pathsOf = (value: Json, path: Path = []): ReadonlyArray<Path> => {
  if (typeof value !== "object" || value === null) return [path]
  const inside = Array.isArray(value)
    ? value.flatMap((item: Json, index) => pathsOf(item, [...path, index]))
    : Object.entries(value).flatMap(([key, item]) => pathsOf(item, [...path, key]))
  return [path, ...inside]
}

const at = (value: Json | undefined, [key, ...rest]: Path): Json | undefined => {
  if (key === undefined || value === undefined) return value
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined
  return at((value as Record<string | number, Json>)[key], rest)
}

/** Another value in that place; `undefined` takes the place away. */
const put = (value: Json, [key, ...rest]: Path, made: Json | undefined): Json | undefined => {
  if (key === undefined) return made
  if (Array.isArray(value)) {
    return value.flatMap((item: Json, index) => {
      if (index !== key) return [item]
      const inner = put(item, rest, made)
      return inner === undefined ? [] : [inner]
    })
  }
  const fields = value as { readonly [key: string]: Json }
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, item]) => {
      if (name !== key) return [[name, item]]
      const inner = put(item, rest, made)
      return inner === undefined ? [] : [[name, inner]]
    })
  )
}

const nudged = (value: Json): Json => {
  if (typeof value === "number") return value + 1
  if (typeof value === "string") return `${value} `
  if (typeof value === "boolean") return !value
  return Array.isArray(value) ? value.toReversed() : value
}

/** The altered document; nothing where it says the same as before. */
export const altered = (document: Json, other: Json, { at: share, does }: Alteration): Json | undefined => {
  const paths = pathsOf(document)
  const path = paths[Math.floor(share * paths.length)] ?? []
  // the whole other document is one that was signed
  if (path.length === 0 && does.kind === "swap") return undefined
  const before = at(document, path) ?? null
  const made = ((): Json | undefined => {
    switch (does.kind) {
      case "set":
        return does.value
      case "remove":
        return undefined
      case "swap":
        return at(other, path) ?? null
      case "nudge":
        return nudged(before)
      case "double":
        return Array.isArray(before) ? [...before, ...(before as ReadonlyArray<Json>)] : [before]
      case "add":
        return typeof before === "object" && before !== null && !Array.isArray(before)
          ? Object.fromEntries([...Object.entries(before), [does.key, does.value]])
          : { [does.key]: before }
    }
  })()
  const forged = path.length === 0 && made === undefined ? null : put(document, path, made)
  return forged === undefined || isSame(forged, document) ? undefined : forged
}

/** Whether two documents say the same, in any order of their fields. */
const isSame = (a: Json, b: Json): boolean => {
  if (typeof a !== "object" || a === null || typeof b !== "object" || b === null) return a === b
  const [left, right] = [Object.entries(a), Object.entries(b)]
  return (
    Array.isArray(a) === Array.isArray(b) &&
    left.length === right.length &&
    left.every(([key, item]) => Object.hasOwn(b, key) && isSame(item, (b as Record<string, Json>)[key] ?? null))
  )
}
