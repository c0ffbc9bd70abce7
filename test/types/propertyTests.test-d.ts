/** What traces keep of the types of policies: the needs of handlers and schedules. */
import { Recovery } from "@kintsugi/core"
import { type FailureScript, PolicyData, Trace } from "@kintsugi/core/testing"
import { Effect, Schedule } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"
import { type Db, type Oops } from "./_support/subjects.ts"

type Failure = Effect.Error<Parameters<Parameters<typeof Trace.play>[1]>[0]>

type ExceededError = Effect.Error<ReturnType<ReturnType<typeof Trace.assertWithin>>>

declare const script: FailureScript.FailureScript
declare const isOn: boolean
declare const looked: Effect.Effect<string, Oops, Db>
declare const counted: Schedule.Schedule<number, Failure, Oops, "counter">
declare const table: PolicyData.TableData

type Traced = Effect.Success<ReturnType<typeof Trace.trace>>

type Seen<R = never> = Effect.Effect<Traced, never, R>

const answering = Recovery.respondWith(() => looked)

describe("a trace needs what the policy needs", () => {
  it("of one verdict, of a ladder, and of the rows of a table [P1105]", () => {
    sameType<Seen>()(Trace.trace(Recovery.retry({ retries: 1 }), script))
    sameType<Seen<Db>>()(Trace.trace(answering, script))
    sameType<Seen<Db>>()(Trace.trace(Recovery.ladder(Recovery.retry({ retries: 1 }), answering), script))
    sameType<Seen<Db | "counter">>()(Trace.trace({ Down: Recovery.retry(counted), orElse: answering }, script))
    sameType<Seen>()(Trace.trace({ Down: Recovery.retry({ retries: 1 }), orElse: Recovery.rethrow }, script))
    sameType<Seen>()(Trace.trace(PolicyData.tableOf(table), script))
  })

  it("of a schedule [P1105]", () => {
    sameType<Seen>()(Trace.trace(Schedule.recurs(3), script))
    sameType<Seen<"counter">>()(Trace.trace(counted, script))
  })

  it("of a policy from a variable, or of any that it may be [P1105]", () => {
    const strict = { Down: Recovery.retry({ retries: 1 }) }
    const lax = { Busy: answering }
    const schedule = isOn ? counted : Recovery.rethrow
    const optional: { readonly Down?: typeof answering } = isOn ? { Down: answering } : {}
    sameType<Seen<Db>>()(Trace.trace(lax, script))
    sameType<Seen<Db>>()(Trace.trace(isOn ? strict : lax, script))
    sameType<Seen<"counter">>()(Trace.trace(schedule, script))
    sameType<Seen<Db>>()(Trace.trace(optional, script))
  })

  it("of a policy that a generic function is given [P1105]", () => {
    const bounded = <const P extends Parameters<typeof Trace.trace>[0]>(policy: P) =>
      Effect.flatMap(Trace.trace(policy, script), Trace.assertWithin(Recovery.explain(Recovery.retry({ retries: 3 }))))
    sameType<Effect.Effect<Traced, ExceededError, Db>>()(bounded({ orElse: answering }))
    sameType<Effect.Effect<Traced, ExceededError, "counter">>()(bounded(counted))
    const ofHandler = <R>(handler: Effect.Effect<string, Oops, R>) =>
      Trace.trace(
        Recovery.respondWith(() => handler),
        script
      )
    sameType<Seen<Db>>()(ofHandler(looked))
  })
})
