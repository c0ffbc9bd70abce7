/** Runs of several versions of a workflow behind one server. */
import { assert, it } from "@effect/vitest"
import { Agent, KintsugiError, Recovery, Tool } from "@kintsugi/core"
import * as DoorError from "@kintsugi/core/DoorError"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Clock, Effect, Fiber, Layer, Option, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { WorkflowEngine } from "effect/workflow"
import { executionsOf, failureTo, looking, versionsOf } from "../../../packages/interop/src/proxy/executions.ts"
import { calm } from "../../_support/dialogue.ts"
import { SoldOut, ticking } from "./_support/served.ts"

const versionOf = (version: string) =>
  Durable.workflow(Agent.make("guide", { prompt: version }), {
    name: "guide",
    version,
    input: Schema.String,
    output: Schema.String
  })

it.effect("a run of a former version is found, with its events, and one that no version has is unknown", () => {
  const [one, two] = [versionOf("1"), versionOf("2")]
  const live = Layer.merge(one.layer, two.layer).pipe(
    Layer.provide(ScriptedModel.answering(() => ScriptedModel.text("Forty-two."))),
    Layer.provideMerge(Durable.layerMemory)
  )
  return Effect.gen(function* () {
    yield* ticking
    const engine = yield* WorkflowEngine.WorkflowEngine
    const runs = versionsOf(executionsOf(two, engine), executionsOf(one, engine))
    for (const workflow of [one, two]) {
      const executionId = yield* Durable.start(workflow, { id: "a", input: "What?" })
      const of = { run: "m-1", executionId }
      assert.deepStrictEqual(yield* runs.end(of), { _tag: "Answered", run: "m-1", output: "Forty-two." })
      const events = yield* Stream.runCollect(yield* runs.events(of))
      assert.strictEqual(events.at(-1)?.type, "run-completed")
      assert.strictEqual((yield* Effect.flip(runs.decide({ ...of, decisions: [] })))._tag, "RunConflictError")
    }
    const unknown = { run: "m-2", executionId: "none" }
    assert.isFalse(yield* runs.has(unknown))
    assert.strictEqual((yield* Effect.flip(runs.show(unknown)))._tag, "RunNotFoundError")
  }).pipe(Effect.provide(live))
})

it.effect("a run that waits for a time alone is at work, also with an unread message [P1851]", () => {
  const flaky = Tool.make("look", {
    description: "Looks.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    failure: SoldOut,
    sideEffects: "none",
    run: () => Effect.fail(new SoldOut({ item: "a lamp" }))
  }).pipe(Tool.onError({ orElse: Recovery.retry({ retries: 1, initialBackoff: "1 hour" }) }))
  const patient = Durable.workflow(Agent.make("guide", { tools: [flaky], budget: { maxDuration: "1 day" } }), {
    name: "guide",
    input: Schema.String,
    output: Schema.String,
    inbox: true
  })
  const live = patient.layer.pipe(
    Layer.provide(ScriptedModel.answering(() => ScriptedModel.calls(ScriptedModel.call("look", {})))),
    Layer.provideMerge(Durable.layerMemory)
  )
  return Effect.gen(function* () {
    const engine = yield* WorkflowEngine.WorkflowEngine
    const runs = executionsOf(patient, engine)
    const executionId = yield* Durable.start(patient, { id: "a", input: "What?" })
    const of = { run: "m-1", executionId }
    yield* Effect.repeat(calm, { times: 10 })
    yield* Durable.say(patient, { executionId, id: "said", message: "Hurry." })
    yield* Effect.repeat(calm, { times: 10 })
    const found = Option.getOrThrow(yield* Durable.poll(patient, executionId))
    assert(found._tag === "Suspended")
    assert.deepStrictEqual(
      found.waiting.map(({ type }) => type),
      ["message"]
    )
    assert.isUndefined(yield* runs.show(of))
  }).pipe(Effect.provide(live))
})

it("of a failure of the storage a client learns what it may do, and neither a name nor an id of the storage [P1852]", () => {
  const where = { workflow: "guide 1", executionId: "x-1" }
  const learned = (error: Parameters<typeof failureTo>[1]) => {
    const { _tag, message } = failureTo("one", error)
    return { ...failureTo("one", error), _tag, message }
  }
  assert.deepInclude(learned(Durable.UnknownRunError.make(where)), {
    _tag: "RunNotFoundError",
    status: 404,
    run: "one"
  })
  assert.deepInclude(learned(DoorError.RunOverError.make({ runId: "x-1" })), {
    _tag: "RunConflictError",
    status: 409,
    run: "one",
    reason: "over"
  })
  assert.deepInclude(learned(DoorError.InboxFullError.make({ runId: "x-1", limit: 1 })), {
    _tag: "TooBusyError",
    status: 429,
    retryAfter: 5
  })
  assert.deepStrictEqual<unknown>(learned(Durable.OtherWorkflowError.make({ ...where, startedAs: "guide 0" })), {
    _tag: "RunFailedError",
    type: "urn:kintsugi:error:durable-other-workflow",
    title: "The server has failed",
    status: 500,
    detail: "The server has failed",
    code: "KINTSUGI-DURABLE-OTHER-WORKFLOW",
    retryable: false,
    message: "The server has failed"
  })
  const expired = DoorError.CursorExpiredError.make({ oldest: "" })
  const problem = KintsugiError.toProblem(expired)
  assert.deepStrictEqual<unknown>(learned(expired), { ...problem, _tag: "RunFailedError", message: problem.detail })
})

it.effect("the end of a run is looked for after 100 ms, then ever less often, at least every 2 seconds", () =>
  Effect.gen(function* () {
    const instants: Array<number> = []
    const look = Effect.map(Clock.currentTimeMillis, (now) => instants.push(now))
    const looks = yield* Effect.forkChild(Effect.repeat(look, looking))
    yield* TestClock.adjust("12 seconds")
    yield* Fiber.interrupt(looks)
    assert.deepStrictEqual(
      instants.map((instant) => Math.round(instant)),
      [0, 100, 250, 475, 813, 1319, 2078, 3217, 4926, 6926, 8926, 10_926]
    )
  })
)
