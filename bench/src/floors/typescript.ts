/** The loop as written without any library but zod: no limits but one of turns, no recovery, no events. */
import { z } from "zod"
import * as Work from "../work.ts"

interface Call {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

type Message =
  | { readonly role: "system" | "user"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string; readonly calls: ReadonlyArray<Call> }
  | { readonly role: "tool"; readonly callId: string; readonly text: string }

interface Reply {
  readonly text: string
  readonly calls: ReadonlyArray<Call>
}

const Params = z.strictObject({ a: z.number(), b: z.number() })

/** One tool, ready to be called with the text of a model. */
export type Tool = (args: string) => Promise<string>

export const tool =
  (run: (params: z.infer<typeof Params>) => number | Promise<number>): Tool =>
  async (args) =>
    JSON.stringify(await run(Params.parse(JSON.parse(args))))

const adding: ReadonlyMap<string, Tool> = new Map([["add", tool(async ({ a, b }) => a + b)]])

const calling: Reply = { text: "", calls: [{ id: "c1", name: "add", arguments: Work.args }] }
const answering: Reply = { text: Work.answer, calls: [] }

/** Calls the tool in every turn but the last. */
export const modelOf = (turns: number) => {
  // a turn adds two messages, the first has one before it
  const last = 2 * turns
  return async (messages: ReadonlyArray<Message>): Promise<Reply> => (messages.length >= last ? answering : calling)
}

export const run = async (
  model: ReturnType<typeof modelOf>,
  input: string,
  maxTurns: number,
  tools: ReadonlyMap<string, Tool> = adding
): Promise<string> => {
  const settle = async (call: Call): Promise<Message> => {
    const found = tools.get(call.name)
    if (found === undefined) throw new Error(`no tool named ${call.name}`)
    return { role: "tool", callId: call.id, text: await found(call.arguments) }
  }
  const messages: Array<Message> = [
    { role: "system", text: Work.prompt },
    { role: "user", text: input }
  ]
  for (let turn = 0; turn < maxTurns; turn++) {
    const { calls, text } = await model(messages)
    if (calls.length === 0) return text
    messages.push({ role: "assistant", text, calls })
    messages.push(...(await Promise.all(calls.map(settle))))
  }
  throw new Error("too many turns")
}
