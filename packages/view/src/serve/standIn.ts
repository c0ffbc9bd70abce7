/**
 * A stand-in for a language model, which needs no key. It calls each tool once, with arguments that are made of the tool's schema, calls a
 * tool that has failed once more, and then answers. It gives the same replies for the same seed and the same conversation.
 */
import { Message, Model, Usage } from "@kintsugi/core"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { fitting, randomOf, valueOf } from "./generating.ts"
import type { ToolDefinition } from "./inside.ts"

/** How many different tools it calls before it answers. */
const maxTools = 4

/** Tools that end a run on purpose; the stand-in calls them only if it must. */
const ending: ReadonlySet<string> = new Set(["escalate", "throwException"])

const usageOf = ({ messages }: Model.Request): Usage.Usage =>
  Usage.make({ inputTokens: Math.ceil(JSON.stringify(messages).length / 4), outputTokens: 24 })

/** A call with its settlement. */
type CallMade = Extract<Message.Transcript[number], { readonly role: "assistant" }>["content"][number] & {
  readonly type: "settled-call"
}

/** The calls since the last message of the user, in order. */
const callsSince = (messages: Message.Transcript): ReadonlyArray<CallMade> =>
  messages
    .slice(messages.findLastIndex(({ role }) => role === "user") + 1)
    .flatMap((message) => (message.role === "assistant" ? message.content : []))
    .flatMap((part) => (part.type === "settled-call" ? [part] : []))

/** The tools of an agent, by their names. */
export type Tools = ReadonlyMap<string, ToolDefinition>

/** The reply to a request. The schemas in `byName` say more than the JSON Schemas of the request. */
export const replyTo = (seed: number, request: Model.Request, byName: Tools): Message.Reply => {
  const { messages, output } = request
  const drawn = seed + messages.length
  const usage = usageOf(request)
  const calls = callsSince(messages)
  const next = nextTool(request, calls)
  if (next !== undefined) {
    const codec = byName.get(next.name)?.parameters
    const args =
      codec === undefined
        ? valueOf(next.parameters, randomOf(drawn), next.name)
        : fitting(codec, next.parameters, drawn, next.name)
    // the arguments of a tool are an object by its schema
    const call = { id: `call-${messages.length}`, name: next.name, arguments: JSON.stringify(args) }
    return { content: [{ type: "tool-call", ...call }], finish: "tool-calls", usage }
  }
  const text =
    output === undefined ? inWords(calls) : JSON.stringify(valueOf(output.schema, randomOf(drawn), output.name))
  return { content: [{ type: "text", text }], finish: "stop", usage }
}

/** The tool that comes next, if the stand-in has not called enough of them. */
const nextTool = (
  { toolChoice, tools }: Model.Request,
  calls: ReadonlyArray<CallMade>
): Message.ToolSpec | undefined => {
  if (toolChoice === "none") return undefined
  if (typeof toolChoice === "object") return tools.find(({ name }) => name === toolChoice.tool)
  const last = calls.at(-1)
  const timesOf = (tool: string) => calls.filter(({ call }) => call.name === tool).length
  const isRepeated = last !== undefined && Message.isError(last.settlement) && timesOf(last.call.name) < 2
  const failed = isRepeated ? last.call.name : undefined
  const repeated = tools.find(({ name }) => name === failed)
  if (repeated !== undefined) return repeated
  const others = tools.filter(({ name }) => !ending.has(name) && timesOf(name) === 0)
  const isDone = new Set(calls.map(({ call }) => call.name)).size >= maxTools
  if (isDone && toolChoice !== "required") return others.find(({ name }) => name === "complete")
  // the tool that completes a run comes last
  const next = others.find(({ name }) => name !== "complete") ?? others[0]
  return next ?? (toolChoice === "required" ? tools[0] : undefined)
}

const inWords = (calls: ReadonlyArray<CallMade>): string => {
  if (calls.length === 0) return "I am a stand-in without a key: I have no tool to call, so this is my whole answer."
  const parts = calls.map(
    ({ call, settlement }) =>
      `${call.name} ${Message.isError(settlement) ? "failed" : "answered"} (${brief(settlement.text)})`
  )
  return `The stand-in has called ${calls.length === 1 ? "one tool" : `${calls.length} tools`}: ${parts.join("; ")}.`
}

const brief = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text)

/** What the stand-in knows besides its requests. */
export interface Means {
  readonly tools: Tools
  /** The time for each word of a streamed reply: a person sees the text grow. */
  readonly pause: Duration.Input
}

/** The stand-in as a model. */
export const make = (seed: number, { pause, tools: byName }: Means): Model.Service => ({
  name: "stand-in",
  provider: "none",
  generate: (request) => Effect.sync(() => replyTo(seed, request, byName)),
  stream: (request) =>
    Stream.suspend(() =>
      Stream.fromIterable(Model.partsOf(replyTo(seed, request, byName)).flatMap(inPieces)).pipe(
        Stream.tap((part) =>
          part.type === "text-delta" && !Duration.isZero(Duration.fromInputUnsafe(pause))
            ? Effect.sleep(pause)
            : Effect.void
        )
      )
    )
})

/** It says one word after the other. */
const inPieces = (part: Model.Part): ReadonlyArray<Model.Part> =>
  part.type === "text-delta" ? (part.text.match(/\S+\s*/g) ?? []).map((text) => ({ ...part, text })) : [part]
