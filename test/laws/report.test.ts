/** What is said of a law that does not hold: the seed, the case, and what happened in it, of the smallest case that there is. */
import { assert, it } from "@effect/vitest"
import { Agent } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import fc from "fast-check"
import { runners } from "../_support/run.ts"
import { guarded, options, type Options, retriesOf } from "./_support/policies.ts"
import { ofRuns } from "./_support/runs.ts"
import { holding, script } from "../_support/laws.ts"

/** Fixed, against the options of the suite: the smallest counterexample of this seed is known. */
const runs = 1_000
const seed = 4_711

/** A policy that makes one attempt more than it should. */
const tooEager = (options: Options) => {
  const { maxAttempts: _, retries: __, ...delays } = options
  return guarded({ orElse: { kind: "retry", options: { ...delays, retries: retriesOf(options) + 1 } } })
}

it.effect("a law of policies reports the seed, the policy, the script and the trace of the smallest case", () =>
  Effect.gen(function* () {
    let checked = 0
    const broken = holding(
      fc.record({ options, script }),
      ({ options, script }, play) =>
        Effect.map(play(script, tooEager(options)), ({ attempts }) =>
          assert.isAtMost(attempts.length, 1 + retriesOf(options))
        ),
      () => checked++,
      { runs, seed }
    )
    const { cause, counterexample, message, seed: reported } = yield* Effect.flip(broken)
    assert.strictEqual(reported, seed)
    const [head = "", drawn, said, ...trace] = message.split("\n")
    assert.match(head, new RegExp(`^seed ${seed}, path "[\\d:]+", case \\d+, shrunk \\d+ times$`))
    // nothing is left of it but what makes it fail
    assert.deepStrictEqual(counterexample, {
      options: { retries: 0 },
      script: { steps: [{ does: "fail", takes: 0, tag: "A" }], rest: { does: "succeed", takes: 0, value: "fine" } }
    })
    assert.strictEqual(drawn, `case ${fc.stringify(counterexample)}`)
    assert.strictEqual(said, "expected 2 to be at most 1")
    assert.deepStrictEqual(trace, [
      "trace",
      "attempt 1 at 0 ms: fail",
      "attempt 2 at 0 ms: succeed",
      "success fine, at 0 ms"
    ])
    assert.strictEqual((cause as Error).message, said)
    // those that held were counted, before it and while it was shrunk
    assert.isAtMost(Number(/case (\d+)/.exec(head)?.[1]) - 1, checked)
    assert.isBelow(checked, runs)
    // the very case again
    assert.strictEqual((yield* Effect.flip(broken)).message, message)
  })
)

for (const [way, run] of Object.entries(runners)) {
  it.effect(`a law of runs reports all events of the smallest case as well (${way})`, () =>
    Effect.gen(function* () {
      const words = fc.array(fc.constantFrom("well", "wrong", "so"), { maxLength: 5 })
      const broken = ofRuns(
        (said: ReadonlyArray<string>) =>
          Effect.gen(function* () {
            const model = yield* ScriptedModel.make(ScriptedModel.text(said.join(" ") || "-"))
            const answer = yield* run(Agent.make("worker", {}), "go").pipe(Effect.provide(model.layer))
            assert.notInclude(answer, "wrong")
          }),
        run
      )
      const { counterexample, message } = yield* Effect.flip(holding(words, broken, undefined, { runs, seed }))
      assert.deepStrictEqual(counterexample, ["wrong"])
      const [head, drawn, said, ...events] = message.split("\n")
      assert.match(head ?? "", new RegExp(`^seed ${seed}, path "[\\d:]+", case \\d+, shrunk \\d+ times$`))
      assert.strictEqual(drawn, 'case ["wrong"]')
      assert.strictEqual(said, "expected 'wrong' to not include 'wrong'")
      assert.deepStrictEqual(events, [
        "events",
        "0 ms  worker  turn 0  run-start",
        "0 ms  worker  turn 1  turn-start",
        "0 ms  worker  turn 1  model-start",
        ...(run.isStreamed ? ["0 ms  worker  turn 1  text-delta", "0 ms  worker  turn 1  text-delta"] : []),
        "0 ms  worker  turn 1  model-end",
        "0 ms  worker  turn 1  turn-end",
        "0 ms  worker  turn 1  run-completed"
      ])
    })
  )
}

it.effect("what a law presupposes is no failure of it, and no case either", () =>
  Effect.gen(function* () {
    let checked = 0
    const even = ofRuns(
      (n: number) => Effect.sync(() => assert.strictEqual((fc.pre(n % 2 === 0), n % 2), 0)),
      runners.whole
    )
    yield* holding(fc.nat(), even, () => checked++, { runs, seed })
    assert.strictEqual(checked, runs)
  })
)
