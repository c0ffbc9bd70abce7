/**
 * A program: reads answers that are sixteen times as large as others, and prints the CPU time of both in milliseconds; with `large` those of
 * 8 MiB and of 1 MiB; or, with the name of an answer, reads 15 MiB of that, and prints the memory in MiB that it has taken at most.
 */
import { Readable } from "node:stream"
import { createGunzip, createGzip } from "node:zlib"
import { Message, Model } from "@kintsugi/core"
import { Ollama, OpenAi } from "@kintsugi/providers"
import { Effect, Layer, Redacted, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"

export interface Measured {
  readonly what: string
  readonly small: number
  readonly large: number
}

const kibi = 1024

/** Answers with these bytes, in pieces of this size. */
const answering = (size: number, total: number, pieceAt: (from: number) => Uint8Array) => {
  const client = HttpClient.make((request) =>
    Effect.sync(() => {
      let at = 0
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (at >= total) return controller.close()
          controller.enqueue(pieceAt(at))
          at += size
        }
      })
      return HttpClientResponse.fromWeb(request, new Response(body))
    })
  )
  return Layer.succeed(HttpClient.HttpClient, client)
}

const inPieces = (text: string, size: number) => {
  const bytes = new TextEncoder().encode(text)
  return answering(size, bytes.length, (from) => bytes.subarray(from, from + size))
}

const openAi = OpenAi.layer({ model: "m", apiKey: Redacted.make("k"), transport: { retry: false } })
const ollama = Ollama.layer({ model: "m", transport: { retry: false } })
const request: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }
const streamed = Effect.flatMap(Model.Model, (model) => Effect.exit(Stream.runDrain(model.stream(request))))
const whole = Effect.flatMap(Model.Model, (model) => Effect.exit(model.generate(request)))

const repeated = (unit: string, bytes: number) => unit.repeat(Math.ceil(bytes / unit.length))
const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`
const says = (content: string) => event({ choices: [{ index: 0, delta: { content } }] })
const line = (content: string) => `${JSON.stringify({ model: "m", message: { content }, done: false })}\n`

type Texts = Record<string, (bytes: number) => string>

const events: Texts = {
  blanks: (bytes) => repeated(" ", bytes),
  "blanks of many lines": (bytes) => repeated(" \t\n", bytes),
  "one event that is long": (bytes) => says(repeated("x", bytes)),
  "one line that never ends": (bytes) => `data: ${repeated("x", bytes)}`,
  "one event of many lines": (bytes) => `data: {\n${repeated("data: \n", bytes)}data: }\n\n`,
  comments: (bytes) => repeated(": \n", bytes),
  "line ends alone": (bytes) => repeated("\r", bytes),
  "many events": (bytes) => repeated(says("x"), bytes),
  "JSON by itself": (bytes) => `{"a":"${repeated("x", bytes)}"`,
  "JSON by itself, many times": (bytes) => repeated("{\n:\n", bytes),
  "JSON before an event": (bytes) => `[${repeated("1,", bytes)}1]\n${says("x")}`
}

const lines: Texts = {
  blanks: (bytes) => repeated(" ", bytes),
  "empty lines": (bytes) => repeated("\n", bytes),
  "one line that is long": (bytes) => line(repeated("x", bytes)),
  "one line that never ends": (bytes) => `{"a":"${repeated("x", bytes)}`,
  "an answer that is laid out": (bytes) => `{\n"a":[${repeated("1,\n", bytes)}1]}`,
  "many lines": (bytes) => repeated(line("x"), bytes)
}

const bodies: Texts = {
  "a long text": (bytes) => JSON.stringify({ choices: [{ message: { content: repeated("x", bytes) } }] }),
  blanks: (bytes) => repeated(" ", bytes),
  "many items": (bytes) => `[${repeated("{},", bytes)}{}]`
}

/** The CPU time of one of so many rounds; the least of three tries. */
const costOf = async (repeats: number, task: () => Promise<unknown>) => {
  const times: Array<number> = []
  for (let tries = 3; tries > 0; tries--) {
    const before = process.threadCpuUsage()
    for (let left = repeats; left > 0; left--) await task()
    const { system, user } = process.threadCpuUsage(before)
    times.push((system + user) / 1000 / repeats)
  }
  return Math.min(...times)
}

const measure = async (kind: string, texts: Texts, read: (text: string, size: number) => Effect.Effect<unknown>) => {
  for (const [name, make] of Object.entries(texts)) {
    for (const size of [16, 64 * kibi]) {
      const task = (bytes: number) => () => Effect.runPromise(read(make(bytes), size))
      const small = await costOf(16, task(16 * kibi))
      const large = await costOf(1, task(256 * kibi))
      const measured: Measured = { what: `${kind}: ${name}, in pieces of ${size} bytes`, small, large }
      console.log(JSON.stringify(measured))
    }
  }
}

/** A large answer, in pieces: what it begins and ends with, and what stands between. */
interface Large {
  readonly unit: string
  readonly size: number
  readonly begin?: string
  readonly end?: string
  readonly isPacked?: true
  readonly isWhole?: true
}

const begin = 'data: {"choices":[{"index":0,"delta":{"content":"'
const end = `"}}]}\n\n${says("b")}data: [DONE]\n\n`

const large: Record<string, Large> = {
  blanks: { unit: " ", size: kibi },
  "one line": { unit: "x", size: 64 },
  "lines of one event": { unit: "data:a\n", size: 7 * 16 },
  "blanks in pieces of 16 KiB": { unit: " ", size: 16 * kibi },
  "one event in pieces of 16 KiB": { unit: "x", size: 16 * kibi, begin, end },
  "an event without an end in pieces of 16 KiB": { unit: "x", size: 16 * kibi, begin },
  "blanks in gzip": { unit: " ", size: 16 * kibi, isPacked: true },
  "one event in gzip": { unit: "x", size: 16 * kibi, begin, end, isPacked: true },
  "a whole body": {
    unit: "x",
    size: 16 * kibi,
    begin: '{"choices":[{"finish_reason":"stop","message":{"content":"',
    end: '"}}]}',
    isWhole: true
  }
}

/** The answer with so many MiB. A packed one is packed before, and unpacked as fetch does it. */
const sending = async ({ begin = "", end = "", isPacked, size, unit }: Large, mebibytes: number) => {
  const encoder = new TextEncoder()
  const bytes = encoder.encode(repeated(unit, size))
  const count = (mebibytes * kibi * kibi) / bytes.length
  function* pieces() {
    if (begin !== "") yield encoder.encode(begin)
    for (let sent = 0; sent < count; sent++) yield bytes.slice()
    if (end !== "") yield encoder.encode(end)
  }
  const packed = isPacked === true ? await packedOf(pieces()) : undefined
  const client = HttpClient.make((request) =>
    Effect.sync(() => {
      const body = packed === undefined ? streamOf(pieces()) : unpacked(packed)
      return HttpClientResponse.fromWeb(request, new Response(body))
    })
  )
  return Layer.succeed(HttpClient.HttpClient, client)
}

const streamOf = (pieces: Iterator<Uint8Array>) =>
  new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const { done, value } = pieces.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      }
    },
    { highWaterMark: 0 }
  )

const packedOf = async (pieces: Iterable<Uint8Array>): Promise<Uint8Array> => {
  const gzip = createGzip()
  const packed: Array<Uint8Array> = []
  for await (const chunk of Readable.from(pieces).pipe(gzip)) packed.push(chunk)
  return Buffer.concat(packed)
}

const unpacked = (packed: Uint8Array): ReadableStream<Uint8Array> =>
  // the web's stream
  Readable.toWeb(Readable.from([packed]).pipe(createGunzip())) as ReadableStream<Uint8Array>

const read = ({ isWhole }: Large, network: Layer.Layer<HttpClient.HttpClient>) =>
  Effect.runPromise(
    (isWhole === true ? Effect.asVoid(whole) : Effect.asVoid(streamed)).pipe(
      Effect.provide(openAi),
      Effect.provide(network)
    )
  )

const [name = ""] = process.argv.slice(2)
const one = large[name]
if (one !== undefined) {
  const network = await sending(one, 15)
  const idle = process.memoryUsage.rss() / kibi / kibi
  await read(one, network)
  console.log(JSON.stringify(process.resourceUsage().maxRSS / kibi - idle))
} else if (name === "large") {
  for (const [what, each] of Object.entries(large)) {
    const cost = async (mebibytes: number) => {
      const network = await sending(each, mebibytes)
      return costOf(1, () => read(each, network))
    }
    const measured: Measured = { what, small: await cost(1), large: await cost(8) }
    console.log(JSON.stringify(measured))
  }
} else {
  await measure("events", events, (text, size) =>
    streamed.pipe(Effect.provide(openAi), Effect.provide(inPieces(says("a") + text, size)))
  )
  await measure("lines", lines, (text, size) =>
    streamed.pipe(Effect.provide(ollama), Effect.provide(inPieces(text, size)))
  )
  await measure("whole", bodies, (text, size) =>
    whole.pipe(Effect.provide(openAi), Effect.provide(inPieces(text, size)))
  )
}
