/**
 * Shortens conversations that exceed a model's context window. A compaction is a value; `Recovery.compact` puts it into a table for model
 * calls. From then on the model reads the shortened conversation; the transcript of the run stays complete.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { Compaction, Overflow, Size } from "./Node.ts"
import * as Render from "./Render.ts"
import { truncated } from "./truncation.ts"
import * as Message from "../data/Message.ts"
import * as Returned from "../data/Returned.ts"

export type { Compaction, Overflow } from "./Node.ts"

/**
 * The size of a conversation: its number of messages, and the length of their JSON.
 *
 * @internal
 */
export const sizeOf = (transcript: Message.Transcript): Size => ({
  messages: transcript.length,
  characters: transcript.reduce((sum, message) => sum + JSON.stringify(message).length, 0)
})

/**
 * Makes a compaction from a function. The model gets the result unchanged, and the result has to be shorter than the input. Each call stays
 * with its result, because both are one part of a message. Keep the system messages and the last user message: most providers require one.
 */
export const make = <E = never, R = never>(
  name: string,
  compact: (overflow: Overflow) => Message.Transcript | Effect.Effect<Message.Transcript, E, R>
): Compaction<R> => ({
  name,
  compact: (overflow) =>
    Effect.suspend(() => Returned.valueOf(compact(overflow), aTranscript, "The function of compaction", name))
})

const aTranscript: Returned.Kind = { name: "an array", is: Array.isArray }

/** The number of last messages that stay, without system messages. A reply with its calls and their results is one message. */
interface Keeping {
  readonly keepLast: number
}

/**
 * Drops the oldest messages. System messages, the run's input, the last user message and the last `keepLast` others stay. Replies before
 * the first user message are dropped as well, because most providers refuse them.
 */
export const dropOldest = ({ keepLast }: Keeping): Compaction => {
  const keep = checked("keepLast", keepLast)
  return make("dropOldest", (overflow) => {
    const dropped = droppedIn(overflow, keep, true)
    return overflow.transcript.filter((_, index) => !dropped.has(index))
  })
}

/**
 * The indices of the messages that are dropped, in ascending order. With `isHeaded`, replies before the first retained user message are
 * dropped as well.
 */
const droppedIn = ({ input, transcript }: Overflow, keepLast: number, isHeaded: boolean): ReadonlySet<number> => {
  const lastUser = transcript.findLastIndex(({ role }) => role === "user")
  const talk = [...transcript.keys()].filter((index) => transcript[index]?.role !== "system")
  const young = new Set(talk.slice(Math.max(0, talk.length - keepLast)))
  const isRetained = (index: number) => young.has(index) || index === lastUser || isAsked(transcript[index], input)
  const firstUser = talk.find((index) => transcript[index]?.role === "user" && isRetained(index))
  const isOrphan = (index: number) => isHeaded && firstUser !== undefined && index < firstUser
  return new Set(talk.filter((index) => !isRetained(index) || isOrphan(index)))
}

/** Whether a message is the input of the run. It compares content, because a message from a snapshot is another object. */
const isAsked = (message: Message.Message | undefined, input: Message.User | undefined): boolean =>
  input !== undefined &&
  message?.role === "user" &&
  (message === input || JSON.stringify(message) === JSON.stringify(input))

/** A function from text to an effect of text, such as an agent. */
type Summariser<E, R> = (transcript: string) => Effect.Effect<string, E, R>

/**
 * Replaces the oldest messages by an agent's summary, as one user message. The summary is framed as data, because results of tools speak
 * through it. The agent reads the messages as one text: what was said, by whom, and how each call ended. The messages that `dropOldest`
 * keeps stay; `keepLast` is 4 by default. The agent runs as a child of the present run: it spends that run's budget, and its attempts are
 * booked with the purpose `compaction`.
 */
export const summarise = <E, R>(agent: Summariser<E, R>, options?: Partial<Keeping>): Compaction<R> => {
  const keep = checked("keepLast", options?.keepLast ?? 4)
  const compact = (overflow: Overflow): Effect.Effect<Message.Transcript, E, R> => {
    const { transcript } = overflow
    const dropped = droppedIn(overflow, keep, false)
    const [first] = dropped
    if (first === undefined) return Effect.succeed(transcript)
    const lastUser = transcript.findLastIndex(({ role }) => role === "user")
    // the summary is a user message; it comes before the last user message, so that it is not taken for the newest one
    const at = lastUser < 0 ? first : Math.min(first, lastUser)
    // users may read the summary, so its agent gets placeholders for withheld messages
    const said = agent(toText(Message.withoutWithheld(transcript.filter((_, index) => dropped.has(index)))))
    return Effect.map(Returned.effect(said, "The agent of Compaction.summarise"), (summary) =>
      transcript.flatMap((message, index) => [
        ...(index === at ? [Message.user(`${summaryHead}\n\n${Render.framed(summary)}`)] : []),
        ...(dropped.has(index) ? [] : [message])
      ])
    )
  }
  return { ...make("summarise", compact), agent }
}

const summaryHead = "A part of this conversation was left out. This is a summary of it:"

/** Cuts the longest settlement of a tool call. It keeps at most `maxLength` characters (code points). */
export const shrinkLargestResult = ({ maxLength }: { readonly maxLength: number }): Compaction => {
  const max = checked("maxLength", maxLength)
  return make("shrinkLargestResult", ({ transcript }) => {
    const parts = transcript.flatMap((message) => (message.role === "assistant" ? message.content : []))
    const calls = parts.filter((part) => part.type === "settled-call")
    const largest = Math.max(0, ...calls.map(({ settlement }) => settlement.text.length))
    let isFound = false
    return transcript.map((message) => {
      if (isFound || message.role !== "assistant") return message
      const content = message.content.map((part) => {
        if (isFound || part.type !== "settled-call" || part.settlement.text.length < largest) return part
        isFound = true
        return { ...part, settlement: shortened(part.settlement, max) }
      })
      return isFound ? { ...message, content } : message
    })
  })
}

/**
 * Shortens the text of a settlement, and the texts of its parts to the same total: a model that accepts images in results reads the parts.
 */
const shortened = ({ parts, ...settlement }: Message.Settlement, max: number): Message.Settlement => {
  let left = max
  const cut = parts?.map((part) => {
    if (part.type !== "text") return part
    const text = truncated(part.text, left)
    left = Math.max(0, left - text.length)
    return Message.text(text)
  })
  const text = truncated(settlement.text, max)
  return { ...settlement, text, ...(cut && { parts: cut.filter((part) => part.type !== "text" || part.text !== "") }) }
}

/**
 * Writes a conversation as text: what was said, by whom, and how each call ended. Results are framed as data: no line of a result is taken for
 * one that a person has said.
 *
 * @internal
 */
export const toText = (transcript: Message.Transcript): string => transcript.map(lineOf).join("\n")

const lineOf = (message: Message.Message): string => {
  switch (message.role) {
    case "system":
      return `System: ${message.text}`
    case "user":
      return `User: ${message.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n")}`
    case "assistant":
      return message.content
        .flatMap((part) => {
          if (part.type === "text") return [`Assistant: ${part.text}`]
          if (part.type !== "settled-call") return []
          const { call, settlement } = part
          const args = Predicate.isString(call.arguments) ? call.arguments : JSON.stringify(call.arguments)
          return [
            `Assistant called ${call.name}: ${args}`,
            `${call.name}, ${settlement.kind}: ${Render.framed(settlement.text, Message.isError(settlement))}`
          ]
        })
        .join("\n")
  }
}

const checked = (name: string, value: number): number => {
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw new RangeError(`Compaction: ${name} must be a whole number of at least 1, got ${value}`)
}
