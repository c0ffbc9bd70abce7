/** Policies that are data decide as the verdicts that they are. */
import { assert, it } from "@effect/vitest"
import { Recovery } from "@kintsugi/core"
import { FailureScript, PolicyData, Trace } from "@kintsugi/core/testing"
import { Effect } from "effect"

const { always, fails } = FailureScript
const retry = (retries: number): PolicyData.PolicyData => ({ kind: "retry", options: { retries } })
const answer: PolicyData.PolicyData = { kind: "respondWith", after: 0, handler: "succeeds" }

/** How a call that always fails ends under a policy, and after how many attempts. */
const endOf = (policy: PolicyData.PolicyData) =>
  Effect.map(Trace.trace(PolicyData.verdictOf(policy), always(fails("Down"))), ({ attempts, exit }) => [
    attempts.length,
    exit
  ])

it.effect("a choice takes its first policy up to an attempt, then its second [P1105]", () =>
  Effect.gen(function* () {
    const when = (until: number) => ({ kind: "when", until, first: retry(5), second: answer }) as const
    assert.deepStrictEqual(yield* endOf(when(0)), [1, "success answer"])
    assert.deepStrictEqual(yield* endOf(when(1)), [2, "success answer"])
    assert.deepStrictEqual(yield* endOf(when(3)), [4, "success answer"])
    // both choices are explained
    const { rows, worst } = Recovery.explain(PolicyData.verdictOf(when(3)))
    assert.strictEqual(worst.attempts, 6)
    assert.deepStrictEqual(
      rows.flatMap(({ rungs }) => rungs.map(({ verdict }) => verdict)),
      ["when → retry", "when → respondWith"]
    )
  })
)

it.effect("a ladder of one to four rungs climbs them all; one without rungs rethrows [P1105]", () =>
  Effect.gen(function* () {
    const ladder = (...rungs: ReadonlyArray<PolicyData.PolicyData>) => ({ kind: "ladder", rungs }) as const
    assert.deepStrictEqual(yield* endOf(ladder(answer)), [1, "success answer"])
    assert.deepStrictEqual(yield* endOf(ladder(retry(1), answer)), [2, "success answer"])
    assert.deepStrictEqual(yield* endOf(ladder(retry(1), retry(1), answer)), [3, "success answer"])
    assert.deepStrictEqual(yield* endOf(ladder(retry(1), retry(1), retry(1), answer)), [4, "success answer"])
    assert.deepStrictEqual(yield* endOf(ladder()), [1, "failure Down of attempt 1"])
  })
)

it("a script has the defaults of its steps [P1105]", () => {
  const { dies, make, never, stepOf, succeeds } = FailureScript
  assert.deepStrictEqual(fails("Down"), { takes: 0, does: "fail", tag: "Down" })
  assert.deepStrictEqual(fails("Down", { hint: 5, takes: 3 }), { takes: 3, does: "fail", tag: "Down", hint: 5 })
  assert.deepStrictEqual(succeeds(), { takes: 0, does: "succeed", value: "fine" })
  assert.deepStrictEqual(succeeds("well", 3), { takes: 3, does: "succeed", value: "well" })
  assert.deepStrictEqual(
    [dies, never],
    [
      { takes: 0, does: "die" },
      { takes: 0, does: "never" }
    ]
  )
  assert.deepStrictEqual(make([dies]), { steps: [dies], rest: succeeds() })
  assert.deepStrictEqual(always(never), { steps: [], rest: never })
  assert.strictEqual(stepOf(make([dies], never), 1), dies)
  assert.strictEqual(stepOf(make([dies], never), 2), never)
})
