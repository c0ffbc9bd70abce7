/** Faults between a model and a run, with any model: real models meet the same broken calls as the stand-in. */
import { Compaction, type LlmError, Message, Model } from "@kintsugi/core"
import * as Errors from "@kintsugi/core/LlmError"
import { Effect, Stream } from "effect"
import type { World } from "./desk.ts"
import type { JsonObject, Scenario } from "./scenario.ts"

/** The model of one run, its fault in front of it. Fixers are not the ones who are tried: their calls pass. */
export const damaged = (model: Model.Service, scenario: Scenario, world: World): Model.Service => {
  const { fault } = scenario
  let failed = 0
  const asked = (
    request: Model.Request,
    reply: Effect.Effect<Message.Reply, LlmError.LlmError>
  ): Effect.Effect<Message.Reply, LlmError.LlmError> =>
    Effect.suspend(() => {
      if (isFixer(request)) return reply
      if (fault.at === "model" && failed < fault.times) {
        failed++
        world.isMet = true
        return Effect.fail(fault.error(model.name))
      }
      if (fault.at === "window" && Compaction.sizeOf(request.messages).characters > fault.characters) {
        world.isMet = true
        return Effect.fail(Errors.ContextTooLongError.make({ model: model.name }))
      }
      return Effect.map(reply, (whole) => {
        if (failed >= (fault.at === "answer" ? (fault.times ?? 1) : 1)) return whole
        const changed = changedBy(scenario, whole)
        if (changed === undefined) return whole
        failed++
        world.isMet = true
        return changed
      })
    })
  return Model.around(model, {
    generate: (reply, request) => asked(request, reply),
    stream: (_, request) =>
      Stream.unwrap(
        Effect.map(asked(request, model.generate(request)), (reply) => Stream.fromIterable(Model.partsOf(reply)))
      )
  })
}

/** Whether it is a fixer that asks. */
export const isFixer = ({ messages }: Model.Request): boolean =>
  messages.some((message) => message.role === "system" && message.text.startsWith(fixerMark))

/** What the prompt of a fixer begins with. */
export const fixerMark = "You repair the arguments of tool calls."

/** The reply with the scenario's damage; nothing where there is nothing to damage yet. */
const changedBy = ({ fault, first }: Scenario, reply: Message.Reply): Message.Reply | undefined => {
  if (fault.at === "answer") {
    if (Message.callsOf(reply).length > 0) return undefined
    const text = fault.damage(Message.textOf(reply))
    return { ...reply, content: text === "" ? [] : [Message.text(text)] }
  }
  if (fault.at !== "call") return undefined
  let isDamaged = false
  const content = reply.content.map((part) => {
    const sent = part.type === "tool-call" && part.name === first.tool ? objectOf(part.arguments) : undefined
    if (isDamaged || part.type !== "tool-call" || sent === undefined) return part
    isDamaged = true
    const { arguments: args, tool = part.name } = fault.damage(sent)
    // what the provider has signed is another call
    return { type: part.type, id: part.id, name: tool, arguments: args }
  })
  return isDamaged ? { ...reply, content } : undefined
}

const objectOf = (sent: Message.ToolCall["arguments"]): JsonObject | undefined => {
  const value = typeof sent === "string" ? parsed(sent) : sent
  // JSON that is neither a list nor nothing is an object
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
