/** The steps on a text that is no JSON. Each returns a new text, or `undefined` if it does not apply. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { repair } from "./repair.ts"

/** The shape of what a model writes: arguments are objects, an answer may be a list. */
export type Shape = "object" | "list"

export const isOf: Record<Shape, (value: Schema.Json) => boolean> = { object: Predicate.isObject, list: Array.isArray }

export const parseJson = (text: string): Result.Result<Schema.Json, string> =>
  Result.try({
    // JSON.parse returns nothing but JSON
    try: () => JSON.parse(text) as Schema.Json,
    catch: (error) => (error instanceof Error ? error.message : String(error))
  })

/** In order. */
export const textSteps = ["strip-fences", "first-block", "repair"] as const

export type TextStep = (typeof textSteps)[number]

export const mendText: Record<TextStep, (text: string, shape: Shape) => string | undefined> = {
  "strip-fences": (text) => withoutFence(text.trim()),
  "first-block": (text, shape) => (shape === "object" ? firstBlock(text, "{", "}") : firstBlock(text, "[", "]")),
  repair: (text, shape) => (text.includes(shape === "object" ? "{" : "[") ? repair(text) : undefined)
}

const fence = "```"

/** The text between two fences, without the name of a language. */
const withoutFence = (text: string): string | undefined => {
  const isFenced = text.length >= 2 * fence.length && text.startsWith(fence) && text.endsWith(fence)
  if (!isFenced) return undefined
  return text
    .slice(fence.length, -fence.length)
    .replace(/^[\w-]*/, "")
    .trim()
}

/** The first `{…}`, or `[…]`, whose brackets balance outside of strings. */
const firstBlock = (text: string, opening: string, closing: string): string | undefined => {
  const start = text.indexOf(opening)
  // Mutant `false` survives: speed only. Without an opening bracket none closes
  if (start < 0) return undefined
  let depth = 0
  let inString = false
  for (let i = start; i < text.length; i++) {
    const char = text[i]
    if (inString) {
      if (char === "\\") i++
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === opening) depth++
    else if (char === closing && --depth === 0) return text.slice(start, i + 1)
  }
  return undefined
}
