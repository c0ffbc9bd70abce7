/** What a reply says about itself, in forms that no provider documents: the reply is read all the same [P1407]. */
import { bodyOf, both, changed, each, isGood } from "./answers.ts"
import type { Scenario } from "./scenario.ts"

/** Fields that say which reply it is, who made it, and when. */
const fields =
  /"(model|modelVersion|responseId|created|created_at|createTime|system_fingerprint|service_tier)":(?:"[^"]*"|null|\d+)/g

const values: ReadonlyArray<readonly [what: string, json: string]> = [
  ["null", "null"],
  ["a number", "7"],
  ["an empty text", '""'],
  ["a list", "[[]]"],
  ["an object", '{"id":{"a":[1]}}'],
  ["names of objects", '"__proto__"'],
  ["a text without an end", `"${"x".repeat(100_000)}"`]
]

export const facts: ReadonlyArray<Scenario> = values.flatMap(([what, json]) =>
  each("facts", `${what} in the place of what a reply says about itself`, () => ({
    modes: both,
    serve: changed((good) => ({ body: bodyOf(good).replace(fields, (_, name: string) => `"${name}":${json}`) })),
    expected: isGood
  }))
)
