/** What a run begins with: what its user says, what was said before, and what it may spend. */
import type * as Budget from "../budget/Budget.ts"
import * as Message from "../data/Message.ts"
import type { Snapshot } from "../event/Snapshot.ts"
import type { ReadInput, Said } from "./Input.ts"
import type { Start } from "./Start.ts"

export interface Beginning {
  /** What the user says now, or has said last. */
  readonly said: Said
  /** Where a run was suspended. */
  readonly from: Snapshot | undefined
  /** Whether the user says something now. */
  readonly isNew: boolean
  /** The conversation, with this prompt at its head unless another stands there. */
  readonly messages: (prompt: string) => Array<Message.Message>
  /** The conversation, with this prompt at its head and no other anywhere: skills have their own. */
  readonly messagesFor: (prompt: string) => Array<Message.Message>
}

interface Resumed {
  readonly agent: string
  readonly readInput: ReadInput
}

/** Throws on an input that does not fit, and on a snapshot of another agent. */
export const of = (start: Start, { agent, readInput }: Resumed): Beginning => {
  if (start.kind === "input") {
    const said = readInput(start.input)
    const messages = (prompt: string) => headed(prompt, [said.message])
    return { said, from: undefined, isNew: true, messages, messagesFor: messages }
  }
  const { from, input } = start.resumption
  const snapshot = "version" in from ? from : undefined
  if (snapshot !== undefined && snapshot.agent !== agent) {
    throw new TypeError(`Agent '${agent}' cannot go on with a run of agent '${snapshot.agent}'`)
  }
  if (snapshot?.open !== undefined && input !== undefined) {
    throw new TypeError(`Agent '${agent}': a run that waits for a decision takes no further input`)
  }
  const before = "version" in from ? from.transcript : from
  const said = input === undefined ? lastOf(before, snapshot?.asked) : readInput(input)
  const all = input === undefined ? before : [...before, said.message]
  const messages = (prompt: string) => (all.some(({ role }) => role === "system") ? [...all] : headed(prompt, all))
  const messagesFor = (prompt: string) =>
    headed(
      prompt,
      all.filter(({ role }) => role !== "system")
    )
  return { said, from: snapshot, isNew: input !== undefined, messages, messagesFor }
}

const headed = (prompt: string, messages: ReadonlyArray<Message.Message>): Array<Message.Message> =>
  prompt === "" ? [...messages] : [Message.system(prompt), ...messages]

/** After what was asked, a run itself says something as its user: what is wrong with an answer. */
const lastOf = (transcript: Message.Transcript, asked = -1): Said => {
  const known = transcript[asked]
  const message =
    known?.role === "user" ? known : (transcript.findLast((one) => one.role === "user") ?? Message.user(""))
  return { message, text: Message.textOf(message) }
}

/** The limits that whoever resumes an agent gives in the place of its own. */
export const limitsOf = (start: Start): Budget.Limits | undefined =>
  start.kind === "resumption" ? start.resumption.budget : undefined

/** The answer of a conversation that ends with one, and to which nothing was added. */
export const answeredBy = (
  start: Start,
  from: Snapshot | undefined,
  messages: Message.Transcript
): string | undefined => {
  const last = messages.at(-1)
  // whatever was said before, calls are open
  if (start.kind === "input" || from?.open !== undefined || last?.role !== "assistant" || last.paused === true)
    return undefined
  return last.content.some(({ type }) => type === "settled-call") ? undefined : Message.textOf(last)
}
