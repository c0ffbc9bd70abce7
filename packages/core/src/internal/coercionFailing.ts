/** Where a value does not decode, as the tree of its failing keys: in one pass, however deep the value is. */
import * as Predicate from "effect/Predicate"
import type * as SchemaAST from "effect/SchemaAST"
import type * as SchemaIssue from "effect/SchemaIssue"

/** One place in the value. */
export interface Failing {
  /** The value here is not what was expected; what is only wrong further down does not count. */
  isWrong: boolean
  /** A value was expected that is no wire form of something else, as the text of a date is. */
  isPlain: boolean
  /** A required key is absent. */
  isMissing: boolean
  /** The key is a field of a struct, not one of a record. */
  isField: boolean
  readonly keys: Map<PropertyKey, Failing>
}

const make = (): Failing => ({ isWrong: false, isPlain: false, isMissing: false, isField: false, keys: new Map() })

export const failingIn = (issue: SchemaIssue.Issue): Failing => {
  const root = make()
  enter(issue, root, true)
  return root
}

const enter = (issue: SchemaIssue.Issue, at: Failing, isPlain: boolean, parent?: SchemaAST.AST): void => {
  switch (issue._tag) {
    case "Filter":
      return enter(issue.issue, at, isPlain)
    case "Encoding":
      return enter(issue.issue, at, false)
    case "Pointer": {
      let place = at
      for (const key of issue.path) place = childOf(place, key)
      const [key] = issue.path
      if (isFieldOf(parent, key)) place.isField = true
      return enter(issue.issue, place, true)
    }
    case "Composite":
      for (const inner of issue.issues) enter(inner, at, isPlain, issue.ast)
      return
    case "AnyOf":
      if (issue.issues.length === 0) return mark(at, isPlain)
      for (const inner of issue.issues) enter(inner, at, isPlain)
      return
    case "MissingKey":
      at.isMissing = true
      return
    case "UnexpectedKey":
      return
    default:
      return mark(at, isPlain)
  }
}

const mark = (at: Failing, isPlain: boolean): void => {
  at.isWrong = true
  at.isPlain ||= isPlain
}

const childOf = (at: Failing, key: PropertyKey): Failing => {
  const known = at.keys.get(key)
  if (known !== undefined) return known
  const child = make()
  at.keys.set(key, child)
  return child
}

const isFieldOf = (ast: SchemaAST.AST | undefined, key: PropertyKey | undefined): boolean =>
  ast?._tag === "Objects" && Predicate.isString(key) && ast.propertySignatures.some(({ name }) => name === key)
