/** The places where a value does not fit a schema. Each has the field, the expected value and the actual one. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as ErrorCause from "./ErrorCause.ts"

/** One place where a value does not fit its schema. */
export interface Issue extends Schema.Schema.Type<typeof Issue> {}

export const Issue = Schema.Struct({
  /** From the root to the field; empty for the value itself. */
  path: Schema.Array(Schema.Union([Schema.String, Schema.Finite])),
  expected: Schema.String,
  actual: Schema.String
})

const formatter = SchemaIssue.makeFormatterStandardSchemaV1()

/** A long list may misfit in each item by each alternative: errors, events and snapshots hold no more issues than this. */
const mostIssues = 1000

/** The first 1,000 issues that a decoder found in `input`. It finds more than one if its option `errors` is `all`. */
export const fromSchema = (issue: SchemaIssue.Issue, input: unknown): ReadonlyArray<Issue> =>
  formatter(issue)
    .issues.slice(0, mostIssues)
    .map((found) => {
      const path = (found.path ?? []).map((step) => {
        // Mutant `false` survives: the type admits segments with a key, but the formatter of Effect gives the keys themselves
        const key = Predicate.isObject(step) && "key" in step ? step.key : step
        return Predicate.isNumber(key) ? key : String(key)
      })
      return { path, expected: found.message, actual: describe(valueAt(input, path)) }
    })

/**
 * `user.tags[0]: Expected string, got number 3`
 *
 * @internal
 */
export const format = (issue: Issue): string => {
  const where = formatPath(issue.path)
  return `${where === "" ? "" : `${where}: `}${issue.expected}, got ${issue.actual}`
}

/**
 * The first 20 issues as one line of text. An example is `tags[0]: Expected string, got number 3`; a number says how many issues are left
 * out.
 */
export const formatAll = (issues: ReadonlyArray<Issue>): string => {
  const more = issues.length - mostFormatted
  const said = issues.slice(0, mostFormatted).map(format).join("; ")
  return more > 0 ? `${said}; and ${more} more` : said
}

const mostFormatted = 20

/**
 * Cuts a long path: a model may write keys of any length, and the beginning shows where to look.
 *
 * @internal
 */
export const formatPath = (path: ReadonlyArray<string | number>): string => {
  let text = ""
  for (const step of path) {
    if (text.length > maxPath) break
    text += Predicate.isNumber(step) ? `[${step}]` : text === "" ? step : `.${step}`
  }
  return ErrorCause.cut(text, maxPath)
}

const maxPath = 200

const absent: unique symbol = Symbol("absent")

const valueAt = (input: unknown, path: ReadonlyArray<string | number>): unknown => {
  let value: unknown = input
  for (const step of path) {
    if (!Predicate.isObjectOrArray(value) || !Object.hasOwn(value, step)) return absent
    value = Reflect.get(value, step)
  }
  return value
}

const maxShown = 60

const describe = (value: unknown): string => {
  if (value === absent || value === undefined) return "nothing"
  if (value === null) return "null"
  if (Predicate.isString(value)) return `string ${JSON.stringify(ErrorCause.cut(value, maxShown))}`
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (Predicate.isObject(value)) return "an object"
  return `${typeof value} ${String(value)}`
}
