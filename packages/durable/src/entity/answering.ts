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
import { addedBy, headOf, keep, Unsaved } from "./keeping.ts"
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
  /** When the conversation began. */
  since: Schema.Finite,
  message: Content,
  /** The id of the run in the payload of its workflow. */
  runId: Schema.String,
  executionId: Schema.String
})

/** The message of a conversation that a run answers. */
type Asked = typeof payload.Type

/**
 * The id of the run that answers a message: the same however often the message is delivered. No two messages have the same, also not two
 * with one id, if the conversation of the first was deleted before that of the second began.
 */
export const runIdOf = (sent: {
  readonly conversation: string
  readonly id: string
  readonly subject: string
  readonly since: number
}): string =>
  [sent.conversation, sent.id, sent.subject, `${sent.since}`]
    .map((part) => encodeURIComponent(part.toWellFormed()))
    .join("/")

/** The execution id of the run with this id. */
export const executionIdOf = ({ workflow }: Runs, runId: string): Effect.Effect<string> =>
  workflow.executionId({ id: runId, input: { from: [], input: "" } })

/** The workflow of the messages that these runs answer. */
export const messagesOf = (name: string, { workflow }: Runs) =>
  Workflow.make(`Conversation/${name}/${workflow._tag}`, {
    payload,
    idempotencyKey: ({ executionId }) => executionId,
    success: Schema.Struct({
      exit: Schema.Exit(workflow.successSchema, workflow.errorSchema, Schema.Defect()),
      unsaved: Schema.optionalKey(Unsaved)
    })
  })

export type Messages = ReturnType<typeof messagesOf>

/** One version of the agent: its runs, and the workflow of the messages that they answer. */
export interface AgentVersion {
  readonly runs: Runs
  readonly messages: Messages
}

/** The versions of an agent that a process serves. */
export interface AgentVersions {
  /** The version that answers what begins now. */
  readonly current: AgentVersion
  /** All of them, by the names of the workflows of their runs. */
  readonly all: ReadonlyMap<string, AgentVersion>
}

/** The execution id of the workflow of the message that this run answers. */
export const messageOf = (messages: Messages, executionId: string): Effect.Effect<string> =>
  messages.executionId({ conversation: "", subject: "", since: 0, message: "", runId: "", executionId })

/** Tries again for as long as the storage fails: a message is answered when the storage is there again. */
export const patiently = <A, E extends { readonly _tag: string }, R>(self: Effect.Effect<A, E, R>) =>
  Effect.retry(self, {
    schedule: Schedule.spaced("1 second"),
    while: ({ _tag }: E) => _tag === "ConversationStoreError"
    // cast: the schedule has no end, so this error is not left
  }) as Effect.Effect<A, Exclude<E, { readonly _tag: "ConversationStoreError" }>, R>

/** The number of messages of a conversation; 0 if it is not there any more. */
const versionOf = (store: Store, asked: Asked) =>
  Effect.orElseSucceed(patiently(Effect.map(headOf(store, asked), ({ version }) => version)), () => 0)

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

const answering = (store: Store, runs: Runs, asked: Asked) =>
  Effect.gen(function* () {
    const { conversation, executionId, message, runId, since, subject } = asked
    const of = { conversation, subject }
    const before = yield* Activity.make({ name: "version", success: Schema.Int, execute: versionOf(store, asked) })
    const none: Message.Transcript = []
    const from =
      // Mutant `false` survives: of a conversation without messages, none are read
      before === 0
        ? none
        : yield* Effect.orElseSucceed(
            patiently(
              Effect.map(store.load({ ...of, limit: before }), ({ createdAt, messages }) =>
                createdAt === since ? messages : none
              )
            ),
            () => none
          )
    const run = { id: runId, input: { from, input: fitting(runs, message) } }
    // the exit of a stopped run is an interruption: it ends the run, and not this workflow
    const exit: Exit.Exit<unknown, unknown> = yield* Effect.exit(runs.workflow.execute(run))
    const instance = yield* WorkflowInstance
    if (instance.suspended) return yield* Workflow.suspend(instance)
    const keeping = Effect.gen(function* () {
      const events = yield* eventsOf(runs, executionId)
      const messages = addedBy({ events, before, said: message, exit })
      yield* patiently(keep(store, { ...of, since, expected: before, messages }))
    })
    const unsaved = yield* Activity.make({
      name: "append",
      success: Schema.Option(Unsaved),
      execute: Effect.flip(Effect.asVoid(keeping)).pipe(Effect.option)
    })
    return unsaved._tag === "None" ? { exit } : { exit, unsaved: unsaved.value }
  })

/** Tells the entity that a message is over, as often as it takes. The entity that knows it already has nothing to do. */
const over = (entity: ConversationProtocol, { conversation, executionId }: Asked) =>
  Effect.gen(function* () {
    const client = yield* entity.client
    const said = client(conversation).over({ executionId }, { discard: true })
    yield* Effect.retry(
      Effect.catchTag(said, "AlreadyProcessingMessage", () => Effect.void),
      Schedule.spaced("1 second")
    )
  }).pipe(Effect.orDie)

/** Gives runs a permit of the process while they are at work, and wakes the messages of stopped runs. */
const limited = ({ messages, runs }: AgentVersion, atWork: Semaphore.Semaphore) =>
  Layer.effect(
    WorkflowEngine,
    Effect.gen(function* () {
      const engine = yield* WorkflowEngine
      const scope = yield* Effect.scope
      // the engine wakes no workflow that waits for a run which was stopped
      const waking = (run: string) =>
        Effect.gen(function* () {
          const instance = WorkflowInstance.initial(runs.workflow, run)
          if (!(yield* isStopped({ engine, executionId: run, instance }))) return
          const executionId = yield* messageOf(messages, run)
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
            const running = Effect.ensuring(execute(input, executionId), Effect.forkIn(waking(executionId), scope))
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

/** Serves the runs of all versions, at most so many at work at a time in this process, and the workflows of their messages. */
export const served = (
  { all }: AgentVersions,
  entity: ConversationProtocol,
  concurrency: number
): Layer.Layer<never, never, WorkflowEngine | Sharding | Conversations> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const store = yield* Conversations
      const atWork = Semaphore.makeUnsafe(concurrency)
      const layers = Array.from(all.values(), (version) => {
        const { messages, runs } = version
        const answers = messages.toLayer((asked) =>
          Effect.gen(function* () {
            // a message that dies is over too
            const answer = yield* Effect.tapDefect(answering(store, runs, asked), () => over(entity, asked))
            yield* over(entity, asked)
            return answer
          })
        )
        return Layer.merge(Layer.provide(runs.layer, limited(version, atWork)), answers)
      })
      return layers.reduce((merged, layer) => Layer.merge(merged, layer))
    })
  )
