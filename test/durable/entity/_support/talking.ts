/** Conversations with an agent that is at work until the test lets it go on. */
import { Agent, LlmError, Message, Model, Tool, Usage } from "@kintsugi/core"
import { Conversations, Durable } from "@kintsugi/durable"
import * as ConversationEntity from "@kintsugi/durable/ConversationEntity"
import { Deferred, type Duration, Effect, Fiber, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { calm } from "../../../_support/dialogue.ts"
import { digested } from "../../_support/digested.ts"
import { call, streaming } from "../../_support/readingModel.ts"

/** Lets time pass, so that the cluster polls, and wakes what waits. */
export const passing = (seconds: number) =>
  Effect.gen(function* () {
    for (let i = 0; i < seconds * 4; i++) {
      for (let k = 0; k < 6; k++) yield* Effect.andThen(calm, digested)
      yield* TestClock.adjust(250)
    }
  })

const lineOf = (message: Message.Message): string => {
  if (message.role === "system") return ""
  return `${message.role === "user" ? "user" : "model"}: ${Message.textOf(message)}`
}

/** What was said, a line for each message with a text. */
export const linesOf = (messages: Message.Transcript): ReadonlyArray<string> =>
  messages.filter(({ role }) => role === "user" || role === "assistant").map(lineOf)

/** What the tools have done, and what lets them go on. */
interface Work {
  readonly paid: Array<string>
  readonly gateOf: (key: string) => Deferred.Deferred<void>
}

const payAt = ({ gateOf, paid }: Work) => {
  const receipts = new Map<string, string>()
  return Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({ what: Schema.String }),
    success: Schema.String,
    sideEffects: "unsafe",
    verify: (key) => Effect.succeed(Option.fromUndefinedOr(receipts.get(key))),
    run: ({ what }, { idempotencyKey }) =>
      Effect.suspend(() => {
        paid.push(what)
        receipts.set(idempotencyKey, `paid ${what}`)
        return Effect.as(Deferred.await(gateOf(what)), `paid ${what}`)
      })
  })
}

const signAt = ({ gateOf, paid }: Work) =>
  Tool.make("sign", {
    description: "Signs.",
    parameters: Schema.Struct({ what: Schema.String }),
    success: Schema.String,
    run: ({ what }) =>
      Effect.suspend(() => {
        paid.push(what)
        return Effect.as(Deferred.await(gateOf(what)), `signed ${what}`)
      })
  }).pipe(Tool.requireApproval({ validFor: "9 days" }))

const durableOf = (
  model: Layer.Layer<Model.Model>,
  work: Work,
  options: { readonly version?: string; readonly onApproval: (one: Durable.DurableRequest) => Effect.Effect<void> }
) => {
  const tools = [payAt(work), signAt(work)]
  const agent = Agent.make("clerk", { model, prompt: "Help.", tools, budget: { maxDuration: "30 days" } })
  return Durable.workflow(Agent.resume(agent), {
    name: "clerk",
    input: ConversationEntity.turn(Schema.String),
    output: Schema.String,
    inbox: true,
    ...options
  })
}

interface TalkOptions {
  readonly capacity?: number
  readonly concurrency?: number
  readonly maxIdleTime?: Duration.Input
  readonly version?: string
  /** The versions of the agent before this one. */
  readonly former?: ReadonlyArray<ReturnType<typeof durableOf>>
}

/**
 * An agent that answers "answer n to <the last words of the user>". To "pay" it calls its unsafe tool first, which is at work until the
 * gate opens; to "sign pay" a person has to approve
 * that; to "fail" it fails, and to "die" it dies.
 */
export const talking = ({ former, version, ...options }: TalkOptions = {}) => {
  const requests: Array<ReadonlyArray<string>> = []
  const prompts = new Set<string>()
  const gates = new Map<string, Deferred.Deferred<void>>()
  const paid: Array<string> = []
  const gateOf = (key: string) => {
    const gate = gates.get(key) ?? Deferred.makeUnsafe<void>()
    gates.set(key, gate)
    return gate
  }
  const asked: Array<Durable.DurableRequest> = []
  const generate: Model.Service["generate"] = ({ messages }) =>
    Effect.suspend((): Effect.Effect<Message.Reply, LlmError.LlmError> => {
      prompts.add(messages.flatMap((message) => (message.role === "system" ? [message.text] : [])).join())
      const said = linesOf(messages)
      requests.push(said)
      const last = said.findLast((line) => line.startsWith("user: "))?.slice(6) ?? ""
      const usage = Usage.make({ inputTokens: 10, outputTokens: 5 })
      if (last.startsWith("die")) return Effect.die(new Error("the model is gone"))
      if (last.startsWith("fail")) return Effect.fail(LlmError.AuthenticationError.make({ model: "talking" }))
      if (last.startsWith("pay") && messages.at(-1)?.role === "user") {
        return Effect.succeed({ content: [call("pay", { what: last })], finish: "tool-calls", usage })
      }
      if (last.startsWith("sign") && messages.at(-1)?.role === "user") {
        return Effect.succeed({ content: [call("sign", { what: last })], finish: "tool-calls", usage })
      }
      return Effect.succeed({ content: [Message.text(`answer to ${last}`)], finish: "stop", usage })
    })
  const model = Layer.succeed(Model.Model, streaming({ name: "talking", provider: "test", generate }))
  const durable = durableOf(
    model,
    { gateOf, paid },
    {
      onApproval: (one) => Effect.sync(() => void asked.push(one)),
      ...(version === undefined ? {} : { version })
    }
  )
  const clerks = ConversationEntity.make(durable, {
    name: "clerks",
    ...(former === undefined ? {} : { former }),
    ...options
  })
  const release = (what: string) => Deferred.doneUnsafe(gateOf(what), Effect.void)
  const releaseAll = Effect.sync(() => {
    for (const what of paid) release(what)
  })
  /** Waits until the tool is at work; reading the conversation may take real time. */
  const begun = (what: string) =>
    Effect.gen(function* () {
      for (let i = 0; i < 100 && !paid.includes(what); i++) yield* passing(1)
    })
  return { asked, begun, clerks, durable, prompts, requests, paid, release, releaseAll }
}

/** The conversations in memory, and the engine. */
export const live = ({ clerks }: Pick<ReturnType<typeof talking>, "clerks">, store = Conversations.layerMemory()) =>
  clerks.layer.pipe(Layer.provideMerge(ConversationEntity.layerMemory), Layer.provideMerge(store))

/** Conversations in memory, in which a test has changed a function. */
export const changed = (change: (store: Conversations.Store) => Conversations.Store) =>
  Layer.provide(
    Layer.effect(Conversations.Conversations, Effect.map(Conversations.Conversations, change)),
    Conversations.layerMemory()
  )

/** Runs a test with the conversations in memory. At its end the gates open, so that no runner waits for a run. */
export const played =
  (talk: Pick<ReturnType<typeof talking>, "clerks" | "releaseAll">, store = Conversations.layerMemory()) =>
  <A, E, R>(test: Effect.Effect<A, E, R>) =>
    Effect.provide(Effect.ensuring(test, Effect.andThen(talk.releaseAll, passing(1))), live(talk, store))

/** Runs an effect while time passes. */
export const during = <A, E, R>(effect: Effect.Effect<A, E, R>, seconds = 3) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    yield* passing(seconds)
    return yield* Fiber.join(fiber)
  })

/** The questions to one conversation, each while time passes. */
export const talkTo = (
  { clerks }: Pick<ReturnType<typeof talking>, "clerks">,
  of: { readonly conversation: string; readonly subject: string } = { conversation: "c-1", subject: "ann" }
) => ({
  send: (id: string, message: string) => during(ConversationEntity.send(clerks, { ...of, id, message })),
  say: (id: string, message: string) => during(ConversationEntity.say(clerks, { ...of, id, message })),
  answer: (id: string) => during(ConversationEntity.answer(clerks, { ...of, id }), 8),
  /** Why a message has no answer. */
  unanswered: (id: string) =>
    Effect.map(Effect.flip(during(ConversationEntity.answer(clerks, { ...of, id }), 8)), (error) =>
      error._tag === "UnansweredError" ? error.reason : error._tag
    ),
  edit: (id: string, message: string) => during(ConversationEntity.edit(clerks, { ...of, id, message })),
  withdraw: (id: string) => during(ConversationEntity.withdraw(clerks, { ...of, id })),
  state: (id: string) => during(ConversationEntity.state(clerks, { ...of, id })),
  interrupt: (dropQueue = false) => during(ConversationEntity.interrupt(clerks, { ...of, dropQueue })),
  queued: during(ConversationEntity.queued(clerks, of)),
  said: Effect.map(
    Effect.flatMap(Conversations.Conversations, (store) => store.load(of)),
    ({ messages }) => linesOf(messages)
  )
})
