/** One server for both programs of a page: what they ask it, what it answers, and the variables that lead them there. */
import * as Message from "@kintsugi/core/Message"
import { AnyWire, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, type Scope } from "effect"
import { vi } from "vitest"

/** A request in this library's terms, whichever program has sent it. */
export interface Asked {
  readonly path: string
  readonly model: string
  readonly messages: ReadonlyArray<Message.Foreign>
  readonly tools: ReadonlyArray<unknown>
  readonly toolChoice: unknown
  /** The schema of a typed output. */
  readonly output: unknown
}

/** What the model calls each tool with. */
const args = new Map<string, Readonly<Record<string, string | number>>>([
  ["track", { parcel: 7 }],
  ["pay", { invoice: "A-1", cents: 80_000 }]
])

/** A server, and every request that it has had. Variables of the environment name it until the scope closes. */
export const serving: Effect.Effect<Array<Asked>, never, Scope.Scope> = Effect.gen(function* () {
  const all: Array<Asked> = []
  const brain: AnyWire.Brain = ({ messages, model, received, toolChoice, tools }) =>
    Effect.sync(() => {
      const { path } = received
      const output = outputOf(received.body)
      all.push({ path, model, messages, tools: tools.map(essential), toolChoice, output })
      const [tool] = tools
      if (tool !== undefined && messages.every(({ role }) => role !== "tool")) {
        const call = { type: "tool-call" as const, id: "call_1", name: tool.name, arguments: args.get(tool.name) ?? {} }
        return { content: [call] }
      }
      return { content: [Message.text(output === undefined ? "Done." : '{"parcel":7,"town":"Graz"}')] }
    })
  const handler = AnyWire.handler(brain)
  const exhausted = AnyWire.failing({ type: "quota-exhausted" })
  const server = yield* LoopbackServer.make((received) => {
    const good = handler(received)
    // the brain sees the request all the same
    return isRefused(received.text) ? Effect.andThen(good, exhausted(good, received)) : good
  })
  const variables = {
    OPENAI_API_KEY: "sk-test",
    OPENAI_BASE_URL: `${server.url}/v1`,
    OPENAI_AGENTS_DISABLE_TRACING: "1",
    LANGSMITH_TRACING: "false"
  }
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  yield* Effect.addFinalizer(() => Effect.sync(() => vi.unstubAllEnvs()))
  return all
})

/** The quota of the first model is exhausted, in the programs that have a second one. */
const isRefused = (body: string): boolean => body.includes('"gpt-5.6-sol"') && body.includes("What is kintsugi?")

/** Without what only tells that a schema is one, and without the bounds of safe integers, which Mastra leaves out. */
const essential = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, each: unknown) =>
      key === "$schema" || Math.abs(Number(each)) === Number.MAX_SAFE_INTEGER ? undefined : each
    )
  )

/** Of a request in the format of Responses. */
const outputOf = (body: unknown): unknown => {
  const { text } = body as { readonly text?: { readonly format?: { readonly schema?: unknown } } }
  return text?.format?.schema === undefined ? undefined : essential(text.format.schema)
}
