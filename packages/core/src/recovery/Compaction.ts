/**
 * Shortens conversations that exceed a model's context window. A compaction is a value; `Recovery.compact` puts it into a table for model
 * calls. From then on the model reads its result; the transcript of the run stays whole.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { Compaction, Overflow, Size } from "./Node.ts"
import { truncated } from "./truncation.ts"
import * as Message from "../data/Message.ts"
import * as Returned from "../data/Returned.ts"

export type { Compaction, Overflow } from "./Node.ts"

/**
 * How long a conversation is, all its messages counted.
 *
 * @internal
 */
export const sizeOf = (transcript: Message.Transcript): Size => ({
  messages: transcript.length,
  characters: transcript.reduce((sum, message) => sum + JSON.stringify(message).length, 0)
})

/**
 * Makes a compaction of your own. The model gets its result unchanged; the result has to be shorter than the input. Calls and results stay
 * together by their type. Keep the system messages and the last user message: most providers require one.
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

/** How many messages stay, system messages aside: the last ones. A reply, its calls and their results are one message. */
interface Keeping {
  readonly keepLast: number
}

/**
 * Drops the oldest messages. System messages, the run's input, the last user message and the last `keepLast` others
 * stay; replies with no user message before them go as well, for most providers refuse them.
 */
export const dropOldest = ({ keepLast }: Keeping): Compaction => {
  const keep = checked("keepLast", keepLast)
  return make("dropOldest", (overflow) => {
    const dropped = droppedIn(overflow, keep, true)
    return overflow.transcript.filter((_, index) => !dropped.has(index))
  })
}

/** The places of the messages that go, in order. `isHeaded`: a reply that would be the first of all goes too. */
const droppedIn = ({ input, transcript }: Overflow, keepLast: number, isHeaded: boolean): ReadonlySet<number> => {
  const lastUser = transcript.findLastIndex(({ role }) => role === "user")
  const talk = [...transcript.keys()].filter((index) => transcript[index]?.role !== "system")
  const young = new Set(talk.slice(Math.max(0, talk.length - keepLast)))
  const isRetained = (index: number) => young.has(index) || index === lastUser || isAsked(transcript[index], input)
  const firstUser = talk.find((index) => transcript[index]?.role === "user" && isRetained(index))
  const isOrphan = (index: number) => isHeaded && firstUser !== undefined && index < firstUser
  return new Set(talk.filter((index) => !isRetained(index) || isOrphan(index)))
}

/** Compares by content: a message from a snapshot is another object. */
const isAsked = (message: Message.Message | undefined, input: Message.User | undefined): boolean =>
  input !== undefined &&
  message?.role === "user" &&
  (message === input || JSON.stringify(message) === JSON.stringify(input))

/** Any function from a text to the effect of a text. Agents are such functions. */
type Summariser<E, R> = (transcript: string) => Effect.Effect<string, E, R>

/**
 * Replaces the oldest messages by an agent's summary, as one user message. The agent reads the messages as one text: what was said, by
 * whom, and how each call ended. The messages that `dropOldest` keeps stay; `keepLast` is 4 by default. The agent runs as a child of the
 * present run: it spends that run's budget, and its attempts are booked with the purpose `compaction`.
 */
export const summarise = <E, R>(agent: Summariser<E, R>, options?: Partial<Keeping>): Compaction<R> => {
  const keep = checked("keepLast", options?.keepLast ?? 4)
  const compact = (overflow: Overflow): Effect.Effect<Message.Transcript, E, R> => {
    const { transcript } = overflow
    const dropped = droppedIn(overflow, keep, false)
    const [first] = dropped
    if (first === undefined) return Effect.succeed(transcript)
    const lastUser = transcript.findLastIndex(({ role }) => role === "user")
    // before the user's own words: it is never taken for the last of them
    const at = lastUser < 0 ? first : Math.min(first, lastUser)
    // a summary is shown to readers, and so is what its agent reads
    const said = agent(toText(Message.withoutWithheld(transcript.filter((_, index) => dropped.has(index)))))
    return Effect.map(Returned.effect(said, "The agent of Compaction.summarise"), (summary) =>
      transcript.flatMap((message, index) => [
        ...(index === at ? [Message.user(`${summaryHead}\n\n${summary}`)] : []),
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

/** A model that carries images and files in results reads its parts: their texts are as short together. */
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
 * A conversation as a text for people and models: what was said, by whom, and how each call ended.
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
          return [`Assistant called ${call.name}: ${args}`, `${call.name}, ${settlement.kind}: ${settlement.text}`]
        })
        .join("\n")
  }
}

const checked = (name: string, value: number): number => {
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw new RangeError(`Compaction: ${name} must be a whole number of at least 1, got ${value}`)
}
