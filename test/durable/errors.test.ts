import { assert, it } from "@effect/vitest"
import { Agent, Approval, Message, Model, Recovery, Skill, Tool, Usage } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Cause, Effect, Exit, Layer, Option, Schema, type Scope } from "effect"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { calm } from "../_support/dialogue.ts"
import { process, type Reads, watched } from "./_support/engines.ts"
import { Gone } from "./_support/scenarios.ts"
import { streaming } from "./_support/readingModel.ts"

const quiet = Effect.forEach([1, 2, 3, 4, 5, 6], () => calm, { discard: true })

/** What it says follows from how often it has spoken: it looks, has something signed, and is done. */
const model = Layer.succeed(
  Model.Model,
  streaming({
    name: "reading",
    provider: "test",
    generate: ({ messages }) => {
      const turn = messages.filter(({ role }) => role === "assistant").length
      const name = ["look", "sign"][turn]
      const call: Message.ToolCall = { type: "tool-call", id: "one", name: name ?? "", arguments: {} }
      return Effect.succeed({
        content: name === undefined ? [Message.text("done")] : [call],
        finish: name === undefined ? "stop" : "tool-calls",
        usage: Usage.empty
      })
    }
  })
)

/** An agent of that definition as a workflow, and what it asks people. */
const defined = (
  options: { readonly version?: string; readonly says?: string; readonly more?: ReadonlyArray<string> } = {}
) => {
  const { more = [], says = "looks", version } = options
  const asked: Array<Durable.DurableRequest> = []
  const look = Tool.make("look", {
    description: "Looks.",
    parameters: Schema.Struct({}),
    success: Schema.Struct({ seen: Schema.Finite }),
    // what it gives is the same, and the model reads something else
    isError: () => says !== "looks",
    run: () => Effect.succeed({ seen: 1 })
  })
  const sign = Tool.make("sign", {
    description: "Signs.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.succeed("signed")
  })
  const others = more.map((name) =>
    Tool.make(name, {
      description: "Is not called.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.succeed(name)
    })
  )
  const tools = [look, sign.pipe(Tool.requireApproval()), ...others] as const
  const agent = Agent.make("clerk", { model, skills: [Skill.make("work", { description: "Works.", tools })] })
  const durable = Durable.workflow(agent, {
    name: "clerk",
    ...(version === undefined ? {} : { version }),
    input: Schema.String,
    output: Schema.String,
    onApproval: (one) => Effect.sync(() => void asked.push(one))
  })
  return { durable, asked }
}

interface Defined<E> {
  readonly durable: Durable.Durable<"clerk", typeof Schema.String, typeof Schema.String, E, never>
  readonly asked: ReadonlyArray<Durable.DurableRequest>
}

/** A started run that waits for a decision. */
const waiting = <E>({ asked, durable }: Defined<E>) =>
  Effect.gen(function* () {
    const stop = yield* process(durable.layer)
    const id = yield* Durable.start(durable, { id: "one", input: "go" })
    yield* quiet
    const [first] = asked
    return first === undefined ? yield* Effect.die(new Error("no request came")) : { first, id, stop }
  })

/** How a run ended: its answer or its failure. */
const endOf = <E>({ durable }: Defined<E>, id: string) =>
  Effect.gen(function* () {
    yield* quiet
    const result = Option.getOrUndefined(yield* Durable.poll(durable, id))
    if (result?._tag !== "Complete") return result?._tag
    return Exit.isSuccess(result.exit) ? result.exit.value : Cause.squash(result.exit.cause)
  })

const playing = <A, E>(body: Effect.Effect<A, E, Scope.Scope | WorkflowEngine>, reads?: Reads) =>
  Effect.flatMap(watched(false, undefined, reads), ({ layer }) => Effect.provide(body, layer))

it.effect("polling, resuming or deciding about a run that does not exist fails with UnknownRunError [P1119]", () =>
  playing(
    Effect.gen(function* () {
      const served = defined({ version: "2" })
      const { first, id } = yield* waiting(served)
      const { durable } = served
      const failures = [
        yield* Effect.flip(Durable.poll(durable, "no-run")),
        yield* Effect.flip(Durable.resume(durable, "no-run")),
        yield* Effect.flip(Durable.decide(durable, { ...first, executionId: "no-run" }, Approval.approve))
      ]
      for (const failure of failures) {
        assert.instanceOf(failure, Durable.UnknownRunError)
        assert.strictEqual(failure.workflow, "clerk@2")
        assert.strictEqual(failure.executionId, "no-run")
        assert.match(failure.message, /Workflow 'clerk@2' has no run 'no-run'/)
      }
      assert.strictEqual(yield* endOf(served, id), "Suspended")
      yield* Durable.resume(durable, id)
      assert.strictEqual(yield* endOf(served, id), "Suspended")
      yield* Durable.decide(durable, first, Approval.approve)
      assert.strictEqual(yield* endOf(served, id), "done")
      yield* Durable.resume(durable, id)
      assert.strictEqual(yield* endOf(served, id), "done")
    })
  )
)

it.effect("a run of another version is refused by name, and goes on under its own [P1119]", () =>
  playing(
    Effect.gen(function* () {
      const [old, now] = [defined({ version: "1" }), defined({ version: "2", says: "sees" })]
      const { first, id, stop } = yield* waiting(old)
      yield* stop
      yield* process(now.durable.layer)
      const failure = yield* Effect.flip(Durable.decide(now.durable, first, Approval.approve))
      assert.instanceOf(failure, Durable.OtherWorkflowError)
      assert.deepInclude(failure, { workflow: "clerk@2", startedAs: "clerk@1", executionId: id })
      yield* process(old.durable.layer)
      yield* Durable.decide(old.durable, first, Approval.approve)
      assert.strictEqual(yield* endOf(old, id), "done")
      assert.strictEqual(old.asked.length, 1)
    })
  )
)

it.effect.each([
  // what the model had said to what it had been told then
  { name: "whose results read otherwise", changes: { says: "sees" }, row: /\/2\/model\/1$/ },
  { name: "with one more tool", changes: { more: ["extra"] }, row: /\/1\/model\/1$/ }
])("an agent $name under its version ends its runs with an error that names the step [P1119]", ({ changes, row }) =>
  playing(
    Effect.gen(function* () {
      const old = defined()
      const { first, id, stop } = yield* waiting(old)
      yield* stop
      const changed = defined(changes)
      yield* process(changed.durable.layer)
      yield* Durable.decide(changed.durable, first, Approval.approve)
      const failure = yield* endOf(changed, id)
      assert.instanceOf(failure, Durable.ChangedAgentError)
      assert.deepInclude(failure, { workflow: "clerk", executionId: id, isRetryable: false })
      assert.match(failure.step, row)
      assert.include(failure.message, failure.step)
    })
  )
)

// Finds out nothing of its own: the subject is the row of core that a replay asks once more
it.effect("a recovery row that answers differently in a replay fails its run with ChangedAgentError [P1119]", () =>
  playing(
    Effect.gen(function* () {
      let nth = 0
      const about = { description: "Works.", parameters: Schema.Struct({}), success: Schema.String } as const
      const look = Tool.make("look", { ...about, failure: Gone, run: () => Effect.fail(new Gone({ message: "gone" })) })
      const sign = Tool.make("sign", { ...about, run: () => Effect.succeed("signed") })
      const tools = [
        look.pipe(Tool.onError({ Gone: Recovery.respondWith(() => Effect.sync(() => `${++nth}`)) })),
        sign.pipe(Tool.requireApproval())
      ] as const
      const asked: Array<Durable.DurableRequest> = []
      const durable = Durable.workflow(
        Agent.make("clerk", { model, skills: [Skill.make("work", { description: "Works.", tools })] }),
        {
          name: "clerk",
          input: Schema.String,
          output: Schema.String,
          onApproval: (one) => Effect.sync(() => void asked.push(one))
        }
      )
      const { first, id } = yield* waiting({ asked, durable })
      yield* Durable.decide(durable, first, Approval.approve)
      const failure = yield* endOf({ asked, durable }, id)
      assert.instanceOf(failure, Durable.ChangedAgentError)
      assert.match(failure.step, /\/2\/model\/1$/)
    })
  )
)

it.effect.each([
  { row: /\/1\/0\/run\/1$/, name: "a result of a tool", field: "value.seen", change: { value: { seen: "much" } } },
  { row: /\/1\/model\/1$/, name: "a reply", field: "value.content", change: { value: { content: 7 } } },
  { row: /^\/begin|^begin/, name: "the instant of its begin", field: "value", change: { value: "noon" } },
  { row: /\/1\/model\/1$/, name: "something else", field: "", change: undefined }
])("a row that cannot be read is named with its field: $name [P1119]", ({ change, field, row }) => {
  let isCorrupt = false
  const reads: Reads = (name, stored) => {
    if (!isCorrupt || !row.test(name)) return stored
    return change === undefined ? 7 : { ...(stored as object), ...change }
  }
  return playing(
    Effect.gen(function* () {
      const served = defined()
      const { first, id } = yield* waiting(served)
      isCorrupt = true
      yield* Durable.decide(served.durable, first, Approval.approve)
      const failure = yield* endOf(served, id)
      assert.instanceOf(failure, Durable.UnreadableStepError)
      assert.deepInclude(failure, { workflow: "clerk", executionId: id })
      assert.match(failure.step, row)
      assert.isTrue(failure.field.startsWith(field), failure.field)
      assert.include(failure.message, `step '${failure.step}' of run '${id}' of workflow 'clerk'`)
    }),
    reads
  )
})
