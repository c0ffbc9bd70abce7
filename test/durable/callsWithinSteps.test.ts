import { assert, it } from "@effect/vitest"
import { Agent, Approval, Message, Skill, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Cause, Effect, Exit, Layer, Schema } from "effect"
import { call, reading } from "./_support/readingModel.ts"

const about = { description: "x", parameters: Schema.Struct({}), success: Schema.String }

/** A tool whose `run` calls an agent that has to ask before it pays. */
const story = (approver: Layer.Layer<never> | Layer.Layer<Approval.Approver>) => {
  const log: Array<string> = []
  const pay = Tool.make("pay", {
    ...about,
    run: () =>
      Effect.sync(() => {
        log.push("pay")
        return "paid"
      })
  }).pipe(Tool.requireApproval({ reason: "money" }))
  const innerModel = reading("inner", (turn) => (turn === 0 ? [call("pay")] : [Message.text("inner done")]))
  const inner = Agent.make("inner", {
    model: innerModel.layer,
    skills: [Skill.make("w", { description: "w", tools: [pay] })]
  })
  const work = Tool.make("work", { ...about, run: () => Effect.orDie(inner("go")) })
  const model = reading("outer", (turn) => (turn === 0 ? [call("work")] : [Message.text("outer done")]))
  const agent = Agent.make("outer", {
    model: model.layer,
    skills: [Skill.make("w", { description: "w", tools: [work] })]
  })
  const durable = Durable.workflow(agent, { name: "x", input: Schema.String, output: Schema.String })
  const serving = durable.layer.pipe(Layer.provide(approver), Layer.provideMerge(Durable.layerMemory))
  const run = Effect.provide(Effect.exit(durable.workflow.execute({ id: "1", input: "go" })), serving)
  return { log, run }
}

// Finds out nothing of its own: the subject is the approver of core, which the layer of a workflow takes from the program
it.effect("a call within a step is decided about by the approver of the program [P1137]", () =>
  Effect.gen(function* () {
    const asked: Array<string> = []
    const approver = Approval.layer((request) =>
      Effect.sync(() => {
        asked.push(request.tool)
        return Approval.approve
      })
    )
    const { log, run } = story(approver)
    assert.deepStrictEqual(yield* run, Exit.succeed("outer done"))
    assert.deepStrictEqual([asked, log], [["pay"], ["pay"]])
  })
)

it.effect("without an approver the run does not wait for ever, and its defect has what to do [P1137]", () =>
  Effect.gen(function* () {
    const { log, run } = story(Layer.empty)
    const exit = yield* run
    assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    const defect = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    assert.match(String(defect), /no Approver decides about tool 'pay'.*Give the layer of the workflow an Approver/)
    assert.deepStrictEqual(log, [])
  })
)

it.effect("an input that does not fit starts nothing, and is named by its field [P1138]", () =>
  Effect.gen(function* () {
    const model = reading("m", () => [Message.text("done")])
    const Order = Schema.Struct({ count: Schema.Int.check(Schema.isGreaterThan(0)) })
    const agent = Agent.make("a", { model: model.layer }).pipe(
      Agent.mapInput(({ count }: typeof Order.Type) => `${count}`)
    )
    const durable = Durable.workflow(agent, { name: "orders", version: "2", input: Order, output: Schema.String })
    const serving = durable.layer.pipe(Layer.provideMerge(Durable.layerMemory))
    const error = yield* Durable.start(durable, { id: "17", input: { count: 0 } }).pipe(
      Effect.flip,
      Effect.provide(serving)
    )
    assert.strictEqual(error._tag, "UnfitInputError")
    assert.deepInclude(error, { workflow: "orders@2", id: "17", field: "input.count", isRetryable: false })
    assert.match(error.message, /^Workflow 'orders@2' cannot start '17' with this 'input.count': Expected/)
    assert.strictEqual(model.asked(), 0)
  })
)
