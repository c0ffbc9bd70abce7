/** What is drawn of scripts and policies: all that may come, within its bounds, and smaller by the first choice. */
import { assert, it } from "@effect/vitest"
import type { FailureScript, PolicyData } from "@kintsugi/core/testing"
import { Effect } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import * as Drawn from "../../../packages/core/src/testing/policyArbitraries.ts"
import { modelTurns } from "../../../packages/core/src/testing/modelArbitraries.ts"

/** Many values of an arbitrary, always the same ones. */
const valuesOf = <A>(arbitrary: Arbitrary.Arbitrary<A>, size = 30): ReadonlyArray<A> => {
  const values: Array<A> = []
  Effect.runSync(
    Arbitrary.checkEffect(arbitrary, (value) => Effect.succeed(values.push(value) > 0), { runs: 600, seed: 1, size })
  )
  return values
}

const distinct = (names: ReadonlyArray<string>) => [...new Set(names)].toSorted()

/** What is left of an arbitrary when every value fails, for many first values. */
const smallest = <A>(arbitrary: Arbitrary.Arbitrary<A>): ReadonlyArray<A> =>
  Array.from({ length: 20 }, (_, seed) => {
    const result = Effect.runSync(
      Arbitrary.checkEffect(arbitrary, () => Effect.succeed(false), { runs: 1, seed, maxShrinks: 1_000 })
    )
    return result._tag === "Falsified" ? result.shrunkInput : assert.fail(result._tag)
  })

it("a choice shrinks to its first value, in one step [P1105]", () => {
  const { Constant } = Arbitrary
  const all = <A>(value: A) => Array.from({ length: 20 }, () => value)
  assert.deepStrictEqual(smallest(Drawn.constantFrom<string>("a", "b", "c")), all("a"))
  for (const weight of [1, 2, 3])
    assert.deepStrictEqual(
      smallest(Drawn.oneOf<string>([weight, Constant("a")], [1, Constant("b")], [2, Constant("c")])),
      all("a")
    )
  assert.deepStrictEqual(smallest(Drawn.orAbsent(1, Constant("a"))), all(undefined))
})

it("an attempt takes no time, or up to 20 seconds [P1105]", () => {
  const values = valuesOf(Drawn.takes)
  assert.include(values, 0)
  assert.isAbove(Math.max(...values), 10_000)
  assert.isAtMost(Math.max(...values), 20_000)
  assert.isAtLeast(Math.min(...values), 0)
})

it("a script has up to twelve steps of all kinds, and a rest that ends [P1105]", () => {
  const scripts = valuesOf(Drawn.script(["Down", "Busy"]))
  const kinds = (steps: ReadonlyArray<FailureScript.FailureStep>) => distinct(steps.map(({ does }) => does))
  const ends = ["die", "fail", "fail and die", "fail and interrupt", "interrupt"]
  assert.deepStrictEqual(kinds(scripts.flatMap(({ steps }) => steps)), [...ends, "never", "succeed"].toSorted())
  assert.deepStrictEqual(kinds(scripts.map(({ rest }) => rest)), [...ends, "succeed"].toSorted())
  for (const { rest, steps } of scripts) {
    assert.isAtMost(steps.length, 12)
    for (const step of [...steps, rest]) if (step.does === "succeed") assert.strictEqual(step.value, "fine")
  }
  assert.isAbove(Math.max(...scripts.map(({ steps }) => steps.length)), 6)
})

const kindsOf = (policies: ReadonlyArray<PolicyData.PolicyData>) => distinct(policies.map(({ kind }) => kind))

const everywhere = (policy: PolicyData.PolicyData): ReadonlyArray<PolicyData.PolicyData> => {
  if (policy.kind === "ladder") return [policy, ...policy.rungs.flatMap(everywhere)]
  return policy.kind === "when" ? [policy, ...everywhere(policy.first), ...everywhere(policy.second)] : [policy]
}

it("a policy is of any kind, and so are its rungs and its choices [P1105]", () => {
  const policies = valuesOf(Drawn.policy)
  const all = policies.flatMap(everywhere)
  const [ends, kinds] = [
    ["respondWith", "rethrow"],
    ["ladder", "respondWith", "rethrow", "retry", "when"]
  ]
  assert.deepStrictEqual(kindsOf(policies), kinds)
  assert.deepStrictEqual(kindsOf(all.flatMap((one) => (one.kind === "ladder" ? one.rungs : []))), kinds)
  const choices = all.flatMap((one) => (one.kind === "when" ? [one] : []))
  assert.deepStrictEqual(kindsOf(choices.map(({ first }) => first)), ["ladder", "retry"])
  assert.deepStrictEqual(kindsOf(choices.map(({ second }) => second)), ["ladder", ...ends, "retry"])
  assert.deepStrictEqual(kindsOf(valuesOf(Drawn.final)), ends)
  const handlers = all.flatMap((one) => (one.kind === "respondWith" ? [one] : []))
  assert.deepStrictEqual(distinct(handlers.map(({ handler }) => handler)), ["dies", "fails", "succeeds"])
  assert.isTrue(handlers.some(({ after }) => after === 0) && handlers.some(({ after }) => after > 0))
  const retries = valuesOf(Drawn.count)
  assert.deepStrictEqual(distinct(retries.map((count) => JSON.stringify(count))), [
    ...Array.from({ length: 6 }, (_, n) => `{"maxAttempts":${n + 1}}`),
    ...Array.from({ length: 6 }, (_, n) => `{"retries":${n}}`)
  ])
})

it("a model has no turn, or several, with no failure, or with up to three [P1105]", () => {
  const call = Arbitrary.Constant({ name: "add", arguments: {} })
  const drawn = valuesOf(modelTurns(call, { failure: Drawn.constantFrom("busy", "down") as never }))
  assert.deepStrictEqual(distinct(drawn.map(({ length }) => String(length))), ["0", "1", "2", "3", "4"])
  const failures = drawn.flatMap((turns) => turns.map((turn) => turn.failures.map(String)))
  assert.deepStrictEqual(distinct(failures.map(({ length }) => String(length))), ["0", "1", "2", "3"])
  assert.deepStrictEqual(distinct(failures.flat()), ["busy", "down"])
  // an outage is one failure several times, other failures come as they may
  const numbers = valuesOf(modelTurns(call, { failure: Drawn.integer(0, 1_000_000) as never }))
  const kinds = numbers.flatMap((turns) =>
    turns.flatMap((turn) => (turn.failures.length === 3 ? [new Set<unknown>(turn.failures).size] : []))
  )
  for (const size of [1, 3]) assert.include(kinds, size)
  const without = valuesOf(modelTurns(call))
  assert.deepStrictEqual(distinct(without.flatMap((turns) => turns.map((turn) => turn.failures.join()))), [""])
})
