/** Options of verdicts, approvals, budgets and tools that JavaScript gives and that are none: each is named where it is given. */
import { assert, it } from "@effect/vitest"
import { Agent, Budget, type Model, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { agentWith, batch, busy, play } from "../../_support/dialogue.ts"

// as programs without types call them
type Untyped = (...given: ReadonlyArray<unknown>) => unknown
const untyped = (f: unknown) => f as Untyped

const pay = (options: object = {}) =>
  untyped(Tool.make)("pay", {
    description: "Pays.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.fail(busy()),
    ...options
  })
const fixer = Agent.deterministic("fixer", (text: string) => Effect.succeed(text))

const ask = untyped(Recovery.ask)
const fix = untyped(Recovery.fix)
const tell = untyped(Recovery.tell)
const when = untyped(Recovery.when)
const escalate = untyped(Recovery.escalate)
const needing = (options: unknown) => untyped(Tool.requireApproval)(pay(), options)
const budgeted = (limits: unknown) => untyped(Agent.withBudget)(Agent.make("worker", {}), limits)

const all = (cases: ReadonlyArray<readonly [() => unknown, string]>) => {
  for (const [make, says] of cases) assert.throws(make, says)
}

it("options of approvals that are none are refused by name [P1530]", () => {
  const expiries = 'onExpiry must be "ask-again", "refuse" or "fail", got never'
  const whose = "Tool.requireApproval of tool 'pay'"
  all([
    [() => ask({ onExpiry: "never" }), `Recovery.ask: ${expiries}`],
    [() => ask({ reason: 5 }), "Recovery.ask: reason must be a text, got number"],
    [
      () => ask({ expires: "1 day" }),
      "An option of Recovery.ask must be 'reason', 'validFor', 'times', 'onExpiry', got"
    ],
    [() => ask(null), "Recovery.ask must be given options, got null"],
    [() => ask(3), "Recovery.ask must be given options, got number"],
    [() => needing({ onExpiry: "never" }), `${whose}: ${expiries}`],
    [() => needing({ reason: 5 }), `${whose}: reason must be a text, got number`],
    [() => needing({ when: true }), `${whose}: when must be a function, got boolean`],
    [() => needing({ rules: [] }), `${whose}: rules must be functions by their names, got a list`],
    [() => needing({ rules: null }), `${whose}: rules must be functions by their names, got null`],
    [() => needing({ rules: { small: true } }), `${whose}: rule 'small' must be a function, got boolean`],
    [() => needing({ onExpire: "fail" }), `An option of ${whose} must be`],
    [() => needing(null), `${whose} must be given options, got null`]
  ])
  for (const onExpiry of ["ask-again", "refuse", "fail", undefined]) {
    ask({ onExpiry })
    needing({ onExpiry })
  }
})

it("options of verdicts that are none are refused by name", () => {
  all([
    [() => fix(), "Recovery.fix: the fixer must be an agent or another function, got undefined"],
    [() => fix({ retries: 1 }), "Recovery.fix: the fixer must be an agent or another function, got object"],
    [() => fix(fixer, { maxRetries: 3 }), "An option of Recovery.fix must be 'as', 'input', 'retries', 'maxAttempts',"],
    [() => fix(fixer, { as: "text" }), "Recovery.fix: as must be 'arguments', 'result', got 'text'"],
    [() => fix(fixer, { input: "x" }), "Recovery.fix: input must be a function, got 'x'"],
    [() => fix(fixer, 3), "Recovery.fix must be given options, got number"],
    [() => tell("x"), "Recovery.tell: the text must be a function, got 'x'"],
    [() => tell({ then: "tools-off" }), "Recovery.tell: the text must be a function, got object"],
    [() => tell(undefined, { then: "stop" }), "Recovery.tell: then must be 'continue', 'tools-off', got 'stop'"],
    [() => when(3), "Recovery.when: what chooses must be a function, got number"],
    [() => when(Recovery.tell()), "Recovery.when: what chooses must be a function, got object"],
    [() => when(() => Recovery.tell(), { max: 3 }), "An option of Recovery.when must be 'among', 'atMost', got 'max'"],
    [
      () => escalate({ severity: "low" }),
      "Recovery.escalate: severity must be 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL', got"
    ],
    [() => escalate("LOW"), "Recovery.escalate must be given options, got 'LOW'"],
    [() => untyped(Recovery.backstop)(3), "Recovery.backstop must be given a verdict, got number"]
  ])
})

it("limits that are none are refused by name", () => {
  all([
    [() => budgeted({ maxturns: 3 }), "An option of Budget must be 'maxTurns', 'maxToolCalls'"],
    [() => budgeted(5), "Budget must be given options, got number"],
    [() => budgeted(null), "Budget must be given options, got null"],
    [() => untyped(Budget.make)({ prices: 5 }), "Budget: prices must be prices by the names of models, got number"]
  ])
})

it("what a tool is, and how it acts on the world, is refused by name where it is none", () => {
  all([
    [() => untyped(Tool.make)("pay"), "Tool 'pay' must be given options, got undefined"],
    [() => pay({ description: 5 }), "Tool 'pay': description must be a text, got number"],
    [
      () => pay({ sideEffects: "Unsafe" }),
      "Tool 'pay': sideEffects must be 'none', 'idempotent', 'unsafe', 'undeclared'"
    ]
  ])
})

it.effect("an acknowledgement that is none acknowledges nothing [C9]", () =>
  Effect.gen(function* () {
    for (const acknowledge of [false, "yes", "may run twice"]) {
      for (const verdict of [
        untyped(Recovery.retry)({ retries: 1, acknowledge }),
        fix(() => Effect.succeed("{}"), { acknowledge })
      ]) {
        const { runs, tool } = play("pay", { sideEffects: "unsafe" }, [Effect.fail(busy()), Effect.fail(busy())])
        // as a program without types does
        const agent = agentWith(untyped(Tool.onError)(tool, { Busy: verdict }) as Tool.AnyTool)
        const model = yield* ScriptedModel.make(batch("pay"))
        yield* Effect.exit(Effect.provide(agent("go") as Effect.Effect<unknown, unknown, Model.Model>, model.layer))
        assert.lengthOf(runs, acknowledge === "may run twice" ? 2 : 1)
      }
    }
  })
)
