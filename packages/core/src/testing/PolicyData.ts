/** Policies as plain data, and their conversion to verdicts. Data can be generated, printed and shrunk. */
import * as Effect from "effect/Effect"
import * as Recovery from "../recovery/Recovery.ts"
import type { Failure } from "./failures.ts"
import type { Count } from "../recovery/Node.ts"

/** A policy as plain data. All its times are in milliseconds. */
export type PolicyData =
  | { readonly kind: "retry"; readonly options: Options }
  /** A handler. After `after` milliseconds it answers `"answer"`, fails with the tag `HandlerError`, or dies. */
  | { readonly kind: "respondWith"; readonly after: number; readonly handler: "succeeds" | "fails" | "dies" }
  | { readonly kind: "rethrow" }
  | { readonly kind: "ladder"; readonly rungs: ReadonlyArray<PolicyData> }
  /** The policy `first` up to attempt `until`, then the policy `second`. */
  | { readonly kind: "when"; readonly until: number; readonly first: PolicyData; readonly second: PolicyData }

/** `Backoff.Options` in milliseconds. */
type Options = Count & {
  readonly initialBackoff?: number
  readonly factor?: number
  readonly maxBackoff?: number
  readonly jitter?: "none" | "full" | "equal" | number
  readonly maxHint?: number
}

/** A table as plain data: a policy for each tag, and `orElse` for all other tags. */
export type TableData<Tag extends string = string> = { readonly [K in Tag | "orElse"]?: PolicyData }

/** The failure of a `respondWith` whose handler fails. */
interface HandlerError {
  readonly _tag: "HandlerError"
}

type Verdict = Recovery.Verdict<Failure, string, HandlerError, never, "exhausted" | "rethrow", "repeats">

/** Makes the verdict of a policy. For a `when` it lists both choices, so that `Recovery.explain` knows them. */
export const verdictOf = (policy: PolicyData): Verdict => {
  switch (policy.kind) {
    case "retry":
      return Recovery.retry(policy.options)
    case "rethrow":
      return Recovery.rethrow
    case "respondWith":
      return policy.handler === "succeeds" && policy.after === 0
        ? Recovery.respondWith("answer")
        : Recovery.respondWith(() => Effect.delay(handlers[policy.handler], policy.after))
    case "ladder":
      return ladderOf(policy.rungs.map(verdictOf))
    case "when": {
      const among = [verdictOf(policy.first), verdictOf(policy.second)] as const
      return Recovery.when((_: Failure, { attempt }) => among[attempt <= policy.until ? 0 : 1], { among })
    }
  }
}

/** Makes a ladder of one to four rungs. Without rungs the ladder rethrows the failure. */
const ladderOf = ([first = Recovery.rethrow, second, third, fourth]: ReadonlyArray<Verdict>): Verdict => {
  if (second === undefined) return Recovery.ladder(first)
  if (third === undefined) return Recovery.ladder(first, second)
  return fourth === undefined ? Recovery.ladder(first, second, third) : Recovery.ladder(first, second, third, fourth)
}

const handlers: { readonly [K in "succeeds" | "fails" | "dies"]: Effect.Effect<string, HandlerError> } = {
  succeeds: Effect.succeed("answer"),
  fails: Effect.fail({ _tag: "HandlerError" }),
  dies: Effect.die("defect of a handler")
}

/** The table of verdicts of a table of data. It is for `Recovery.onError`, `Recovery.explain` and `Trace.trace`. */
export const tableOf = <Tag extends string>(table: TableData<Tag>): { readonly [K in Tag | "orElse"]?: Verdict } =>
  // the result has the keys of the table
  Object.fromEntries(
    Object.entries<PolicyData | undefined>(table).flatMap(([row, policy]) =>
      policy === undefined ? [] : [[row, verdictOf(policy)]]
    )
  ) as { readonly [K in Tag | "orElse"]?: Verdict }
