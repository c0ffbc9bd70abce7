/** A provider that makes its replies in the background, and what it is asked. */
import { OpenAi } from "@kintsugi/providers"
import { Layer, Redacted } from "effect"
import { event, fakeNetwork, key, type Reaction, respond } from "../../../_support/network.ts"
import { events, type Item, message, response } from "../../codec/openai-responses/_support/responses.ts"

/** The response when it is there. */
export const whole = response([message("Four.")], { background: true })

/** The response while it is at work, and with another end. */
export const having = (status: string, more: Item = {}): Item => ({
  ...whole,
  status,
  output: [],
  usage: null,
  ...more
})

/** All events of the response, numbered; the first one names it. */
export const numbered = events(whole).map((one, at): Item => ({ ...one, sequence_number: at }))

export const written = (all: ReadonlyArray<Item>) => all.map((one) => event(one)).join("")

/** The answer to the request that begins it. */
export const begins = (isStreamed: boolean, id = "resp_1") =>
  isStreamed
    ? respond(
        200,
        written([{ type: "response.queued", sequence_number: 3, response: having("queued", { id }) }, ...numbered])
      )
    : respond(200, having("queued", { id }))

/** The answers until it is there: polls, or once a poll and then its events. */
export const ends = (isStreamed: boolean): ReadonlyArray<Reaction> =>
  isStreamed
    ? [respond(200, having("in_progress")), respond(200, written(numbered.slice(1)))]
    : [respond(200, having("queued")), respond(200, having("in_progress")), respond(200, whole)]

export const playing = (
  script: Parameters<typeof fakeNetwork>[0],
  more: Partial<Parameters<typeof OpenAi.layerResponses>[0]> = {}
) => {
  const network = fakeNetwork(script)
  const layer = OpenAi.layerResponses({
    model: "m",
    apiKey: Redacted.make(key),
    background: true,
    transport: { retry: false },
    ...more
  })
  const asked = () => network.sent.map(({ method, url }) => `${method} ${url.replace("https://api.openai.com/v1", "")}`)
  return { ...network, asked, model: Layer.provide(layer, network.layer) }
}
