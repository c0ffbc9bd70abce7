/** Events without the bytes of what tools have returned: bytes are in the transcript and in snapshots alone. */
import { bytesIn } from "../data/Base64.ts"
import type * as Message from "../data/Message.ts"
import type { AgentEvent } from "./AgentEvent.ts"

/** The same event, unless a result in it has bytes. */
export const withoutBytes = (event: AgentEvent): AgentEvent => {
  switch (event.type) {
    case "run-start":
    case "run-failed":
    case "run-interrupted":
    case "compacted":
      return event.transcript.some(hasBytes) ? { ...event, transcript: event.transcript.map(without) } : event
    case "turn-end":
    case "run-suspended": {
      const { message } = event
      // the snapshot of a suspended run keeps what the run goes on with
      return message !== undefined && hasBytes(message) ? { ...event, message: stripped(message) } : event
    }
    case "tool-end": {
      const { settlement } = event.use
      return isHeavy(settlement) ? { ...event, use: { ...event.use, settlement: light(settlement) } } : event
    }
    default:
      return event
  }
}

const isHeavy = ({ parts }: Message.Settlement): boolean => parts?.some((part) => "data" in part) === true

const hasBytes = (message: Message.Message): boolean =>
  message.role === "assistant" &&
  message.content.some((part) => part.type === "settled-call" && isHeavy(part.settlement))

const without = (message: Message.Message): Message.Message =>
  message.role === "assistant" && hasBytes(message) ? stripped(message) : message

const stripped = (message: Message.Assistant): Message.Assistant => ({
  ...message,
  content: message.content.map((part) =>
    part.type === "settled-call" && isHeavy(part.settlement) ? { ...part, settlement: light(part.settlement) } : part
  )
})

type Part = NonNullable<Message.Settlement["parts"]>[number]

const light = ({ parts = [], ...settlement }: Message.Settlement): Message.Settlement => ({
  ...settlement,
  parts: parts.map((part): Part => {
    if (!("data" in part)) return part
    const { data, ...others } = part
    return { ...others, bytes: bytesIn(data) }
  })
})
