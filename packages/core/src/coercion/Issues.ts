/** What is wrong with a value, as issues that name its places. */
import type * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as Issue from "../data/Issue.ts"
import { failingIn, isAbsence, isExtraAt } from "./failing.ts"

/** All that is wrong, without what the ladder drops anyway, unless that is all. */
export const issuesOf = (
  failure: SchemaIssue.Issue,
  value: Schema.Json,
  ladder: ReadonlyArray<string>
): ReadonlyArray<Issue.Issue> => {
  const all = Issue.fromSchema(failure, value)
  const dropsEmpty = ladder.includes("drop-empty")
  const dropsExtra = ladder.includes("drop-undeclared")
  if (!dropsEmpty && !dropsExtra) return all
  const failing = failingIn(failure)
  const wrong = all.filter(
    ({ path }) => !(dropsEmpty && isAbsence(failing, value, path)) && !(dropsExtra && isExtraAt(failing, value, path))
  )
  return wrong.length === 0 ? all : wrong
}
