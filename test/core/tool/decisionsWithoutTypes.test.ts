/** Decisions of JavaScript, or of JSON that no schema has read: what cannot be read never admits more. */
import { assert } from "@effect/vitest"
import { Agent, AgentEvent, Approval, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Logger, Schema } from "effect"
import { agentWith, busy, callingOnce, done, eventLog, read } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { deciding, only, outcomeOf, snapshotOf } from "../../_support/suspension.ts"
import { deciders, paying, pays } from "./_support/grants.ts"

// as a program without types does
const untyped = (decision: unknown) => decision as Approval.Decision

const scopes: ReadonlyArray<object> = [
  { for: null },
  { for: {} },
  { for: [] },
  { for: "conversation" },
  { for: "always" },
  { for: { conversation: 5 } },
  { for: { rule: 5 } },
  { for: "run", until: "1970-01-01T00:00:01Z" },
  { for: "run", until: Number.NaN },
  { for: "run", until: null },
  { for: "run", deep: "yes" },
  { for: "run", who: { id: 1 } }
]

const isReadBack = Schema.is(AgentEvent.AgentEvent)

it.run("an approval whose scope cannot be read holds for its call alone [P1531]", (run) =>
  Effect.gen(function* () {
    for (const scope of scopes) {
      const decision = untyped({ type: "approve", ...scope })
      const { paid, tool } = paying()
      const { asked, layer } = deciders(decision, decision)
      const log = eventLog()
      const model = yield* ScriptedModel.make(pays(5), pays(5), done)
      const agent = agentWith(tool).pipe(log.listen)
      yield* run(agent, "go").pipe(Effect.provide(model.layer), Effect.provide(layer))
      assert.lengthOf(asked, 2, JSON.stringify(scope))
      assert.deepStrictEqual(paid, [5, 5])
      const decided = only(log.all, "approval-decided")
      assert.deepStrictEqual(
        decided.map(({ decision }) => decision),
        [{ type: "approve" }, { type: "approve" }]
      )
      assert.isTrue(decided.every((event) => isReadBack(event)))
    }
  })
)

it.run("the scope that cannot be read is one line of the log, with the name of the tool [P1531]", (run) =>
  Effect.gen(function* () {
    const lines: Array<unknown> = []
    const logger = Logger.make<unknown, void>(({ logLevel, message }) => void lines.push([logLevel, message]))
    const { tool } = paying()
    const { layer } = deciders(untyped({ type: "approve", for: "always" }))
    const model = yield* ScriptedModel.make(pays(5), done)
    yield* run(agentWith(tool), "go").pipe(Effect.provide([model.layer, layer]), Effect.provide(Logger.layer([logger])))
    const alone = "The scope of an approval of tool 'pay' cannot be read: the approval holds for its call alone"
    assert.deepStrictEqual(lines, [["Warn", [alone]]])
  })
)

it.run("what an approver decides without a type is a defect that says what it is not [P1531]", (run) =>
  Effect.gen(function* () {
    for (const decide of [() => Effect.succeed(untyped(5)), () => untyped(5) as unknown as Effect.Effect<never>]) {
      const { paid, tool } = paying()
      const model = yield* ScriptedModel.make(pays(5))
      const exit = yield* run(agentWith(tool), "go").pipe(
        Effect.provide([model.layer, Approval.layer(decide)]),
        Effect.exit
      )
      assert(Exit.isFailure(exit))
      assert.match(
        String(Cause.squash(exit.cause)),
        /^TypeError: The decide of the Approver returned a number, not (?:a decision or )?an Effect/
      )
      assert.deepStrictEqual(paid, [])
    }
  })
)

it.run("options of an approval that are undefined are absent [P1531]", (run) =>
  Effect.gen(function* () {
    const { paid, tool } = paying()
    const { asked, layer } = deciders(untyped({ type: "approve", for: "run", until: undefined, who: undefined }))
    const model = yield* ScriptedModel.make(pays(5), pays(5), done)
    yield* run(agentWith(tool), "go").pipe(Effect.provide(model.layer), Effect.provide(layer))
    assert.lengthOf(asked, 1)
    assert.deepStrictEqual(paid, [5, 5])
  })
)

it.effect("the same of a resumption [P1531]", () =>
  Effect.gen(function* () {
    for (const scope of scopes) {
      const { paid, tool } = paying()
      const agent = agentWith(tool)
      const model = yield* ScriptedModel.make(pays(5), pays(5))
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      const decision = untyped({ type: "approve", ...scope })
      const outcome = yield* outcomeOf(Agent.resume(agent), deciding(from, decision), model)
      assert.deepStrictEqual(paid, [5], JSON.stringify(scope))
      const next = yield* snapshotOf(outcome)
      assert.isUndefined(next.grants)
      assert.deepStrictEqual(
        outcome.decisions?.map(({ _tag }) => _tag),
        ["Counted"]
      )
    }
  })
)

const refusals: ReadonlyArray<readonly [object, string]> = [
  [{ type: "refuse" }, "no reason was given"],
  [{ type: "refuse", reason: { code: 1 } }, "no reason was given"],
  [{ type: "refuse", reason: null }, "no reason was given"],
  [{ type: "result" }, "there is no result"],
  [{ type: "allow" }, "the decision cannot be read"],
  [{ type: "deny", reason: "too much" }, "too much"],
  [{ type: 5, reason: {} }, "the decision cannot be read"]
]

it.run("a refusal without a reason, and a decision of no known type, are told as such [P1533]", (run) =>
  Effect.gen(function* () {
    for (const [decision, why] of refusals) {
      const { paid, tool } = paying()
      const { layer } = deciders(untyped(decision))
      const log = eventLog()
      const model = yield* ScriptedModel.make(pays(5), done)
      yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer), Effect.provide(layer))
      assert.deepStrictEqual(paid, [])
      assert.deepStrictEqual(read(model), [`denied: The call of tool 'pay' was denied and not run: ${why}`])
      assert.isTrue(log.all.every((event) => isReadBack(event)))
    }
  })
)

it.run("the same about a failed call [P1533]", (run) =>
  Effect.gen(function* () {
    for (const [decision, why] of refusals) {
      const tool = Tool.make("pay", {
        description: "Pays.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => Effect.fail(busy())
      }).pipe(Tool.onError({ Busy: Recovery.ask() }))
      const { layer } = deciders(untyped(decision))
      const model = yield* callingOnce("pay")
      yield* Effect.exit(run(agentWith(tool), "go").pipe(Effect.provide(model.layer), Effect.provide(layer)))
      const text = read(model).join()
      assert.include(text, why)
      assert.notMatch(text, /undefined|\[object/)
    }
  })
)
