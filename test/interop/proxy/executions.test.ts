/** Runs of several versions of a workflow behind one server. */
import { assert, it } from "@effect/vitest"
import { Agent } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Effect, Layer, Schema, Stream } from "effect"
import { WorkflowEngine } from "effect/workflow"
import { executionsOf, versionsOf } from "../../../packages/interop/src/proxy/executions.ts"
import { ticking } from "./_support/served.ts"

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
