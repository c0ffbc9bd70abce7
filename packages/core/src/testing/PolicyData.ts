/** Policies as plain data, which can be generated, printed and shrunk; and the verdicts that they mean. */
import * as Effect from "effect/Effect"
import type * as Backoff from "../recovery/Backoff.ts"
import * as Recovery from "../recovery/Recovery.ts"
import type { Failure } from "./FailureScript.ts"

/** A policy as data: it can be drawn, printed and made smaller. */
export type PolicyData =
  | { readonly kind: "retry"; readonly options: Options }
  /** Answers `"answer"` after so many milliseconds; or its handler fails with a `HandlerError`, or dies. */
  | { readonly kind: "respondWith"; readonly after: number; readonly handler: "succeeds" | "fails" | "dies" }
  | { readonly kind: "rethrow" }
  | { readonly kind: "ladder"; readonly rungs: ReadonlyArray<PolicyData> }
  /** The first up to that attempt, then the second. */
  | { readonly kind: "when"; readonly until: number; readonly first: PolicyData; readonly second: PolicyData }

/** `Backoff.Options` in milliseconds. */
export type Options = Backoff.Count & {
  readonly initialBackoff?: number
  readonly factor?: number
  readonly maxBackoff?: number
  readonly jitter?: "none" | "full" | "equal" | number
  readonly maxHint?: number
}

/** A policy for each tag, and one for the rest. */
export type TableData<Tag extends string = string> = { readonly [K in Tag | "orElse"]?: PolicyData }

/** What a failing handler fails with. */
export interface HandlerError {
  readonly _tag: "HandlerError"
}

/** The verdict of such data. */
export type Verdict = Recovery.Verdict<Failure, string, HandlerError, never, "exhausted" | "rethrow", "repeats">

/** The verdict of a policy. A `when` names its choices, so that it can be explained. */
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

/** A ladder of one to four rungs; without any, the failure leaves as itself. */
export const ladderOf = ([first = Recovery.rethrow, second, third, fourth]: ReadonlyArray<Verdict>): Verdict => {
  if (second === undefined) return Recovery.ladder(first)
  if (third === undefined) return Recovery.ladder(first, second)
  return fourth === undefined ? Recovery.ladder(first, second, third) : Recovery.ladder(first, second, third, fourth)
}

const handlers: { readonly [K in "succeeds" | "fails" | "dies"]: Effect.Effect<string, HandlerError> } = {
  succeeds: Effect.succeed("answer"),
  fails: Effect.fail({ _tag: "HandlerError" }),
  dies: Effect.die("defect of a handler")
}

/** The table of verdicts that a table of data means: for `Recovery.onError`, `Recovery.explain` and `trace`. */
export const tableOf = <Tag extends string>(table: TableData<Tag>): { readonly [K in Tag | "orElse"]?: Verdict } =>
  // the same keys
  Object.fromEntries(
    Object.entries<PolicyData | undefined>(table).flatMap(([row, policy]) =>
      policy === undefined ? [] : [[row, verdictOf(policy)]]
    )
  ) as { readonly [K in Tag | "orElse"]?: Verdict }
