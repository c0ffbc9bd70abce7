/** What traces keep of the types of policies: the needs of handlers and schedules. */
import { Recovery } from "@kintsugi/core"
import { assertWithin, type FailureScript, PolicyData, trace, type Trace } from "@kintsugi/core/testing"
import { Effect, Schedule } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"
import { type Db, type Oops } from "./_support/subjects.ts"

declare const script: FailureScript.FailureScript
declare const isOn: boolean
declare const looked: Effect.Effect<string, Oops, Db>
declare const counted: Schedule.Schedule<number, FailureScript.Failure, Oops, "counter">
declare const table: PolicyData.TableData

type Seen<R = never> = Effect.Effect<Trace.Traced, never, R>

const answering = Recovery.respondWith(() => looked)

describe("a trace needs what the policy needs", () => {
  it("of one verdict, of a ladder, and of the rows of a table [P1105]", () => {
    sameType<Seen>()(trace(Recovery.retry({ retries: 1 }), script))
    sameType<Seen<Db>>()(trace(answering, script))
    sameType<Seen<Db>>()(trace(Recovery.ladder(Recovery.retry({ retries: 1 }), answering), script))
    sameType<Seen<Db | "counter">>()(trace({ Down: Recovery.retry(counted), orElse: answering }, script))
    sameType<Seen>()(trace({ Down: Recovery.retry({ retries: 1 }), orElse: Recovery.rethrow }, script))
    sameType<Seen>()(trace(PolicyData.tableOf(table), script))
  })

  it("of a schedule [P1105]", () => {
    sameType<Seen>()(trace(Schedule.recurs(3), script))
    sameType<Seen<"counter">>()(trace(counted, script))
  })

  it("of a policy from a variable, or of any that it may be [P1105]", () => {
    const strict = { Down: Recovery.retry({ retries: 1 }) }
    const lax = { Busy: answering }
    const schedule = isOn ? counted : Recovery.rethrow
    const optional: { readonly Down?: typeof answering } = isOn ? { Down: answering } : {}
    sameType<Seen<Db>>()(trace(lax, script))
    sameType<Seen<Db>>()(trace(isOn ? strict : lax, script))
    sameType<Seen<"counter">>()(trace(schedule, script))
    sameType<Seen<Db>>()(trace(optional, script))
  })

  it("of a policy that a generic function is given [P1105]", () => {
    const bounded = <const P extends Trace.Policy>(policy: P) =>
      Effect.flatMap(trace(policy, script), assertWithin(Recovery.explain(Recovery.retry({ retries: 3 }))))
    sameType<Effect.Effect<Trace.Traced, Trace.ExceededError, Db>>()(bounded({ orElse: answering }))
    sameType<Effect.Effect<Trace.Traced, Trace.ExceededError, "counter">>()(bounded(counted))
    const ofHandler = <R>(handler: Effect.Effect<string, Oops, R>) =>
      trace(
        Recovery.respondWith(() => handler),
        script
      )
    sameType<Seen<Db>>()(ofHandler(looked))
  })
})
