/** Types that refuse failures which a tool cannot have. The error type of a row must be the error that the row gets at run time. */
import type { KintsugiError } from "../errors/KintsugiError.ts"

/** The errors of this library, by tag. */
type ByTag = { readonly [E in KintsugiError as E["_tag"]]: E }

/** The tags with which only the gates and rows of this library fail. */
type OfGates =
  | "InvalidArgs"
  | "DeserializationError"
  | "ToolTimeoutError"
  | "OutcomeUnknownError"
  | "ToolDeniedError"
  | "ApprovalExpiredError"
  | "UnknownToolError"

/**
 * The error with which every run of an agent may fail. If a tool has it, the tool runs an agent, and errors of gates come from that agent.
 */
type OfAgents = ByTag["BudgetExceededError"]

/**
 * Refuses a `run` with failures that a tool cannot have, with a sentence for each failure. If `E` is a type parameter, the compiler tries
 * it as `any`, and nothing is refused.
 */
export type OwnFailures<E, Key extends string = "run"> = ["refused"] extends [IsRefused<E>]
  ? { readonly [K in Key]: Refused<E> }
  : unknown

type IsRefused<E> = [E] extends ["any"] ? (["type"] extends [E] ? "fine" : Sure<E>) : Sure<E>

type Sure<E> = [Refused<E>] extends [never] ? "fine" : "refused"

type Refused<E> = [Extract<E, OfAgents>] extends [never] ? Refusal<E, OfGates> : Refusal<E, never>

/**
 * Refuses new failures of a tool if the tool has a row that was written without them: a row for all failures, or one for the same tag. If
 * `E` is a type parameter, nothing is refused.
 */
export type Nearer<T, E> = ["refused"] extends [IsAdded<T, E>] ? Added<T, E> : unknown

type IsAdded<T, E> = [E] extends ["any"] ? "fine" : [Added<T, E>] extends [never] ? "fine" : "refused"

type Added<T, E> = Refusal<E, never> | Written<E extends unknown ? Extract<keyof T, "orElse" | TagOf<E>> : never>

type TagOf<E> = E extends { readonly _tag: infer Tag } ? Tag : never

type Written<Key> = Key extends string
  ? `The row for ${Key} was written for other failures: put what adds failures to the tool before Tool.onError`
  : never

/** The sentence for each failure that is refused. Errors of this library are refused only if their tags are in `Gates`. */
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
