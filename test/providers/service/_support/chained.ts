/** Requests of OpenAI's Responses that name the stored reply before them: scripted replies, and a model that is played by them. */
import { OpenAi } from "@kintsugi/providers"
import { Effect, Layer, Redacted } from "effect"
import { scripted } from "../../../_support/dialogue.ts"
import { event, fakeNetwork, key, type Reaction, respond } from "../../../_support/network.ts"
import { call, events, type Item, response } from "../../codec/openai-responses/_support/responses.ts"

export type Options = Partial<Parameters<typeof OpenAi.layerResponses>[0]>

export const common = {
  model: "gpt-x",
  apiKey: Redacted.make(key),
  store: true,
  chained: true,
  transport: { retry: false }
} as const

export const said = (isStreamed: boolean, id: string, output: ReadonlyArray<Item>, more: Item = {}): Reaction => {
  const whole = response(output, { id, ...more })
  return respond(200, isStreamed ? events(whole).map(event).join("") : whole)
}

export const playing = (script: ReadonlyArray<Reaction>, options: Options = {}) => {
  const network = fakeNetwork(script)
  const bodies = () => network.sent.map(({ body }) => JSON.parse(body))
  const layer = OpenAi.layerResponses({ ...common, ...options } as Parameters<typeof OpenAi.layerResponses>[0])
  return { ...network, bodies, model: Layer.provide(layer, network.layer) }
}

export const look = (times: number) =>
  scripted("look", ...Array.from({ length: times }, () => Effect.succeed("seen"))).tool

export const asks = (id: string) => call(id, '{"n":1}', { name: "look" })
