/** Tables of plain effects: what they leave, what their rows see and what they admit. */
import { Backoff, Recovery } from "@kintsugi/core"
import { Effect, Schedule } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"
import { ask, type Boom, cleanup, type Db, type NoKeys, type Oops, risky } from "./_support/subjects.ts"

declare const careful: Schedule.Schedule<number, NoKeys, Oops, Db>
declare const isOn: boolean

describe("residue on a plain effect", () => {
  it("retry keeps the tag [A509]", () => {
    sameType<Effect.Effect<number, NoKeys | Boom>>()(
      risky.pipe(Recovery.onError({ NoKeys: Recovery.retry({ retries: 3 }) }))
    )
    sameType<Effect.Effect<number, NoKeys | Boom>>()(
      risky.pipe(Recovery.onError({ NoKeys: Recovery.retry({ maxAttempts: 3, initialBackoff: "500 millis" }) }))
    )
  })

  it("retry with a schedule keeps the tag and adds the schedule's failures and needs [A509]", () => {
    sameType<Effect.Effect<number, NoKeys | Boom | Oops, Db>>()(
      risky.pipe(Recovery.onError({ NoKeys: Recovery.retry(careful) }))
    )
    sameType<Effect.Effect<number, NoKeys | Boom>>()(
      risky.pipe(
        Recovery.onError({ NoKeys: Recovery.retry(Schedule.recurs(2)), Boom: Recovery.retry(Backoff.suggested()) })
      )
    )
  })

  it("rethrow keeps the tag [A509]", () => {
    sameType<Effect.Effect<number, NoKeys | Boom>>()(
      risky.pipe(Recovery.onError({ NoKeys: Recovery.rethrow, orElse: Recovery.rethrow }))
    )
  })

  it("respondWith removes the tag and adds its output, failures and needs [A509]", () => {
    sameType<Effect.Effect<number | "none", Boom>>()(
      risky.pipe(Recovery.onError({ NoKeys: Recovery.respondWith("none") }))
    )
    sameType<Effect.Effect<number, Boom | Oops, Db>>()(
      risky.pipe(Recovery.onError({ NoKeys: Recovery.respondWith(() => ask) }))
    )
    sameType<Effect.Effect<number | null | { readonly a: true }>>()(
      risky.pipe(
        Recovery.onError({
          NoKeys: Recovery.respondWith(null),
          Boom: Recovery.respondWith(() => Effect.succeed({ a: true } as const))
        })
      )
    )
  })

  it("ladder has the residue of its last rung and the failures of all its handlers [A509]", () => {
    sameType<Effect.Effect<number, NoKeys | Boom>>()(
      risky.pipe(Recovery.onError({ NoKeys: Recovery.ladder(Recovery.retry({ retries: 1 })) }))
    )
    sameType<Effect.Effect<number | "none", Boom>>()(
      risky.pipe(
        Recovery.onError({ NoKeys: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.respondWith("none")) })
      )
    )
    sameType<Effect.Effect<number | "none", Boom | Oops, Db>>()(
      risky.pipe(
        Recovery.onError({
          NoKeys: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.retry(careful), Recovery.respondWith("none"))
        })
      )
    )
    sameType<Effect.Effect<number | "none", NoKeys | Boom | Oops, Db>>()(
      risky.pipe(
        Recovery.onError({
          NoKeys: Recovery.ladder(
            Recovery.retry({ retries: 1 }),
            Recovery.when((error) => (error.json === "" ? Recovery.respondWith("none") : Recovery.retry(careful))),
            Recovery.retry({ retries: 2 }),
            Recovery.rethrow
          )
        })
      )
    )
  })

  it("ladders nest [A509]", () => {
    sameType<Effect.Effect<number | true, Boom | Oops, Db>>()(
      risky.pipe(
        Recovery.onError({
          NoKeys: Recovery.ladder(
            Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.retry(careful)),
            Recovery.ladder(Recovery.ladder(Recovery.retry({ retries: 1 })), Recovery.respondWith(true as const))
          )
        })
      )
    )
  })

  it("when has the union of its branches [A509]", () => {
    sameType<Effect.Effect<number | "none", NoKeys | Boom | Oops, Db>>()(
      risky.pipe(
        Recovery.onError({
          NoKeys: Recovery.when((error, { attempt }) =>
            attempt > 3
              ? Recovery.respondWith(() => ask)
              : error.json === ""
                ? Recovery.respondWith("none")
                : Recovery.retry({ retries: 3 })
          )
        })
      )
    )
    sameType<Effect.Effect<number | "none" | "no", Boom>>()(
      risky.pipe(
        Recovery.onError({
          NoKeys: Recovery.when(() =>
            isOn
              ? Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.respondWith("none"))
              : Recovery.respondWith("no")
          )
        })
      )
    )
  })

  it("what has no row stays, what orElse handles is gone [A509]", () => {
    sameType<Effect.Effect<number, NoKeys | Boom>>()(risky.pipe(Recovery.onError({})))
    sameType<Effect.Effect<number, Boom>>()(
      risky.pipe(Recovery.onError({ Boom: Recovery.rethrow, orElse: Recovery.respondWith(0) }))
    )
    sameType<Effect.Effect<number>>()(risky.pipe(Recovery.onError({ orElse: Recovery.respondWith(0) })))
  })

  it("a row that may be absent handles nothing for sure [A509]", () => {
    const some: { NoKeys?: Recovery.Verdict<NoKeys, string, Oops, Db> } = {}
    sameType<Effect.Effect<number | string, NoKeys | Boom | Oops, Db>>()(risky.pipe(Recovery.onError(some)))
    sameType<Effect.Effect<number | "none", NoKeys | Boom>>()(
      risky.pipe(Recovery.onError(isOn ? { NoKeys: Recovery.respondWith("none") } : {}))
    )
  })

  it("two tables stand behind each other: the second sees what the first leaves [A509]", () => {
    sameType<Effect.Effect<number | "none" | false>>()(
      risky.pipe(
        Recovery.onError({ NoKeys: Recovery.respondWith("none") }),
        Recovery.onError({ Boom: Recovery.respondWith(false) })
      )
    )
    risky.pipe(
      Recovery.onError({ NoKeys: Recovery.respondWith("none") }),
      // @ts-expect-error NoKeys is gone
      Recovery.onError({ NoKeys: Recovery.respondWith("again") })
    )
  })

  it("a handler's own failure is final: no other row of the table removes it [A512]", () => {
    const failing: Effect.Effect<number, Boom> = risky.pipe(Effect.catchTag("NoKeys", () => Effect.succeed(0)))
    sameType<Effect.Effect<number, Boom>>()(
      risky.pipe(Recovery.onError({ NoKeys: Recovery.respondWith(() => failing), Boom: Recovery.respondWith(0) }))
    )
  })

  it("failures without a tag go to orElse", () => {
    const untagged = Effect.fail(new Error("no tag"))
    sameType<Effect.Effect<number>>()(
      untagged.pipe(
        Recovery.onError({
          orElse: Recovery.respondWith((error) => {
            sameType<Error>()(error)
            return Effect.succeed(0)
          })
        })
      )
    )
    sameType<Effect.Effect<never, Error>>()(untagged.pipe(Recovery.onError({ orElse: Recovery.rethrow })))
  })
})

describe("a table for a plain effect", () => {
  it("callbacks see the failures of their row [A506]", () => {
    risky.pipe(
      Recovery.onError({
        NoKeys: Recovery.ladder(
          Recovery.when((error, context) => {
            sameType<NoKeys>()(error)
            sameType<Recovery.FailureContext>()(context)
            return Recovery.retry({ retries: 1 })
          }),
          Recovery.respondWith((error) => {
            sameType<NoKeys>()(error)
            return Effect.succeed(error.json)
          })
        ),
        Boom: Recovery.respondWith((error) => {
          sameType<Boom>()(error)
          return Effect.succeed(error.n)
        }),
        orElse: Recovery.respondWith((error) => {
          sameType<NoKeys | Boom>()(error)
          return ask
        })
      })
    )
  })

  it("callbacks for other failures do not compile [A506]", () => {
    const forBoom = Recovery.respondWith((error: Boom) => Effect.succeed(error.n))
    risky.pipe(Recovery.onError({ Boom: forBoom }))
    // @ts-expect-error NoKeys is no Boom
    risky.pipe(Recovery.onError({ NoKeys: forBoom }))
    // @ts-expect-error orElse sees NoKeys too
    risky.pipe(Recovery.onError({ orElse: forBoom }))
    // @ts-expect-error what when answers with sees the same failures
    risky.pipe(Recovery.onError({ NoKeys: Recovery.when(() => forBoom) }))
    // @ts-expect-error each rung sees the same failures
    risky.pipe(Recovery.onError({ NoKeys: Recovery.ladder(Recovery.retry({ retries: 1 }), forBoom) }))
    // @ts-expect-error this schedule is for NoKeys
    risky.pipe(Recovery.onError({ Boom: Recovery.retry(careful) }))
  })

  it("a row for a tag that cannot occur does not compile [A506]", () => {
    // @ts-expect-error risky does not fail with Oops
    risky.pipe(Recovery.onError({ Oops: Recovery.rethrow }))
    // @ts-expect-error risky does not fail with Oops, and a row beside it does not change that
    risky.pipe(Recovery.onError({ NoKeys: Recovery.rethrow, Oops: Recovery.rethrow }))
    const spare = { NoKeys: Recovery.rethrow, Oops: Recovery.rethrow }
    // @ts-expect-error nor in a table that was made before
    risky.pipe(Recovery.onError(spare))
    // @ts-expect-error this effect has no tag but Boom
    risky.pipe(Recovery.onError({ NoKeys: Recovery.respondWith(0) }), Recovery.onError({ NoKeys: Recovery.rethrow }))
  })

  it("tell, escalate, raise and fix do not compile there, not within a ladder or a when either [A514]", () => {
    // @ts-expect-error there is no model to tell
    risky.pipe(Recovery.onError({ NoKeys: Recovery.tell() }))
    // @ts-expect-error there is no model to escalate to
    risky.pipe(Recovery.onError({ NoKeys: Recovery.escalate() }))
    // @ts-expect-error there is no tool that could fail for good
    risky.pipe(Recovery.onError({ NoKeys: Recovery.raise }))
    // @ts-expect-error there are no arguments to repair
    risky.pipe(Recovery.onError({ NoKeys: Recovery.fix(cleanup) }))
    // @ts-expect-error there are no arguments to repair, with any acknowledgement
    risky.pipe(Recovery.onError({ NoKeys: Recovery.fix(cleanup, { acknowledge: "may run twice" }) }))
    // @ts-expect-error there is no model to tell
    risky.pipe(Recovery.onError({ NoKeys: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.tell()) }))
    // @ts-expect-error there are no arguments to repair
    risky.pipe(Recovery.onError({ NoKeys: Recovery.ladder(Recovery.fix(cleanup), Recovery.rethrow) }))
    // @ts-expect-error there is no tool that could fail for good
    risky.pipe(Recovery.onError({ NoKeys: Recovery.when(() => (isOn ? Recovery.raise : Recovery.rethrow)) }))
  })
})
