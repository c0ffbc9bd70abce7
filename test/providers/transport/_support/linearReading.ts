/**
 * A program: reads answers that are sixteen times as large as others, and prints the CPU time of both in milliseconds; with `large` those of
 * 8 MiB and of 1 MiB; or, with the name of an answer, reads 15 MiB of that, or as many as the next argument says, and prints the memory in MiB
 * that it has taken at most. A third argument says how many MiB the process has read before.
 */
import { Readable } from "node:stream"
import { createGunzip, createGzip } from "node:zlib"
import { Agent, Message, Model } from "@kintsugi/core"
import { Anthropic, Ollama, OpenAi } from "@kintsugi/providers"
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

const keyed = { model: "m", apiKey: Redacted.make("k"), transport: { retry: false } } as const
const openAi = OpenAi.layer(keyed)
const anthropic = Anthropic.layer(keyed)
const ollama = Ollama.layer({ model: "m", transport: { retry: false } })
const request: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }
const streamed = Effect.flatMap(Model.Model, (model) => Effect.exit(Stream.runDrain(model.stream(request))))
const whole = Effect.flatMap(Model.Model, (model) => Effect.exit(model.generate(request)))

const readers: Record<
  "chat" | "whole" | "responses" | "anthropic" | "a run",
  Effect.Effect<unknown, never, HttpClient.HttpClient>
> = {
  chat: Effect.provide(streamed, openAi),
  whole: Effect.provide(whole, openAi),
  responses: Effect.provide(streamed, OpenAi.layerResponses(keyed)),
  anthropic: Effect.provide(streamed, anthropic),
  "a run": Effect.provide(Effect.exit(Stream.runDrain(Agent.make("writer", {}).stream("go"))), anthropic)
}

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
  /** What is repeated, or the piece of an index. */
  readonly unit: string | ((index: number) => string)
  readonly size: number
  readonly begin?: string
  readonly end?: string
  readonly isPacked?: true
  /** How it is read; as a stream of chat completions by default. */
  readonly by?: keyof typeof readers
}

/** An answer of many items, sixteen in a piece. */
const items = (
  by: keyof typeof readers,
  each: (index: number) => ReadonlyArray<object>,
  [begin, end]: readonly [ReadonlyArray<object>, ReadonlyArray<object>]
): Large => ({
  by,
  unit: (at) =>
    Array.from({ length: 16 }, (_, next) =>
      each(16 * at + next)
        .map(event)
        .join("")
    ).join(""),
  size: 16,
  begin: begin.map(event).join(""),
  end: end.map(event).join("")
})

const added = (output_index: number) => {
  const item = { type: "function_call", id: `i${output_index}`, call_id: `c${output_index}`, name: "f", arguments: "" }
  return { type: "response.output_item.added", output_index, item }
}
const ended = (output_index: number) => ({ ...added(output_index), type: "response.output_item.done" })
const completed = { type: "response.completed", response: { status: "completed", output: [] } }

const start = { type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } }
const stop = [{ type: "message_delta", delta: { stop_reason: "end_turn" } }, { type: "message_stop" }]
const block = (index: number, content_block: object) => [
  { type: "content_block_start", index, content_block },
  { type: "content_block_stop", index }
]
const opened = { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }
const small = (text: string) => [{ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }]
const thought = (index: number) => block(index, { type: "redacted_thinking", data: "x" })

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
    by: "whole"
  },
  "items that all begin before one ends": items("responses", (index) => [added(index)], [[], [completed]]),
  "items behind one without an end": items("responses", (index) => [ended(index + 1)], [
    [added(0)],
    [ended(0), completed]
  ]),
  "thoughts before any text": items("anthropic", thought, [[start], stop]),
  "texts and thoughts in turn": items(
    "a run",
    (index) => [...block(2 * index, { type: "text", text: "a" }), ...thought(2 * index + 1)],
    [[start], stop]
  ),
  "small parts, by a run": items("a run", (index) => small(String(index % 1e4).padStart(4, "0")), [
    [start, opened],
    [{ type: "content_block_stop", index: 0 }, ...stop]
  ])
}

/** The answer with so many MiB. A packed one is packed before, and unpacked as fetch does it. */
const sending = async ({ begin = "", end = "", isPacked, size, unit }: Large, mebibytes: number) => {
  const encoder = new TextEncoder()
  const bytes = typeof unit === "string" ? encoder.encode(repeated(unit, size)) : undefined
  function* pieces() {
    if (begin !== "") yield encoder.encode(begin)
    for (let at = 0, left = mebibytes * kibi * kibi; left > 0; at++) {
      const piece = bytes?.slice() ?? encoder.encode(typeof unit === "string" ? unit : unit(at))
      yield piece
      left -= piece.length
    }
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

const read = ({ by = "chat" }: Large, network: Layer.Layer<HttpClient.HttpClient>) =>
  Effect.runPromise(Effect.asVoid(readers[by]).pipe(Effect.provide(network)))

const [name = "", mebibytes = "15", before = "0"] = process.argv.slice(2)
const one = large[name]
if (one !== undefined) {
  if (before !== "0") await read(one, await sending(one, Number(before)))
  const network = await sending(one, Number(mebibytes))
  const idle = process.memoryUsage.rss() / kibi / kibi
  await read(one, network)
  console.log(JSON.stringify(process.resourceUsage().maxRSS / kibi - idle))
} else if (name === "small parts") {
  const collector = new Model.Collector()
  const idle = process.memoryUsage.rss() / kibi / kibi
  for (let at = 0; at < 15 * kibi * kibi; at += 4) {
    const text = at.toString(36).padStart(4, "x").slice(-4)
    collector.push({ type: at < 7 * kibi * kibi ? "reasoning-delta" : "text-delta", text })
  }
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
