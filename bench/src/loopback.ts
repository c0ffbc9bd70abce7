/** A server of chat completions on loopback, in a process of its own, so that only the asking is timed. */
import { fork } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import { brotliCompressSync, gzipSync } from "node:zlib"

export const deltas = 20_000
export const text = " word"
export const answer = "fine"

const chunk = (fields: object) =>
  `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 0, model: "m", ...fields })}\n\n`

const streamed = (): Buffer => {
  const delta = chunk({ choices: [{ index: 0, delta: { content: text }, finish_reason: null }] })
  const end = chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })
  return Buffer.from(`${delta.repeat(deltas)}${end}data: [DONE]\n\n`)
}

const whole = Buffer.from(
  JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 0,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: answer }, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  })
)

/** The headers of a real reply, besides those that Node writes. */
const headers = {
  "access-control-expose-headers": "X-Request-ID",
  "alt-svc": 'h3=":443"; ma=86400',
  "cf-cache-status": "DYNAMIC",
  "cf-ray": "8f1d2c3b4a5e6f70-FRA",
  "openai-organization": "bench",
  "openai-processing-ms": "412",
  "openai-version": "2020-10-01",
  server: "cloudflare",
  "strict-transport-security": "max-age=31536000; includeSubDomains; preload",
  "x-content-type-options": "nosniff",
  "x-ratelimit-limit-requests": "10000",
  "x-ratelimit-limit-tokens": "2000000",
  "x-ratelimit-remaining-requests": "9999",
  "x-ratelimit-remaining-tokens": "1999980",
  "x-ratelimit-reset-requests": "6ms",
  "x-ratelimit-reset-tokens": "0s",
  "x-request-id": "req_0123456789abcdef0123456789abcdef"
}

/** How a whole reply is sent. The first segment of a request's path chooses it; the base URL `url/gzip` has gzip. */
const replies = {
  length: { body: whole, headers: { "content-length": whole.length } },
  chunked: { body: whole, headers: {} },
  gzip: { body: gzipSync(whole), headers: { "content-encoding": "gzip" } },
  brotli: { body: brotliCompressSync(whole), headers: { "content-encoding": "br" } }
}

export type Encoding = keyof typeof replies
// the keys of a constant
export const encodings = Object.keys(replies) as ReadonlyArray<Encoding>

const serve = () => {
  const stream = streamed()
  const server = createServer((request, response) => {
    let asked = ""
    request.setEncoding("utf8")
    request.on("data", (part: string) => {
      asked += part
    })
    request.on("end", () => {
      if (/"stream":\s*true/.test(asked)) {
        response.writeHead(200, { "content-type": "text/event-stream", "content-length": stream.length })
        response.end(stream)
        return
      }
      const encoding = encodings.find((one) => request.url?.startsWith(`/${one}/`) === true) ?? "length"
      const { body, headers: own } = replies[encoding]
      response.writeHead(200, { "content-type": "application/json", ...headers, ...own })
      response.end(body)
    })
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    process.send?.(typeof address === "object" && address !== null ? address.port : 0)
  })
  // the process that asks has ended
  process.on("disconnect", () => process.exit())
}

/** Gives the address of a server for as long as `use` lasts. */
export const withServer = async (use: (url: string) => Promise<void>): Promise<void> => {
  const server = fork(fileURLToPath(import.meta.url), { env: { ...process.env, [serving]: "1" } })
  const [port] = await once(server, "message")
  try {
    await use(`http://127.0.0.1:${port}`)
  } finally {
    server.kill()
    await once(server, "exit")
  }
}

/** The variable that is set in the process of the server. */
const serving = "KINTSUGI_BENCH_SERVING"

if (process.env[serving] !== undefined) serve()
