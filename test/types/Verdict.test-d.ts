/** Verdicts as values: what they are made from, and what their types say. */
import { type AgentEvent, Backoff, Recovery, type RunError, type ToolError } from "@kintsugi/core"
import { type Duration, Effect, type Schedule } from "effect"
import { describe, it } from "vitest"
import { type Equal, type Expect, sameType } from "./_support/Identity.ts"
import {
  ask,
  type BadArgs,
  type Boom,
  cleanup,
  type Db,
  lookup,
  type NoKeys,
  type Oops,
  risky,
  strict
} from "./_support/subjects.ts"

type ErrorOf<V> = V extends Recovery.Verdict<never, unknown, infer E, unknown, unknown, unknown> ? E : never
type ServicesOf<V> = V extends Recovery.Verdict<never, unknown, unknown, infer R, unknown, unknown> ? R : never

declare const careful: Schedule.Schedule<number, NoKeys, Oops, Db>

describe("verdicts as values", () => {
  it("their types list how they may end [A509]", () => {
    const retry = Recovery.retry({ retries: 1 })
    const scheduled = Recovery.retry(careful)
    const fix = Recovery.fix(lookup)
    const tell = Recovery.tell((error: NoKeys) => error.json)
    const escalate = Recovery.escalate({ severity: "LOW" })
    const value = Recovery.respondWith(1)
    const effect = Recovery.respondWith((error: NoKeys) => Effect.as(ask, error.json.length))
    const ladder = Recovery.ladder(retry, fix, tell)
    const when = Recovery.when((error: NoKeys) => (error.json === "" ? ladder : Recovery.raise))
    type _ = [
      Expect<Equal<typeof retry, Recovery.Retry<unknown, never, never, "repeats">>>,
      Expect<Equal<typeof scheduled, Recovery.Retry<NoKeys, Oops, Db, "repeats">>>,
      Expect<Equal<typeof fix, Recovery.Verdict<unknown, never, never, Db, "exhausted", "repeats" | "repairs">>>,
      Expect<Equal<typeof tell, Recovery.Verdict<NoKeys, never, never, never, "told">>>,
      Expect<Equal<typeof escalate, Recovery.Verdict<unknown, never, never, never, "told">>>,
      Expect<Equal<typeof value, Recovery.Verdict<unknown, 1>>>,
      Expect<Equal<typeof effect, Recovery.Verdict<NoKeys, number, Oops, Db>>>,
      Expect<Equal<typeof Recovery.raise, Recovery.Verdict<unknown, never, never, never, "raise">>>,
      Expect<Equal<typeof Recovery.rethrow, Recovery.Verdict<unknown, never, never, never, "rethrow">>>,
      Expect<Equal<typeof ladder, Recovery.Verdict<NoKeys, never, never, Db, "told", "repeats" | "repairs">>>,
      Expect<Equal<typeof when, Recovery.Verdict<NoKeys, never, never, Db, "told" | "raise", "repeats" | "repairs">>>
    ]
  })

  it("what a handler fails with and needs shows up as itself, once [A509]", () => {
    const answer = Recovery.respondWith(() => ask)
    const ladder = Recovery.ladder(Recovery.fix(lookup), answer)
    type _ = [
      Expect<Equal<ErrorOf<typeof answer> | Oops, Oops>>,
      Expect<Equal<ServicesOf<typeof answer> | Db, Db>>,
      Expect<Equal<ErrorOf<typeof ladder> | Oops, Oops>>,
      Expect<Equal<ServicesOf<typeof ladder> | Db, Db>>
    ]
  })

  it("a fixer that may end with ToolExecutionError leaves it, with any rung after it [A311]", () => {
    const verdict = Recovery.ladder(Recovery.fix(strict), Recovery.tell())
    sameType<Recovery.Verdict<unknown, never, ToolError.ToolExecutionError, Db, "told", "repeats" | "repairs">>()(
      verdict
    )
  })

  it("exactly one of retries and maxAttempts is given [A203]", () => {
    Recovery.retry({ retries: 1 })
    Recovery.retry({ maxAttempts: 1 })
    Backoff.make({ retries: 1 })
    // @ts-expect-error both are given
    Recovery.retry({ retries: 1, maxAttempts: 2 })
    // @ts-expect-error neither is given
    Recovery.retry({})
    // @ts-expect-error neither is given
    Recovery.retry({ initialBackoff: "1 second" })
    // @ts-expect-error neither is given
    Recovery.retry()
    // @ts-expect-error both, acknowledged
    Recovery.retry({ retries: 1, maxAttempts: 2, acknowledge: "may run twice" })
    // @ts-expect-error one of them is undefined, which is not the same as absent
    Recovery.retry({ retries: 1, maxAttempts: undefined })
    // @ts-expect-error both are given
    Backoff.make({ retries: 1, maxAttempts: 2 })
    // @ts-expect-error neither is given
    Backoff.make({})
  })

  it("a fixer runs once by default, and never has both counts [A302]", () => {
    Recovery.fix(cleanup)
    Recovery.fix(cleanup, {})
    Recovery.fix(cleanup, { retries: 2 })
    Recovery.fix(cleanup, { maxAttempts: 2, as: "result" })
    // @ts-expect-error both are given
    Recovery.fix(cleanup, { retries: 1, maxAttempts: 2 })
    // @ts-expect-error arguments or result
    Recovery.fix(cleanup, { as: "text" })
  })

  it("a fixer goes from text to an effect of text [A301]", () => {
    // @ts-expect-error its answer is no text
    Recovery.fix((raw: string) => Effect.succeed(raw.length))
    // @ts-expect-error its input is no text
    Recovery.fix((raw: number) => Effect.succeed(String(raw)))
    // @ts-expect-error it is no effect
    Recovery.fix((raw: string) => raw)
  })

  it("the input of a fixer is built from the failure of the row, or that of its own last answer [A305]", () => {
    const verdict: Recovery.Verdict<NoKeys, never, never, never, "exhausted", "repeats" | "repairs"> = Recovery.fix(
      cleanup,
      {
        input: ({ context, error }) => {
          sameType<NoKeys | BadArgs>()(error)
          sameType<Recovery.FailureContext>()(context)
          return error.message
        }
      }
    )
    void verdict
  })

  it("a severity is one of four levels, in capitals [A405 A410]", () => {
    sameType<"LOW" | "MEDIUM" | "HIGH" | "CRITICAL">()("LOW" as ToolError.Severity)
    // @ts-expect-error no level
    Recovery.escalate({ severity: "URGENT" })
    // @ts-expect-error small letters
    Recovery.escalate({ severity: "high" })
  })

  it("a function as an answer gives an effect [A510]", () => {
    // @ts-expect-error it gives a bare value
    Recovery.respondWith(() => "none")
    // @ts-expect-error it gives another function
    Recovery.respondWith((error: NoKeys) => () => error.json)
  })

  it("when reads the failure and its context [A511]", () => {
    Recovery.when((error: NoKeys, context) => {
      sameType<{
        readonly attempt: number
        readonly isRepeated?: boolean
        readonly isUncertain?: boolean
        readonly runs?: number
        readonly previous: ReadonlyArray<unknown>
        readonly elapsed: Duration.Duration
        readonly failingBatches: number
        readonly failuresInARow: number
        readonly tool?: string
        readonly callId?: string
        readonly arguments?: unknown
        readonly params?: unknown
        readonly sideEffects?: "none" | "idempotent" | "unsafe" | "undeclared"
        readonly kind?: "local" | "web-service" | "llm" | "mcp-tool"
      }>()(context)
      return error.json === "" ? Recovery.tell() : Recovery.rethrow
    })
    // @ts-expect-error it answers with a verdict
    Recovery.when(() => "retry")
  })

  it("toSchedule gives the schedule of a retry, with its input, failures and needs [A516]", () => {
    sameType<Schedule.Schedule<unknown, NoKeys, Oops, Db>>()(Recovery.toSchedule(Recovery.retry(careful)))
    sameType<Schedule.Schedule<unknown, unknown>>()(Recovery.toSchedule(Recovery.retry({ retries: 1 })))
    sameType<Effect.Effect<number, NoKeys | Boom>>()(
      risky.pipe(Effect.retry(Recovery.toSchedule(Recovery.retry({ retries: 1 }))))
    )
    // @ts-expect-error no schedule can tell
    Recovery.toSchedule(Recovery.tell())
    // @ts-expect-error no schedule has rungs
    Recovery.toSchedule(Recovery.ladder(Recovery.retry({ retries: 1 })))
  })

  it("every Backoff is a schedule of any input [A516]", () => {
    type Any = Schedule.Schedule<Duration.Duration, unknown>
    sameType<Any>()(Backoff.make({ retries: 1 }))
    sameType<Any>()(Backoff.honouringHints())
    sameType<Any>()(Backoff.suggested())
    sameType<Schedule.Schedule<number, NoKeys, Oops, Db>>()(Backoff.withHints(careful))
  })

  it("an empty ladder does not compile, and one has at most four rungs [P1101]", () => {
    Recovery.ladder(Recovery.rethrow)
    // @ts-expect-error no rung
    Recovery.ladder()
    // @ts-expect-error five rungs: ladders nest
    Recovery.ladder(Recovery.rethrow, Recovery.rethrow, Recovery.rethrow, Recovery.rethrow, Recovery.rethrow)
    // @ts-expect-error a rung is a verdict
    Recovery.ladder(Recovery.retry({ retries: 1 }), "tell")
    const maybe = Recovery.tell() as ReturnType<typeof Recovery.tell> | undefined
    // @ts-expect-error a rung that may be missing would hide that the one before gives up
    Recovery.ladder(Recovery.retry({ retries: 1 }), maybe)
  })
})

describe("what was decided", () => {
  it("has one of the kinds that there are, in events, trails and decisions alike [P1366]", () => {
    type Kind =
      | "retry"
      | "fix"
      | "ask"
      | "compact"
      | "tell"
      | "escalate"
      | "respondWith"
      | "raise"
      | "rethrow"
      | "fallback"
    type _ = [
      Expect<Equal<RunError.TrailEntry["verdict"], Kind>>,
      Expect<Equal<AgentEvent.OfType<"verdict">["verdict"], Kind>>,
      Expect<Equal<AgentEvent.OfType<"verdict">["gaveUp"], boolean>>,
      Expect<Equal<RunError.TrailEntry["gaveUp"], boolean>>,
      Expect<Equal<Recovery.Position["version"], 2>>
    ]
    // @ts-expect-error a kind is no sentence
    const sentence: RunError.TrailEntry["verdict"] = "retry exhausted"
    void sentence
  })
})
