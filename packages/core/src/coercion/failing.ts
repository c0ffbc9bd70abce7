/** The tree of the keys of a value that do not decode, in one pass for any depth. */
import * as Predicate from "effect/Predicate"
import * as SchemaAST from "effect/SchemaAST"
import type * as SchemaIssue from "effect/SchemaIssue"
import { isNear, nearest } from "../data/Nearest.ts"

/** One position in the value. */
export class Failing {
  /** Whether this value itself has the wrong type; failures of nested values do not count. */
  isWrong = false
  /** Whether the schema expects a plain value, and not an encoded form such as the text of a date. */
  isPlain = false
  /** A required key is absent. */
  isMissing = false
  /** Whether the key is a field of a struct, and not a key of a record. */
  isField = false
  /** Whether the struct requires the key. */
  isRequired = false
  /** Whether the value has the key, but the struct does not declare it. */
  isUndeclared = false
  /** The fields of all structs that the value here was compared with. */
  readonly fields = new Set<PropertyKey>()
  readonly keys = new Map<PropertyKey, Failing>()
}

export const failingIn = (issue: SchemaIssue.Issue): Failing => {
  const root = new Failing()
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
      let target = at
      for (const key of issue.path) target = childOf(target, key)
      const field = fieldOf(parent, issue.path[0])
      if (field !== undefined) {
        target.isField = true
        target.isRequired ||= !SchemaAST.isOptional(field.type)
      }
      return enter(issue.issue, target, true)
    }
    case "Composite":
      if (SchemaAST.isObjects(issue.ast)) for (const { name } of issue.ast.propertySignatures) at.fields.add(name)
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
      at.isUndeclared ||= SchemaAST.isObjects(issue.ast)
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
  const existing = at.keys.get(key)
  if (existing !== undefined) return existing
  const child = new Failing()
  at.keys.set(key, child)
  return child
}

const fieldOf = (
  ast: SchemaAST.AST | undefined,
  key: PropertyKey | undefined
): SchemaAST.PropertySignature | undefined =>
  ast?._tag === "Objects" && Predicate.isString(key)
    ? ast.propertySignatures.find(({ name }) => name === key)
    : undefined

/**
 * Whether a key of an object means nothing to the schema: no struct there has it as a field, and it is no slip of a field that is
 * absent.
 */
export const isExtra = (within: Failing, value: object, key: PropertyKey): boolean => {
  if (within.keys.get(key)?.isUndeclared !== true || within.fields.has(key)) return false
  // a limit, so that this takes bounded time
  if (within.keys.size > mostExtra) return false
  return !absentIn(within, value).some((field) => isNear(field, String(key)))
}

/** The declared fields that are absent. */
const absentIn = ({ fields }: Failing, value: object): ReadonlyArray<string> =>
  [...fields].filter((field) => !Object.hasOwn(value, field)).map(String)

const mostExtra = 100

/** Whether an issue is about a key that means nothing to the schema. */
export const isExtraAt = (failing: Failing, value: unknown, path: ReadonlyArray<PropertyKey>): boolean =>
  aroundKey(failing, value, path, isExtra) === true

/** The field that is absent and was probably meant by the key that an issue is about. */
export const meantAt = (failing: Failing, value: unknown, path: ReadonlyArray<PropertyKey>): string | undefined =>
  aroundKey(failing, value, path, (within, there, key) =>
    within.keys.size > mostExtra ? undefined : nearest(String(key), absentIn(within, there))
  )

const aroundKey = <A>(
  failing: Failing,
  value: unknown,
  path: ReadonlyArray<PropertyKey>,
  look: (within: Failing, there: object, key: PropertyKey) => A
): A | undefined => {
  const [key] = path.slice(-1)
  const found = locate(failing, value, path.slice(0, -1))
  if (key === undefined || found === undefined || !Predicate.isObject(found.there)) return undefined
  return look(found.at, found.there, key)
}

/**
 * Whether the value is a `null` in place of an absent optional field. Models that must name every field write this. It is no failure by
 * itself.
 */
export const isAbsence = (failing: Failing, value: unknown, path: ReadonlyArray<PropertyKey>): boolean => {
  const found = locate(failing, value, path)
  return found !== undefined && found.there === null && found.at.isField && !found.at.isRequired
}

const locate = (failing: Failing, value: unknown, path: ReadonlyArray<PropertyKey>) => {
  let at = failing
  let there = value
  for (const key of path) {
    const next = at.keys.get(key)
    if (next === undefined || !Predicate.isObjectOrArray(there) || !Object.hasOwn(there, key)) return undefined
    there = Reflect.get(there, key)
    at = next
  }
  return { at, there }
}
