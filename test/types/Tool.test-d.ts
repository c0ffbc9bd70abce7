/** Tables of tools: what their rows see, what they admit, and what they leave when an agent calls the tool. */
import { Backoff, Recovery, Tool } from "@kintsugi/core"
import type { Model, ToolError } from "@kintsugi/core"
import { Effect, Schedule, Schema } from "effect"
import { describe, it } from "vitest"
import { type Equal, type Expect, sameType } from "./Identity.ts"
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
  name,
  type NoKeys,
  type Oops,
  type Own,
  pay,
  strict
} from "./subjects.ts"

type Hard = ToolError.ToolExecutionError

/** A call of an agent that has the tool `count`, with a row for `NoKeys` that leaves `Left` and needs `R`. */
type Called<Left, R = never> = Effect.Effect<string, Own | BadArgs | Boom | Left, Model.Model | R>

declare const careful: Schedule.Schedule<number, NoKeys, Oops, Db>
declare const isOn: boolean

describe("residue on a tool", () => {
  it("A507 without a row the failure leaves as itself", () => {
    sameType<Called<NoKeys>>()(call(count))
    sameType<Called<NoKeys>>()(call(count.pipe(Tool.onError({}))))
    sameType<Effect.Effect<string, Own | BadArgs, Model.Model>>()(call(check))
  })

  it("A509 retry on a tool replaces the tag by ToolExecutionError", () => {
    sameType<Called<Hard>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.retry({ retries: 1 }) }))))
    sameType<Called<Hard>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.retry({ maxAttempts: 3, initialBackoff: "1 second" }) })))
    )
    sameType<Called<Hard>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.retry({ retries: 1, acknowledge: "may run twice" }) })))
    )
  })

  it("A509 retry with a schedule adds the schedule's failures and needs", () => {
    sameType<Called<Hard | Oops, Db>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.retry(careful) }))))
    sameType<Called<Hard>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.retry(Backoff.honouringHints()) }))))
    sameType<Called<Hard>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.retry(Schedule.recurs(2)) }))))
  })

  it("A509 fix replaces the tag by ToolExecutionError; the fixer's needs stay, its failures do not", () => {
    sameType<Called<Hard>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.fix(cleanup) }))))
    sameType<Called<Hard, Db>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.fix(lookup, { retries: 2 }) }))))
    sameType<Called<Hard, Db>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.fix(lookup, { as: "result" }) }))))
    sameType<Effect.Effect<string, Own | NoKeys | Boom | Hard, Model.Model | Db>>()(
      call(count.pipe(Tool.onError({ InvalidArgs: Recovery.fix(lookup) })))
    )
  })

  it("A509 raise replaces the tag by ToolExecutionError", () => {
    sameType<Called<Hard>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.raise }))))
  })

  it("A509 tell and escalate remove the tag", () => {
    sameType<Called<never>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.tell() }))))
    sameType<Called<never>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.tell((error) => error.json) }))))
    sameType<Called<never>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.escalate() }))))
    sameType<Called<never>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.escalate({ severity: "LOW" }) }))))
  })

  it("A509 respondWith removes the tag and adds its own failures and needs", () => {
    sameType<Called<never>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.respondWith(0) }))))
    sameType<Called<Oops, Db>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.respondWith(() => ask) }))))
  })

  it("A509 rethrow keeps the tag", () => {
    sameType<Called<NoKeys>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.rethrow }))))
  })

  it("A509 ladder has the residue of its last rung and the failures of all its handlers", () => {
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

  it("A509 ladders nest, and a ladder made before is the same as one written inline", () => {
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

  it("A509 when has the union of its branches", () => {
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

  it("A509 when within a ladder, and a ladder within when", () => {
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

  it("A311 a fixer that may end with ToolExecutionError leaves it, whatever rung follows", () => {
    sameType<Called<Hard, Db>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.ladder(Recovery.fix(strict), Recovery.tell()) })))
    )
    sameType<Called<never, Db>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.ladder(Recovery.fix(lookup), Recovery.tell()) })))
    )
  })

  it("A512 a handler's own failure is final: no other row removes it", () => {
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

  it("A509 a row that may be absent handles nothing for sure", () => {
    const some: { NoKeys?: Recovery.Verdict<NoKeys, number, Oops, Db, "raise"> } = {}
    sameType<Called<NoKeys | Oops | Hard, Db>>()(call(count.pipe(Tool.onError(some))))
    sameType<Called<NoKeys>>()(call(count.pipe(Tool.onError(isOn ? { NoKeys: Recovery.tell() } : {}))))
    sameType<Called<Hard>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.raise }), Tool.onError(isOn ? { NoKeys: Recovery.tell() } : {})))
    )
  })
})

describe("lookup within a table", () => {
  it("A502 the exact tag comes first", () => {
    sameType<Called<never>>()(
      call(
        count.pipe(
          Tool.onError({ NoKeys: Recovery.tell(), ExecutionError: Recovery.rethrow, orElse: Recovery.rethrow })
        )
      )
    )
  })

  it("A502 InvalidArgs stands in for DeserializationError, not the other way round", () => {
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

  it("A502 ExecutionError stands in for every failure of run, and for no bad arguments", () => {
    sameType<Effect.Effect<string, Own | BadArgs, Model.Model>>()(
      call(count.pipe(Tool.onError({ ExecutionError: Recovery.tell() })))
    )
    sameType<Effect.Effect<string, Own | BadArgs | Boom, Model.Model>>()(
      call(count.pipe(Tool.onError({ ExecutionError: Recovery.tell(), Boom: Recovery.rethrow })))
    )
  })

  it("A502 orElse comes last", () => {
    sameType<Effect.Effect<string, Own, Model.Model>>()(call(count.pipe(Tool.onError({ orElse: Recovery.tell() }))))
    sameType<Effect.Effect<string, Own | BadArgs, Model.Model>>()(
      call(count.pipe(Tool.onError({ ExecutionError: Recovery.tell(), orElse: Recovery.rethrow })))
    )
  })

  it("A108 rethrow in an ExecutionError row leaves the original, not the wrapper", () => {
    sameType<Effect.Effect<string, Own | BadArgs | NoKeys | Boom, Model.Model>>()(
      call(count.pipe(Tool.onError({ ExecutionError: Recovery.rethrow })))
    )
  })

  it("A502 failures without a tag go to ExecutionError, then to orElse", () => {
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

  it("A504 onError twice: the later row wins per tag, with its own failures and needs; the others stay", () => {
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

  it("A504 the order of two tables for different tags changes nothing", () => {
    const first = count.pipe(Tool.onError({ NoKeys: Recovery.tell() }), Tool.onError({ Boom: Recovery.raise }))
    const second = count.pipe(Tool.onError({ Boom: Recovery.raise }), Tool.onError({ NoKeys: Recovery.tell() }))
    const both = count.pipe(Tool.onError({ NoKeys: Recovery.tell(), Boom: Recovery.raise }))
    type _ = [Expect<Equal<typeof first, typeof second>>, Expect<Equal<typeof first, typeof both>>]
  })
})

describe("callbacks of a row", () => {
  it("A506 see exactly the failures that can reach the row", () => {
    count.pipe(
      Tool.onError({
        NoKeys: Recovery.tell((error, context) => {
          sameType<NoKeys>()(error)
          sameType<Recovery.FailureContext>()(context)
          return error.json
        }),
        Boom: Recovery.respondWith((error) => {
          sameType<Boom>()(error)
          return Effect.succeed(error.n)
        }),
        DeserializationError: Recovery.tell((error) => {
          sameType<ToolError.DeserializationError>()(error)
          return error.targetType
        }),
        ExecutionError: Recovery.when((error, context) => {
          sameType<ToolError.ExecutionError>()(error)
          sameType<Recovery.FailureContext>()(context)
          return error.category === "network" ? Recovery.retry({ retries: 1 }) : Recovery.tell()
        })
      })
    )
  })

  it("A506 an InvalidArgs row sees DeserializationError too", () => {
    count.pipe(
      Tool.onError({
        InvalidArgs: Recovery.tell((error) => {
          sameType<ToolError.InvalidArgs | ToolError.DeserializationError>()(error)
          return error.message
        })
      })
    )
    const forText = { InvalidArgs: Recovery.tell((error: ToolError.InvalidArgs) => error.rawArgs) }
    // @ts-expect-error a DeserializationError has no rawArgs
    count.pipe(Tool.onError(forText))
  })

  // A row is typed before its neighbours are known: each is a call, and inference reads calls one by one.
  it("A506 an InvalidArgs row beside a DeserializationError row, and orElse, see more than can reach them", () => {
    count.pipe(
      Tool.onError({
        InvalidArgs: Recovery.tell((error) => {
          sameType<ToolError.InvalidArgs | ToolError.DeserializationError>()(error)
          return error.message
        }),
        DeserializationError: Recovery.tell(),
        NoKeys: Recovery.tell(),
        orElse: Recovery.tell((error) => {
          sameType<BadArgs | NoKeys | Boom>()(error)
          return error.message
        })
      })
    )
  })

  it("A506 are typed within ladders, at every rung and depth", () => {
    count.pipe(
      Tool.onError({
        NoKeys: Recovery.ladder(
          Recovery.retry({ retries: 1 }),
          Recovery.fix(lookup, {
            input: ({ error }) => {
              sameType<NoKeys | BadArgs>()(error)
              return error.message
            }
          }),
          Recovery.ladder(
            Recovery.when((error) => {
              sameType<NoKeys>()(error)
              return Recovery.retry({ retries: 1 })
            }),
            Recovery.ladder(
              Recovery.tell((error) => {
                sameType<NoKeys>()(error)
                return error.json
              })
            )
          ),
          Recovery.respondWith((error) => {
            sameType<NoKeys>()(error)
            return Effect.succeed(error.json.length)
          })
        )
      })
    )
  })

  // The verdicts that `when` answers with are inferred without a context: the outer callback has the typed error.
  it("A506 within the answer of when they see unknown", () => {
    count.pipe(
      Tool.onError({
        NoKeys: Recovery.when((error) => {
          sameType<NoKeys>()(error)
          return Recovery.tell((inner) => {
            sameType<unknown>()(inner)
            return error.json
          })
        })
      })
    )
  })

  it("A506 callbacks for other failures do not compile", () => {
    const forBoom = Recovery.tell((error: Boom) => String(error.n))
    count.pipe(Tool.onError({ Boom: forBoom }))
    // @ts-expect-error NoKeys is no Boom
    count.pipe(Tool.onError({ NoKeys: forBoom }))
    // @ts-expect-error orElse sees NoKeys too
    count.pipe(Tool.onError({ orElse: forBoom }))
    // @ts-expect-error what when answers with sees the same failures
    count.pipe(Tool.onError({ NoKeys: Recovery.when(() => forBoom) }))
    // @ts-expect-error each rung sees the same failures
    count.pipe(Tool.onError({ NoKeys: Recovery.ladder(Recovery.retry({ retries: 1 }), forBoom) }))
    // @ts-expect-error this schedule is for NoKeys
    count.pipe(Tool.onError({ Boom: Recovery.retry(careful) }))
  })
})

describe("what a table admits", () => {
  it("A506 a row for a tag that cannot occur does not compile", () => {
    // @ts-expect-error count does not fail with Oops
    count.pipe(Tool.onError({ Oops: Recovery.tell() }))
    // @ts-expect-error name does not fail with NoKeys
    name.pipe(Tool.onError({ NoKeys: Recovery.tell() }))
    // @ts-expect-error a row beside it does not change that
    name.pipe(Tool.onError({ Boom: Recovery.tell(), NoKeys: Recovery.tell() }))
    // @ts-expect-error what a verdict produced is looked up in no table
    count.pipe(Tool.onError({ ToolExecutionError: Recovery.tell() }))
    // @ts-expect-error model failures are for onLlmError
    count.pipe(Tool.onError({ NetworkError: Recovery.tell() }))
    const spare = { Boom: Recovery.tell(), Oops: Recovery.tell() }
    // @ts-expect-error nor in a table that was made before
    count.pipe(Tool.onError(spare))
    // @ts-expect-error a row is a verdict
    count.pipe(Tool.onError({ NoKeys: "tell" }))
    // @ts-expect-error a row is a verdict, not a function to one
    count.pipe(Tool.onError({ NoKeys: Recovery.tell }))
  })

  it("A510 respondWith fits the success type of the tool", () => {
    // @ts-expect-error count gives a number
    count.pipe(Tool.onError({ NoKeys: Recovery.respondWith("none") }))
    // @ts-expect-error count gives a number
    count.pipe(Tool.onError({ NoKeys: Recovery.respondWith(() => Effect.succeed("none")) }))
    // @ts-expect-error count gives a number
    count.pipe(Tool.onError({ NoKeys: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.respondWith("none")) }))
    // @ts-expect-error count gives a number
    count.pipe(Tool.onError({ NoKeys: Recovery.when(() => (isOn ? Recovery.tell() : Recovery.respondWith("none"))) }))
    // @ts-expect-error an effect as a value is no number
    count.pipe(Tool.onError({ NoKeys: Recovery.respondWith(Effect.succeed(0)) }))
    // @ts-expect-error name gives a text
    name.pipe(Tool.onError({ orElse: Recovery.respondWith(0) }))
  })

  it("A514 a verdict that ends as compacted does not compile", () => {
    const compacted: Recovery.Verdict<unknown, never, never, never, "compacted"> = Recovery.rethrow as never
    // @ts-expect-error there is no context to compact in a tool call
    count.pipe(Tool.onError({ NoKeys: compacted }))
    // @ts-expect-error nor within a ladder
    count.pipe(Tool.onError({ NoKeys: Recovery.ladder(Recovery.retry({ retries: 1 }), compacted) }))
  })

  it("P601 retry on an unsafe tool does not compile unless acknowledged", () => {
    // @ts-expect-error it may pay twice
    pay.pipe(Tool.onError({ NoKeys: Recovery.retry({ retries: 1 }) }))
    // @ts-expect-error it may pay twice
    pay.pipe(Tool.onError({ NoKeys: Recovery.retry(Schedule.recurs(1)) }))
    // @ts-expect-error it may pay twice
    pay.pipe(Tool.onError({ ExecutionError: Recovery.retry({ retries: 1 }) }))
    // @ts-expect-error orElse sees failed runs
    pay.pipe(Tool.onError({ orElse: Recovery.retry({ retries: 1 }) }))
    // @ts-expect-error it may pay twice at any rung
    pay.pipe(Tool.onError({ NoKeys: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.tell()) }))
    // @ts-expect-error it may pay twice in any branch
    pay.pipe(Tool.onError({ NoKeys: Recovery.when(() => (isOn ? Recovery.retry({ retries: 1 }) : Recovery.tell())) }))
    // @ts-expect-error these are not the words
    pay.pipe(Tool.onError({ NoKeys: Recovery.retry({ retries: 1, acknowledge: "yes" }) }))

    const once = { retries: 1, acknowledge: "may run twice" } as const
    sameType<Called<Hard>>()(call(pay.pipe(Tool.onError({ NoKeys: Recovery.retry(once) }))))
    sameType<Called<never>>()(
      call(pay.pipe(Tool.onError({ NoKeys: Recovery.ladder(Recovery.retry(once), Recovery.tell()) })))
    )
    sameType<Called<never>>()(call(pay.pipe(Tool.onError({ NoKeys: Recovery.tell() }))))
  })

  it("P601 fix of a failed run of an unsafe tool does not compile unless acknowledged", () => {
    // @ts-expect-error it may pay twice
    pay.pipe(Tool.onError({ NoKeys: Recovery.fix(cleanup) }))
    // @ts-expect-error it may pay twice
    pay.pipe(Tool.onError({ ExecutionError: Recovery.ladder(Recovery.fix(cleanup), Recovery.tell()) }))
    // @ts-expect-error orElse sees failed runs
    pay.pipe(Tool.onError({ orElse: Recovery.fix(cleanup) }))
    sameType<Called<Hard>>()(
      call(pay.pipe(Tool.onError({ NoKeys: Recovery.fix(cleanup, { acknowledge: "may run twice" }) })))
    )
  })

  it("P601 fix of the arguments of an unsafe tool compiles: nothing ran yet", () => {
    sameType<Effect.Effect<string, Own | NoKeys | Boom | Hard, Model.Model>>()(
      call(pay.pipe(Tool.onError({ InvalidArgs: Recovery.fix(cleanup), DeserializationError: Recovery.fix(cleanup) })))
    )
  })

  it("P601 a tool whose side effects are one of several is treated as the worst of them", () => {
    const some = Tool.make("some", {
      description: "Perhaps unsafe.",
      parameters: Schema.Struct({}),
      success: Schema.Number,
      sideEffects: isOn ? "unsafe" : "none",
      run: () => ask
    })
    some.pipe(Tool.onError({ Oops: Recovery.tell() }))
    // @ts-expect-error it may be unsafe
    some.pipe(Tool.onError({ Oops: Recovery.retry({ retries: 1 }) }))
    const idempotent = Tool.make("idempotent", {
      description: "Once or twice is the same.",
      parameters: Schema.Struct({}),
      success: Schema.Number,
      sideEffects: "idempotent",
      run: () => ask
    })
    idempotent.pipe(Tool.onError({ Oops: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.fix(cleanup)) }))
  })

  it("A409 a built-in tool takes no table", () => {
    // @ts-expect-error escalate is outside every table
    Tool.escalate.pipe(Tool.onError({ EscalationError: Recovery.tell() }))
    // @ts-expect-error throwException is outside every table
    Tool.throwException.pipe(Tool.onError({ orElse: Recovery.tell() }))
  })
})

describe("a tool by itself", () => {
  it("A107 its type carries name, parameters, success, failures, needs and side effects", () => {
    type Json = { readonly json: string }
    sameType<Tool.Tool<"count", Json, number, NoKeys | Boom, never>>()(count)
    sameType<Tool.Tool<"pay", Json, number, NoKeys | Boom, never, {}, "unsafe">>()(pay)
    sameType<Tool.Tool<"check", Json, boolean, never, never>>()(check)
  })

  it("A107 Tool.call leaves the failures of decoding and of run: tables are not asked", () => {
    const guarded = count.pipe(
      Tool.onError({ NoKeys: Recovery.respondWith(() => ask), InvalidArgs: Recovery.fix(lookup) })
    )
    sameType<Effect.Effect<number, BadArgs | NoKeys | Boom>>()(Tool.call(count, "{}"))
    sameType<Effect.Effect<number, BadArgs | NoKeys | Boom>>()(Tool.call(guarded, "{}"))
    sameType<Effect.Effect<boolean, BadArgs>>()(Tool.call(check, {}))
  })

  it("A107 run gets the decoded parameters, and its result fits the success schema", () => {
    const options = { description: "d", parameters: Schema.Struct({ n: Schema.Number }), success: Schema.String }
    Tool.make("typed", {
      ...options,
      run: (params, context) => {
        sameType<{ readonly n: number }>()(params)
        sameType<Tool.ToolContext>()(context)
        return Effect.succeed(String(params.n))
      }
    })
    // @ts-expect-error it gives a text
    Tool.make("wrong", { ...options, run: () => Effect.succeed(1) })
  })
})
