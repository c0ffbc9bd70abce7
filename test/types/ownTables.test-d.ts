/** The first table of a tool, written with the tool: `Tool.make(name, { onError })`. */
import { Agent, type KintsugiError, Recovery, Tool, type ToolError } from "@kintsugi/core"
import { Context, Effect, Option, Schedule, Schema } from "effect"
import { describe, it } from "vitest"
import { type Equal, type Expect, sameType } from "./_support/Identity.ts"

type TableOf<T> = T extends Tool.Tool<string, infer _P, unknown, unknown, unknown, infer Table, unknown> ? Table : never

class Boom extends Schema.TaggedError<Boom>()("Boom", { n: Schema.Number }) {}
class Gone extends Schema.TaggedError<Gone>()("Gone", {}) {}
class Desk extends Context.Service<Desk, { readonly name: string }>()("test/Desk") {}

declare const risky: (n: number) => Effect.Effect<number, Boom | Gone>
declare const isStrict: boolean

const fixer = (text: string) => Effect.succeed(text)
const base = { description: "Counts.", parameters: Schema.Struct({ n: Schema.Number }), success: Schema.Number }

describe("a table that is written with its tool", () => {
  it("is the table of a pipe [P1320]", () => {
    const options = { ...base, timeout: "1 second", run: () => risky(1) } as const
    const own = Tool.make("own", {
      ...base,
      timeout: "1 second",
      run: ({ n }) => risky(n),
      onError: {
        Boom: Recovery.retry({ retries: 2 }),
        Gone: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.tell()),
        ToolTimeoutError: Schedule.recurs(1),
        InvalidArgs: Recovery.fix(fixer),
        orElse: Recovery.raise
      }
    })
    const piped = Tool.make("own", options).pipe(
      Tool.onError({
        Boom: Recovery.retry({ retries: 2 }),
        Gone: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.tell()),
        ToolTimeoutError: Schedule.recurs(1),
        InvalidArgs: Recovery.fix(fixer),
        orElse: Recovery.raise
      })
    )
    const [called, calledPiped] = [Agent.make("a", { tools: [own] }), Agent.make("a", { tools: [piped] })] as const
    type _ = Expect<Equal<ReturnType<typeof called>, ReturnType<typeof calledPiped>>>
  })

  it("its handlers know their errors, answer with results, and leave failures and needs [P1320]", () => {
    const own = Tool.make("own", {
      ...base,
      timeout: "1 second",
      run: ({ n }) => risky(n),
      onError: {
        Boom: (error, { attempt }) => {
          sameType<Boom>()(error)
          return Effect.map(Desk, ({ name }) => name.length + attempt)
        },
        ToolTimeoutError: (error) => {
          sameType<ToolError.ToolTimeoutError>()(error)
          return error.tool === "own" ? Recovery.rethrow : Effect.fail(new Gone())
        },
        InvalidArgs: Recovery.tell()
      }
    })
    const run = Agent.make("a", { tools: [own] })("go")
    type Left = Exclude<Effect.Error<typeof run>, KintsugiError.KintsugiError>
    type _Left = Expect<Equal<Left, Gone>>
    type _Needs = Expect<Equal<Extract<Effect.Services<typeof run>, Desk>, Desk>>
    const plain = Tool.make("plain", {
      ...base,
      run: risky as never,
      onError: { InvalidArgs: () => Effect.succeed(0) }
    })
    type _Plain = Expect<Equal<Tool.NameOf<typeof plain>, "plain">>
    const asserted = Tool.make("own", {
      ...base,
      run: () => risky(1),
      onError: { Boom: Recovery.when((error: Boom) => (error.n > 1 ? Recovery.tell() : Recovery.raise)) }
    })
    type _Asserted = Expect<Equal<Tool.ErrorOf<typeof asserted>, Boom | Gone>>
  })

  it("has handlers beside an Effect.fn that has a name, and verdicts beside one in its place [P1320]", () => {
    const work = Effect.fn("work")(function* ({ n }: { readonly n: number }) {
      return n > 1 ? yield* new Boom({ n }) : n
    })
    const named = Tool.make("own", { ...base, run: work, onError: { Boom: ({ n }) => Effect.succeed(n) } })
    type _1 = Expect<Equal<Tool.ErrorOf<typeof named>, Boom>>
    const inline = Tool.make("own", {
      ...base,
      run: Effect.fn("work")(function* ({ n }) {
        return n > 1 ? yield* new Boom({ n }) : n
      }),
      onError: { Boom: Recovery.retry({ retries: 1 }) }
    })
    type _2 = Expect<Equal<Tool.ErrorOf<typeof inline>, Boom>>
  })

  it("is refused where that of a pipe is [P1309]", () => {
    Tool.make("own", {
      ...base,
      run: () => risky(1),
      onError: {
        // @ts-expect-error no call of this tool fails with that tag
        Bom: Recovery.retry({ retries: 1 })
      }
    })
    Tool.make("own", {
      ...base,
      run: ({ n }) => risky(n),
      // @ts-expect-error no call of this tool fails with that tag, and this table has a row besides
      onError: { Boom: Recovery.tell(), ToolTimeoutError: Recovery.tell() }
    })
    Tool.make("own", {
      ...base,
      run: ({ n }) => risky(n),
      onError: {
        // @ts-expect-error it gives a number
        Boom: Recovery.respondWith("none"),
        // @ts-expect-error it gives a number
        Gone: () => Effect.succeed("none")
      }
    })
    Tool.make("own", {
      ...base,
      sideEffects: "unsafe",
      run: ({ n }) => risky(n),
      onError: {
        // @ts-expect-error it does not run twice without consent
        Boom: Recovery.retry({ retries: 1 }),
        Gone: Recovery.retry({ retries: 1, acknowledge: "may run twice" }),
        InvalidArgs: Recovery.retry({ retries: 1 })
      }
    })
    // @ts-expect-error a row is a verdict, a schedule or a handler
    Tool.make("own", { ...base, run: () => risky(1), onError: { Boom: 3 } })
  })

  it("an unsafe tool that is looked up has the row of its time limit [P1309]", () => {
    Tool.make("pay", {
      ...base,
      sideEffects: "unsafe",
      timeout: "1 second",
      verify: () => Effect.succeed(Option.none()),
      run: () => risky(1),
      onError: { ToolTimeoutError: Recovery.retry({ retries: 1 }) }
    })
    Tool.make("pay", {
      ...base,
      sideEffects: "unsafe",
      timeout: "1 second",
      verify: (key) => Effect.succeed(key === "" ? Option.some(1) : Option.none()),
      run: () => risky(1),
      onError: { ToolTimeoutError: Recovery.retry({ retries: 1 }) }
    })
    Tool.make("pay", {
      ...base,
      sideEffects: "unsafe",
      timeout: "1 second",
      run: () => risky(1),
      onError: { OutcomeUnknownError: Recovery.tell() }
    })
  })

  it("may be one of several, or come with a tool that is a type parameter [P1302 P1306]", () => {
    const strict = { Boom: () => Effect.fail(new Gone()) }
    const lax = { Boom: () => Effect.as(Desk, 0) }
    const either = Tool.make("own", {
      ...base,
      run: () => Effect.fail(new Boom({ n: 1 })),
      onError: isStrict ? strict : lax
    })
    const run = Agent.make("a", { tools: [either] })("go")
    type _Left = Expect<Equal<Extract<Effect.Error<typeof run>, Gone>, Gone>>
    type _Needs = Expect<Equal<Extract<Effect.Services<typeof run>, Desk>, Desk>>
    const made = <R>(run: () => Effect.Effect<number, Boom, R>) =>
      Tool.make("made", { ...base, run, onError: { Boom: (error) => Effect.succeed(error.n) } })
    const needing = made(() => Effect.map(Desk, ({ name }) => name.length))
    type _Needing = Expect<Equal<Tool.ServicesOf<typeof needing>, Desk>>
    type _Made = Expect<Equal<Tool.NameOf<ReturnType<typeof made>>, "made">>
  })

  it("is there for functions that may throw, and keeps the marks of its tool [P1303]", () => {
    const thrown = Tool.fromFunction("thrown", {
      ...base,
      timeout: "1 second",
      run: ({ n }) => n + 1,
      onError: {
        ExecutionError: (error) => {
          sameType<ToolError.ExecutionError>()(error)
          return Effect.succeed(0)
        },
        ToolTimeoutError: Recovery.tell()
      }
    })
    type _Thrown = Expect<Equal<Tool.ErrorOf<typeof thrown>, ToolError.FunctionError | ToolError.ToolTimeoutError>>
    // @ts-expect-error no call of this tool fails with that tag
    Tool.fromFunction("thrown", { ...base, run: () => 1, onError: { ToolTimeoutError: Recovery.tell() } })
    const stored = Tool.make("stored", {
      ...base,
      callTimeout: "1 minute",
      failure: Schema.Union([Boom, Gone]),
      run: () => risky(1),
      onError: { Boom: Recovery.tell() }
    })
    Tool.errorSchema(stored)
    sameType<true>()(true as TableOf<typeof stored> extends { readonly "~callTimeout": true } ? true : false)
  })
})
