/** Checks which fields of a body a codec keeps to itself, and what it says about them. */
import { assert } from "@effect/vitest"
import type { Schema } from "effect"

type Fields = Record<string, Schema.Json>

/** Further fields with a value at a path; a dot in a path leads into an object. */
const at = (path: string, value: Schema.Json): Fields => {
  const [first = "", ...rest] = path.split(".")
  return { [first]: rest.length === 0 ? value : at(rest.join("."), value) }
}

/** The fields that a codec writes alone, each with what to use instead; those that it merges; and those that have to be 1. */
export const refusesOwn = (
  make: (extra: Fields) => unknown,
  own: {
    readonly written: Readonly<Record<string, string>>
    readonly merged: Readonly<Record<string, "a list" | "an object">>
    readonly single: ReadonlyArray<string>
  }
): void => {
  const refused = (path: string, value: Schema.Json, words: string) =>
    assert.throws(() => make(at(path, value)), RangeError, words)
  for (const [path, instead] of Object.entries(own.written)) {
    refused(path, "x", `the library writes the field '${path}': use ${instead}`)
  }
  for (const [name, kind] of Object.entries(own.merged)) {
    const [right, wrong] = kind === "a list" ? [[], {}] : [{}, []]
    refused(name, wrong, `the field '${name}' has to be ${kind}`)
    refused(name, "x", `the field '${name}' has to be ${kind}`)
    assert.doesNotThrow(() => make(at(name, right)))
  }
  for (const path of own.single) {
    refused(path, 2, `the field '${path}' has to be 1`)
    assert.doesNotThrow(() => make(at(path, 1)))
  }
}
