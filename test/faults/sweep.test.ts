/** The fault sweep: every step of one rich run goes wrong in every way that makes sense there, and what always holds holds. */
import { assert, beforeAll, it } from "vitest"
import * as Invariants from "./_support/invariants.ts"
import type { Fault } from "./_support/steps.ts"
import type { Played } from "./_support/story.ts"
import { differences, distinct, sweep, violations } from "./_support/sweep.ts"

let all: ReadonlyArray<Played> = []

beforeAll(async () => {
  all = await sweep()
}, 60_000)

/** Without faults it is about all runs. */
const law = (title: string, holds: (played: Played) => void, ...faults: ReadonlyArray<Fault>): void =>
  it(title, () => {
    const isAbout = ({ injection }: Played) =>
      faults.length === 0 || (injection !== undefined && faults.includes(injection.fault))
    const about = all.filter(isAbout)
    const found = violations(about, holds)
    assert.isAbove(about.length, 0)
    assert.strictEqual(found.length, 0, `${found.length} of ${about.length}:\n\n${found.slice(0, 3).join("\n\n")}\n`)
  })

it("has at least 500 distinct injections, and every layer among them", () => {
  const counts = distinct(all)
  const sum = [...counts.values()].reduce((sum, count) => sum + count, 0)
  console.log(`fault sweep: ${sum} injections (${[...counts].map(([layer, n]) => `${layer} ${n}`).join(", ")})`)
  assert.isAtLeast(sum, 500)
  assert.sameMembers([...counts.keys()], ["model", "fixer", "tool", "policy", "row", "listener"])
})

law("every call is settled once, in request order, wherever a run breaks [P401 L1001]", Invariants.settlements)
law("the errors of ours carry transcript and usage, wherever a run breaks [P406]", Invariants.attached)
law("every reply keeps what it says about itself, wherever a run breaks [P1407]", Invariants.said)
law(
  "every request has the files of the user as its wire wants them, wherever a run breaks [P1408]",
  Invariants.attachedToAll
)
law("the ledger is the sum of the replies that were sent, wherever a run breaks [P703 L1009]", Invariants.booked)
law("wherever a run breaks, an unsafe tool reruns only if a look-up allows it [P602 L903]", Invariants.safe)
law("every run ends with one terminal event, which every listener gets [A1202 A1205 L1008]", Invariants.ended)
law("nothing is left, and nothing happens later, wherever a run breaks [L401]", Invariants.over)
law("no call starts twice, also when a model call is repeated [P503 L1006]", Invariants.once)
law("every operation that telemetry sees ends once, and is forgotten [A1202 A1203]", Invariants.traced)
law(
  "no row handles an interruption [A111 L402]",
  Invariants.passing,
  "interrupt",
  "interrupt after",
  "interrupt within",
  "quit"
)
law("a defect ends the run, and no row sees it [A110 A112]", Invariants.dying, "defect")
law("limits end the run as their own error", Invariants.limited, "maxDuration", "maxTurns", "maxToolCalls", "maxTokens")
law("failures and effects that never end stay failures", Invariants.typed, "failure", "never")
law("so do limits of the transport, of size and of silence [P1401 P1402]", Invariants.typed, "too large", "silent")

it("whole and streamed, the same fault at the same step leaves the same [A1201 L1004]", () => {
  const { found, pairs } = differences(all)
  assert.isAbove(pairs, 300)
  assert.strictEqual(found.length, 0, found.slice(0, 3).join("\n\n"))
})
