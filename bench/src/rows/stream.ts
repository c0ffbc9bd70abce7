/**
 * What reading a long stream costs: 20,000 text deltas of a chat completion over loopback, beside a bare loop (fetch, split lines,
 * `JSON.parse`) that reads the same bytes, and one of Effect's `Stream`. Memory is what the heap holds in the middle of a stream,
 * more than at its beginning, after a collection.
 */
import { Message, Model } from "@kintsugi/core"
import { OpenAi, Transport } from "@kintsugi/providers"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Sse from "effect/encoding/Sse"
import { type Figure, report, times } from "../figures.ts"
import { assertEqual, interleaved, type Subject, typical } from "../harness.ts"
import { deltas, text, withServer } from "../loopback.ts"

const expected = deltas * text.length
const post = { method: "POST", body: '{"stream":true}' }

const sizeOf = (data: string): number =>
  data === "[DONE]" ? 0 : (JSON.parse(data).choices[0]?.delta.content ?? "").length

const lengthOf = (line: string): number => (line.startsWith("data: ") ? sizeOf(line.slice(6)) : 0)

const bytesOnly = async (url: string): Promise<number> => {
  const response = await fetch(`${url}/chat/completions`, post)
  let size = 0
  if (response.body !== null) for await (const chunk of response.body) size += chunk.length
  return size
}

const bare = async (url: string): Promise<number> => {
  const response = await fetch(`${url}/chat/completions`, post)
  const decoder = new TextDecoder()
  let rest = ""
  let read = 0
  if (response.body === null) throw new Error("no body")
  for await (const chunk of response.body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) read += lengthOf(line)
  }
  return read
}

/** The same with the parser of events that ours has: what is left of the time is not for the format. */
const byParser = async (url: string): Promise<number> => {
  const response = await fetch(`${url}/chat/completions`, post)
  const decoder = new TextDecoder()
  let read = 0
  const parser = Sse.makeParser((event) => {
    if (event._tag === "Event") read += sizeOf(event.data)
  })
  if (response.body === null) throw new Error("no body")
  for await (const chunk of response.body) parser.feed(decoder.decode(chunk, { stream: true }))
  return read
}

/** Lines as a `Stream`, taken in as they come. */
const bareEffect = (url: string): Promise<number> =>
  Effect.gen(function* () {
    const response = yield* Effect.promise(() => fetch(`${url}/chat/completions`, post))
    const { body } = response
    if (body === null) return yield* Effect.die(new Error("no body"))
    const bytes = Stream.fromReadableStream({
      evaluate: () => body,
      onError: (cause) => new Error("broken", { cause })
    })
    return yield* bytes.pipe(
      Stream.decodeText,
      Stream.splitLines,
      Stream.map(lengthOf),
      Stream.runFold(
        () => 0,
        (sum, length) => sum + length
      )
    )
  }).pipe(Effect.runPromise)

const request: Model.Request = { messages: [Message.user("go")], tools: [], toolChoice: "auto" }

const ours = (url: string, onPart: (index: number) => void = () => {}): Promise<number> => {
  const layer = OpenAi.layer({ model: "m", apiKey: Redacted.make("bench-key"), baseUrl: url })
  return Effect.gen(function* () {
    const model = yield* Model.Model
    let read = 0
    let index = 0
    yield* Stream.runForEachArray(model.stream(request), (parts) =>
      Effect.sync(() => {
        for (const part of parts) {
          if (part.type === "text-delta") read += part.text.length
          onPart(index++)
        }
      })
    )
    return read
  }).pipe(Effect.provide(Layer.provide(layer, Transport.layerFetch)), Effect.runPromise)
}

const reading = (name: string, read: () => Promise<number>, size?: number): Subject => ({
  name,
  portion: async () => {
    const length = await read()
    if (size === undefined) return
    assertEqual(`${name}: characters`, length, size)
  }
})

/** What the heap holds after 1,000, half and all but 1,000 deltas, in MiB. */
const heaps = async (url: string): Promise<ReadonlyArray<Figure>> => {
  const at = new Set([1000, deltas / 2, deltas - 1000])
  const figures: Array<Figure> = []
  await ours(url, (index) => {
    if (!at.has(index)) return
    globalThis.gc?.()
    figures.push({
      name: `heap after ${index} deltas`,
      value: process.memoryUsage().heapUsed / 2 ** 20,
      unit: "MiB"
    })
  })
  const [first, , last] = figures
  const growth = (last?.value ?? Number.NaN) / (first?.value ?? Number.NaN)
  return [...figures, { name: "heap at the end to that at the beginning", value: growth, unit: "×", most: 1.05 }]
}

await withServer(async (url) => {
  const samples = await interleaved(
    [
      reading("the bytes alone", () => bytesOnly(url)),
      reading("a bare loop", () => bare(url), expected),
      reading("a bare loop with Effect's SSE parser", () => byParser(url), expected),
      reading("bare Effect with Stream", () => bareEffect(url), expected),
      reading("ours", () => ours(url), expected)
    ],
    { laps: 15, warmups: 5 }
  )
  const inAll = (name: string): Figure => ({ name, value: typical(samples, name), unit: "ms" })
  report(`a stream of ${deltas} deltas`, [
    inAll("the bytes alone"),
    inAll("a bare loop"),
    inAll("a bare loop with Effect's SSE parser"),
    inAll("bare Effect with Stream"),
    inAll("ours"),
    times("Effect's SSE parser to a bare loop", samples, ["a bare loop with Effect's SSE parser", "a bare loop"]),
    times("bare Effect to a bare loop", samples, ["bare Effect with Stream", "a bare loop"]),
    times("ours to a bare loop", samples, ["ours", "a bare loop"], { most: 1.5, margin: 0.2 }),
    times("ours to a bare loop, processor", samples, ["ours", "a bare loop"], { measure: "cpu" }),
    ...(await heaps(url))
  ])
})
