/** What `check` does with a property: when it holds, how a case is replayed, and what an interruption does. */
import { assert, it } from "@effect/vitest"
import { Recovery, Snapshot } from "@kintsugi/core"
import { FailureScript, Trace } from "@kintsugi/core/testing"
import * as Arbitraries from "@kintsugi/core/testing/Arbitraries"
import * as FastCheck from "@kintsugi/core/testing/FastCheck"
import { Cause, Context, Data, Deferred, Effect, Exit, Fiber, Random, Ref } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import fc from "fast-check"
import { sameType } from "../../types/_support/Identity.ts"

class Db extends Context.Service<Db, { readonly connection: Ref.Ref<boolean> }>()("Db") {}

class Refused extends Data.TaggedError("Refused")<{ readonly why: string }> {}

const fromDb = Effect.flatMap(Db, ({ connection }) => Effect.map(Ref.get(connection), String))

// --- verdicts

it.effect("a property that gives false does not hold, and what else it gives does not matter [P1105]", () =>
  Effect.gen(function* () {
    const error = yield* Effect.flip(FastCheck.check(fc.nat(), (n) => Effect.succeed(n < 5), { seed: 1 }))
    assert.strictEqual(error.counterexample, 5)
    assert.include(error.message, "the property gave false")
    assert.isTrue(Cause.hasDies(error.failure))
    for (const given of [true, undefined, 0, "", null]) {
      yield* FastCheck.check(fc.nat(), () => Effect.succeed(given), { runs: 5 })
    }
  })
)

it.effect("a case without a prototype is shown by its fields, with the fields of tagged errors [P1105]", () =>
  Effect.gen(function* () {
    const odd: object = Object.assign(Object.create(null), { error: new Refused({ why: "no" }) })
    const error = yield* Effect.flip(FastCheck.check(fc.constant(odd), () => Effect.succeed(false)))
    assert.include(error.message, '{"error":{"_tag":"Refused","why":"no"}}')
  })
)

it.effect("a check of no case at all is a mistake, not a success [P1105]", () =>
  Effect.gen(function* () {
    for (const runs of [0, -1, 1.5, Number.NaN]) {
      const exit = yield* Effect.exit(FastCheck.check(fc.nat(), () => Effect.fail("no"), { runs }))
      assert.match(
        String(Exit.isFailure(exit) && Cause.squash(exit.cause)),
        /runs must be a whole number of at least 1/
      )
    }
  })
)

it.effect("the failure of a case stays a failure, its defect a defect, with the cause of both [P1105]", () =>
  Effect.gen(function* () {
    const failed = yield* Effect.flip(FastCheck.check(fc.nat(), (n) => Effect.fail({ _tag: "Odd", n } as const)))
    const reason = failed.failure.reasons[0]
    assert(reason !== undefined && Cause.isFailReason(reason))
    // its type is known
    assert.strictEqual(reason.error._tag, "Odd")
    assert.strictEqual(reason.error.n, failed.counterexample)
    const defect = new Error("broken")
    const died = yield* Effect.flip(FastCheck.check(fc.nat(), () => Effect.die(defect)))
    assert.isTrue(Cause.hasDies(died.failure) && !Cause.hasFails(died.failure))
    assert.strictEqual(died.cause, defect)
    const thrown = yield* Effect.flip(
      FastCheck.check(fc.nat(), (): Effect.Effect<void> => {
        throw defect
      })
    )
    assert.strictEqual(thrown.cause, defect)
  })
)

it.effect("a defect of an arbitrary, a path that is none, and cases that are all refused are defects [P1105]", () =>
  Effect.gen(function* () {
    const defectOf = (check: Effect.Effect<void, FastCheck.CounterexampleError>) =>
      Effect.map(Effect.exit(check), (exit) => {
        assert(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
        return String(Cause.squash(exit.cause))
      })
    const broken = fc.nat().map((): number => {
      throw new Error("no value")
    })
    assert.include(yield* defectOf(FastCheck.check(broken, () => Effect.void)), "no value")
    const nowhere = FastCheck.check(fc.nat(), () => Effect.void, { seed: 1, path: "here" })
    assert.include(yield* defectOf(nowhere), "path=here")
    const refusing = FastCheck.check(fc.nat(), () => Effect.sync(() => fc.pre(false)), { runs: 2, seed: 1 })
    assert.strictEqual(yield* defectOf(refusing), "Error: seed 1: 0 cases ran, and 201 were refused by fc.pre")
    const some = FastCheck.check(fc.nat(), (n) => Effect.sync(() => fc.pre(n % 2 === 0)), { runs: 20 })
    yield* some
    // a smaller case that is refused hides no failure
    const odd = FastCheck.check(
      fc.nat(),
      (n) => {
        fc.pre(n % 2 === 1)
        return n > 50 ? Effect.fail("too large") : Effect.void
      },
      { seed: 1 }
    )
    const { cause, counterexample } = yield* Effect.flip(odd)
    assert.strictEqual(cause, "too large")
    assert.isTrue(counterexample > 50 && counterexample % 2 === 1)
  })
)

it("check needs what the property needs, and its error keeps the types of case and failure [P1105]", () => {
  const needy = (n: number, { trace }: { readonly trace: typeof Trace.trace }) =>
    n === 0
      ? Effect.asVoid(trace({ orElse: Recovery.respondWith(() => fromDb) }, FailureScript.always(FailureScript.dies)))
      : Effect.fail("none" as const)
  const checked = FastCheck.check(fc.nat(), needy)
  sameType<Effect.Effect<void, FastCheck.CounterexampleError<number, "none">, Db>>()(checked)
  void Effect.catchTag(checked, "CounterexampleError", ({ counterexample, failure }) => {
    sameType<number>()(counterexample)
    sameType<Cause.Cause<"none">>()(failure)
    return Effect.void
  })
  // @ts-expect-error: a boolean is no effect
  void FastCheck.check(fc.nat(), (n) => n >= 0)
})

// --- seeds

const jittered = Recovery.retry({ retries: 3, initialBackoff: "1 second", jitter: "full" })

/** Holds for some draws of the jitter, and not for others. */
const quick = (options: FastCheck.Options) =>
  FastCheck.check(
    fc.record({
      note: fc.string(),
      script: FastCheck.fromEffect(Arbitraries.allFailing(["Down"], Arbitrary.Constant(undefined)))
    }),
    ({ script }, { trace }) => Effect.map(trace(jittered, script), (seen) => Trace.waited(seen) <= 5_000),
    options
  )

it.effect("one seed gives one verdict and one counterexample, also where jitter is drawn [P1105]", () =>
  Effect.gen(function* () {
    const slow = FastCheck.check(
      fc.constantFrom(1, 2, 3),
      (_, { trace }) =>
        Effect.map(
          trace(jittered, FailureScript.always(FailureScript.fails("Down"))),
          ({ end }) => (end ?? 0) <= 6_000
        ),
      { runs: 40, seed: 7 }
    )
    const [first, ...others] = yield* Effect.all([slow, slow, slow, slow, slow].map(Effect.exit))
    assert(first !== undefined && Exit.isFailure(first))
    for (const other of others) {
      assert(Exit.isFailure(other))
      assert.strictEqual(String(Cause.squash(other.cause)), String(Cause.squash(first.cause)))
    }
    const messages = yield* Effect.forEach(
      Array.from({ length: 10 }, (_, seed) => seed),
      (seed) =>
        Effect.map(Effect.all([Effect.flip(quick({ seed })), Effect.flip(quick({ seed }))]), ([one, other]) => {
          assert.strictEqual(other.message, one.message)
          assert.strictEqual(one.counterexample.note, "")
          return one.message
        })
    )
    assert.strictEqual(new Set(messages).size, 10)
  })
)

it.effect("the seed and the path of a report run its case once more, alone, with its random numbers [P1105]", () =>
  Effect.gen(function* () {
    const error = yield* Effect.flip(quick({ seed: 3 }))
    assert.include(error.message, `seed 3, path "${error.path}", case `)
    const repeated = yield* Effect.flip(quick({ seed: error.seed, path: error.path }))
    const traceOf = (message: string) => message.slice(message.indexOf("\ncase "))
    assert.strictEqual(traceOf(repeated.message), traceOf(error.message))
    assert.deepStrictEqual(repeated.counterexample, error.counterexample)
    assert.strictEqual(repeated.path, error.path)
    let cases = 0
    const counting = FastCheck.check(fc.nat(), () => Effect.sync(() => cases++), { seed: 3, path: "5" })
    yield* counting
    assert.strictEqual(cases, 1)
  })
)

it.effect("each case draws numbers of its own; without a seed they follow from Effect's Random [P1105]", () =>
  Effect.gen(function* () {
    const drawn = Effect.gen(function* () {
      const seen: Array<number> = []
      const note = Effect.map(Random.next, (n) => seen.push(n))
      yield* FastCheck.check(fc.constant(1), () => note, { runs: 20 })
      return seen
    })
    const first = yield* Random.withSeed(drawn, "one")
    assert.strictEqual(new Set(first).size, 20)
    assert.deepStrictEqual(yield* Random.withSeed(drawn, "one"), first)
    assert.notDeepEqual(yield* Random.withSeed(drawn, "two"), first)
  })
)

// --- interruption

it.effect("an interrupted check begins no further case, and awaits the one that runs [P1105]", () =>
  Effect.gen(function* () {
    const started = yield* Deferred.make<void>()
    const log: Array<string> = []
    const connection = yield* Ref.make(false)
    const db = Effect.acquireRelease(
      Effect.andThen(Ref.set(connection, true), Effect.succeed(Db.of({ connection }))),
      ({ connection }) =>
        Effect.andThen(
          Ref.set(connection, false),
          Effect.sync(() => log.push("closed"))
        )
    )
    let cases = 0
    const use = Effect.flatMap(Db, ({ connection }) =>
      Effect.map(Ref.get(connection), (isConnected) => log.push(`used, ${isConnected}`))
    )
    const check = FastCheck.check(fc.nat(), () => {
      cases++
      if (cases < 13) return use
      // it takes a while to stop
      return Effect.onInterrupt(Effect.andThen(Deferred.succeed(started, undefined), Effect.never), () =>
        Effect.andThen(
          Effect.yieldNow,
          Effect.andThen(
            Effect.promise(() => Promise.resolve()),
            use
          )
        )
      )
    })
    const fiber = yield* Effect.forkChild(Effect.scoped(Effect.provideServiceEffect(check, Db, db)))
    yield* Deferred.await(started)
    yield* Fiber.interrupt(fiber)
    const exit = yield* Fiber.await(fiber)
    assert(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
    assert.strictEqual(log.at(-1), "closed")
    assert.isFalse(log.includes("used, false"))
    // time enough for a further case
    yield* FastCheck.check(fc.nat(), () => Effect.yieldNow, { runs: 20 })
    assert.strictEqual(cases, 13)
    assert.strictEqual(log.length, 14)
  })
)

it.effect("what a case has forked ends with the case [P1105]", () =>
  Effect.gen(function* () {
    let running = 0
    const forking = Effect.gen(function* () {
      assert.strictEqual(running, 0)
      yield* Effect.forkChild(
        Effect.acquireUseRelease(
          Effect.sync(() => running++),
          () => Effect.never,
          () => Effect.sync(() => running--)
        ),
        { startImmediately: true }
      )
      assert.strictEqual(running, 1)
    })
    yield* FastCheck.check(fc.nat(), () => forking, { runs: 5 })
  })
)

it.effect("each case resumes what another case of the same ids has resumed, and once only [P1105 P1506]", () =>
  Effect.gen(function* () {
    const claims = yield* Snapshot.Claims
    yield* FastCheck.check(
      fc.nat(),
      (n) =>
        Effect.gen(function* () {
          const { claim } = yield* Snapshot.Claims
          const asked = { snapshot: "s", claimant: `first of ${n}` }
          assert.isTrue(yield* claim(asked))
          assert.isTrue(yield* claim(asked))
          assert.isFalse(yield* claim({ ...asked, claimant: "second" }))
        }),
      { runs: 20 }
    )
    assert.isTrue(yield* claims.claim({ snapshot: "s", claimant: "outside" }))
  })
)
