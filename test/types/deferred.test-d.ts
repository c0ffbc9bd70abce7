/** What a deferred tool fails with and needs, and what its options must be. */
import { Agent, Recovery, type Snapshot, Tool, type ToolError } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Context, Effect, Option, Schedule, Schema } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"

class Declined extends Schema.TaggedError<Declined>()("Declined", { why: Schema.String }) {}
class Lost extends Schema.TaggedError<Lost>()("Lost", {}) {}
class Shop extends Context.Service<Shop, { readonly order: Effect.Effect<number> }>()("Shop") {}
class Desk extends Context.Service<Desk, { readonly stop: Effect.Effect<void> }>()("Desk") {}

const made = {
  description: "Orders.",
  parameters: Schema.Struct({ n: Schema.Finite }),
  success: Schema.Struct({ at: Schema.Finite }),
  wait: "suspend",
  deadline: "1 hour"
} as const

const plain = Tool.deferred("order", { ...made, start: ({ n }) => Effect.succeed({ job: n }) })

describe("a deferred tool whose run goes on", () => {
  it("fails as any deferred tool does: its rows see how the work ends [P1524 P1522]", () => {
    const going = Tool.deferred("order", {
      ...made,
      wait: "continue",
      failure: Declined,
      start: ({ n }) => (n > 1 ? Effect.fail(new Declined({ why: "n" })) : Effect.succeed({ job: n }))
    })
    sameType<Declined | ToolError.ToolTimeoutError>()(null as unknown as Tool.ErrorOf<typeof going>)
    going.pipe(Tool.onError({ Declined: Recovery.tell(({ why }) => why), ToolTimeoutError: Recovery.tell() }))
    const polled = Tool.deferred("order", {
      ...made,
      wait: "continue",
      start: () => Effect.succeed(1),
      poll: { every: Schedule.spaced("1 minute"), check: () => Effect.fail(new Lost()) }
    })
    sameType<Lost | ToolError.ToolTimeoutError>()(null as unknown as Tool.ErrorOf<typeof polled>)
  })

  it("has no callTimeout, and may be in a durable agent [P1524]", () => {
    // @ts-expect-error: its deadline takes the place of callTimeout
    Tool.deferred("order", { ...made, wait: "continue", callTimeout: "1 minute", start: () => Effect.succeed(1) })
    const going = Tool.deferred("order", { ...made, wait: "continue", start: () => Effect.succeed(1) })
    const agent = Agent.make("worker", { tools: [going] })
    Durable.workflow(agent, { name: "worker", input: Schema.String, output: Schema.String })
  })

  it("says what its run does at its end, and no other does [P1524]", () => {
    const start = () => Effect.succeed({ job: 1 })
    for (const atEnd of ["wait", "detach"] as const) {
      Tool.deferred("order", { ...made, wait: "continue", atEnd, start })
    }
    // @ts-expect-error: the run waits for it anyhow
    Tool.deferred("order", { ...made, atEnd: "detach", start })
    // @ts-expect-error: it is one of two
    Tool.deferred("order", { ...made, wait: "continue", atEnd: "cancel", start })
    const ended = null as unknown as Agent.Outcome<string>
    if (ended._tag === "Completed" && ended.open !== undefined) {
      sameType<ReadonlyArray<Extract<Snapshot.Waiting, { readonly type: "deferred" }>>>()(ended.open)
    }
  })
})

describe("a deferred tool", () => {
  it("fails with its own failures, those of its settlements, and its deadline [P1520 P1525]", () => {
    sameType<ToolError.ToolTimeoutError>()(null as unknown as Tool.ErrorOf<typeof plain>)
    const failing = Tool.deferred("order", {
      ...made,
      failure: Declined,
      start: ({ n }) => (n > 1 ? Effect.fail(new Declined({ why: "n" })) : Effect.succeed({ job: n }))
    })
    sameType<Declined | ToolError.ToolTimeoutError>()(null as unknown as Tool.ErrorOf<typeof failing>)
    const ended = Tool.deferred("order", { ...made, failure: Declined, start: () => Effect.succeed(1) })
    sameType<Declined | ToolError.ToolTimeoutError>()(null as unknown as Tool.ErrorOf<typeof ended>)
    const polled = Tool.deferred("order", {
      ...made,
      start: () => Effect.succeed(1),
      poll: { every: Schedule.spaced("1 minute"), check: () => Effect.fail(new Lost()) }
    })
    sameType<Lost | ToolError.ToolTimeoutError>()(null as unknown as Tool.ErrorOf<typeof polled>)
  })

  it("has a row for a ended failure, and none for a failure that cannot be [P1522]", () => {
    const ended = Tool.deferred("order", { ...made, failure: Declined, start: () => Effect.succeed(1) })
    ended.pipe(Tool.onError({ Declined: Recovery.tell(({ why }) => why), ToolTimeoutError: Recovery.tell() }))
    // @ts-expect-error no call of it fails with that tag
    plain.pipe(Tool.onError({ Declined: Recovery.tell() }))
  })

  it("an unsafe one is of unknown outcome, unless cancel or verify says otherwise [P1525]", () => {
    const unsafe = { ...made, sideEffects: "unsafe", start: () => Effect.succeed(1) } as const
    const bare = Tool.deferred("order", unsafe)
    sameType<ToolError.OutcomeUnknownError>()(null as unknown as Tool.ErrorOf<typeof bare>)
    const cancelled = Tool.deferred("order", { ...unsafe, cancel: () => Effect.void })
    sameType<ToolError.OutcomeUnknownError | ToolError.ToolTimeoutError>()(
      null as unknown as Tool.ErrorOf<typeof cancelled>
    )
    const verified = Tool.deferred("order", { ...unsafe, verify: () => Effect.succeedNone })
    sameType<ToolError.ToolTimeoutError>()(null as unknown as Tool.ErrorOf<typeof verified>)
    // @ts-expect-error what may run twice needs to be acknowledged
    bare.pipe(Tool.onError({ OutcomeUnknownError: Recovery.retry({ retries: 1 }) }))
    bare.pipe(Tool.onError({ OutcomeUnknownError: Recovery.retry({ retries: 1, acknowledge: "may run twice" }) }))
  })

  it("needs what start, check and cancel need, and no scope [P1520]", () => {
    const needing = Tool.deferred("order", {
      ...made,
      start: () =>
        Effect.andThen(
          Effect.scope,
          Effect.flatMap(Shop, ({ order }) => order)
        ),
      cancel: () =>
        Effect.andThen(
          Effect.scope,
          Effect.flatMap(Desk, ({ stop }) => stop)
        )
    })
    sameType<Shop | Desk>()(null as unknown as Tool.ServicesOf<typeof needing>)
    sameType<never>()(null as never as Tool.ServicesOf<typeof plain>)
  })

  it("gives check and cancel the handle that start has returned [P1520 P1527]", () => {
    Tool.deferred("order", {
      ...made,
      start: ({ n }, { token }) => Effect.succeed({ job: n, token }),
      poll: {
        every: Schedule.spaced("1 minute"),
        check: ({ job }) => Effect.succeed(job > 0 ? Option.some({ at: job }) : Option.none())
      },
      cancel: ({ token }) => Effect.log(token)
    })
  })

  it("refuses what it cannot do [P1520]", () => {
    const start = () => Effect.succeed(1)
    // @ts-expect-error it says how it waits
    Tool.deferred("order", { ...made, wait: undefined, start })
    // @ts-expect-error it has a deadline
    Tool.deferred("order", { ...made, deadline: undefined, start })
    // @ts-expect-error a handle is JSON
    Tool.deferred("order", { ...made, start: () => Effect.succeed(() => 1) })
    // @ts-expect-error the schema of failures knows all of them
    Tool.deferred("order", { ...made, failure: Declined, start: () => Effect.fail(new Lost()) })
    // @ts-expect-error there is no time limit of start alone
    Tool.deferred("order", { ...made, start, timeout: "1 second" })
    // @ts-expect-error the library alone fails so
    Tool.deferred("order", { ...made, start: () => Effect.fail(null as unknown as ToolError.ToolTimeoutError) })
  })
})
