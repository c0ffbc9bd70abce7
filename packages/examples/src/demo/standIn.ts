/**
 * A stand-in for a language model: a small deterministic program that plays the model from what is in the request
 * alone. It knows no tool, no agent and no answer; it reads schemas and texts, as a model would, only by rules of thumb.
 */
import * as Message from "@kintsugi/core/Message"
import * as Usage from "@kintsugi/core/Usage"
import type * as Schema from "effect/Schema"
import * as Conversation from "./standIn/Conversation.ts"
import * as Fill from "./standIn/Fill.ts"
import { blocks, diagnose, equals, isObject, mend, parse, write, type JsonObject } from "./standIn/Json.ts"
import * as Report from "./standIn/Report.ts"
import * as Shape from "./standIn/Shape.ts"
import * as Words from "./standIn/Words.ts"

/** What the model does next. */
type Move =
  | { readonly type: "call"; readonly tool: Conversation.Tool; readonly arguments: JsonObject }
  | { readonly type: "say"; readonly text: string }

const call = (tool: Conversation.Tool, parameters: JsonObject): Move => ({ type: "call", tool, arguments: parameters })

const say = (text: string): Move => ({ type: "say", text })

/** The body of a chat-completions request in, the model's reply out; total. */
export const reply = (body: unknown): Message.Reply => {
  const conversation = Conversation.fromBody(body)
  const move = decide(conversation)
  const text = move.type === "call" ? write(move.arguments) : move.text
  const usage = Usage.make({ inputTokens: tokens(conversation.size), outputTokens: tokens(text.length) })
  if (move.type === "say") return { content: [Message.text(text)], finish: "stop", usage }
  const id = `call_${conversation.messages}`
  return { content: [{ type: "tool-call", id, name: move.tool.name, arguments: text }], finish: "tool-calls", usage }
}

const charactersPerToken = 4
const tokens = (characters: number): number => Math.ceil(characters / charactersPerToken)

const decide = (conversation: Conversation.Conversation): Move => {
  const { outcomes, tools, latest } = conversation
  const failed = latest.find(({ isError }) => isError)
  if (failed !== undefined) return correct(failed, conversation)
  if (latest.length > 0) return goOn(conversation)
  if (outcomes.length > 0) return say("I have said what there is to say.")
  const work = tools.filter((tool) => complaintOf(tool) === undefined)
  if (work.length === 0) return mendReport(conversation)
  return start(work, conversation)
}

// A request of the user

const start = (work: ReadonlyArray<Conversation.Tool>, conversation: Conversation.Conversation): Move => {
  const source = Fill.sourceOf(conversation.request)
  const best = work
    .map((tool) => ({ tool, score: scoreOf(tool, source, conversation.system) }))
    .reduce((best, next) => (next.score > best.score ? next : best))
  if (best.score < atLeast && !conversation.mustCall) return say("I have no tool for that, and nothing to add.")
  return call(best.tool, Fill.fill(best.tool, source))
}

/** Below this a tool has nothing to do with the request. */
const atLeast = 1

const scoreOf = (tool: Conversation.Tool, source: Fill.Source, system: string): number => {
  const said = Words.of(source.prose)
  const { data } = source
  const named = isObject(data)
    ? tool.fields.filter(({ name }) => Object.keys(data).some((key) => Words.sameName(key, name))).length
    : 0
  return (
    3 * Words.shared(Words.of(tool.name), said) +
    2 * named +
    Words.shared(Words.of(tool.description), said) +
    Words.shared(Words.of(tool.fields.map(({ name, description }) => `${name} ${description}`).join(" ")), said) +
    (data !== undefined && Fill.wholeOf(tool, source) !== undefined ? 1 : 0) +
    (data !== undefined && fits(tool, data) ? 1 : 0) +
    // What the system prompt speaks of decides between equals
    Words.shared(Words.of(tool.name), Words.of(system)) / 8
  )
}

const fits = (tool: Conversation.Tool, data: Schema.Json): boolean =>
  tool.fields.some(({ schema }) => Shape.kindOf(schema) === (Array.isArray(data) ? "array" : "object"))

// A result

const goOn = (conversation: Conversation.Conversation): Move => {
  const { outcomes, request, tools } = conversation
  const words = Words.of(request)
  const next = tools.find(
    (tool) =>
      complaintOf(tool) === undefined &&
      !outcomes.some(({ call }) => call.tool === tool.name) &&
      Words.of(tool.name).size > 1 &&
      Words.shared(Words.of(tool.name), words) === Words.of(tool.name).size
  )
  if (next !== undefined) return call(next, Fill.fill(next, Fill.sourceOf(request)))
  return say(answer(conversation))
}

const answer = ({ outcomes, system }: Conversation.Conversation): string => {
  const results = outcomes.filter(({ isError }) => !isError).map(({ text }) => text)
  const last = results.at(-1) ?? ""
  const wish = /\b(?:only|just|nothing but) (?:with )?(?:the |a )?(?:bare )?(?:number|integer|count)\b/i
  if (wish.test(system.replaceAll(/\s+/g, " "))) {
    return last.match(/-?\d+(?:\.\d+)?/)?.[0] ?? last
  }
  return `The result is ${results.join("; ")}.`
}

// A result that is an error

const maxRepeats = 2

const correct = (failed: Conversation.Outcome, conversation: Conversation.Conversation): Move => {
  const { text } = failed
  const tool = conversation.tools.find(({ name }) => name === failed.call.tool)
  const giveUp = say(`I could not do it: ${text}`)
  if (tool === undefined) return giveUp
  const tried = conversation.outcomes.filter(({ call }) => call.tool === tool.name).map(({ call }) => call.arguments)
  const isHopeless = /\bpermanent\b|not be repaired|(?:will|does|would) not help|do not (?:retry|repeat)/i.test(text)
  if (!isHopeless || /correct/i.test(text)) {
    const corrected = correctionsIn(text, failed.call.arguments, tool, conversation.request).find(
      (candidate) => !tried.some((before) => equals(before, candidate))
    )
    if (corrected !== undefined) return call(tool, corrected)
  }
  const repeats = tried.filter((before) => equals(before, failed.call.arguments)).length - 1
  if (!isHopeless && /\btransient\b|safe to (?:retry|repeat)|try again/i.test(text) && repeats < maxRepeats) {
    return call(tool, failed.call.arguments)
  }
  const soft = conversation.tools.find((tool) => complaintOf(tool)?.isHard === false)
  return soft === undefined ? giveUp : complain(soft, text)
}

/** Arguments that an error text proposes, the likeliest first. */
const correctionsIn = (
  text: string,
  sent: JsonObject,
  tool: Conversation.Tool,
  request: string
): ReadonlyArray<JsonObject> => {
  const proposed = text.search(/correct/i)
  const documents = blocks(text)
    .filter((block) => parse(block) !== undefined && !Shape.isSchema(parse(block)))
    .toSorted((a, b) => Number(text.indexOf(b) > proposed) - Number(text.indexOf(a) > proposed) || b.length - a.length)
  const source = Fill.sourceOf(request)
  return [
    ...documents.map((document) => withDocument(document, sent, tool, source)),
    ...replacementsIn(text).flatMap((value) => withText(value, text, sent))
  ]
}

const withDocument = (document: string, sent: JsonObject, tool: Conversation.Tool, source: Fill.Source): JsonObject => {
  const next = Fill.withDocument(source, document)
  const value = parse(document)
  const asked = Fill.wholeOf(tool, next)?.name ?? Object.keys(sent).find((name) => looksLikeDocument(sent[name]))
  const before = asked === undefined ? undefined : sent[asked]
  const isSameDocument = typeof before === "string" && sameKeys(mend(before)?.value, value)
  if (isObject(value) && !isSameDocument && isComplete(value, tool)) return value
  return asked === undefined ? { ...sent, ...Fill.fill(tool, next) } : { ...sent, [asked]: document }
}

const sameKeys = (self: Schema.Json | undefined, that: Schema.Json | undefined): boolean =>
  isObject(self) && isObject(that) && equals(Object.keys(self), Object.keys(that))

/** Whether an object can be the arguments of a tool, by the names in it. */
const isComplete = (value: JsonObject, { fields }: Conversation.Tool): boolean =>
  fields.length > 0 &&
  Object.keys(value).every((key) => fields.some(({ name }) => name === key)) &&
  fields.every(({ name, required }) => !required || Object.hasOwn(value, name))

const looksLikeDocument = (value: Schema.Json | undefined): boolean => typeof value === "string" && /[{[]/.test(value)

/** "Did you mean 'Paris'?" */
const replacementsIn = (text: string): ReadonlyArray<string> =>
  Array.from(
    text.matchAll(
      /\b(?:did you mean|instead|try|use|correct|corrected|correct value|corrected value):?\s*["'`]([^"'`\n]+)["'`]/gi
    ),
    ([, value]) => value ?? ""
  )

/** The argument that the error quotes gets the new value; where it quotes none, the only text does. */
const withText = (value: string, error: string, sent: JsonObject): ReadonlyArray<JsonObject> => {
  const texts = Object.entries(sent).filter((entry): entry is [string, string] => typeof entry[1] === "string")
  const quoted = texts.find(([, before]) => before !== "" && error.includes(before)) ?? texts[0]
  return quoted === undefined ? [] : [{ ...sent, [quoted[0]]: value }]
}

// A failure report

/** A tool that takes nothing but a reason: the way to hand a problem back. */
interface Complaint {
  readonly reason: string
  /** Whether it ends everything, instead of asking for another try. */
  readonly isHard: boolean
}

const complaintOf = ({ name, description, fields }: Conversation.Tool): Complaint | undefined => {
  const reason = fields.find((field) => /^(?:reason|message)$/i.test(field.name))
  if (reason === undefined || Shape.kindOf(reason.schema) !== "string") return undefined
  if (fields.some((field) => field !== reason && !/^(?:severity|level|priority|urgency)$/i.test(field.name))) {
    return undefined
  }
  const about = Words.spaced(`${name} ${description}`)
  const isSoft = fields.length > 1 || /\b(?:escalat\w+|(?:hand|give)s? (?:\w+ ){0,3}back|ask for help)\b/.test(about)
  const isHard = !isSoft && /\b(?:throws?|exception|raises?|aborts?|gives? up|unrecoverable)\b/.test(about)
  return isSoft || isHard ? { reason: reason.name, isHard } : undefined
}

const complain = (tool: Conversation.Tool, reason: string): Move => {
  const complaint = complaintOf(tool)
  return complaint === undefined ? say(reason) : call(tool, { [complaint.reason]: reason })
}

const mendReport = ({ request, system, tools }: Conversation.Conversation): Move => {
  const soft = tools.find((tool) => complaintOf(tool)?.isHard === false)
  const hard = tools.find((tool) => complaintOf(tool)?.isHard === true)
  const repair = Report.repair(request)
  if (repair === undefined) {
    const reason = Report.hopelessness(request)
    return hard === undefined ? say(reason) : complain(hard, reason)
  }
  if (soft !== undefined) {
    return complain(soft, `Broken JSON (${diagnose(repair.broken)}). Corrected: ${repair.mended.text}`)
  }
  return say(/correct|fix|mend|repair/i.test(`${system} ${request}`) ? repair.arguments : "I have nothing to add.")
}
