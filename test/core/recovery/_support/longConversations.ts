/** An agent whose conversations grow too long, and outlines of what its model was sent. */
import { Agent, Compaction, LlmError, Message, Recovery } from "@kintsugi/core"
import { type ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { scripted, settlements } from "../../../_support/dialogue.ts"

export const tooLong = () => LlmError.ContextTooLongError.make({ model: "scripted", limit: 100, actual: 120 })

export const compacting = <R>(compaction: Compaction.Compaction<R>) =>
  Agent.onLlmError({ ContextTooLongError: Recovery.compact(compaction) })

export const keepOne = Compaction.dropOldest({ keepLast: 1 })

export const systemOf = { role: "system", text: "Be brief." } as const

/** A tool that says `page 1`, `page 2` … at such a length. */
export const pages = (length = 40) =>
  scripted(
    "look",
    ...Array.from({ length: 9 }, (_, index) => Effect.succeed(`page ${index + 1} ${".".repeat(length)}`))
  ).tool

export const reader = (length?: number) =>
  Agent.make("reader", {
    prompt: systemOf.text,
    skills: [{ name: "read", description: "Reads.", tools: [pages(length)] }]
  })

/** What a request holds, short: roles, texts of users, and the numbers of the pages that were read. */
export const outline = (messages: Message.Transcript) =>
  messages.map((message) => {
    if (message.role === "system") return "system"
    if (message.role === "user") return `user ${Message.textOf(message)}`
    return settlements([message])
      .map((line) => line.replace(/^result: (page \d) .*$/, "$1"))
      .join()
  })

export const requested = (model: ScriptedModel.ScriptedModel) => model.requests.map(({ messages }) => outline(messages))

export const busyModel = LlmError.ModelOverloadedError.make({ model: "scripted" })

export const conversation: Message.Transcript = [
  Message.system("Be brief."),
  Message.user("one"),
  Message.assistant("first"),
  Message.user("two"),
  Message.assistant("second"),
  Message.user("three")
]
