import { assert, it } from "@effect/vitest"
import { Explanation, LlmError, Recovery } from "@kintsugi/core"
import { FailureScript, PolicyData, Trace } from "@kintsugi/core/testing"
import * as Arbitraries from "@kintsugi/core/testing/Arbitraries"
import * as FastCheck from "@kintsugi/core/testing/FastCheck"
import { Context, Duration, Effect, Random, Schedule } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import fc from "fast-check"
import { ending } from "../../../packages/core/src/testing/policyArbitraries.ts"

const { always, fails, make, succeeds } = FailureScript

const policy = {
  Down: Recovery.retry({ maxAttempts: 3, initialBackoff: "1 second" }),
  orElse: Recovery.respondWith("stale")
}

it.effect("a trace has what a policy makes of a script: instants, ends, resources [P1105]", () =>
  Effect.gen(function* () {
    const seen = yield* Trace.trace(policy, make([fails("Down", { takes: 5 }), fails("Down"), succeeds("up")]))
    assert.deepStrictEqual(
      seen.attempts.map(({ start }) => start),
      [0, 1_005, 3_005]
    )
    assert.strictEqual(seen.exit, "success up")
    assert.deepStrictEqual(seen.resources, ["open 1", "close 1", "open 2", "close 2", "open 3", "close 3"])
    assert.strictEqual(
      Trace.format(yield* Trace.trace(policy, always(fails("Down")))),
      [
        "attempt 1 at 0 ms: fail",
        "attempt 2 at 1000 ms: fail",
        "attempt 3 at 3000 ms: fail",
        "failure Down of attempt 3, at 3000 ms"
      ].join("\n")
    )
    assert.strictEqual((yield* Trace.trace(policy, make([fails("Other")]))).exit, "success stale")
    assert.strictEqual((yield* Trace.trace(policy, make([FailureScript.dies]))).exit, "died of defect of attempt 1")
    assert.strictEqual((yield* Trace.trace(policy, always(FailureScript.never))).exit, "running")
    assert.strictEqual((yield* Trace.trace(Recovery.rethrow, always(fails("Down")))).exit, "failure Down of attempt 1")
  })
)

it.effect(
  "a trace is held against what its policy is explained to do, or against what one is willing to wait [P1102 P1105]",
  () =>
    Effect.gen(function* () {
      const script = always(fails("Down"))
      yield* Effect.flatMap(Trace.trace(policy, script), Trace.assertWithin(Recovery.explain(policy)))
      const tighter = { Down: Recovery.retry({ maxAttempts: 2, initialBackoff: "500 millis" }) }
      const error = yield* Effect.flip(
        Effect.flatMap(Trace.trace(policy, script), Trace.assertWithin(Recovery.explain(tighter)))
      )
      assert.strictEqual(error._tag, "ExceededError")
      const found = "3 attempts, more than 2; 3000 ms of waits, more than 500"
      const [bounds, seen] = [Explanation.format(Recovery.explain(tighter)), Trace.format(error.trace)]
      assert.strictEqual(error.message, `${found}\n\n${bounds}\n\n${seen}`)
      assert.include(error.message, "attempt 3 at 3000 ms: fail")
      // as many attempts, but a longer wait
      const slower = { Down: Recovery.retry({ maxAttempts: 3, initialBackoff: "2 seconds" }) }
      const late = yield* Effect.flip(
        Effect.flatMap(Trace.trace(slower, script), Trace.assertWithin(Recovery.explain(policy)))
      )
      assert.include(late.message, "6000 ms of waits, more than 3000")
    })
)

it.effect(
  "a few lines check a property of one policy; a wrong property is reported with its smallest case and seed [P1105]",
  () =>
    Effect.gen(function* () {
      const holds = FastCheck.check(
        Arbitraries.script(["Down", "Busy"]),
        (script, { trace }) => Effect.flatMap(trace(policy, script), Trace.assertWithin(Recovery.explain(policy))),
        { runs: 200 }
      )
      yield* holds
      const wrong = FastCheck.check(
        Arbitraries.script(["Down", "Busy"]),
        (script, { trace }) =>
          Effect.flatMap(
            trace(policy, script),
            Trace.assertWithin(Recovery.explain(Recovery.retry({ maxAttempts: 2 })))
          ),
        { seed: 1 }
      )
      const error = yield* Effect.flip(wrong)
      assert.strictEqual(error._tag, "CounterexampleError")
      assert.strictEqual(error.seed, 1)
      assert.match(error.message, /^seed 1, path "[\d:]+", case \d+, shrunk \d+ times\ncase {"steps":\[/)
      assert.include(error.message, "more than")
      assert.include(error.message, "\nattempt 1 at 0 ms: fail")
      assert.strictEqual((error.cause as { readonly _tag: string })._tag, "ExceededError")
      // shrunk to nothing but what makes it fail
      assert.deepStrictEqual(error.counterexample, always(fails("Down")))
      // a defect of the property is a failing case as well
      const dying = yield* Effect.flip(FastCheck.check(fc.nat(), (n) => Effect.sync(() => assert.isBelow(n, 1))))
      assert.deepStrictEqual(dying.counterexample, 1)
    })
)

it.effect("the report of a failed case has the policy and the script, also if they were not drawn [P1105]", () =>
  Effect.gen(function* () {
    const policy = { Down: Recovery.retry({ retries: 2, initialBackoff: "1 second" }) }
    const always = FailureScript.always(FailureScript.fails("Down"))
    const ofPolicy = FastCheck.check(
      Arbitraries.script(["Down"], ending),
      (script, { trace }) =>
        Effect.flatMap(trace(policy, script), ({ attempts }) =>
          attempts.length > 1 ? Effect.fail({ _tag: "TooMany", attempts: attempts.length }) : Effect.void
        ),
      { seed: 1 }
    )
    const [, drawn, said, ...rest] = (yield* Effect.flip(ofPolicy)).message.split("\n")
    assert.match(drawn ?? "", /^case \{"steps":\[/)
    assert.match(said ?? "", /^\{"_tag":"TooMany","attempts":\d\}$/)
    const [head, explained] = rest.join("\n").split("\ntrace\n")
    assert.strictEqual(head, `policy\n${Explanation.format(Recovery.explain(policy))}\n`)
    assert.match(explained ?? "", /^attempt 1 at /)
    const ofScript = FastCheck.check(
      Arbitraries.options,
      (options, { trace }) =>
        Effect.flatMap(trace(Recovery.retry(options), always), ({ attempts }) =>
          attempts.length > 1 ? Effect.fail("too many") : Effect.void
        ),
      { seed: 1 }
    )
    const { message } = yield* Effect.flip(ofScript)
    assert.include(message, "\ntoo many\npolicy\nrow     rung     times")
    assert.include(message, `\nscript ${fc.stringify(always)}\ntrace\nattempt 1 at 0 ms: fail\n`)
  })
)

it.effect(
  "the report has the tag and the fields of each error in the case, and of the error of the property [P1105]",
  () =>
    Effect.gen(function* () {
      const limited = LlmError.RateLimitError.make({ service: "gpt-5", retryAfter: Duration.seconds(3) })
      const checking = FastCheck.check(
        fc.constant([{ error: limited }, new TypeError("plain")]),
        () => Effect.fail(limited),
        {
          seed: 1
        }
      )
      const [, drawn, said] = (yield* Effect.flip(checking)).message.split("\n")
      assert.match(
        drawn ?? "",
        /^case \[\{"error":\{"_tag":"RateLimitError",.*3000.*"service":"gpt-5".*\}\},new Error\("plain"\)\]$/
      )
      assert.strictEqual(said, `RateLimitError: ${limited.message}`)
      const cause: Record<string, unknown> = {}
      const looped = LlmError.UnknownLlmError.make({ model: "gpt-5", cause })
      cause["looped"] = looped
      const { message } = yield* Effect.flip(FastCheck.check(fc.constant(looped), () => Effect.die("never told")))
      assert.include(message, '"_tag":"UnknownLlmError"')
      assert.include(message, "never told")
    })
)

it.effect("generated policies make traces within their own bounds [P1105]", () =>
  FastCheck.check(
    Arbitrary.all({ script: Arbitraries.script(["A", "B"]), table: Arbitraries.table(["A", "B"]) }),
    ({ script, table }, { trace }) => {
      const verdicts = PolicyData.tableOf(table)
      return Effect.flatMap(trace(verdicts, script), Trace.assertWithin(Recovery.explain(verdicts)))
    },
    { runs: 200 }
  )
)

it.effect("scripts and policies of Effect's own arbitraries are no others [P1105]", () =>
  Effect.gen(function* () {
    const result = yield* Arbitrary.checkEffect(
      Arbitrary.all({ script: Arbitraries.script(["A", "B"]), policy: Arbitraries.policy }),
      ({ policy, script }) => {
        const verdict = PolicyData.verdictOf(policy)
        return Effect.as(
          Effect.flatMap(Trace.trace(verdict, script), Trace.assertWithin(Recovery.explain(verdict))),
          true
        )
      },
      { runs: 100, seed: "4711" }
    )
    assert.isUndefined(Arbitrary.formatCheckFailure(result))
  })
)

// --- policies that need something

class Stock extends Context.Service<Stock, { readonly answer: string }>()("Stock") {}

const fromStock = {
  orElse: Recovery.respondWith(() => Effect.map(Stock, ({ answer }) => answer))
}

it.effect("a trace has the services that its policy needs, also within a property [P1105]", () =>
  Effect.gen(function* () {
    const script = always(fails("Down"))
    assert.strictEqual((yield* Trace.trace(fromStock, script)).exit, "success from stock")
    yield* FastCheck.check(
      Arbitraries.allFailing(["Down"]),
      (script, { trace }) => Effect.map(trace(fromStock, script), ({ exit }) => exit === "success from stock"),
      { runs: 20 }
    )
  }).pipe(Effect.provideService(Stock, { answer: "from stock" }))
)

it.effect("a schedule makes the trace that its retry makes, and the attempts that Effect makes of it [P1105]", () =>
  FastCheck.check(
    fc.record({
      script: FastCheck.fromEffect(Arbitraries.allFailing(["Down"], Arbitrary.Constant(undefined))),
      retries: fc.nat({ max: 5 }),
      factor: fc.constantFrom(1, 1.5, 2),
      isJittered: fc.boolean()
    }),
    ({ factor, isJittered, retries, script }) =>
      Effect.gen(function* () {
        const growing = Schedule.upTo(Schedule.exponential("100 millis", factor), { times: retries })
        const schedule = isJittered ? Schedule.jittered(growing) : growing
        const seen = yield* Random.withSeed(Trace.trace(schedule, script), 1)
        assert.deepStrictEqual(
          { ...seen, policy: 0 },
          { ...(yield* Random.withSeed(Trace.trace(Recovery.retry(schedule), script), 1)), policy: 0 }
        )
        const plain = yield* Random.withSeed(Trace.play(script, Effect.retry(schedule)), 1)
        assert.deepStrictEqual(plain, {
          attempts: seen.attempts,
          end: seen.end,
          exit: seen.exit,
          resources: seen.resources
        })
      }),
    { runs: 50 }
  )
)

it.effect("an assertion that a trace breaks fails with policy, script and trace, once [P1105]", () =>
  Effect.gen(function* () {
    const policy = Recovery.retry({ retries: 2, initialBackoff: "1 second" })
    const waitsLittle = Trace.assertThat("it waits at most 2 seconds", (seen) => Trace.waited(seen) <= 2_000)
    const held = yield* Effect.flatMap(Trace.trace(policy, make([fails("Down", { takes: 5_000 })])), waitsLittle)
    assert.strictEqual(Trace.waited(held), 1_000)
    const script = always(fails("Down"))
    const { message } = yield* Effect.flip(Effect.flatMap(Trace.trace(policy, script), waitsLittle))
    const report = [
      "it does not hold that it waits at most 2 seconds",
      `policy\n${Explanation.format(Recovery.explain(policy))}\n`,
      `script ${fc.stringify(script)}`,
      "trace\nattempt 1 at 0 ms: fail\nattempt 2 at 1000 ms: fail\nattempt 3 at 3000 ms: fail",
      "failure Down of attempt 3, at 3000 ms"
    ].join("\n")
    assert.strictEqual(message, report)
    const checked = FastCheck.check(
      fc.constant(1),
      (_, { trace }) => Effect.flatMap(trace(policy, script), waitsLittle),
      { seed: 1 }
    )
    const text = (yield* Effect.flip(checked)).message
    assert.strictEqual(text, `seed 1, path "0", case 1, shrunk 0 times\ncase 1\n${report}`)
  })
)

it.effect("a row of any form is traced: a handler, a schedule, and a table of both [P1105 P1320]", () =>
  Effect.gen(function* () {
    const script = make([fails("Down"), fails("Down")], succeeds("up"))
    const exitOf = (made: Effect.Effect<Trace.Trace>) =>
      Effect.map(made, ({ attempts, exit }) => [attempts.length, exit])
    assert.deepStrictEqual(yield* exitOf(Trace.trace(() => Effect.succeed("instead"), script)), [1, "success instead"])
    assert.deepStrictEqual(yield* exitOf(Trace.trace({ Down: () => Effect.succeed("instead") }, script)), [
      1,
      "success instead"
    ])
    assert.deepStrictEqual(yield* exitOf(Trace.trace({ Down: Schedule.recurs(2) }, script)), [3, "success up"])
    assert.strictEqual(Recovery.explain(Schedule.recurs(2)).worst.attempts, 3)
    assert.throws(
      () => Trace.trace({ Down: Recovery.tell() }, script),
      /Row 'Down': the verdict 'tell' is not allowed in a table for a plain effect/
    )
  })
)

it.effect("a policy that never ends is stopped, after 20,000 attempts [P1105]", () =>
  Effect.gen(function* () {
    const seen = yield* Trace.play(always(fails("Down")), Effect.retry(Schedule.spaced("1 second")))
    assert.strictEqual(seen.attempts.length, 20_000)
    assert.strictEqual(seen.exit, "died of runaway")
  })
)

it.effect("a failure that no attempt made is named as one of its own [P1105]", () =>
  Effect.gen(function* () {
    const endOf = (guard: () => Effect.Effect<string, unknown>) =>
      Effect.map(Trace.play(always(fails("Down")), guard), ({ attempts, exit }) => [attempts.length, exit])
    for (const [error, name] of [
      ["no", "no"],
      [null, "null"],
      [{ _tag: "Busy" }, "Busy"],
      [5, "5"]
    ] as const)
      assert.deepStrictEqual(yield* endOf(() => Effect.fail(error)), [0, `failure ${name} of its own`])
  })
)
