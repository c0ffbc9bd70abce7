/** The failures of a value, as issues with paths. */
import type * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as Issue from "../data/Issue.ts"
import { type Failing, failingIn, isAbsence, isExtraAt, meantAt } from "./failing.ts"

/** All issues, without those about fields that the ladder drops anyway, unless there are no others. */
export const issuesOf = (
  failure: SchemaIssue.Issue,
  value: Schema.Json,
  ladder: ReadonlyArray<string>
): ReadonlyArray<Issue.Issue> => {
  const failing = failingIn(failure)
  const all = Issue.fromSchema(failure, value).map((issue) => named(failing, value, issue))
  const dropsEmpty = ladder.includes("drop-empty")
  const dropsExtra = ladder.includes("drop-undeclared")
  const wrong = all.filter(
    ({ path }) => !(dropsEmpty && isAbsence(failing, value, path)) && !(dropsExtra && isExtraAt(failing, value, path))
  )
  return wrong.length === 0 ? all : wrong
}

/** Effect's message about an undeclared key. */
const excess = "Expected no excess property"

/** Adds the declared key that an undeclared key may mean. */
const named = (failing: Failing, value: Schema.Json, issue: Issue.Issue): Issue.Issue => {
  if (issue.expected !== excess) return issue
  const meant = meantAt(failing, value, issue.path)
  return { ...issue, expected: `Expected no such key${meant === undefined ? "" : ` (did you mean ${meant}?)`}` }
}
