/**
 * Makes an object of the text that a model sent as arguments, by the cheapest step that succeeds, before anybody is
 * asked to repair it: the text as it is, without its code fence, its first balanced block, and last what a JSON repair
 * library makes of it. Only an object counts: prose is never taken for a quoted string.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { jsonrepair } from "jsonrepair"

export type Step = "strip-fences" | "first-block" | "repair"

/** All steps, in order. */
export const steps: ReadonlyArray<Step> = ["strip-fences", "first-block", "repair"]

/** One step that changed something. */
export interface Change {
  readonly step: Step
  readonly path: ReadonlyArray<string | number>
  readonly before: unknown
  readonly after: unknown
}

export interface Parsed {
  readonly value: Schema.Json
  readonly changes: ReadonlyArray<Change>
}

const unchanged: ReadonlyArray<Change> = []

/** The value of a text, or why it is no JSON. Valid JSON passes as it is. */
export const parse = (text: string, ladder: ReadonlyArray<Step> = steps): Result.Result<Parsed, string> => {
  const first = parseJson(text)
  if (Result.isSuccess(first)) return Result.succeed({ value: first.success, changes: unchanged })
  const changes: Array<Change> = []
  let current = text
  for (const step of ladder) {
    const after = apply[step](current)
    if (after === undefined || after === current) continue
    changes.push({ step, path: [], before: current, after })
    current = after
    const parsed = parseJson(current)
    if (Result.isSuccess(parsed) && Predicate.isObject(parsed.success)) {
      return Result.succeed({ value: parsed.success, changes })
    }
  }
  return Result.fail(first.failure)
}

const parseJson = (text: string): Result.Result<Schema.Json, string> =>
  Result.try({
    // JSON.parse returns nothing but JSON
    try: () => JSON.parse(text) as Schema.Json,
    catch: (error) => (error instanceof Error ? error.message : String(error))
  })

const apply: Record<Step, (text: string) => string | undefined> = {
  "strip-fences": (text) => /^\s*```[\w-]*[ \t]*\n?([\s\S]*?)\n?[ \t]*```\s*$/.exec(text)?.[1],
  "first-block": (text) => firstBlock(text),
  repair: (text) => {
    if (!text.includes("{")) return undefined
    const repaired = Result.try(() => jsonrepair(text))
    return Result.isSuccess(repaired) ? repaired.success : undefined
  }
}

/** The first `{…}` whose braces balance outside of strings. */
const firstBlock = (text: string): string | undefined => {
  const start = text.indexOf("{")
  if (start < 0) return undefined
  let depth = 0
  let inString = false
  for (let i = start; i < text.length; i++) {
    const char = text[i]
    if (inString) {
      if (char === "\\") i++
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === "{") depth++
    else if (char === "}" && --depth === 0) return text.slice(start, i + 1)
  }
  return undefined
}
