/**
 * What reading a long stream costs: 20,000 text deltas of a chat completion over loopback, beside a bare loop (fetch, split
 * lines, `JSON.parse`) that reads the same bytes. Both are timed in turns, and so is the wait for the bytes alone. Memory is
 * what the heap holds in the middle of a stream, more than at its beginning, after a collection.
 *
 *   node --expose-gc bench/stream.ts
 */
import { createServer } from "node:http"
import { isMainThread, parentPort, Worker } from "node:worker_threads"
import { Message, Model } from "@kintsugi/core"
import { OpenAi, Transport } from "@kintsugi/providers"
import { Effect, Layer, Redacted, Stream } from "effect"

const deltas = 20_000
const text = " word"

const event = (fields: object) =>
  `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 0, model: "m", ...fields })}\n\n`

/** The server has a thread of its own, so that only the reading is timed. */
const serve = () => {
  const delta = event({ choices: [{ index: 0, delta: { content: text }, finish_reason: null }] })
  const end = event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })
  const body = Buffer.from(`${delta.repeat(deltas)}${end}data: [DONE]\n\n`)
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.end(body)
  })
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    // a port of a thread knows no origins
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    parentPort?.postMessage(typeof address === "object" && address !== null ? address.port : 0)
  })
}

const bytesOnly = async (url: string): Promise<number> => {
  const response = await fetch(`${url}/chat/completions`, { method: "POST", body: "{}" })
  let size = 0
  if (response.body !== null) for await (const chunk of response.body) size += chunk.length
  return size
}

const bare = async (url: string): Promise<number> => {
  const response = await fetch(`${url}/chat/completions`, { method: "POST", body: "{}" })
  const decoder = new TextDecoder()
  let rest = ""
  let read = 0
  if (response.body === null) throw new Error("no body")
  for await (const chunk of response.body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) {
      if (!line.startsWith("data: ") || line === "data: [DONE]") continue
      read += (JSON.parse(line.slice(6)).choices[0]?.delta.content ?? "").length
    }
  }
  return read
}

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

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((x, y) => x - y)[Math.floor(values.length / 2)] ?? Number.NaN

const timed = async (read: () => Promise<number>, expected?: number): Promise<number> => {
  const start = performance.now()
  const size = await read()
  const elapsed = performance.now() - start
  if (expected !== undefined && size !== expected) throw new Error(`read ${size} of ${expected} characters`)
  return elapsed
}

const measure = async (url: string) => {
  const expected = deltas * text.length
  const times: Record<"bytes" | "bare" | "ours", Array<number>> = { bytes: [], bare: [], ours: [] }
  for (let round = 0; round < 16; round++) {
    const bytes = await timed(() => bytesOnly(url))
    const floor = await timed(() => bare(url), expected)
    const own = await timed(() => ours(url), expected)
    if (round < 5) continue
    times.bytes.push(bytes)
    times.bare.push(floor)
    times.ours.push(own)
  }
  const [bytes, floor, own] = [median(times.bytes), median(times.bare), median(times.ours)]
  console.log(
    `bytes alone ${bytes.toFixed(1)} ms, bare loop ${floor.toFixed(1)} ms, stream of a model ${own.toFixed(1)} ms`
  )
  console.log(`ratio to the bare loop: ${(own / floor).toFixed(2)}`)
  if (globalThis.gc === undefined) return console.log("run with --expose-gc to see the memory")
  const heap: Array<number> = []
  const at = new Set([1000, deltas / 2, deltas - 1000])
  await ours(url, (index) => {
    if (!at.has(index)) return
    globalThis.gc?.()
    heap.push(process.memoryUsage().heapUsed / 1024)
  })
  console.log(`heap after 1,000, 10,000 and 19,000 deltas: ${heap.map((kib) => `${kib.toFixed(0)} KiB`).join(", ")}`)
}

if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url))
  const port = await new Promise<number>((resolve) => worker.once("message", resolve))
  await measure(`http://127.0.0.1:${port}`)
  await worker.terminate()
} else serve()
