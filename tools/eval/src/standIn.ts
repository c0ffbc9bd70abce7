/**
 * The model of offline runs. It knows what was asked for and makes that call, so nothing goes wrong but the fault of the scenario.
 * What it does about a failure depends on the conversation that it gets, and on `Rates`: told of none, it goes on; told of one,
 * it corrects itself more often where it can read what is wrong. It knows no policy.
 */
import { Message, Model, Usage } from "@kintsugi/core"
import { Effect, Stream } from "effect"
import type { Draw } from "../../soak/src/Draw.ts"
import { reference } from "./desk.ts"
import type { Rates } from "./rates.ts"
import type { Scenario } from "./scenario.ts"
import { isFixer } from "./transit.ts"

/** The stand-in for one run; its choices are those of `draw`. */
export const make = (scenario: Scenario, rates: Rates, draw: Draw): Model.Service => {
  const generate = (request: Model.Request) => Effect.sync(() => reply(request, scenario, rates, draw))
  return {
    name: "stand-in",
    provider: "stand-in",
    generate,
    stream: (request) =>
      Stream.unwrap(Effect.map(generate(request), (whole) => Stream.fromIterable(Model.partsOf(whole))))
  }
}

type Content = Message.Reply["content"]

/** What it says next. */
export const reply = (request: Model.Request, scenario: Scenario, rates: Rates, draw: Draw): Message.Reply => {
  const content = isFixer(request)
    ? mend(lastUserText(request.messages), scenario, rates, draw)
    : work(request, scenario, rates, draw)
  const isCall = content.some(({ type }) => type === "tool-call")
  const usage = Usage.make({ inputTokens: tokens([request.messages, request.tools]), outputTokens: tokens(content) })
  return { content, finish: isCall ? "tool-calls" : "stop", usage }
}

const charactersPerToken = 4

const tokens = (value: unknown): number => Math.ceil(JSON.stringify(value).length / charactersPerToken)

const say = (text: string): Content => [Message.text(text)]

const call = (
  { arguments: args, tool }: { readonly tool: string; readonly arguments: Message.ToolCall["arguments"] },
  { messages }: Model.Request
): Content => [{ type: "tool-call", id: `call_${messages.length}`, name: tool, arguments: args }]

const work = (request: Model.Request, scenario: Scenario, rates: Rates, draw: Draw): Content => {
  const { messages, tools } = request
  const said = messages.findLast((message) => message.role === "assistant")
  if (tools.length === 0 || request.toolChoice === "none") return say("I could not do it.")
  if (said === undefined) return call(scenario.first, request)
  const last = messages.at(-1)
  // it has answered, and is told that the answer will not do
  if (last?.role === "user") {
    return isCorrected(Message.textOf(last), scenario, rates, draw) ? answer(messages) : say(Message.textOf(said))
  }
  const settlement = said.content.findLast((part) => part.type === "settled-call")
  // not every format says which results are errors; one without a reference is no success
  if (settlement === undefined || reference.test(settlement.settlement.text)) return answer(messages)
  const { text } = settlement.settlement
  // told to correct its call and to ask the user, it asks the user
  if (text.includes("call the tool again") && text.includes("asking the user")) return say("What shall I do?")
  if (isCorrected(text, scenario, rates, draw)) {
    const { check, first, instead } = scenario
    const other = instead ?? check
    return call(other !== undefined && settlement.call.name === first.tool ? other : first, request)
  }
  if (draw.chance(rates.claims)) return say("Done! Everything is as you have asked.")
  return call({ tool: settlement.call.name, arguments: settlement.call.arguments }, request)
}

const isCorrected = (text: string, { names }: Scenario, rates: Rates, draw: Draw): boolean =>
  draw.chance(names.some((name) => text.includes(name)) ? rates.corrects : rates.guesses)

/** The reference that the last tool gave, wherever it stands by now. */
const answer = (messages: Message.Transcript): Content => {
  const settlements = messages.flatMap((message) =>
    message.role === "assistant" ? message.content.filter((part) => part.type === "settled-call") : []
  )
  const given = settlements.findLast(({ settlement }) => reference.test(settlement.text))
  const found = reference.exec(given?.settlement.text ?? "")?.[0]
  if (found !== undefined) return say(found)
  return say("I could not do it.")
}

const lastUserText = (messages: Message.Transcript): string => {
  const last = messages.findLast(({ role }) => role === "user")
  return last?.role === "user" ? Message.textOf(last) : ""
}

/** A fixer reads a report of the failed call, and nothing of what the user has asked for. */
const mend = (report: string, { fault, first }: Scenario, rates: Rates, draw: Draw): Content => {
  const broken = /^Arguments: (.*)$/m.exec(report)?.[1] ?? ""
  if (fault.at !== "call") return say(broken)
  if (fault.isReadable) return say(draw.chance(rates.mends) ? JSON.stringify(first.arguments) : broken)
  if (fault.guess !== undefined && draw.chance(rates.invents)) return say(JSON.stringify(fault.guess))
  const reason = /^Error: (.*)$/m.exec(report)?.[1] ?? "what was meant cannot be read off the arguments"
  return [{ type: "tool-call", id: "call_0", name: "escalate", arguments: { reason } }]
}
