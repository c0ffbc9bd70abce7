/** A row of a table is a verdict, a schedule or a handler: what each leaves in the type, at each table. */
import { Agent, type LlmError, Model, Recovery, Tool, type ToolError } from "@kintsugi/core"
import { Context, Effect, Schedule, Schema } from "effect"
import { describe, it } from "vitest"
import { type Equal, type Expect, sameType } from "./_support/Identity.ts"

class Busy extends Schema.TaggedError<Busy>()("Busy", { at: Schema.Finite }) {}
class Gone extends Schema.TaggedError<Gone>()("Gone", {}) {}
class Lost extends Schema.TaggedError<Lost>()("Lost", {}) {}
class Db extends Context.Service<Db, { readonly find: Effect.Effect<string, Lost> }>()("Db") {}

const run = (): Effect.Effect<string, Busy | Gone> => Effect.fail(new Busy({ at: 1 }))
const options = { description: "Pings.", parameters: Schema.Struct({}), success: Schema.String, run } as const
const ping = Tool.make("ping", options)
const drop = Tool.make("drop", { ...options, sideEffects: "unsafe" })
const often = Schedule.recurs(3)
const find = Effect.flatMap(Db, ({ find }) => find)

type ErrorsOf<A> = A extends (input: string) => Effect.Effect<unknown, infer E, unknown> ? E : never

describe("a row", () => {
  it("is a schedule where it may be repeated, the same as a retry by it [P1320]", () => {
    const bare = Agent.make("a", { tools: [ping.pipe(Tool.onError({ Busy: often }))] })
    const named = Agent.make("a", { tools: [ping.pipe(Tool.onError({ Busy: Recovery.retry(often) }))] })
    type _ = Expect<Equal<ErrorsOf<typeof bare>, ErrorsOf<typeof named>>>
    // @ts-expect-error a schedule says nothing of consent
    drop.pipe(Tool.onError({ Busy: often }))
    // @ts-expect-error its input is another failure
    ping.pipe(Tool.onError({ Busy: often.pipe(Schedule.setInputType<Gone>()) }))
  })

  it("is a handler whose effect answers in the place of what failed [P1320]", () => {
    const answering = Agent.make("a", {
      tools: [ping.pipe(Tool.onError({ Busy: () => find, Gone: () => Effect.succeed("") }))]
    })
    type _1 = Expect<Equal<Extract<ErrorsOf<typeof answering>, Busy | Gone | Lost>, Lost>>
    type _2 = Expect<Equal<Extract<Effect.Services<ReturnType<typeof answering>>, Db>, Db>>
    // @ts-expect-error the tool gives text
    ping.pipe(Tool.onError({ Busy: () => Effect.succeed(3) }))
    const generator = ping.pipe(
      Tool.onError({
        Busy: Effect.fnUntraced(function* (error) {
          sameType<Busy>()(error)
          return yield* find
        })
      })
    )
    const generating = Agent.make("a", { tools: [generator] })
    type _3 = Expect<Equal<Extract<ErrorsOf<typeof generating>, Busy | Gone | Lost>, Gone | Lost>>
  })

  it("is a handler that decides by a verdict of the layer [P1320]", () => {
    const deciding = ping.pipe(
      Tool.onError({
        Busy: (error, context) => {
          sameType<Busy>()(error)
          sameType<Recovery.FailureContext>()(context)
          return error.at > 1 ? Recovery.retry({ retries: 2 }) : Recovery.tell()
        }
      })
    )
    const agent = Agent.make("a", {
      tools: [deciding],
      toolDefaults: { Gone: (error) => (sameType<Gone>()(error), Recovery.tell()) }
    })
    type _ = Expect<
      Equal<Extract<ErrorsOf<typeof agent>, Busy | Gone | ToolError.ToolExecutionError>, ToolError.ToolExecutionError>
    >
    // @ts-expect-error a model call has no model to tell
    Agent.make("a", { tools: [ping], onLlmError: { RateLimitError: () => Recovery.tell() } })
  })

  it("is the same at model calls, agents and plain effects [P1320]", () => {
    const model = Model.onError({ RateLimitError: often, NetworkError: () => Effect.fail(new Lost()) })
    void model
    const agent = Agent.make("a", {}).pipe(
      Agent.onLlmError({ RateLimitError: often, orElse: () => Effect.succeed("sorry") })
    )
    type _1 = Expect<Equal<Extract<ErrorsOf<typeof agent>, LlmError.LlmError>, LlmError.RateLimitError>>
    const plain = run().pipe(Recovery.onError({ Busy: often, Gone: () => find }))
    sameType<Effect.Effect<string, Busy | Lost, Db>>()(plain)
    const either = run().pipe(
      Recovery.onError({ orElse: (error) => (error._tag === "Busy" ? Effect.succeed(1) : Recovery.rethrow) })
    )
    sameType<Effect.Effect<string | number, Busy | Gone>>()(either)
  })

  it("is no table, and what is none of the three is no row [P1309 P1320]", () => {
    const agent = Agent.make("a", { tools: [ping] })
    // @ts-expect-error A table has a row for each tag: { orElse: row } is one
    ping.pipe(Tool.onError(() => Effect.succeed("")))
    // @ts-expect-error the same, of a schedule
    ping.pipe(Tool.onError(often))
    // @ts-expect-error the same, of a verdict
    Tool.onError(ping, Recovery.raise)
    // @ts-expect-error the same, of all tools of an agent
    agent.pipe(Agent.toolDefaults(() => Recovery.tell()))
    // @ts-expect-error the same, with the agent first
    Agent.toolDefaults(agent, () => Recovery.tell())
    // @ts-expect-error the same, of one tool of an agent
    agent.pipe(Agent.onToolError({ ping: () => Recovery.tell() }))
    // @ts-expect-error the same, of a plain effect
    run().pipe(Recovery.onError(() => find))
    // @ts-expect-error ARowIsAVerdictAScheduleOrAHandler
    ping.pipe(Tool.onError({ Busy: "again" }))
    // @ts-expect-error a rung is a verdict: Recovery.retry makes one of a schedule
    Recovery.ladder(often, Recovery.tell())
  })
})
