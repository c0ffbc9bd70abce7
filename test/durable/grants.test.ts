/** Grants in runs that a workflow replays. */
import { assert, it } from "@effect/vitest"
import { Agent, Approval, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Effect, Layer, Option, Schema } from "effect"
import { calm, done } from "../_support/dialogue.ts"
import { watched } from "./_support/engines.ts"

const { call, calls } = ScriptedModel

const quiet = Effect.forEach([1, 2, 3, 4, 5, 6], () => calm, { discard: true })

const pays = (...cents: ReadonlyArray<number>) =>
  calls(...cents.map((each, index) => call("pay", { cents: each }, `c${index + 1}`)))

/** A run that pays, and what was asked and paid. */
const paying = (store: Approval.Approvals, ...steps: ReadonlyArray<ScriptedModel.ScriptedStep>) =>
  Effect.gen(function* () {
    const paid: Array<number> = []
    const pay = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({ cents: Schema.Int }),
      success: Schema.String,
      run: ({ cents }) => Effect.sync(() => `paid ${paid.push(cents)}`)
    }).pipe(Tool.requireApproval())
    const agent = Agent.make("worker", {
      budget: { maxDuration: "20 days" },
      skills: [Skill.make("work", { description: "Works.", tools: [pay] })]
    })
    const model = yield* ScriptedModel.make(...steps, done)
    const engine = yield* watched(false)
    const asked: Array<Durable.DurableRequest> = []
    const durable = Durable.workflow(agent, {
      name: "payments",
      version: "2",
      input: Schema.String,
      output: Schema.String,
      onApproval: (one) => Effect.sync(() => void asked.push(one))
    })
    const served = durable.layer.pipe(
      Layer.provide(Layer.mergeAll(model.layer, Layer.succeed(Approval.Approvals, store))),
      Layer.provide(Layer.succeed(Approval.Conversation, "c1")),
      Layer.provideMerge(engine.layer)
    )
    const context = yield* Layer.build(served)
    const start = Effect.provideContext(
      durable.workflow.execute({ id: "one", input: "go" }, { discard: true }),
      context
    )
    const id = yield* start
    yield* quiet
    const decide = (index: number, decision: Approval.Decision) => {
      const one = asked[index]
      return one === undefined
        ? Effect.die(new Error("no request came"))
        : Effect.andThen(Effect.provideContext(Durable.decide(durable, one, decision), context), quiet)
    }
    const end = Effect.map(Effect.provideContext(durable.workflow.poll(id), context), (result) =>
      Option.match(result, {
        onNone: () => "at work",
        onSome: (one) => (one._tag === "Suspended" ? one._tag : one.exit._tag)
      })
    )
    return { asked, decide, end, paid }
  })

// Finds out nothing of its own: its subject is what a grant of core admits, in every replay
it.effect(
  "a grant of a durable run admits later calls in every replay, and no call that had asked before [P1531]",
  () =>
    Effect.gen(function* () {
      const store = Approval.approvalsOfProcess()
      const { asked, decide, end, paid } = yield* paying(store, pays(5, 5), pays(5), pays(6))
      assert.strictEqual(asked.length, 2)
      yield* decide(0, Approval.approveFor("run"))
      assert.strictEqual(yield* end, "Suspended")
      // the other call had asked before: its own decision counts
      yield* decide(1, Approval.refuse("no"))
      assert.deepStrictEqual(paid, [5, 5])
      assert.strictEqual(asked.length, 3)
      yield* decide(2, Approval.approve)
      assert.strictEqual(yield* end, "Success")
      assert.deepStrictEqual(paid, [5, 5, 6])
    })
)

it.effect("a replay stores no grant of a conversation a second time, and keeps what it was admitted by [P1531]", () =>
  Effect.gen(function* () {
    const store = Approval.approvalsOfProcess()
    const { asked, decide, end, paid } = yield* paying(store, pays(5), pays(5), pays(6), pays(5))
    yield* decide(0, Approval.approveFor({ conversation: "c1" }))
    assert.deepStrictEqual(paid, [5, 5])
    const [grant] = yield* Effect.orDie(store.grantsOf("c1") as Effect.Effect<ReadonlyArray<Approval.Grant>>)
    yield* store.revoke(grant?.id ?? "")
    yield* decide(1, Approval.approve)
    assert.deepStrictEqual(paid, [5, 5, 6])
    // the call after the revocation asks
    assert.strictEqual(asked.length, 3)
    assert.deepStrictEqual(yield* store.grantsOf("c1"), [])
    yield* decide(2, Approval.approve)
    assert.strictEqual(yield* end, "Success")
    assert.deepStrictEqual(paid, [5, 5, 6, 5])
  })
)
