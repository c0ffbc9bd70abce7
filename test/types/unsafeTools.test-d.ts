/** What tables may do with an unsafe tool, and what looking it up needs. */
import { Backoff, type Model, Recovery, Tool, type ToolError } from "@kintsugi/core"
import { Effect, Option, Schedule, Schema } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"
import {
  type BadArgs,
  type Boom,
  call,
  cleanup,
  Db,
  type NoKeys,
  type Oops,
  type Own,
  pay
} from "./_support/subjects.ts"

type Hard = ToolError.ToolExecutionError
type Late = ToolError.ToolTimeoutError

declare const careful: Schedule.Schedule<number, NoKeys, Oops, Db>

const acknowledge = { acknowledge: "may run twice" } as const

/** A call of an agent that has the tool `pay`, with a row for `NoKeys` that leaves `Left` and needs `R`. */
type Called<Left, R = never> = Effect.Effect<string, Own | BadArgs | Boom | Left, Model.Model | R>

describe("rows of an unsafe tool", () => {
  it("a fixer that answers with the result runs nothing: it needs no acknowledgement [P601]", () => {
    sameType<Called<Hard>>()(call(pay.pipe(Tool.onError({ NoKeys: Recovery.fix(cleanup, { as: "result" }) }))))
    pay.pipe(Tool.onError({ NoKeys: Recovery.fix(cleanup, { as: "result", retries: 3 }) }))
    // @ts-expect-error it would run again with its answer
    pay.pipe(Tool.onError({ NoKeys: Recovery.fix(cleanup, { as: "arguments" }) }))
    // @ts-expect-error as it would by default
    pay.pipe(Tool.onError({ NoKeys: Recovery.fix(cleanup, { retries: 3 }) }))
  })

  it("a retry by a schedule needs the acknowledgement, as any other [P601]", () => {
    sameType<Called<Hard>>()(call(pay.pipe(Tool.onError({ NoKeys: Recovery.retry(Schedule.recurs(2), acknowledge) }))))
    sameType<Called<Hard | Oops, Db>>()(call(pay.pipe(Tool.onError({ NoKeys: Recovery.retry(careful, acknowledge) }))))
    pay.pipe(Tool.onError({ NoKeys: Recovery.retry(Backoff.suggested(), acknowledge) }))
    // @ts-expect-error it may have taken effect
    pay.pipe(Tool.onError({ NoKeys: Recovery.retry(Schedule.recurs(2)) }))
    // @ts-expect-error it may have taken effect
    pay.pipe(Tool.onError({ NoKeys: Recovery.retry(careful) }))
    // @ts-expect-error in other words it is none
    pay.pipe(Tool.onError({ NoKeys: Recovery.retry(Schedule.recurs(2), { acknowledge: "yes" }) }))
  })

  it("so do the rows for its unknown outcome [P601 P602]", () => {
    const cut = Tool.make("pay", { ...options, sideEffects: "unsafe", timeout: "5 seconds", run: () => Effect.never })
    cut.pipe(Tool.onError({ OutcomeUnknownError: Recovery.retry(Schedule.recurs(1), acknowledge) }))
    cut.pipe(Tool.onError({ OutcomeUnknownError: Recovery.fix(cleanup, { as: "result" }) }))
    // @ts-expect-error it may have taken effect
    cut.pipe(Tool.onError({ OutcomeUnknownError: Recovery.retry(Schedule.recurs(1)) }))
    // @ts-expect-error it may have taken effect
    cut.pipe(Tool.onError({ OutcomeUnknownError: Recovery.fix(cleanup) }))
  })
})

const options = { description: "Pays.", parameters: Schema.Struct({}), success: Schema.String }

describe("verify", () => {
  it("reads the key as text, and its needs are those of the agent [P603]", () => {
    const tool = Tool.make("pay", {
      ...options,
      sideEffects: "unsafe",
      timeout: "5 seconds",
      run: () => Effect.succeed("paid"),
      verify: (key) => {
        sameType<string>()(key)
        return Effect.map(Db, ({ rows }) => (rows > key.length ? Option.some("paid") : Option.none()))
      }
    })
    sameType<Effect.Effect<string, Own | BadArgs | Late, Model.Model | Db>>()(call(tool))
    sameType<Effect.Effect<string, BadArgs | Late, Db>>()(Tool.call(tool, {}))
  })

  it("may fail with anything, needs nothing when it needs nothing, and finds what the tool gives [P603]", () => {
    const tool = Tool.make("pay", {
      ...options,
      sideEffects: "unsafe",
      timeout: "5 seconds",
      run: () => Effect.succeed("paid"),
      verify: (key) => (key === "" ? Effect.fail(new Error("no key")) : Effect.succeed(Option.some(key)))
    })
    sameType<Effect.Effect<string, Own | BadArgs | Late, Model.Model>>()(call(tool))
    Tool.make("pay", {
      ...options,
      sideEffects: "unsafe",
      timeout: "5 seconds",
      run: () => Effect.succeed("paid"),
      // @ts-expect-error it finds numbers, and the tool gives text
      verify: (key) => Effect.succeed(Option.some(key.length))
    })
  })
})
