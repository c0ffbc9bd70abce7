/**
 * One entity of `effect/cluster` for each conversation. It orders the messages, and durable runs answer them, one after the other. A message
 * has one run however often it is delivered, and the death of a process loses none.
 */
import * as Effect from "effect/Effect"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { MessageStorage } from "effect/cluster/MessageStorage"
import type { Sharding } from "effect/cluster/Sharding"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { Message } from "@kintsugi/core"
import type * as Durable from "../Durable.ts"
import { messagesOf, type Runs, served, type AgentVersion } from "./answering.ts"
import type { ConversationEntity } from "./client.ts"
import { entityOf } from "./protocol.ts"
import { handlers } from "./serving.ts"

export { answer, type ConversationEntity, edit, interrupt, queued, say, send, state, withdraw } from "./client.ts"
export { ConversationBusyError, UnansweredError, UnknownMessageError } from "./errors.ts"
export { MessageState, Queued } from "./protocol.ts"

/** The input of a durable agent that answers in conversations: what was said before, and the message that it answers. */
export interface ConversationTurn<Said> extends Schema.Schema.Type<typeof Transcript> {
  readonly input: Said
}

const Transcript = Schema.Struct({ from: Message.Transcript })

/**
 * The `input` of `Durable.workflow` for an agent that answers in conversations, which is one of `Agent.resume`. `said` is the schema of a
 * message: `Schema.String`, or `Message.UserContent` for texts, images and files.
 */
export const turn = <Said extends string | Message.UserContent>(
  said: Schema.Codec<Said, unknown>
): Schema.Codec<ConversationTurn<Said>, unknown> => Schema.Struct({ from: Message.Transcript, input: said })

/** The options of `ConversationEntity.make`. */
interface Options<Former> {
  /** The name of these conversations. It stays the same when the agent changes, so that what waits is answered by the new version. */
  readonly name: string
  /**
   * Former versions of the agent, which are served until the messages that have begun with them are answered. A message whose version is not
   * served waits, and is `Unserved`.
   */
  readonly former?: ReadonlyArray<Former>
  /** The most messages of a conversation that wait; 64 by default. A further one fails with `ConversationBusyError`. */
  readonly capacity?: number
  /** The hint of that error when to try again; 5 seconds by default. */
  readonly retryAfter?: Duration.Input
  /** The most runs of conversations that are at work at a time in one process; 50 by default. A run that waits for a person is not at work. */
  readonly concurrency?: number
  /** How long an entity stays in memory after the last question; 1 minute by default. It wakes with the next one. */
  readonly maxIdleTime?: Duration.Input
}

/** A durable agent whose input is a `turn`. */
type Answers<Input extends Schema.Top, Output extends Schema.Top, E, R> = Durable.Durable<string, Input, Output, E, R>

/** A former version, which answers the same messages. */
interface AnyAnswers<Input, Output> {
  readonly workflow: {
    readonly _tag: string
    readonly payloadSchema: { readonly Type: { readonly id: string; readonly input: Input } }
    readonly successSchema: { readonly Type: Output }
    readonly errorSchema: { readonly Type: unknown }
  }
  readonly hasInbox: boolean
  readonly hasEvents: boolean
  readonly layer: Layer.Layer<never, never, unknown>
}

/**
 * Makes conversations with a durable agent. Give its `Durable.workflow` the options `input: ConversationEntity.turn(…)` and `inbox: true`, and
 * leave its events on: what was said is read from them.
 *
 * @example
 * ```ts
 * import { Agent } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import { Conversations, Durable } from "@kintsugi/durable"
 * import * as ConversationEntity from "@kintsugi/durable/ConversationEntity"
 * import { Effect, Layer, Schema } from "effect"
 *
 * const clerk = Durable.workflow(Agent.resume(Agent.make("clerk", { prompt: "Help." })), {
 *   name: "clerk",
 *   input: ConversationEntity.turn(Schema.String),
 *   output: Schema.String,
 *   inbox: true
 * })
 * const clerks = ConversationEntity.make(clerk, { name: "clerks" })
 *
 * const program = Effect.gen(function* () {
 *   const of = { conversation: "c-1", subject: "ann" }
 *   yield* ConversationEntity.send(clerks, { ...of, id: "m-1", message: "Hello" })
 *   return yield* ConversationEntity.answer(clerks, { ...of, id: "m-1" })
 * })
 * const model = ScriptedModel.answering(() => ScriptedModel.text("Good day!"))
 * const live = clerks.layer.pipe(
 *   Layer.provide(model),
 *   Layer.provideMerge(ConversationEntity.layerMemory),
 *   Layer.provideMerge(Conversations.layerMemory())
 * )
 * console.log(await Effect.runPromise(Effect.provide(program, live))) // Good day!
 * ```
 */
export const make = <
  Said extends string | Message.UserContent,
  Output extends Schema.Top,
  E,
  R,
  Former extends AnyAnswers<ConversationTurn<NoInfer<Said>>, NoInfer<Output>["Type"]> = never
>(
  durable: Answers<Schema.Codec<ConversationTurn<Said>, unknown>, Output, E, R>,
  options: Options<Former>
): ConversationEntity<
  Said,
  Output["Type"],
  E | Durable.ReplayError | Former["workflow"]["errorSchema"]["Type"],
  R | Layer.Services<Former["layer"]>
> => {
  const { capacity = 64, concurrency = 50, former = [], maxIdleTime = "1 minute", name } = options
  const versionOf = (answers: Former | typeof durable): AgentVersion => {
    // cast: the schemas of the runs are used as they are, and what the layer needs is in the type of the result
    const runs = answers as unknown as Runs
    if (runs.hasInbox && runs.hasEvents) return { runs, messages: messagesOf(name, runs) }
    throw new TypeError(`ConversationEntity '${name}': give Durable.workflow inbox: true, and leave its events on`)
  }
  const current = versionOf(durable)
  const all = new Map([[durable.workflow._tag, current]])
  for (const one of former) {
    const { _tag } = one.workflow
    if (all.has(_tag)) throw new TypeError(`ConversationEntity '${name}': two versions have the name '${_tag}'`)
    all.set(_tag, versionOf(one))
  }
  for (const [option, value] of Object.entries({ capacity, concurrency })) {
    if (Number.isSafeInteger(value) && value > 0) continue
    throw new RangeError(`ConversationEntity '${name}': ${option} must be a whole number above 0, got ${value}`)
  }
  const retryAfter = Duration.toMillis(options.retryAfter ?? "5 seconds")
  if (!Number.isFinite(retryAfter) || retryAfter < 0) {
    throw new RangeError(`ConversationEntity '${name}': retryAfter must be a time of 0 or more, and finite`)
  }
  const entity = entityOf(name)
  const versions = { current, all }
  const layer = Layer.merge(
    entity.toLayer(handlers(versions, { capacity, retryAfter }), { maxIdleTime }),
    served(versions, entity, concurrency)
  )
  return { name, layer, "~parts": { entity, versions: all, retryAfter } }
}

/** The engine in the memory of this process, with its cluster of one runner, for tests. Runs and messages end with the process. */
export const layerMemory: Layer.Layer<WorkflowEngine | Sharding | MessageStorage> = Layer.unwrap(
  Effect.map(
    Effect.promise(() => import("./memory.ts")),
    ({ layer }) => layer
  )
)
