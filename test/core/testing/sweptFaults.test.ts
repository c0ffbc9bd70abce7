/** Which faults a sweep injects at each kind of step, and how its report names them. */
import { assert, it } from "@effect/vitest"
import { Agent, Approval, Recovery, Tool } from "@kintsugi/core"
import { FaultSweep, ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { format } from "../../../packages/core/src/testing/FaultSweep.ts"
import { gone } from "../../_support/dialogue.ts"
import { around, common } from "./_support/workers.ts"

const { call, calls, text } = ScriptedModel

const pay = Tool.make("pay", { ...common, run: ({ n }) => Effect.as(Effect.sleep(20), `paid ${n}`) }).pipe(
  Tool.requireApproval(),
  Tool.onError({ orElse: Recovery.tell() })
)

const agent = around(pay).pipe(Agent.onToolUse(() => Effect.void))

const scenario = {
  input: "go",
  script: [calls(call("pay", { n: 1 }, "c1")), text("done")],
  layer: Approval.layer(() => Effect.succeed(Approval.approve))
}

/** The faults at each kind of step, by the first lines of a report against an invariant that nothing holds. */
const faultsOf = (given: { readonly latencies?: ReadonlyArray<"5 seconds"> }) =>
  Effect.gen(function* () {
    const sweep = FaultSweep.run(agent, { ...scenario, ...given, invariants: { never: () => ["no"] } })
    const error = yield* Effect.flip(sweep)
    assert(error._tag === "FaultSweepError")
    const faults = new Map<string, Set<string>>()
    for (const violation of error.violations) {
      const [line = "", broken] = format(violation).split("\n")
      assert.strictEqual(broken, "  ✗ never: no")
      if (violation.step === undefined) {
        assert.strictEqual(line, `${violation.mode}, nothing injected`)
        continue
      }
      const { name, number, type } = violation.step
      const before = `${violation.mode}, step ${number}, ${type}: ${name}, `
      assert.isTrue(line.startsWith(before), line)
      faults.set(type, (faults.get(type) ?? new Set()).add(line.slice(before.length)))
    }
    assert.lengthOf(error.violations, error.runs)
    return Object.fromEntries([...faults].map(([type, names]) => [type, [...names]]))
  })

const always = ["defect", "latency of 1m", "latency of 10m", "interruption as it begins"]

it.effect("each kind of step gets the faults that may come there, and no others [P1105]", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* faultsOf({}), {
      "model call": ["error", ...always],
      "stream part": ["error", ...always],
      grant: ["error", ...always],
      approval: always,
      "tool attempt": ["error", ...always, "interruption while it is at work", "interruption when it is done"],
      listener: always
    })
    const one = yield* faultsOf({ latencies: ["5 seconds"] })
    assert.deepStrictEqual(one["approval"], ["defect", "latency of 5s", "interruption as it begins"])
  })
)

it.effect("the attempt of a tool fails as the scenario says, and its other steps do not [P1105]", () =>
  Effect.gen(function* () {
    let made = 0
    yield* FaultSweep.run(agent, {
      ...scenario,
      failures: {
        pay: () => {
          made += 1
          return gone()
        },
        look: () => assert.fail("no such tool runs")
      }
    })
    // once whole, once streamed
    assert.strictEqual(made, 2)
  })
)

it("a violation names its step and its fault, or that there was none", () => {
  const step = {
    number: 3,
    type: "poll",
    name: "pay",
    at: 0,
    agent: undefined,
    runId: undefined,
    turn: 0,
    of: undefined
  } as const
  const shown = (fault: Parameters<typeof format>[0]["fault"]) =>
    format({ mode: "whole", step, fault, found: [], events: [] })
  assert.strictEqual(shown({ type: "error" }), "whole, step 3, poll: pay, error")
  assert.strictEqual(shown(undefined), "whole, step 3, poll: pay, nothing")
  assert.strictEqual(
    shown({ type: "interruption", when: "within" }),
    "whole, step 3, poll: pay, interruption while it is at work"
  )
})
