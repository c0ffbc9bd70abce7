/** Bedrock for tests: frames of its event stream, recorded answers, and a layer with a key of AWS's published vectors. */
import { EventStreamCodec } from "@smithy/eventstream-codec"
import * as Bedrock from "@kintsugi/providers/Bedrock"
import { Redacted } from "effect"
import { readFileSync } from "node:fs"

const codec = new EventStreamCodec(
  (input) => (typeof input === "string" ? input : new TextDecoder().decode(input)),
  (input) => new TextEncoder().encode(input)
)

/** One message with these headers. */
export const message = (headers: Readonly<Record<string, string>>, body: string): Uint8Array => {
  const entries = Object.entries(headers).map(([name, value]) => [name, { type: "string" as const, value }] as const)
  return codec.encode({ headers: Object.fromEntries(entries), body: new TextEncoder().encode(body) })
}

/** One event, `{ messageStop: { … } }` for example, as a message. */
export const frame = (event: object): Uint8Array => {
  const [type = "", body = {}] = Object.entries(event)[0] ?? []
  const kind = type.endsWith("Exception") ? "exception" : "event"
  return message({ ":message-type": kind, [`:${kind}-type`]: type }, JSON.stringify(body))
}

export const frames = (events: ReadonlyArray<object>): Uint8Array => Buffer.concat(events.map(frame))

export const eventStream = { "content-type": "application/vnd.amazon.eventstream" }

const read = (name: string): string => readFileSync(new URL(`../../fixtures/bedrock/${name}`, import.meta.url), "utf8")

/** A recorded answer: the text of a body, the bytes of one, or the events of a stream. */
export const recorded = {
  text: read,
  bytes: (name: string): Uint8Array => Buffer.from(read(name), "base64"),
  events: (name: string): ReadonlyArray<object> =>
    read(name)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
}

/** The key of AWS's published test suite. */
export const credentials: Bedrock.Credentials = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: Redacted.make("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
}

/** The options, with credentials. */
type LayerOptions = Exclude<Parameters<typeof Bedrock.layer>[0], { readonly credentials?: never }>

export const layer = (options: Partial<Omit<LayerOptions, "apiKey">> = {}) =>
  Bedrock.layer({ model: "anthropic.claude-sonnet-4-6-v1:0", region: "us-east-1", credentials, ...options })
