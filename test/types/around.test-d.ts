/** Plain Effect combinators around a tool: what they leave in its type. */
import { Agent, Recovery, Tool, type ToolError } from "@kintsugi/core"
import { Context, Effect, Layer, Schedule, Schema } from "effect"
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
const find = Effect.flatMap(Db, ({ find }) => find)

describe("Tool.around", () => {
  it("gives the tool the failures and the needs of what stands around it [P1322]", () => {
    const answered = ping.pipe(
      Tool.around((attempt) => {
        sameType<Effect.Effect<string, Busy | Gone>>()(attempt)
        return attempt.pipe(
          Effect.retry(Schedule.recurs(3)),
          Effect.catchTag("Busy", () => find)
        )
      })
    )
    sameType<Tool.Tool<"ping", {}, string, Gone | Lost, Db, {}, "undeclared">>()(answered)
    const first = Tool.around(ping, (attempt) => attempt.pipe(Effect.catchTag("Busy", () => find)))
    sameType<typeof answered>()(first)
    const tabled = answered.pipe(Tool.onError({ Lost: Recovery.retry({ retries: 1 }), Gone: Recovery.tell() }))
    const agent = Agent.make("a", { tools: [tabled] })
    type Failures = Effect.Error<ReturnType<typeof agent>>
    type _1 = Expect<Equal<Extract<Failures, Busy | Gone | Lost>, never>>
    type _2 = Expect<Equal<Extract<Failures, ToolError.ToolExecutionError>, ToolError.ToolExecutionError>>
    // @ts-expect-error no row for what stands around it has caught
    answered.pipe(Tool.onError({ Busy: Recovery.tell() }))
  })

  it("keeps the result of the tool [P1322]", () => {
    // @ts-expect-error the tool gives text
    ping.pipe(Tool.around(() => Effect.succeed(3)))
    // @ts-expect-error a promise is no effect
    ping.pipe(Tool.around(() => Promise.resolve("")))
  })

  it("has an unsafe tool refuse a second run, unless it is acknowledged [P1322]", () => {
    const once = drop.pipe(Tool.around((attempt) => Effect.retry(attempt, Schedule.recurs(1))))
    sameType<Tool.Tool<"drop", {}, string, Busy | Gone | ToolError.OutcomeUnknownError, never, {}, "unsafe">>()(once)
    const twice = drop.pipe(
      Tool.around((attempt) => Effect.retry(attempt, Schedule.recurs(1)), { acknowledge: "may run twice" })
    )
    sameType<Tool.Tool<"drop", {}, string, Busy | Gone, never, {}, "unsafe">>()(twice)
    // @ts-expect-error it does not say what may happen
    drop.pipe(Tool.around((attempt) => attempt, { acknowledge: true }))
  })

  it("reports that a row for all failures was written before it [P1309 P1322]", () => {
    const telling = ping.pipe(Tool.onError({ orElse: Recovery.tell() }))
    telling.pipe(Tool.around((attempt) => Effect.retry(attempt, Schedule.recurs(1))))
    // @ts-expect-error The row for orElse was written for other failures: put what adds failures to the tool before Tool.onError
    telling.pipe(Tool.around((attempt) => Effect.andThen(find, attempt)))
    ping.pipe(
      Tool.around((attempt) => Effect.andThen(find, attempt)),
      Tool.onError({ orElse: Recovery.tell() })
    )
  })

  it("reports that a row for the same tag was written before it, as a layer does [P1307 P1309]", () => {
    class Busy2 extends Schema.TaggedError<Busy2>()("Busy", { until: Schema.String }) {}
    const more = Effect.fail(new Busy2({ until: "noon" }))
    const answering = ping.pipe(Tool.onError({ Busy: (error) => Effect.succeed(error._tag) }))
    // @ts-expect-error The row for Busy was written for other failures: put what adds failures to the tool before Tool.onError
    answering.pipe(Tool.around((attempt) => Effect.andThen(more, attempt)))
    // @ts-expect-error the same, with the tool first
    Tool.around(answering, (attempt) => Effect.andThen(more, attempt))
    // @ts-expect-error the same, of a layer that fails
    answering.pipe(Tool.provide(Layer.effectDiscard(more)))
    // a failure that the row was written for may come again
    answering.pipe(Tool.around((attempt) => Effect.andThen(attempt, Effect.fail(new Busy({ at: 2 })))))
    const both = ping.pipe(
      Tool.around((attempt) => Effect.andThen(more, attempt)),
      Tool.onError({
        Busy: (error) => {
          sameType<Busy | Busy2>()(error)
          return Recovery.tell()
        }
      })
    )
    type _ = Expect<Equal<Tool.ErrorOf<typeof both>, Busy | Gone | Busy2>>
  })

  it("adds no failures that a tool cannot have [P1307]", () => {
    // @ts-expect-error 'InvalidArgs' is the tag of an error of the library: give the failure of this tool another tag
    ping.pipe(Tool.around((attempt) => Effect.andThen(attempt, Effect.fail({ _tag: "InvalidArgs" as const }))))
    // @ts-expect-error The tag of a failure of this tool is only a string: give each failure a tag of its own
    Tool.around(ping, (attempt) => Effect.andThen(attempt, Effect.fail({ _tag: "" as string })))
    // @ts-expect-error the same, of a layer that fails
    ping.pipe(Tool.provide(Layer.effectDiscard(Effect.fail({ _tag: "InvalidArgs" as const }))))
  })

  it("stands around any tool, in a function and under a name [P1306 P1322]", () => {
    const patient = <Name extends string, Params, A, E, R, T, S>(tool: Tool.Tool<Name, Params, A, E, R, T, S>) =>
      Tool.around(tool, (attempt) => Effect.retry(attempt, Schedule.recurs(3)))
    const made = patient(ping)
    sameType<Tool.Tool<"ping", {}, string, Busy | Gone, never, {}, "undeclared">>()(made)
  })
})
