/** What the tests of said messages share: a started run, and what became of each message. */
import { assert } from "@effect/vitest"
import { type Agent, AgentEvent, Approval, Message, type Model, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Deferred, Effect, Option, Schema, type Scope, Stream } from "effect"

/** The words of the user messages of a transcript, the input first. */
export const heard = (transcript: Message.Transcript): ReadonlyArray<string> =>
  transcript.flatMap((message) => (message.role === "user" ? Message.textOf(message) : []))

/** The words of said messages. */
export const wordsOf = (messages: ReadonlyArray<{ readonly message: Message.User }> = []): ReadonlyArray<string> =>
  messages.map(({ message }) => Message.textOf(message))

/** The conversation as short lines: who said what, and which calls were settled how. */
export const lines = (transcript: Message.Transcript): ReadonlyArray<string> =>
  transcript.flatMap((message) => {
    if (message.role === "system") return []
    if (message.role === "user") return [`user: ${Message.textOf(message)}`]
    const calls = message.content.flatMap((part) =>
      part.type === "settled-call" ? [`${part.call.name}: ${part.settlement.kind}`] : []
    )
    const text = Message.textOf(message)
    return [`model: ${[...(text === "" ? [] : [text]), ...calls].join(", ")}`]
  })

/** All events of a run that is over. */
export const eventsOf = (run: Agent.Run<unknown, unknown>): Effect.Effect<ReadonlyArray<AgentEvent.AgentEvent>> =>
  Stream.runCollect(run.events)

/** Checks that each said message is read once or returned once, and that the events give the transcript of the run. */
export const accounted = (run: Agent.Run<unknown, unknown>): Effect.Effect<void> =>
  Effect.gen(function* () {
    const events = yield* eventsOf(run)
    const ids = (type: AgentEvent.AgentEvent["type"]) =>
      events.flatMap((event) => (event.type === type && "id" in event ? event.id : []))
    const [queued, read, returned] = [ids("message-queued"), ids("message-read"), ids("message-returned")]
    const stored = events.flatMap((event) => (event.type === "run-suspended" ? (event.snapshot.inbox ?? []) : []))
    assert.sameMembers([...read, ...returned, ...stored.map(({ id }) => id)], queued)
    assert.strictEqual(new Set(queued).size, queued.length)
    assert.deepStrictEqual(AgentEvent.transcriptOf(events), yield* run.transcript)
  })

/** Starts an agent that needs a model alone. */
export const started = <O, E>(
  start: Effect.Effect<Agent.Run<O, E>, never, Model.Model | Approval.Approver | Scope.Scope>,
  model: ScriptedModel.ScriptedModel
): Effect.Effect<Agent.Run<O, E>, never, Scope.Scope> =>
  start.pipe(
    Effect.provide(model.layer),
    // no started run asks it
    Effect.provideService(Approval.Approver, { decide: () => Effect.never })
  )

/** A tool that does not end before it is told to. */
export const slowTool = (name: string, sideEffects: "none" | "unsafe" = "none") => {
  const begun = Deferred.makeUnsafe<void>()
  const goOn = Deferred.makeUnsafe<void>()
  const tool = Tool.make(name, {
    description: `The tool ${name}.`,
    parameters: Schema.Struct({}),
    success: Schema.String,
    sideEffects,
    run: () => Effect.as(Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(goOn)), `${name} is through`)
  })
  return { tool, begun: Deferred.await(begun), end: Deferred.succeed(goOn, undefined) }
}

/** A reply of the model that comes when it is told to. */
export const slowReply = (reply: Message.Reply) => {
  const begun = Deferred.makeUnsafe<void>()
  const goOn = Deferred.makeUnsafe<void>()
  const step = ScriptedModel.answers(() =>
    Effect.as(Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(goOn)), reply)
  )
  return { step, begun: Deferred.await(begun), end: Deferred.succeed(goOn, undefined) }
}

/** The id of the run of an agent, as soon as it has begun. */
export const runIdOf = (run: Agent.Run<unknown, unknown>, agent: string): Effect.Effect<string> =>
  Effect.map(
    Stream.runHead(Stream.filter(run.events, (event) => event.type === "run-start" && event.agent === agent)),
    (event) => Option.getOrThrow(event).runId
  )
