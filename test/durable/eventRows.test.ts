/** The rows of the log of a durable run: how they are written, what ends them, and what a reader without them is wordsOf. */
import { assert, it } from "@effect/vitest"
import { Agent, Message, Model, Tool } from "@kintsugi/core"
import * as Cursor from "@kintsugi/core/Cursor"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Effect, Exit, Fiber, Layer, Option, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import type * as DurableDeferred from "effect/workflow/DurableDeferred"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { batch, calm, scripted } from "../_support/dialogue.ts"
import { clusterOfRows } from "./_support/cluster.ts"
import { process, watched } from "./_support/engines.ts"
import { call, streaming } from "./_support/readingModel.ts"
import { surviving } from "./_support/playing.ts"
import { dying, failureOf, finished, held, options, passing, shown, wordsOf, writer } from "./_support/logs.ts"

it.effect("events are written together: after 250 ms, or as soon as there are 32 deltas [P1543]", () =>
  Effect.gen(function* () {
    for (const [deltas, wait, stored] of [
      [31, 0, 0],
      [31, 249, 0],
      [31, 250, 1],
      [32, 0, 1]
    ] as const) {
      const model = held(
        Array.from({ length: deltas }, () => "x"),
        "y"
      )
      const durable = Durable.workflow(writer(model.layer), { name: "writer", ...options })
      const engine = yield* watched(false)
      const inner = yield* Effect.provide(WorkflowEngine, engine.layer)
      const names: Array<string> = []
      const noting: WorkflowEngine["Service"] = {
        ...inner,
        deferredDone: ((deferred: DurableDeferred.Any, about: { readonly deferredName: string }) => {
          if (about.deferredName.startsWith("events/")) names.push(about.deferredName)
          return inner.deferredDone(deferred as never, about as never)
        }) as never
      }
      yield* process(durable.layer.pipe(Layer.provide(Layer.succeed(WorkflowEngine, noting))))
      yield* Effect.provideService(Durable.start(durable, { id: "one", input: "go" }), WorkflowEngine, noting)
      for (let k = 0; k < 8; k++) yield* calm
      yield* TestClock.adjust(wait)
      for (let k = 0; k < 8; k++) yield* calm
      assert.lengthOf(names, stored, `${deltas} deltas, ${wait} ms`)
    }
  })
)

it.effect("a log that is switched off has no rows, and the model is asked for whole replies [P1543]", () =>
  Effect.gen(function* () {
    const { model, read, rows } = yield* finished({ events: false })
    assert.deepStrictEqual(
      rows().filter((name) => name.startsWith("events/")),
      []
    )
    assert.isFalse(model.requests[0]?.isStreamed)
    const [reason] = failureOf(yield* read())
    assert.instanceOf((reason as { readonly defect: unknown }).defect, TypeError)
    const other = yield* finished()
    assert.isTrue(other.model.requests[0]?.isStreamed)
    assert.deepStrictEqual(
      other.rows().filter((name) => name.startsWith("events/")),
      ["events/0"]
    )
  })
)

it.effect("a log ends at its limit, and its readers fail there with CursorExpiredError [P1542 P1543]", () =>
  Effect.gen(function* () {
    const { read } = yield* finished({ events: { maxCharacters: 300 } })
    const [error] = failureOf(yield* read())
    assert.deepInclude(error, { _tag: "CursorExpiredError", reason: "expired" })
    assert.include((error as Error).message, "full")
  })
)

it.effect(
  "a cursor of another run, of no event, or no cursor at all is a CursorExpiredError; from 0 a reader begins [P1543]",
  () =>
    Effect.gen(function* () {
      const { read } = yield* finished()
      const all = yield* Effect.orDie(yield* read())
      const runId = all[0]?.runId ?? ""
      const strange = [
        ["", "malformed"],
        ["none", "malformed"],
        [Cursor.of({ runId: "other", epoch: "1", number: 1 }), "other-run"],
        [Cursor.of({ runId, epoch: "1", number: 999 }), "unknown"],
        [Cursor.of({ runId, epoch: "7", number: 1 }), "unknown"],
        [Cursor.of({ runId, epoch: "x", number: 1 }), "unknown"]
      ] as const
      for (const [cursor, reason] of strange) {
        const [error] = failureOf(yield* read(cursor))
        assert.deepInclude(error, { _tag: "CursorExpiredError", reason }, cursor)
      }
      const oldest = Cursor.of({ runId, epoch: "1", number: 0 })
      assert.deepStrictEqual(yield* Effect.orDie(yield* read(oldest)), all)
      assert.deepStrictEqual(yield* Effect.orDie(yield* read(all.at(-1)?.cursor)), [])
    })
)

// Finds out nothing of its own: its subject is what the storage of Effect deletes with a run
it.effect("the log is deleted with the other rows of its run [P1543]", () =>
  Effect.gen(function* () {
    const { driver, read, storage } = yield* finished()
    const [unknown] = failureOf(yield* read(undefined, "none"))
    assert.deepInclude(unknown, { _tag: "UnknownRunError" })
    const [row] = [...driver.requests.values()].flatMap(({ envelope }) =>
      envelope._tag === "Request" && envelope.tag === "deferred" ? envelope : []
    )
    if (row === undefined) return assert.fail("there are no rows")
    yield* Effect.orDie(storage.clearAddress(row.address as never))
    const [error] = failureOf(yield* read())
    assert.deepInclude(error, { _tag: "UnknownRunError" })
  })
)

it.effect("a row that is gone is a RunLostError, and one that is corrupt an UnreadableStepError [P1543 P1396]", () =>
  Effect.gen(function* () {
    const { durable, engine, events, id } = yield* dying(250)
    const inner = yield* Effect.provide(WorkflowEngine, engine.layer)
    const reads = (row: string, stored: Option.Option<Exit.Exit<unknown, unknown>>) =>
      Durable.events(durable, id).pipe(
        Stream.runCollect,
        Effect.provideService(WorkflowEngine, {
          ...inner,
          deferredResult: (deferred) =>
            deferred.name === row ? Effect.succeed(stored as never) : inner.deferredResult(deferred)
        }),
        Effect.exit
      )
    assert.deepStrictEqual(yield* Effect.orDie(yield* reads("none", Option.none())), events)
    const [lost] = failureOf(yield* reads("events/1", Option.none()))
    assert.deepInclude(lost, { _tag: "RunLostError", executionId: id })
    assert.include((lost as Error).message, "some of its events")
    const corrupt = Option.some(Exit.succeed({ writer: "w", epoch: "one" }))
    assert.deepInclude(failureOf(yield* reads("events/1", corrupt))[0], {
      _tag: "UnreadableStepError",
      step: "events/1",
      field: "epoch"
    })
  })
)

it.effect("what a storage refuses for a while is written later, each event once [P1543]", () =>
  Effect.gen(function* () {
    for (const refuses of ["before it is stored", "after it is stored"] as const) {
      const engine = yield* watched(false)
      const inner = yield* Effect.provide(WorkflowEngine, engine.layer)
      const model = held(["Hel", "lo"], " world")
      const durable = Durable.workflow(writer(model.layer), { name: "writer", ...options })
      let refusals = 2
      const failing = (name: string) => name === "events/0" && refusals-- > 0
      const refused = Effect.die(new Error("the storage is away"))
      const away: WorkflowEngine["Service"] = {
        ...inner,
        deferredDone: ((deferred: DurableDeferred.Any, about: { readonly deferredName: string }) =>
          refuses === "before it is stored" && failing(about.deferredName)
            ? refused
            : inner.deferredDone(deferred as never, about as never)) as never,
        deferredResult: (deferred) =>
          refuses === "after it is stored" && failing(deferred.name) ? refused : inner.deferredResult(deferred)
      }
      yield* process(durable.layer.pipe(Layer.provide(Layer.succeed(WorkflowEngine, away))))
      const id = yield* Effect.provideService(Durable.start(durable, { id: "one", input: "go" }), WorkflowEngine, away)
      for (let k = 0; k < 8; k++) yield* calm
      yield* TestClock.adjust(250)
      for (let k = 0; k < 8; k++) yield* calm
      yield* model.end
      yield* passing(8)
      const events = yield* Effect.provide(Stream.runCollect(Durable.events(durable, id)), engine.layer)
      assert.strictEqual(wordsOf(events), "Hello world", refuses)
      assert.deepStrictEqual(
        shown(events).filter((line) => !line.startsWith("text-delta")),
        ["run-start", "turn-start", "model-start", "model-end", "turn-end", "run-completed"]
      )
    }
  })
)

// Finds out nothing of its own: its subject is the events of core, which have no bytes
it.effect("no row of the log of a failed run has the bytes of a picture, and its error has them [P1538 P1543]", () =>
  Effect.gen(function* () {
    const png = "MARKERmarkerMARKERmarker"
    const shot = scripted("shot", Effect.succeed("seen")).tool.pipe(
      Tool.parts(() => [Message.image("image/png", { data: png })])
    )
    const model = yield* ScriptedModel.make(batch("shot"))
    const agent = Agent.make("seer", { model: model.layer, tools: [shot], budget: { maxTurns: 1 } })
    const durable = Durable.workflow(agent, { name: "seer", ...options })
    const { driver, join } = yield* clusterOfRows
    const { context } = yield* join(durable.layer)
    yield* passing(4)
    const executing = yield* Effect.forkChild(
      durable.workflow.execute({ id: "one", input: "go" }).pipe(Effect.provideContext(context), Effect.flip)
    )
    yield* passing(8)
    assert.include(JSON.stringify(yield* Fiber.join(executing)), png)
    const rows = [...driver.requests.values()].flatMap(({ envelope }) =>
      envelope._tag === "Request" && JSON.stringify(envelope.payload).includes("events/")
        ? JSON.stringify(envelope)
        : []
    )
    assert.include(rows.join(" "), "run-failed")
    assert.notInclude(rows.join(" "), png)
  })
)

// Finds out nothing of its own: its subject is how core reads the parts of a recorded result, after a death at each step
it.effect("whenever the process dies, the model reads the bytes of a picture as parts alone [P1538]", () =>
  Effect.gen(function* () {
    const png = "MARKERmarkerMARKERmarker"
    for (let at = 1; at <= 3; at++) {
      for (const when of ["before", "after"] as const) {
        const requests: Array<Message.Transcript> = []
        const image = Message.image("image/png", { data: png })
        const shot = Tool.make("shot", {
          description: "Takes a picture.",
          parameters: Schema.Struct({}),
          success: Schema.String,
          sideEffects: "none",
          run: () => Effect.succeed("seen")
        }).pipe(Tool.parts(() => [image]))
        const service = streaming({
          name: "seeing",
          provider: "test",
          showsInResults: () => true,
          generate: ({ messages }) =>
            Effect.sync(() => {
              requests.push(messages)
              const content = messages.length > 1 ? [Message.text("done")] : [call("shot")]
              return ScriptedModel.reply({ content })
            })
        })
        const budget = { maxDuration: "2 days" } as const
        const agent = Agent.make("seer", { budget, model: Layer.succeed(Model.Model, service), tools: [shot] })
        const durable = Durable.workflow(agent, { name: "seer", ...options })
        const { exit, hasDied } = yield* surviving(durable, durable.layer, { at, when })
        assert.deepStrictEqual([exit, hasDied], [Exit.succeed("done"), true])
        const message = requests.at(-1)?.find(({ role }) => role === "assistant")
        assert.deepStrictEqual(Object(Object(message).content[0]).settlement.parts, [image])
        assert.strictEqual(JSON.stringify(requests.at(-1)).split(png).length, 2)
      }
    }
  })
)
