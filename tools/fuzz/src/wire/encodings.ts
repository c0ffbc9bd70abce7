/** Bodies that are compressed, rightly and wrongly, and heads that HTTP admits, or does not. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { type Answer, bodyOf, both, brain, bytesOf, changed, each, eventWires, fixed, isGood } from "./answers.ts"
import type { Scenario, Serve } from "./scenario.ts"

const codings: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  gzip: gzipSync,
  "x-gzip": gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync
}

const headed = (good: Answer, headers: Readonly<Record<string, string>>) => ({
  headers: { ...good.headers, ...headers }
})

export const encodings: ReadonlyArray<Scenario> = [
  ...Object.entries(codings).flatMap(([coding, packed]) =>
    each("encodings", coding, () => ({
      modes: both,
      serve: changed((good) => ({ ...headed(good, { "content-encoding": coding }), body: packed(bytesOf(good)) })),
      expected: isGood
    }))
  ),
  ...each("encodings", "raw deflate", () => ({
    modes: both,
    serve: changed((good) => ({
      ...headed(good, { "content-encoding": "deflate" }),
      body: deflateRawSync(bytesOf(good))
    })),
    expected: isGood
  })),
  ...each("encodings", "an unknown coding of plain text", () => ({
    modes: both,
    serve: changed((good) => headed(good, { "content-encoding": "x-own" })),
    expected: isGood
  })),
  ...each("encodings", "plain text that is called gzip", () => ({
    modes: both,
    serve: changed((good) => headed(good, { "content-encoding": "gzip" })),
    expected: { tags: ["NetworkError"], sends: 3 }
  })),
  ...each("encodings", "gzip that is cut off", () => ({
    modes: ["whole"],
    serve: changed((good) => {
      const packed = gzipSync(bytesOf(good))
      return { ...headed(good, { "content-encoding": "gzip" }), body: packed.subarray(0, packed.length / 2) }
    }),
    // undici passes on what it could unpack
    expected: { tags: ["NetworkError", "UnknownLlmError"] }
  }))
]

const types = ["application/json", "text/event-stream", "text/plain", "text/html", "application/octet-stream", "x", ""]

const redirects = [301, 302, 303, 307, 308].map((status) => ({ status, headers: { location: "/elsewhere" }, body: "" }))

/** A head and a body on the socket; then the connection ends. */
const raw = (bytes: (body: string) => string): Serve => ({
  type: "raw",
  answer: (socket) => {
    const body = JSON.stringify({ error: { message: "no" } })
    socket.end(bytes(body), "latin1")
  }
})

const once = ["openai-chat"] as const

/** A whole reply in OpenAI's format. */
const completion = JSON.stringify({
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }]
})

const hello = { reply: (reply: { readonly content: ReadonlyArray<unknown> }) => reply.content.length === 1, sends: 1 }

export const heads: ReadonlyArray<Scenario> = [
  ...types.flatMap((type) =>
    each("heads", `the content type '${type}'`, () => ({
      modes: both,
      serve: changed((good) => headed(good, { "content-type": type })),
      expected: isGood
    }))
  ),
  ...redirects.flatMap((answer) =>
    each("heads", `a redirect, ${answer.status}`, () => ({
      modes: both,
      serve: fixed(answer),
      expected: { tags: ["InvalidRequestError"], sends: 1 }
    }))
  ),
  ...each("heads", "a head of 20 KiB", () => ({
    modes: both,
    serve: changed((good) => headed(good, { "x-long": "a".repeat(20_000) })),
    expected: { tags: ["ReplyTooLargeError"], error: ({ message }) => message.includes("maxHeaderSize"), sends: 1 }
  })),
  ...each("heads", "no body", () => ({
    modes: both,
    serve: fixed({ status: 204, body: "" }),
    expected: { tags: ["UnknownLlmError", "NetworkError"] }
  })),
  ...each(
    "heads",
    "HTTP/1.0 without a length",
    () => ({
      modes: ["whole"],
      serve: raw(() => `HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n${completion}`),
      expected: hello
    }),
    once
  ),
  ...each(
    "heads",
    "chunks with extensions and trailers",
    () => ({
      modes: ["whole"],
      serve: raw(
        () =>
          `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-a\r\n\r\n${completion.length.toString(16)};a=b\r\n${completion}\r\n0\r\nx-a: 1\r\n\r\n`
      ),
      expected: hello
    }),
    once
  ),
  ...each(
    "heads",
    "early hints before the head",
    () => ({
      modes: ["whole"],
      serve: raw(
        () =>
          `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: ${completion.length}\r\n\r\n${completion}`
      ),
      expected: hello
    }),
    once
  ),
  ...each(
    "heads",
    "a length beyond the body",
    () => ({
      modes: both,
      serve: raw((body) => `HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n${body}`),
      expected: { tags: ["NetworkError"], sends: 3 }
    }),
    once
  ),
  ...each(
    "heads",
    "no HTTP at all",
    () => ({
      modes: both,
      serve: raw(() => "SSH-2.0-OpenSSH_9.6\r\n"),
      expected: { tags: ["NetworkError"], sends: 3 }
    }),
    once
  ),
  ...each(
    "heads",
    "a chunk with a senseless length",
    () => ({
      modes: both,
      serve: raw(() => "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n"),
      expected: { tags: ["NetworkError"], sends: 3 }
    }),
    once
  )
]

// in this order no two of them are one line end
const ends = ["\r\n", "\n", "\r"]

/** Line ends drawn in turn. */
const mixed = (body: string): string => {
  let at = 0
  return body.replaceAll("\n", () => ends[at++ % ends.length] ?? "\n")
}

const mark = Buffer.from("\uFEFF")

const splits = ["event", "line", "byte", "inside-characters", "inside-crlf", { every: 3 }, { every: 7 }] as const

const text: ReadonlyArray<readonly [string, (body: string) => string]> = [
  ["lines end with CR", (body) => body.replaceAll("\n", "\r")],
  ["lines end with CRLF", (body) => body.replaceAll("\n", "\r\n")],
  ["lines end in all ways", mixed],
  ["comments between the lines", (body) => body.replaceAll("\n", "\n: ping\n")],
  ["ids and retry times", (body) => body.replaceAll("data:", "id: 1\nretry: 5\ndata:")],
  ["blank lines", (body) => `\n\n\n${body.replaceAll("\n\n", "\n\n\n\n")}`],
  ["events without data", (body) => `event: ping\n\n${body.replaceAll("\n\n", "\n\nevent: ping\n\n")}`],
  ["the last mark twice", (body) => `${body}data: [DONE]\n\ndata: [DONE]\n\n`],
  ["an unknown event in between", (body) => body.replace("\n\n", '\n\nevent: x-new\ndata: {"type":"x-new"}\n\n')]
]

export const framing: ReadonlyArray<Scenario> = [
  ...splits.flatMap((split) =>
    each("framing", `cut ${JSON.stringify(split)}`, () => ({
      modes: both,
      serve: changed(() => ({ split })),
      expected: isGood
    }))
  ),
  ...each("framing", "a byte order mark in three pieces", () => ({
    modes: ["streamed"],
    serve: changed((good) => ({ body: Buffer.concat([mark, bytesOf(good)]), split: "byte" })),
    expected: isGood
  })),
  ...each("framing", "a byte order mark", () => ({
    modes: both,
    serve: changed((good) => ({ body: Buffer.concat([mark, bytesOf(good)]) })),
    expected: isGood
  })),
  ...each("framing", "a whole reply in the place of a stream", () => {
    const speaker = brain()
    return {
      modes: ["streamed"],
      serve: {
        type: "handler",
        handler: (request) => {
          const body = Object.fromEntries(Object.entries(Object(request.body)).filter(([key]) => key !== "stream"))
          const path = request.path.replace("streamGenerateContent", "generateContent").replace(/\?.*$/, "")
          const asked = request.path.includes("/api/chat") ? { ...body, stream: false } : body
          return speaker({ ...request, path, body: asked, text: JSON.stringify(asked) })
        }
      },
      expected: isGood
    }
  }),
  ...each(
    "framing",
    "no line end at the end",
    () => ({ modes: ["streamed"], serve: changed((good) => ({ body: bodyOf(good).trimEnd() })), expected: isGood }),
    ["openai-chat", "ollama"]
  ),
  ...text.flatMap(([name, change]) =>
    each(
      "framing",
      name,
      () => ({
        modes: ["streamed"],
        serve: changed((good) => ({ body: change(bodyOf(good)), split: "byte" })),
        expected: isGood
      }),
      eventWires
    )
  )
]
