/** What the model server answers: what an honest model would, or what a hostile one may. */
import { chunk, ending } from "../../load/src/chunks.ts"
import type { Draw } from "../../soak/src/Draw.ts"
import { usageOf } from "./usage.ts"

/** Replies that are whole and well-formed, even if no honest model would make them: each of them is booked. */
export const sound = ["plain", "bad-json", "unknown-tool", "huge-arguments", "repeated-ids", "late"] as const

/** All else: a refusal, a reply that breaks off, has no end, or is none. */
export const unsound = ["429", "529", "html", "html-as-stream", "malformed-frames", "endless", "cut"] as const

export type Kind = (typeof sound)[number] | (typeof unsound)[number]

export const isSound = (kind: Kind): boolean => sound.some((one) => one === kind)

/** Most replies are honest: a breaker that is always open would leave nothing to test. */
export const kindOf = (draw: Draw): Kind => {
  if (draw.chance(0.7)) return "plain"
  return draw.chance(0.5) ? draw.pick(...sound) : draw.pick(...unsound)
}

/** A server that asks for patience, in words and numbers that none should follow to the letter. */
export const hints = ["1", "999999999", "-5", "soon", "NaN", "Fri, 31 Dec 9999 23:59:59 GMT", "1e400", ""] as const

/** The question of a client: its number stands in it, as all processes know the run by it. */
export const inputOf = (run: string, request: string): string => `Run ${run}: ${request}`

interface Asked {
  readonly run: string
  /** What the run was asked for, without its number. */
  readonly request: string
  /** Whether a tool was run since. */
  readonly hasResult: boolean
}

/** What the body of a request says. */
export const askedIn = (body: string): Asked => {
  const { messages } = JSON.parse(body) as { readonly messages: ReadonlyArray<{ readonly role: string }> }
  const [, run = "", request = ""] = /Run (r\d+): ([^"\\]*)/.exec(body) ?? []
  return { run, request, hasResult: messages.at(-1)?.role === "tool" }
}

interface Call {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

const calling = (calls: ReadonlyArray<Call>): string =>
  chunk({
    tool_calls: calls.map(({ id, ...called }, index) => ({ index, id, type: "function", function: called }))
  })

/** The call that an honest model would make. */
const callFor = (request: string, nth: number): Call => {
  const [, cents, refunded] = /refund (\d+) of order ([\w-]+)/.exec(request) ?? []
  const id = `call-${nth}`
  if (refunded !== undefined) {
    return { id, name: "refund", arguments: JSON.stringify({ orderId: refunded, cents: Number(cents) }) }
  }
  const [, orderId = "A-17"] = /order ([\w-]+)/.exec(request) ?? []
  return { id, name: "findOrder", arguments: JSON.stringify({ orderId }) }
}

const hostile: Partial<Record<Kind, (call: Call) => ReadonlyArray<Call>>> = {
  "bad-json": (call) => [{ ...call, arguments: call.arguments.slice(0, -3) }],
  "unknown-tool": (call) => [{ ...call, name: "deleteEverything" }],
  "huge-arguments": (call) => [{ ...call, arguments: JSON.stringify({ orderId: "x".repeat(200_000), cents: 1 }) }],
  // the same id twice in one reply, and in each reply of the run
  "repeated-ids": (call) => [
    { ...call, id: "call" },
    { ...call, id: "call", name: "findOrder", arguments: '{"orderId":"B-4"}' }
  ]
}

/** The pieces of a whole reply, the n-th of its run. */
export const piecesOf = ({ hasResult, request, run }: Asked, kind: Kind, nth: number): ReadonlyArray<string> => {
  const usage = { prompt_tokens: 0, completion_tokens: usageOf(nth), total_tokens: usageOf(nth) }
  const role = chunk({ role: "assistant", content: null })
  if (hasResult && (kind === "plain" || kind === "late")) {
    const words = `That is all about run ${run}.`.match(/\S+\s*/g) ?? []
    return [role, ...words.map((content) => chunk({ content })), ending("stop", usage)]
  }
  const call = callFor(request, nth)
  return [role, calling(hostile[kind]?.(call) ?? [call]), ending("tool_calls", usage)]
}

/** A frame that is no JSON, one that is none of a completion, and one that is not UTF-8. */
export const malformed: ReadonlyArray<string | Uint8Array> = [
  "data: {nonsense\n\n",
  'data: {"choices": 7}\n\n',
  Uint8Array.of(0x64, 0x61, 0x74, 0x61, 0x3a, 0x20, 0xff, 0xfe, 0x0a, 0x0a)
]

export const html = "<!doctype html><title>502</title><h1>Bad Gateway</h1>"
