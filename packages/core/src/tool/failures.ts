/** The failures that a tool may have: what a row of a table is typed by has to be what the row gets. */
import type { KintsugiError } from "../errors/KintsugiError.ts"

/** The errors of this library, by tag. */
type ByTag = { readonly [E in KintsugiError as E["_tag"]]: E }

/** What gates and rows alone fail with. */
type OfGates =
  | "InvalidArgs"
  | "DeserializationError"
  | "ToolTimeoutError"
  | "OutcomeUnknownError"
  | "ToolDeniedError"
  | "ApprovalExpiredError"
  | "UnknownToolError"

/** What every run of an agent may fail with: where it is, the others are what a sub-agent has left. */
type OfAgents = ByTag["BudgetExceededError"]

/**
 * Refuses a `run` with failures that a tool cannot have, with a sentence for each. Where `E` is a type parameter nothing is
 * refused: `any`, as which the compiler tries it, is fine.
 */
export type OwnFailures<E, Key extends string = "run"> = ["refused"] extends [IsRefused<E>]
  ? { readonly [K in Key]: Refused<E> }
  : unknown

type IsRefused<E> = [E] extends ["any"] ? (["type"] extends [E] ? "fine" : Sure<E>) : Sure<E>

type Sure<E> = [Refused<E>] extends [never] ? "fine" : "refused"

type Refused<E> = [Extract<E, OfAgents>] extends [never] ? Refusal<E, OfGates> : Refusal<E, never>

/**
 * Refuses more failures below a row that was written without them: the one for all failures, or one for the same tag. As above, nothing is
 * refused where `E` is a type parameter.
 */
export type Nearer<T, E> = ["refused"] extends [IsAdded<T, E>] ? Added<T, E> : unknown

type IsAdded<T, E> = [E] extends ["any"] ? "fine" : [Added<T, E>] extends [never] ? "fine" : "refused"

type Added<T, E> = Refusal<E, never> | Written<E extends unknown ? Extract<keyof T, "orElse" | TagOf<E>> : never>

type TagOf<E> = E extends { readonly _tag: infer Tag } ? Tag : never

type Written<Key> = Key extends string
  ? `The row for ${Key} was written for other failures: put what adds failures to the tool before Tool.onError`
  : never

/** One sentence for each failure that is refused; errors of the library are none, those of gates excepted. */
type Refusal<E, Gates> = E extends { readonly _tag: infer Tag extends string }
  ? string extends Tag
    ? "The tag of a failure of this tool is only a string: give each failure a tag of its own"
    : Tag extends Gates
      ? `A tool cannot fail with '${Tag & string}': the library alone does, before and after a tool runs. Map it to a failure of the tool`
      : Tag extends keyof ByTag
        ? E extends ByTag[Tag]
          ? never
          : `'${Tag}' is the tag of an error of the library: give the failure of this tool another tag`
        : never
  : never
