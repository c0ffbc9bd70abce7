/** What the verdicts of a tool's table leave of its failures, pinned at the call of an agent that has the tool. */
import { Backoff, type Model, Recovery, Tool, type ToolError } from "@kintsugi/core"
import { Effect, Schedule, Schema } from "effect"
import { describe, it } from "vitest"
import { type Equal, type Expect, sameType } from "./_support/Identity.ts"
import {
  ask,
  type BadArgs,
  type Boom,
  call,
  check,
  cleanup,
  count,
  type Db,
  lookup,
  type NoKeys,
  type Oops,
  type Own,
  strict
} from "./_support/subjects.ts"

type Hard = ToolError.ToolExecutionError

/** A call of an agent that has the tool `count`, with a row for `NoKeys` that leaves `Left` and needs `R`. */
type Called<Left, R = never> = Effect.Effect<string, Own | BadArgs | Boom | Left, Model.Model | R>

declare const careful: Schedule.Schedule<number, NoKeys, Oops, Db>
declare const isOn: boolean

describe("residue on a tool", () => {
  it("without a row the failure leaves as itself [A507]", () => {
    sameType<Called<NoKeys>>()(call(count))
    sameType<Called<NoKeys>>()(call(count.pipe(Tool.onError({}))))
    sameType<Effect.Effect<string, Own | BadArgs, Model.Model>>()(call(check))
  })

  it("retry on a tool replaces the tag by ToolExecutionError [A509]", () => {
    sameType<Called<Hard>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.retry({ retries: 1 }) }))))
    sameType<Called<Hard>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.retry({ maxAttempts: 3, initialBackoff: "1 second" }) })))
    )
    sameType<Called<Hard>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.retry({ retries: 1, acknowledge: "may run twice" }) })))
    )
  })

  it("retry with a schedule adds the schedule's failures and needs [A509]", () => {
    sameType<Called<Hard | Oops, Db>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.retry(careful) }))))
    sameType<Called<Hard>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.retry(Backoff.honouringHints()) }))))
    sameType<Called<Hard>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.retry(Schedule.recurs(2)) }))))
  })

  it("fix replaces the tag by ToolExecutionError; the fixer's needs stay, its failures do not [A509]", () => {
    sameType<Called<Hard>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.fix(cleanup) }))))
    sameType<Called<Hard, Db>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.fix(lookup, { retries: 2 }) }))))
    sameType<Called<Hard, Db>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.fix(lookup, { as: "result" }) }))))
    sameType<Effect.Effect<string, Own | NoKeys | Boom | Hard, Model.Model | Db>>()(
      call(count.pipe(Tool.onError({ InvalidArgs: Recovery.fix(lookup) })))
    )
  })

  it("raise replaces the tag by ToolExecutionError [A509]", () => {
    sameType<Called<Hard>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.raise }))))
  })

  it("tell and escalate remove the tag [A509]", () => {
    sameType<Called<never>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.tell() }))))
    sameType<Called<never>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.tell((error) => error.json) }))))
    sameType<Called<never>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.escalate() }))))
    sameType<Called<never>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.escalate({ severity: "LOW" }) }))))
  })

  it("respondWith removes the tag and adds its own failures and needs [A509]", () => {
    sameType<Called<never>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.respondWith(0) }))))
    sameType<Called<Oops, Db>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.respondWith(() => ask) }))))
  })

  it("rethrow keeps the tag [A509]", () => {
    sameType<Called<NoKeys>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.rethrow }))))
  })

  it("ladder has the residue of its last rung and the failures of all its handlers [A509]", () => {
    sameType<Called<Hard>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.ladder(Recovery.fix(cleanup)) }))))
    sameType<Called<never>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.ladder(Recovery.retry({ retries: 2 }), Recovery.escalate()) })))
    )
    sameType<Called<never, Db>>()(
      call(
        count.pipe(
          Tool.onError({
            NoKeys: Recovery.ladder(Recovery.retry({ retries: 2 }), Recovery.fix(lookup), Recovery.tell())
          })
        )
      )
    )
    sameType<Called<Hard | Oops, Db>>()(
      call(
        count.pipe(
          Tool.onError({
            NoKeys: Recovery.ladder(
              Recovery.retry({ retries: 2 }),
              Recovery.fix(cleanup),
              Recovery.retry(careful),
              Recovery.raise
            )
          })
        )
      )
    )
    sameType<Called<NoKeys>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.ladder(Recovery.retry({ retries: 2 }), Recovery.rethrow) })))
    )
    sameType<Called<Oops, Db>>()(
      call(
        count.pipe(
          Tool.onError({
            NoKeys: Recovery.ladder(
              Recovery.retry({ retries: 2 }),
              Recovery.respondWith(() => ask)
            )
          })
        )
      )
    )
  })

  it("ladders nest, and a ladder made before is the same as one written inline [A509]", () => {
    sameType<Called<Oops, Db>>()(
      call(
        count.pipe(
          Tool.onError({
            NoKeys: Recovery.ladder(
              Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.ladder(Recovery.fix(cleanup))),
              Recovery.ladder(
                Recovery.retry(careful),
                Recovery.tell((error) => error.json)
              )
            )
          })
        )
      )
    )
    const before = Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.fix(lookup), Recovery.respondWith(0))
    sameType<Called<never, Db>>()(call(count.pipe(Tool.onError({ NoKeys: before }))))
  })

  it("when has the union of its branches [A509]", () => {
    sameType<Called<NoKeys | Hard | Oops, Db>>()(
      call(
        count.pipe(
          Tool.onError({
            NoKeys: Recovery.when((error, { attempt }) =>
              attempt === 1
                ? Recovery.retry(careful)
                : attempt === 2
                  ? Recovery.tell()
                  : error.json === ""
                    ? Recovery.respondWith(0)
                    : Recovery.rethrow
            )
          })
        )
      )
    )
    sameType<Called<Oops, Db>>()(
      call(
        count.pipe(
          Tool.onError({
            NoKeys: Recovery.when(() => (isOn ? Recovery.respondWith(() => ask) : Recovery.escalate()))
          })
        )
      )
    )
  })

  it("when within a ladder, and a ladder within when [A509]", () => {
    sameType<Called<never, Db>>()(
      call(
        count.pipe(
          Tool.onError({
            NoKeys: Recovery.ladder(
              Recovery.when((error) => (error.json === "" ? Recovery.tell() : Recovery.fix(lookup))),
              Recovery.escalate()
            )
          })
        )
      )
    )
    sameType<Called<Hard>>()(
      call(
        count.pipe(
          Tool.onError({
            NoKeys: Recovery.ladder(
              Recovery.when(() => (isOn ? Recovery.raise : Recovery.retry({ retries: 1 }))),
              Recovery.tell()
            )
          })
        )
      )
    )
    sameType<Called<NoKeys | Oops, Db>>()(
      call(
        count.pipe(
          Tool.onError({
            NoKeys: Recovery.when(() =>
              isOn
                ? Recovery.ladder(Recovery.retry(careful), Recovery.respondWith(0))
                : Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.rethrow)
            )
          })
        )
      )
    )
  })

  it("a fixer that may end with ToolExecutionError leaves it, with any rung after it [A311]", () => {
    sameType<Called<Hard, Db>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.ladder(Recovery.fix(strict), Recovery.tell()) })))
    )
    const acknowledged = Recovery.fix(strict, { acknowledge: "may run twice" })
    sameType<Called<Hard, Db>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.ladder(acknowledged, Recovery.tell()) })))
    )
    sameType<Called<never, Db>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.ladder(Recovery.fix(lookup), Recovery.tell()) })))
    )
  })

  it("a handler's own failure is final: no other row removes it [A512]", () => {
    sameType<Effect.Effect<string, Own | BadArgs | Boom, Model.Model>>()(
      call(
        count.pipe(
          Tool.onError({
            NoKeys: Recovery.respondWith((): Effect.Effect<number, Boom> => Effect.succeed(0)),
            Boom: Recovery.tell()
          })
        )
      )
    )
  })

  it("a row that may be absent handles nothing for sure [A509]", () => {
    const some: { NoKeys?: Recovery.Verdict<NoKeys, number, Oops, Db, "raise"> } = {}
    sameType<Called<NoKeys | Oops | Hard, Db>>()(call(count.pipe(Tool.onError(some))))
    sameType<Called<NoKeys>>()(call(count.pipe(Tool.onError(isOn ? { NoKeys: Recovery.tell() } : {}))))
    sameType<Called<Hard>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.raise }), Tool.onError(isOn ? { NoKeys: Recovery.tell() } : {})))
    )
  })
})

describe("lookup within a table", () => {
  it("the exact tag comes first [A502]", () => {
    sameType<Called<never>>()(
      call(
        count.pipe(
          Tool.onError({ NoKeys: Recovery.tell(), ExecutionError: Recovery.rethrow, orElse: Recovery.rethrow })
        )
      )
    )
  })

  it("InvalidArgs stands in for DeserializationError, not the other way round [A502]", () => {
    sameType<Effect.Effect<string, Own | NoKeys | Boom, Model.Model>>()(
      call(count.pipe(Tool.onError({ InvalidArgs: Recovery.tell() })))
    )
    sameType<Effect.Effect<string, Own | NoKeys | Boom | ToolError.InvalidArgs, Model.Model>>()(
      call(count.pipe(Tool.onError({ DeserializationError: Recovery.tell() })))
    )
    sameType<Effect.Effect<string, Own | NoKeys | Boom | ToolError.DeserializationError, Model.Model>>()(
      call(count.pipe(Tool.onError({ InvalidArgs: Recovery.tell(), DeserializationError: Recovery.rethrow })))
    )
  })

  it("ExecutionError stands in for every failure of run, and for no bad arguments [A502]", () => {
    sameType<Effect.Effect<string, Own | BadArgs, Model.Model>>()(
      call(count.pipe(Tool.onError({ ExecutionError: Recovery.tell() })))
    )
    sameType<Effect.Effect<string, Own | BadArgs | Boom, Model.Model>>()(
      call(count.pipe(Tool.onError({ ExecutionError: Recovery.tell(), Boom: Recovery.rethrow })))
    )
  })

  it("orElse comes last [A502]", () => {
    sameType<Effect.Effect<string, Own, Model.Model>>()(call(count.pipe(Tool.onError({ orElse: Recovery.tell() }))))
    sameType<Effect.Effect<string, Own | BadArgs, Model.Model>>()(
      call(count.pipe(Tool.onError({ ExecutionError: Recovery.tell(), orElse: Recovery.rethrow })))
    )
  })

  it("rethrow in an ExecutionError row leaves the original, not the wrapper [A108]", () => {
    sameType<Effect.Effect<string, Own | BadArgs | NoKeys | Boom, Model.Model>>()(
      call(count.pipe(Tool.onError({ ExecutionError: Recovery.rethrow })))
    )
  })

  it("failures without a tag go to ExecutionError, then to orElse [A502]", () => {
    const untagged = Tool.make("untagged", {
      description: "Fails without a tag.",
      parameters: Schema.Struct({}),
      success: Schema.Number,
      run: () => Effect.fail(new Error("no tag"))
    })
    sameType<Effect.Effect<string, Own | BadArgs | Error, Model.Model>>()(call(untagged))
    sameType<Effect.Effect<string, Own | BadArgs, Model.Model>>()(
      call(untagged.pipe(Tool.onError({ ExecutionError: Recovery.tell(), orElse: Recovery.rethrow })))
    )
    sameType<Effect.Effect<string, Own, Model.Model>>()(call(untagged.pipe(Tool.onError({ orElse: Recovery.tell() }))))
  })

  it("onError twice: the later row wins per tag, with its own failures and needs; the others stay [A504]", () => {
    sameType<Called<never>>()(
      call(
        count.pipe(Tool.onError({ NoKeys: Recovery.respondWith(() => ask) }), Tool.onError({ NoKeys: Recovery.tell() }))
      )
    )
    sameType<Called<NoKeys>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.tell() }), Tool.onError({ NoKeys: Recovery.rethrow })))
    )
    sameType<Effect.Effect<string, Own | BadArgs | Hard, Model.Model>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.tell() }), Tool.onError({ Boom: Recovery.raise })))
    )
    // an exact row of the first table is still before a general one of the second
    sameType<Effect.Effect<string, Own | BadArgs | Hard, Model.Model>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.tell() }), Tool.onError({ ExecutionError: Recovery.raise })))
    )
  })

  it("the order of two tables for different tags changes nothing [A504]", () => {
    const first = count.pipe(Tool.onError({ NoKeys: Recovery.tell() }), Tool.onError({ Boom: Recovery.raise }))
    const second = count.pipe(Tool.onError({ Boom: Recovery.raise }), Tool.onError({ NoKeys: Recovery.tell() }))
    const both = count.pipe(Tool.onError({ NoKeys: Recovery.tell(), Boom: Recovery.raise }))
    type _ = [Expect<Equal<typeof first, typeof second>>, Expect<Equal<typeof first, typeof both>>]
  })
})
