/** What is left in the types of a conversation with a durable agent. */
import { Agent, type LlmError, Message, type Model, type RunError, Tool, type ToolError } from "@kintsugi/core"
import type * as DoorError from "@kintsugi/core/DoorError"
import { type Conversations, Durable } from "@kintsugi/durable"
import * as ConversationEntity from "@kintsugi/durable/ConversationEntity"
import { Context, Effect, type Layer, Schema } from "effect"
import type { MessageStorage } from "effect/cluster/MessageStorage"
import type { Sharding } from "effect/cluster/Sharding"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { describe, it } from "vitest"
import { type Equal, type Expect, sameType } from "./_support/Identity.ts"

const pay = Tool.make("pay", {
  description: "Pays.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  sideEffects: "unsafe",
  run: () => Effect.succeed("paid")
})

const text = { name: "clerk", input: ConversationEntity.turn(Schema.String), output: Schema.String, inbox: true }
const clerk = Durable.workflow(Agent.resume(Agent.make("clerk", { tools: [pay] })), text)
const clerks = ConversationEntity.make(clerk, { name: "clerks" })
const of = { conversation: "c", subject: "ann", id: "1" }

type Reached = Conversations.UnknownConversationError | Conversations.ConversationStoreError
type Refused = Reached | ConversationEntity.ConversationBusyError
type Written = Refused | Conversations.ConversationLimitError

describe("conversations with a durable agent", () => {
  it("need what the agent needs, a cluster and a store of conversations", () => {
    sameType<Layer.Layer<never, never, Model.Model | WorkflowEngine | Sharding | Conversations.Conversations>>()(
      clerks.layer
    )
    sameType<Layer.Layer<WorkflowEngine | Sharding | MessageStorage>>()(ConversationEntity.layerMemory)
  })

  it("a message is sent with the errors of the conversation, and none of the agent", () => {
    const sent = ConversationEntity.send(clerks, { ...of, message: "hello" })
    sameType<Effect.Effect<ConversationEntity.MessageState, Written, Sharding>>()(sent)
    const changed = ConversationEntity.edit(clerks, { ...of, message: "hello" })
    sameType<Effect.Effect<void, Written | ConversationEntity.UnknownMessageError, Sharding>>()(changed)
    const listed = ConversationEntity.queued(clerks, of)
    sameType<Effect.Effect<ReadonlyArray<ConversationEntity.Queued>, Refused, Sharding>>()(listed)
  })

  it("an answer fails as the agent does", () => {
    type Failures =
      | LlmError.LlmError
      | ToolError.InvalidArgs
      | ToolError.DeserializationError
      | RunError.BudgetExceededError
      | RunError.UnknownPriceError
      | DoorError.SnapshotRefusedError
      | ToolError.OutcomeUnknownError
      | Durable.ReplayError
    sameType<
      Effect.Effect<
        string,
        Failures | Written | ConversationEntity.UnknownMessageError | ConversationEntity.UnansweredError,
        Sharding | WorkflowEngine
      >
    >()(ConversationEntity.answer(clerks, of))
  })

  it("former versions add what they fail with and need", () => {
    class Bank extends Context.Service<Bank, { readonly balance: number }>()("Bank") {}
    const owe = Tool.make("owe", {
      description: "Owes.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.map(Bank, ({ balance }) => `${balance}`)
    })
    const before = Durable.workflow(Agent.resume(Agent.make("clerk", { tools: [owe] })), { ...text, version: "0" })
    const now = Durable.workflow(Agent.resume(Agent.make("clerk", {})), { ...text, version: "1" })
    const all = ConversationEntity.make(now, { name: "clerks", former: [before, clerk] })
    sameType<Layer.Layer<never, never, Model.Model | Bank | WorkflowEngine | Sharding | Conversations.Conversations>>()(
      all.layer
    )
    type Lost<Self> =
      Self extends ConversationEntity.ConversationEntity<string, string, infer E, infer _R>
        ? Extract<E, ToolError.OutcomeUnknownError>
        : "no conversations"
    const alone = ConversationEntity.make(now, { name: "clerks" })
    type _Alone = Expect<Equal<Lost<typeof alone>, never>>
    type _All = Expect<Equal<Lost<typeof all>, ToolError.OutcomeUnknownError>>
    const counting = Durable.workflow(Agent.resume(Agent.make("clerk", { output: Schema.Finite })), {
      ...text,
      output: Schema.Finite
    })
    // @ts-expect-error its answers are numbers
    ConversationEntity.make(now, { name: "clerks", former: [counting] })
  })

  it("a message is what the agent takes", () => {
    // @ts-expect-error the agent takes texts alone
    ConversationEntity.send(clerks, { ...of, message: [Message.text("hello")] })
    const seeing = Durable.workflow(Agent.resume(Agent.make("clerk", { input: Message.UserContent })), {
      ...text,
      input: ConversationEntity.turn(Message.UserContent)
    })
    const seers = ConversationEntity.make(seeing, { name: "seers" })
    ConversationEntity.send(seers, { ...of, message: [Message.text("hello")] })
    // @ts-expect-error the agent takes lists of parts
    ConversationEntity.send(seers, { ...of, message: "hello" })
  })

  it("the agent goes on from what was said", () => {
    const forgetful = Durable.workflow(Agent.make("clerk", {}), { ...text, input: Schema.String })
    // @ts-expect-error its input has no conversation
    ConversationEntity.make(forgetful, { name: "clerks" })
  })
})
