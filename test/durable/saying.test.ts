/** What is said to a durable run: it reaches the run in any process, and each replay reads the same at the same turns. */
import { assert, it } from "@effect/vitest"
import { Agent, type AgentEvent, Approval, Message, type Model, Tool } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Deferred, Effect, Layer, Option, Schema } from "effect"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { batch, calm, done } from "../_support/dialogue.ts"
import { lines, wordsOf } from "../core/run/_support/saying.ts"
import { type Death, process, watched } from "./_support/engines.ts"

const quiet = Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8], () => calm, { discard: true })

/** A run whose tool ends when it is told to. */
const talking = (isForgetful: boolean, kind: "plain" | "sub-agent" | "approval" = "plain", death?: Death) =>
  Effect.gen(function* () {
    const begun = yield* Deferred.make<void>()
    const goOn = yield* Deferred.make<void>()
    const events: Array<AgentEvent.AgentEvent> = []
    const asked: Array<Durable.DurableRequest> = []
    const runs: Array<string> = []
    const running =
      kind === "approval"
        ? Effect.succeed("seen")
        : Effect.as(Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(goOn)), "seen")
    const look = Tool.make("look", {
      description: "Looks.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      sideEffects: "none",
      run: () =>
        Effect.flatMap(RunContext.Current, (run) => {
          runs.push(run?.runId ?? "")
          return running
        })
    })
    const inner = Agent.make("inner", { tools: [look] })
    const tool =
      kind === "sub-agent"
        ? Agent.asTool(inner, { description: "Asks.", sideEffects: "none" })
        : kind === "approval"
          ? look.pipe(Tool.requireApproval({ validFor: "9 days" }))
          : look
    const agent = Agent.make("worker", { tools: [tool], budget: { maxDuration: "20 days" } }).pipe(
      Agent.onEvent((event) => Effect.sync(() => void events.push(event)))
    )
    const requests: Array<Model.Request> = []
    // a model call that was under way when a process died is made again
    const layer = ScriptedModel.answering((request) => {
      requests.push({ ...request, messages: [...request.messages] })
      const words = lines(request.messages)
      if (words.some((line) => line.startsWith("model:"))) return done
      const isOuter = kind === "sub-agent" && words[0] === "user: go"
      return isOuter ? ScriptedModel.calls(ScriptedModel.call("inner", { input: "find" })) : batch("look")
    })
    const model = { layer, requests }
    const engine = yield* watched(isForgetful, death)
    const durable = Durable.workflow(agent, {
      name: "talks",
      input: Schema.String,
      output: Schema.String,
      inbox: true,
      onApproval: (one) => Effect.sync(() => void asked.push(one))
    })
    const serve = Effect.suspend(() =>
      process(durable.layer.pipe(Layer.provide(model.layer), Layer.provide(engine.layer)))
    )
    const within = <A, E>(self: Effect.Effect<A, E, WorkflowEngine>) => Effect.provide(self, engine.layer)
    const stop = yield* serve
    const id = yield* within(Durable.start(durable, { id: "one", input: "go" }))
    yield* quiet
    const say = (id: string, message: string, to?: string) => (executionId: string) =>
      within(Durable.say(durable, { executionId, id, message, ...(to === undefined ? {} : { to }) }))
    const end = Effect.map(within(Durable.poll(durable, id)), (result) =>
      Option.isSome(result) && result.value._tag === "Complete" ? result.value.exit : undefined
    )
    const resume = within(Durable.resume(durable, id))
    const ends = Effect.andThen(Deferred.succeed(goOn, undefined), quiet)
    const unread = Effect.map(within(Durable.unread(durable, id)), wordsOf)
    return {
      asked,
      durable,
      end,
      ends,
      engine,
      events,
      id,
      inner: () => runs.at(-1) ?? "",
      model,
      resume,
      say,
      serve,
      stop,
      unread,
      within
    }
  })

/** A listener of an engine that replays after each step hears of no step. */
const readIn = (events: ReadonlyArray<AgentEvent.AgentEvent>) =>
  events.flatMap((event) =>
    event.type === "message-read" ? [[event.agent, event.turn, event.id, Message.textOf(event.message)]] : []
  )

it.effect(
  "a message is listed until the next safe point, which reads it once for each id, also in a replay [P1586]",
  () =>
    Effect.gen(function* () {
      for (const isForgetful of [false, true]) {
        const { durable, end, ends, events, id, model, say, unread, within } = yield* talking(isForgetful)
        const state = Effect.map(within(Durable.poll(durable, id)), (found) =>
          Option.isNone(found)
            ? undefined
            : [
                found.value._tag,
                "waiting" in found.value ? found.value.waiting.map((one) => ("id" in one ? one.id : one.type)) : []
              ]
        )
        assert.isUndefined(yield* state)
        yield* say("m1", "the red one")(id)
        yield* say("m2", "not the blue one")(id)
        yield* say("m1", "the red one, again")(id)
        assert.deepStrictEqual(yield* unread, ["the red one", "not the blue one"])
        assert.deepStrictEqual(yield* state, ["Running", ["m1", "m2"]])
        yield* ends
        assert.deepInclude(yield* end, { _tag: "Success", value: "done" })
        assert.deepStrictEqual(lines(model.requests.at(-1)?.messages ?? []), [
          "user: go",
          "model: look: result",
          "user: the red one",
          "user: not the blue one"
        ])
        if (!isForgetful) {
          assert.deepStrictEqual(readIn(events), [
            ["worker", 2, "m1", "the red one"],
            ["worker", 2, "m2", "not the blue one"]
          ])
        }
        assert.deepStrictEqual([yield* unread, yield* state], [[], ["Complete", []]])
      }
    })
)

// Finds out nothing of its own: its subject is a message between the death of a process and the next one
it.effect("a message that was said while no process was there is read in another process [P1586]", () =>
  Effect.gen(function* () {
    const { end, ends, engine, id, model, resume, say, serve, stop } = yield* talking(false)
    yield* stop
    yield* engine.kill
    yield* say("m1", "the red one")(id)
    yield* serve
    yield* resume
    yield* ends
    assert.deepInclude(yield* end, { _tag: "Success", value: "done" })
    assert.deepStrictEqual(lines(model.requests.at(-1)?.messages ?? []).at(-1), "user: the red one")
  })
)

// Finds out nothing of its own: its subject is the replay of the safe points of core, after a death at each step
it.effect("a process may die at any step: the message is read once, and all requests agree [P1586]", () =>
  Effect.gen(function* () {
    for (const when of ["before", "after"] as const)
      for (let at = 1; ; at++) {
        const { end, ends, engine, id, model, resume, say, serve } = yield* talking(false, "plain", { at, when })
        yield* say("m1", "the red one")(id)
        yield* ends
        const isDead = yield* engine.isDying
        if (isDead) {
          yield* engine.kill
          yield* serve
          yield* resume
          yield* quiet
        }
        const label = `${when} step ${at}`
        assert.deepInclude(yield* end, { _tag: "Success", value: "done" }, label)
        const last = lines(model.requests.at(-1)?.messages ?? [])
        assert.lengthOf(
          last.filter((line) => line === "user: the red one"),
          1,
          label
        )
        // what is asked again is asked with the same words
        const byLength = new Map<number, string>()
        for (const { messages } of model.requests) {
          const before = byLength.get(messages.length)
          const words = JSON.stringify(messages)
          if (before !== undefined) assert.strictEqual(words, before, label)
          byLength.set(messages.length, words)
        }
        if (!isDead) break
      }
  })
)

it.effect("a message goes to the outermost run, or to the run that it names [P1586]", () =>
  Effect.gen(function* () {
    for (const isForgetful of [false, true]) {
      const { end, ends, id, inner: runId, model, say } = yield* talking(isForgetful, "sub-agent")
      const inner = runId()
      yield* say("m1", "for the outer")(id)
      yield* say("m2", "for the inner", inner)(id)
      yield* ends
      assert.deepInclude(yield* end, { _tag: "Success", value: "done" })
      assert.deepStrictEqual(
        model.requests.map(({ messages }) => lines(messages).at(-1)),
        ["user: go", "user: find", "user: for the inner", "user: for the outer"]
      )
    }
  })
)

// Finds out nothing of its own: its subject is how core lets a message wait behind an approval
it.effect("a message decides about no call that waits for a person, and is read after it [P1584 P1586]", () =>
  Effect.gen(function* () {
    for (const isForgetful of [false, true]) {
      const { asked, durable, end, id, model, say, unread, within } = yield* talking(isForgetful, "approval")
      yield* say("m1", "yes, do it")(id)
      yield* quiet
      assert.isUndefined(yield* end)
      assert.deepStrictEqual(yield* unread, ["yes, do it"])
      const [request] = asked
      assert(request !== undefined && asked.length === 1)
      yield* within(Durable.decide(durable, request, Approval.approve))
      yield* quiet
      assert.deepInclude(yield* end, { _tag: "Success", value: "done" })
      assert.deepStrictEqual(lines(model.requests[1]?.messages ?? []).slice(1), [
        "model: look: result",
        "user: yes, do it"
      ])
    }
  })
)

it.effect("64 messages wait at most; a run that is over or unknown takes none [P1580 P1586]", () =>
  Effect.gen(function* () {
    const { ends, id, say, within, durable } = yield* talking(false)
    for (let nth = 0; nth < 64; nth++) yield* say(`m${nth}`, "again")(id)
    yield* say("m0", "again")(id)
    assert.deepInclude(yield* Effect.flip(say("more", "again")(id)), { _tag: "InboxFullError", limit: 64 })
    yield* ends
    assert.deepInclude(yield* Effect.flip(say("late", "again")(id)), { _tag: "RunOverError", runId: id })
    assert.deepInclude(yield* Effect.flip(say("m", "hello")("unknown")), { _tag: "UnknownRunError" })
    const deaf = { ...durable, hasInbox: false }
    const exit = yield* Effect.exit(within(Durable.say(deaf, { executionId: id, id: "m", message: "hello" })))
    assert.include(String(exit), "inbox: true")
  })
)

it.effect("what is no message is a defect that names the run, and is not stored [P1586]", () =>
  Effect.gen(function* () {
    const { durable, end, ends, id, unread, within } = yield* talking(false)
    // as a program without types does
    const say = Durable.say as unknown as (
      workflow: unknown,
      said: unknown
    ) => Effect.Effect<void, never, WorkflowEngine>
    const wrong: ReadonlyArray<readonly [object, string]> = [
      [{ message: 5 }, "the message must be a text or a list of parts"],
      [{}, "the message must be a text or a list of parts"],
      [{ message: ["a"] }, "the message must be a text or a list of parts"],
      [{ message: " " }, "the message must be more than blank"],
      [{ message: [] }, "the message must be more than blank"],
      [{ message: "stop", id: 5 }, "id must be a text"],
      [{ message: "stop", to: 5 }, "to must be the id of a run"],
      [{ message: "stop", supersede: "yes" }, "supersede must be true or false"]
    ]
    for (const [said, why] of wrong) {
      const exit = yield* Effect.exit(within(say(durable, { executionId: id, id: "m1", ...said })))
      assert(exit._tag === "Failure")
      const [reason] = exit.cause.reasons
      assert(reason?._tag === "Die")
      assert.strictEqual(String(reason.defect), `TypeError: Durable.say to run '${id}': ${why}`)
    }
    assert.deepStrictEqual(yield* unread, [])
    yield* ends
    assert.deepInclude(yield* end, { _tag: "Success", value: "done" })
  })
)
