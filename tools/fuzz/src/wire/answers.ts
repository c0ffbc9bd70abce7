/** Good answers in every format, changes to them, and streams that are written by hand. */
import * as Message from "@kintsugi/core/Message"
import { AnyWire, Fault } from "@kintsugi/providers/testing"
import { Effect } from "effect"
import { type Api, apis } from "../../../../test/_support/wireFixtures.ts"
import type { Expected, Mode, Scenario, Serve } from "./scenario.ts"

type Handler = Extract<Serve, { readonly type: "handler" }>["handler"]
export type Answer = Effect.Success<ReturnType<Handler>>

export const both: ReadonlyArray<Mode> = ["whole", "streamed"]

export const text = "grüße 🙂, five words and more"

/** A text and a call. */
export const content: Message.Reply["content"] = [
  Message.text(text),
  { type: "tool-call", id: "call_1", name: "search", arguments: { q: "折り鶴" } }
]

/** The texts of a reply, and the arguments of its calls as JSON. */
export const shapeOf = (reply: Message.Reply): string =>
  JSON.stringify([
    Message.textOf(reply),
    Message.callsOf(reply).map(({ arguments: args, name }) => [
      name,
      typeof args === "string" ? (JSON.parse(args) as unknown) : args
    ])
  ])

const good = shapeOf({ content, finish: "tool-calls", usage: { inputTokens: 0, outputTokens: 0 } as never })

/** The reply is the good one. */
export const isGood: Expected = { reply: (reply) => shapeOf(reply) === good, sends: 1 }

export const brain = (said: Message.Reply["content"] = content): Handler =>
  AnyWire.handler(() => Effect.succeed({ content: said }))

export const isStreamed = (answer: Answer): boolean =>
  /event-stream|ndjson/.test(answer.headers?.["content-type"] ?? "")

export const bytesOf = ({ body }: Answer): Uint8Array =>
  typeof body === "string" ? new TextEncoder().encode(body) : body

export const bodyOf = ({ body }: Answer): string => (typeof body === "string" ? body : new TextDecoder().decode(body))

/** The good answer with changes, for the first requests or for all. */
export const changed = (change: (good: Answer, number: number) => Partial<Answer>, said = content): Serve => {
  const speaker = brain(said)
  return {
    type: "handler",
    handler: (request) => Effect.map(speaker(request), (good) => ({ ...good, ...change(good, request.number) }))
  }
}

/** An answer in the place of the good one. */
export const fixed = (answer: Answer | ((number: number, path: string) => Answer)): Serve => ({
  type: "handler",
  handler: ({ number, path }) => Effect.succeed(typeof answer === "function" ? answer(number, path) : answer)
})

/** An answer to the first requests, and the good one after them. */
export const first = (times: number, fault: Fault.Fault): Serve => ({
  type: "handler",
  handler: Fault.inFront(
    Array.from({ length: times }, () => fault),
    brain()
  )
})

type Rest = Omit<Scenario, "api" | "group" | "name">

/** The same scenario in each format. */
export const each = (
  group: string,
  name: string,
  make: (api: Api) => Rest | undefined,
  on: ReadonlyArray<Api> = apis
): ReadonlyArray<Scenario> =>
  on.flatMap((api) => {
    const rest = make(api)
    return rest === undefined ? [] : [{ group, name, api, ...rest }]
  })

export const sse = (...events: ReadonlyArray<unknown>): string =>
  events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("")

export const eventStream = (body: string | Uint8Array): Answer => ({
  headers: { "content-type": "text/event-stream" },
  body
})

/** The wires that send events; the other sends lines. */
export const eventWires: ReadonlyArray<Api> = apis.filter((api) => api !== "ollama")
