import { assert, it } from "@effect/vitest"
import { Ledger, Usage } from "@kintsugi/core"
import { Schema } from "effect"
import { through } from "../_support/json.ts"

const entry: Ledger.Entry = {
  runId: "r",
  agent: "a",
  turn: 1,
  attempt: 1,
  model: "m",
  provider: "p",
  purpose: "agent",
  outcome: "used",
  usage: Usage.make({ inputTokens: 3 }),
  cost: 0.5
}

/** The same entry as it comes from a wire, where the order of fields does not count. */
const decoded = (one: Ledger.Entry): Ledger.Entry => {
  const { usage, ...others } = through(Ledger.Entry, one)
  return { usage, ...others }
}

it("a ledger books restored entries that it does not have, as often as they are restored [P703]", () => {
  const others: ReadonlyArray<Ledger.Entry> = [
    { ...entry, runId: "other" },
    { ...entry, agent: "other" },
    { ...entry, turn: 2 },
    { ...entry, attempt: 2 },
    { ...entry, model: "other" },
    { ...entry, provider: "other" },
    { ...entry, purpose: "fixer" },
    { ...entry, outcome: "failed" },
    { ...entry, usage: Usage.make({ inputTokens: 4 }) },
    { ...entry, usage: Usage.make({ inputTokens: 3, outputTokens: 1 }) },
    { ...entry, isEstimated: true },
    { ...entry, resent: Usage.make({ inputTokens: 1 }) },
    { ...entry, cost: 1 }
  ]
  const parent = new Ledger.Ledger()
  parent.record(entry)
  const child = new Ledger.Ledger(parent)
  const restored = [decoded(entry), decoded(entry), ...others.map(decoded)]
  child.restore(restored)
  assert.deepStrictEqual(child.entries, restored)
  assert.deepStrictEqual(parent.entries, [entry, entry, ...others])
  assert.deepStrictEqual(parent.usage, Usage.make({ inputTokens: 46, outputTokens: 1 }))
  assert.strictEqual(parent.cost, 8)
  new Ledger.Ledger(parent).restore([entry, entry, entry])
  assert.deepStrictEqual(parent.entries, [entry, entry, ...others, entry])
})

it("an entry has one of few purposes and outcomes [P703]", () => {
  const is = Schema.is(Ledger.Entry)
  for (const purpose of ["agent", "fixer", "routing", "compaction", "guardrail"] as const)
    for (const outcome of ["used", "discarded", "failed", "interrupted"] as const)
      assert.deepStrictEqual(through(Ledger.Entry, { ...entry, purpose, outcome }), { ...entry, purpose, outcome })
  for (const wrong of [{ purpose: "" }, { outcome: "" }, { isEstimated: false }, { usage: {} }])
    assert.isFalse(is({ ...entry, ...wrong }), JSON.stringify(wrong))
})
