/** Tables of tools: what their rows see and what they admit; and a tool by itself. */
import { type Model, Recovery, Tool, type ToolError } from "@kintsugi/core"
import { Effect, Schedule, Schema } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"
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
  pay
} from "./_support/subjects.ts"

type Hard = ToolError.ToolExecutionError

/** A call of an agent that has the tool `count`, with a row for `NoKeys` that leaves `Left` and needs `R`. */
type Called<Left, R = never> = Effect.Effect<string, Own | BadArgs | Boom | Left, Model.Model | R>

declare const careful: Schedule.Schedule<number, NoKeys, Oops, Db>
declare const isOn: boolean

describe("callbacks of a row", () => {
  it("see exactly the failures that can reach the row [A506]", () => {
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

  it("an InvalidArgs row sees DeserializationError too [A506]", () => {
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
  it("an InvalidArgs row beside a DeserializationError row, and orElse, see more than can reach them [A506]", () => {
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

  it("are typed within ladders, at every rung and depth [A506]", () => {
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
  it("within the answer of when they see unknown [A506]", () => {
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

  it("callbacks for other failures do not compile [A506]", () => {
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
  it("a row for a tag that cannot occur does not compile [A506]", () => {
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

  it("respondWith fits the success type of the tool [A510]", () => {
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

  it("a verdict that ends as compacted does not compile [A514]", () => {
    const compacted: Recovery.Verdict<unknown, never, never, never, "compacted"> = Recovery.rethrow as never
    // @ts-expect-error there is no context to compact in a tool call
    count.pipe(Tool.onError({ NoKeys: compacted }))
    // @ts-expect-error nor within a ladder
    count.pipe(Tool.onError({ NoKeys: Recovery.ladder(Recovery.retry({ retries: 1 }), compacted) }))
  })

  it("retry on an unsafe tool does not compile unless acknowledged [P601]", () => {
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

  it("fix of a failed run of an unsafe tool does not compile unless acknowledged [P601]", () => {
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

  it("fix of the arguments of an unsafe tool compiles: nothing ran yet [P601]", () => {
    sameType<Effect.Effect<string, Own | NoKeys | Boom | Hard, Model.Model>>()(
      call(pay.pipe(Tool.onError({ InvalidArgs: Recovery.fix(cleanup), DeserializationError: Recovery.fix(cleanup) })))
    )
  })

  it("a tool whose side effects are one of several is treated as the worst of them [P601]", () => {
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

  it("a built-in tool takes no table [A409]", () => {
    // @ts-expect-error escalate is outside every table
    Tool.escalate.pipe(Tool.onError({ EscalationError: Recovery.tell() }))
    // @ts-expect-error throwException is outside every table
    Tool.throwException.pipe(Tool.onError({ orElse: Recovery.tell() }))
  })
})

describe("a tool by itself", () => {
  it("its type carries name, parameters, success, failures, needs and side effects [A107]", () => {
    type Json = { readonly json: string }
    sameType<Tool.Tool<"count", Json, number, NoKeys | Boom, never>>()(count)
    sameType<Tool.Tool<"pay", Json, number, NoKeys | Boom, never, {}, "unsafe">>()(pay)
    sameType<Tool.Tool<"check", Json, boolean, never, never>>()(check)
  })

  it("Tool.call leaves the failures of decoding and of run: no table decides [A107]", () => {
    const guarded = count.pipe(
      Tool.onError({ NoKeys: Recovery.respondWith(() => ask), InvalidArgs: Recovery.fix(lookup) })
    )
    sameType<Effect.Effect<number, BadArgs | NoKeys | Boom>>()(Tool.call(count, "{}"))
    sameType<Effect.Effect<number, BadArgs | NoKeys | Boom>>()(Tool.call(guarded, "{}"))
    sameType<Effect.Effect<boolean, BadArgs>>()(Tool.call(check, {}))
  })

  it("run gets the decoded parameters, and its result fits the success schema [A107]", () => {
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

describe("what undoes a call", () => {
  it("sees what the tool took and gave; what it needs is needed, what it fails with is in no type [P1120]", () => {
    const undone = count.pipe(
      Tool.compensate(({ idempotencyKey, params, result }) => {
        sameType<string>()(idempotencyKey)
        sameType<Tool.SuccessOf<typeof count>>()(result)
        sameType<{ readonly json: string }>()(params)
        return Effect.andThen(Effect.asVoid(ask), Effect.fail(new Error("any")))
      })
    )
    sameType<Tool.ErrorOf<typeof count>>()(undefined as unknown as Tool.ErrorOf<typeof undone>)
    sameType<Tool.ServicesOf<typeof count> | Db>()(undefined as unknown as Tool.ServicesOf<typeof undone>)
    count.pipe(
      // @ts-expect-error the tool does not give a text
      Tool.compensate(({ result }: { readonly result: string }) => Effect.log(result))
    )
  })
})
