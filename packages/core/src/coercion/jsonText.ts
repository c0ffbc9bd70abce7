/** The steps on a text that is no JSON. Each gives a new text, or nothing where it has nothing to do. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { repair } from "./repair.ts"

/** In order. */
export const textSteps = ["strip-fences", "first-block", "repair"] as const

export type TextStep = (typeof textSteps)[number]

export interface TextChange {
  readonly step: TextStep
  readonly path: readonly []
  readonly before: string
  readonly after: string
}

export interface Read {
  readonly value: Schema.Json
  /** The JSON that was parsed. */
  readonly text: string
  readonly changes: ReadonlyArray<TextChange>
}

/** Arguments are objects; an answer may be a list. */
export type Shape = "object" | "list"

const unchanged: Read["changes"] = []

/** Any JSON passes as it is. What steps make of other text has to have the shape: prose is never taken for a string. */
export const readText = (text: string, ladder: ReadonlyArray<string>, shape: Shape): Result.Result<Read, string> => {
  const first = parseJson(text)
  if (Result.isSuccess(first)) return Result.succeed({ value: first.success, text, changes: unchanged })
  const changes: Array<TextChange> = []
  let current = text
  for (const step of textSteps) {
    const after = ladder.includes(step) ? apply[step](current, brackets[shape]) : undefined
    if (after === undefined || after === current) continue
    changes.push({ step, path: [], before: current, after })
    current = after
    const parsed = parseJson(current)
    if (Result.isSuccess(parsed) && isOf[shape](parsed.success)) {
      return Result.succeed({ value: parsed.success, text: current, changes })
    }
  }
  return Result.fail(first.failure)
}

export const parseJson = (text: string): Result.Result<Schema.Json, string> =>
  Result.try({
    // JSON.parse returns nothing but JSON
    try: () => JSON.parse(text) as Schema.Json,
    catch: (error) => (error instanceof Error ? error.message : String(error))
  })

const isOf: Record<Shape, (value: Schema.Json) => boolean> = { object: Predicate.isObject, list: Array.isArray }

interface Brackets {
  readonly open: string
  readonly close: string
}

const brackets: Record<Shape, Brackets> = { object: { open: "{", close: "}" }, list: { open: "[", close: "]" } }

const apply: Record<TextStep, (text: string, brackets: Brackets) => string | undefined> = {
  "strip-fences": (text) => withoutFence(text.trim()),
  "first-block": firstBlock,
  repair: (text, { open }) => (text.includes(open) ? repair(text) : undefined)
}

const fence = "```"

/** What stands between two fences, without the name of a language. */
const withoutFence = (text: string): string | undefined => {
  const isFenced = text.length >= 2 * fence.length && text.startsWith(fence) && text.endsWith(fence)
  if (!isFenced) return undefined
  return text
    .slice(fence.length, -fence.length)
    .replace(/^[\w-]*/, "")
    .trim()
}

/** The first `{…}`, or `[…]`, whose brackets balance outside of strings. */
function firstBlock(text: string, { close, open }: Brackets): string | undefined {
  const start = text.indexOf(open)
  if (start < 0) return undefined
  let depth = 0
  let inString = false
  for (let i = start; i < text.length; i++) {
    const char = text[i]
    if (inString) {
      if (char === "\\") i++
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === open) depth++
    else if (char === close && --depth === 0) return text.slice(start, i + 1)
  }
  return undefined
}
