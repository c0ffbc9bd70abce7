/**
 * The workflow of one message: it reads the conversation, has the agent's run as its child, keeps what was said, and then asks the entity for the
 * next message. All of it goes on in another process if this one dies. While the run waits for a person, no fiber waits.
 */
import type { Sharding } from "effect/cluster/Sharding"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as Activity from "effect/workflow/Activity"
import * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import { type AgentEvent, Message } from "@kintsugi/core"
import { Conversations, type Store } from "../Conversations.ts"
import * as Durable from "../Durable.ts"
import { isOver } from "../knowing.ts"
import { isStopped } from "../stopping.ts"
import { addedBy, keep, Unsaved } from "./keeping.ts"
import { Content, type ConversationProtocol } from "./protocol.ts"

type AnyCodec = Schema.Codec<unknown, unknown>

/** The part of a durable agent that this folder uses. */
export interface Runs {
  readonly workflow: Durable.Durable<string, AnyCodec, AnyCodec, unknown, never>["workflow"]
  readonly hasInbox: boolean
  readonly hasEvents: boolean
  readonly layer: Layer.Layer<never, never, WorkflowEngine>
}

const payload = Schema.Struct({
  conversation: Schema.String,
  subject: Schema.String,
  id: Schema.String,
  message: Content
})

/** The message of a conversation that a run answers. */
export type Asked = typeof payload.Type

/** The id of the run that answers a message: the same however often the message is delivered. No two messages have the same. */
export const runIdOf = ({ conversation, id }: Pick<Asked, "conversation" | "id">): string =>
  `${encodeURIComponent(conversation)}/${encodeURIComponent(id)}`

/** The message whose run has this id. */
const askedOf = (runId: string) => {
  const [conversation = "", id = ""] = runId.split("/").map(decodeURIComponent)
  return { conversation, id, subject: "", message: "" }
}

/** The workflow of the messages that these runs answer. */
export const messagesOf = (name: string, { workflow }: Runs) =>
  Workflow.make(`Conversation/${name}/${workflow._tag}`, {
    payload,
    idempotencyKey: runIdOf,
    success: Schema.Struct({
      exit: Schema.Exit(workflow.successSchema, workflow.errorSchema, Schema.Defect()),
      unsaved: Schema.optionalKey(Unsaved)
    })
  })

export type Messages = ReturnType<typeof messagesOf>

/** Tries again for as long as the storage fails: a message is answered when the storage is there again. */
export const patiently = <A, E extends { readonly _tag: string }, R>(self: Effect.Effect<A, E, R>) =>
  Effect.retry(self, {
    schedule: Schedule.spaced("1 second"),
    while: ({ _tag }: E) => _tag === "ConversationStoreError"
  }) as Effect.Effect<A, Exclude<E, { readonly _tag: "ConversationStoreError" }>, R>

/** The number of messages of a conversation; 0 if it is not there any more. */
const versionOf = (store: Store, of: { readonly conversation: string; readonly subject: string }) =>
  Effect.orElseSucceed(patiently(Effect.map(store.load({ ...of, limit: 0 }), ({ version }) => version)), () => 0)

/** All events of a run that is over, or as many of them as there are. */
const eventsOf = (runs: Runs, executionId: string) =>
  Effect.gen(function* () {
    const events: Array<AgentEvent.AgentEvent> = []
    yield* Effect.ignore(
      Stream.runForEach(Durable.events(runs, executionId), (event) => Effect.sync(() => events.push(event)))
    )
    return events
  })

/** A message as the agent reads it: a said text may have come as a list of parts. */
const fitting = ({ workflow }: Runs, message: Asked["message"]): Asked["message"] => {
  const isFit = Schema.is(workflow.payloadSchema)
  const user = Message.user(message)
  const forms = [message, user.content, Message.textOf(user)]
  return forms.find((input) => isFit({ id: "", input: { from: [], input } })) ?? message
}

const answering = (store: Store, runs: Runs, entity: ConversationProtocol, asked: Asked) =>
  Effect.gen(function* () {
    const { conversation, id, message, subject } = asked
    const of = { conversation, subject }
    const before = yield* Activity.make({ name: "version", success: Schema.Int, execute: versionOf(store, of) })
    const from = yield* Effect.orElseSucceed(
      patiently(Effect.map(store.load({ ...of, limit: before }), ({ messages }) => messages)),
      (): Message.Transcript => []
    )
    const run = { id: runIdOf(asked), input: { from, input: fitting(runs, message) } }
    // the exit of a stopped run is an interruption: it ends the run, and not this workflow
    const exit: Exit.Exit<unknown, unknown> = yield* Effect.exit(runs.workflow.execute(run))
    const instance = yield* WorkflowInstance
    if (instance.suspended) return yield* Workflow.suspend(instance)
    const keeping = Effect.gen(function* () {
      const events = yield* eventsOf(runs, yield* runs.workflow.executionId(run))
      const messages = addedBy({ events, before, said: message, exit })
      yield* patiently(keep(store, { ...of, expected: before, messages }))
    })
    const unsaved = yield* Activity.make({
      name: "append",
      success: Schema.Option(Unsaved),
      execute: Effect.flip(Effect.asVoid(keeping)).pipe(Effect.option)
    })
    const client = yield* entity.client
    yield* Effect.orDie(client(conversation).over({ id }, { discard: true }))
    return unsaved._tag === "None" ? { exit } : { exit, unsaved: unsaved.value }
  })

/** Serves the runs, at most so many at work at a time in this process, and the workflow of their messages. */
export const served = (
  runs: Runs,
  messages: Messages,
  entity: ConversationProtocol,
  concurrency: number
): Layer.Layer<never, never, WorkflowEngine | Sharding | Conversations> => {
  const limited = Layer.effect(
    WorkflowEngine,
    Effect.gen(function* () {
      const engine = yield* WorkflowEngine
      const scope = yield* Effect.scope
      const atWork = Semaphore.makeUnsafe(concurrency)
      // the engine wakes no workflow that waits for a run which was stopped
      const waking = (runId: string, run: string) =>
        Effect.gen(function* () {
          const instance = WorkflowInstance.initial(runs.workflow, run)
          if (!(yield* isStopped({ engine, executionId: run, instance }))) return
          const executionId = yield* messages.executionId(askedOf(runId))
          const trying = Effect.gen(function* () {
            if (yield* isOver(engine, runs.workflow, run)) yield* engine.resume(messages, executionId)
            return yield* isOver(engine, messages, executionId)
          })
          const schedule = Schedule.max([Schedule.spaced("1 second"), Schedule.recurs(60)])
          yield* Effect.repeat(trying, { schedule, until: (isSo) => isSo })
        })
      return {
        ...engine,
        register: (workflow, execute) =>
          engine.register(workflow, (input, executionId) => {
            // cast: the payload of a run has its id
            const { id } = input as { readonly id: string }
            const running = Effect.ensuring(execute(input, executionId), Effect.forkIn(waking(id, executionId), scope))
            const instance = WorkflowInstance.initial(workflow, executionId)
            // a run that was stopped while it waited ends at once: it does nothing for which it would have to wait
            const inTurn = Effect.flatMap(isStopped({ engine, executionId, instance }), (isSo) =>
              isSo ? running : atWork.withPermit(running)
            )
            return Effect.flatMap(
              atWork.withPermitsIfAvailable(1)(running),
              Option.match({ onNone: () => inTurn, onSome: Effect.succeed })
            )
          })
      }
    })
  )
  const answers = Layer.unwrap(
    Effect.map(Conversations, (store) => messages.toLayer((asked) => answering(store, runs, entity, asked)))
  )
  return Layer.merge(Layer.provide(runs.layer, limited), answers)
}
