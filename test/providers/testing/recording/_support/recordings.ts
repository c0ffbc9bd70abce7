/** What the tests of recordings share: a folder, models of each format on one server, and both ways to run an agent. */
import { Agent, Message, type Model, Recovery, Skill, Tool } from "@kintsugi/core"
import { Anthropic, Gemini, Ollama, OpenAi, Transport } from "@kintsugi/providers"
import { AnyWire, Recording } from "@kintsugi/providers/testing"
import { Effect, Layer, Redacted, Schema } from "effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A folder that is gone when the scope closes. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "kintsugi-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** A key that no rule of redaction knows by its form. */
export const key = "c0rrect-H0rse-b4ttery-5taple"

type ModelAt = (
  url: string,
  apiKey?: string,
  headers?: Readonly<Record<string, string | Redacted.Redacted>>
) => Layer.Layer<Model.Model, never, Transport.HttpClient>

const transport: Transport.Options = { retry: false }

/** A model of each format that the loopback server speaks. */
export const models: Readonly<Record<(typeof AnyWire.wires)[number]["format"], ModelAt>> = {
  "anthropic-messages": (url, apiKey = key, headers = {}) =>
    Anthropic.layer({ model: "m", apiKey: Redacted.make(apiKey), baseUrl: url, transport, headers }),
  "openai-chat": (url, apiKey = key, headers = {}) =>
    OpenAi.layer({ model: "m", apiKey: Redacted.make(apiKey), baseUrl: `${url}/v1`, transport, headers }),
  "openai-responses": (url, apiKey = key, headers = {}) =>
    OpenAi.layerResponses({ model: "m", apiKey: Redacted.make(apiKey), baseUrl: `${url}/v1`, transport, headers }),
  "gemini-content": (url, apiKey = key, headers = {}) =>
    Gemini.layer({ model: "gemini-2.5-pro", apiKey: Redacted.make(apiKey), baseUrl: url, transport, headers }),
  "ollama-chat": (url, _apiKey, headers = {}) => Ollama.layer({ model: "m", baseUrl: url, transport, headers })
}

/** Calls a tool once, and answers with what it gave, in letters of several bytes. */
export const brain: AnyWire.Brain = ({ messages }) => {
  const last = messages.at(-1)
  return Effect.succeed({
    content:
      last?.role === "tool"
        ? [Message.text(`It is ${last.text}, 折り鶴, and some more words.`)]
        : [
            Message.text("Let me look, grüße 🙂."),
            { type: "tool-call", id: "call_1", name: "look", arguments: '{"n":1}' }
          ]
  })
}

export const server = AnyWire.handler(brain)

const look = Tool.make("look", {
  description: "Looks.",
  parameters: Schema.Struct({ n: Schema.Finite }),
  success: Schema.String,
  run: ({ n }) => Effect.succeed(`number ${n}`)
})

export const agent = Agent.make("worker", {
  prompt: "Look.",
  skills: [Skill.make("work", { description: "d", tools: [look] })]
}).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))

/** Records real requests. What is wrong with the file is a defect. */
export const recorded = (file: string) => Layer.orDie(Layer.provide(Recording.record(file), Transport.layerFetch))

export const replayed = (file: string, options?: Parameters<typeof Recording.replay>[1]) =>
  Layer.orDie(Recording.replay(file, options))

/** The words of the file, and its exchanges. */
export const read = (file: string) => {
  const text = readFileSync(file, "utf8")
  const { exchanges }: { readonly exchanges: ReadonlyArray<Recorded> } = JSON.parse(text)
  return { text, exchanges }
}

export interface Recorded {
  readonly request: { readonly method: string; readonly path: string; readonly json?: unknown }
  readonly response?: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly json?: unknown
    readonly chunks?: ReadonlyArray<unknown>
  }
  readonly end: string
  readonly failure?: ReadonlyArray<{ readonly name: string; readonly message: string; readonly code?: string }>
}
