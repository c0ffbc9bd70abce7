/** What a call of a model took, where its provider does not say it, or says what cannot be. */
import type * as Message from "../data/Message.ts"
import * as Usage from "../data/Usage.ts"
import { property, quietly } from "../data/Foreign.ts"
import type { Request } from "./service.ts"

/** What is said of the tokens and the cost of a reply, or of a part of it. */
export type Counted = Pick<Message.Reply, "usage" | "cost" | "isEstimated">

/**
 * The same, where it can be counted. A usage that is negative, infinite or no number is replaced by an estimate, and a cost like that
 * is left out.
 */
export const sound = <A extends Counted>(counted: A, request: Request, content: Message.Reply["content"]): A => {
  const isPaid = counted.cost === undefined || Usage.isAmount(counted.cost)
  const isCounted = Usage.isSound(counted.usage)
  if (isPaid && isCounted) return counted
  const { cost, ...others } = counted
  const kept = isPaid && cost !== undefined ? { ...others, cost } : others
  // the same fields, of which the cost may be left out
  return (isCounted ? kept : { ...kept, usage: usageOf(request, content), isEstimated: true }) as A
}

const usageOf = ({ messages, output, tools }: Request, content: Message.Reply["content"]): Usage.Usage => {
  const asked = messages.reduce((sum, message) => sum + lengthOf(message), lengthOf(tools) + lengthOf(output))
  return Usage.make({ inputTokens: tokensOf(asked), outputTokens: tokensOf(lengthOf(content)) })
}

/** About four characters are a token. */
const tokensOf = (length: number): number => Math.ceil(length / 4)

/** What stands for a picture or a document, whose bytes are no text: about a thousand tokens. */
const attachment = "x".repeat(4000)

/** How long a value is as JSON. What a model gives may be anything. */
const lengthOf = (value: unknown): number => {
  const shown = isUser(value) ? value.content.map((part) => (part.type === "text" ? part.text : attachment)) : value
  return quietly(() => JSON.stringify(shown).length, 0)
}

const isUser = (value: unknown): value is Message.User => property(value, "role") === "user"
