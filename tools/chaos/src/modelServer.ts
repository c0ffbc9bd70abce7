/** The model server of the chaos: chat completions that stream, and the log of all that it was asked for and has sent. */
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { setTimeout as wait } from "node:timers/promises"
import { chunk } from "../../load/src/chunks.ts"
import { drawOf } from "../../eval/src/seeds.ts"
import type { Draw } from "../../soak/src/Draw.ts"
import { askedIn, hints, html, isSound, type Kind, kindOf, malformed, piecesOf } from "./replies.ts"

/** A request, as the log of the model server has it. */
export interface Asked {
  /** The id of the request, which the reply has too. */
  readonly id: string
  readonly run: string
  /** Which request of its run it is, from 0. */
  readonly nth: number
  readonly kind: Kind
  readonly at: number
  /** Whether all of a sound reply was written. */
  isSent: boolean
}

export interface ModelServer {
  readonly port: number
  readonly log: ReadonlyArray<Asked>
  /** From here on all replies are honest, and those without an end are cut. */
  readonly calm: () => void
  readonly stop: () => Promise<void>
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  request.setEncoding("utf8")
  let body = ""
  for await (const part of request) body += String(part)
  return body
}

const write = async (response: ServerResponse, pieces: ReadonlyArray<string | Uint8Array>, pause: number) => {
  for (const piece of pieces) {
    if (response.destroyed) return false
    response.write(piece)
    await wait(pause)
  }
  // a reader that has the last piece may leave at once
  return true
}

export const startModel = async (seed: number): Promise<ModelServer> => {
  const log: Array<Asked> = []
  const counts = new Map<string, number>()
  const calming = new AbortController()

  const refuse = (response: ServerResponse, status: number, draw: Draw) => {
    response.writeHead(status, { "content-type": "application/json", "retry-after": draw.pick(...hints) })
    response.end(JSON.stringify({ error: { type: "server_error", message: "Slow down." } }))
  }

  /** Words without an end, until the reader leaves. */
  const babble = async (response: ServerResponse) => {
    while (!response.destroyed && !calming.signal.aborted) {
      response.write(chunk({ content: "and so on ".repeat(20) }))
      await wait(50)
    }
    response.destroy()
  }

  const respond = async (response: ServerResponse, body: string) => {
    const asked = askedIn(body)
    const nth = counts.get(asked.run) ?? 0
    counts.set(asked.run, nth + 1)
    const draw = drawOf(seed, "reply", asked.run, nth)
    const kind = calming.signal.aborted ? "plain" : kindOf(draw)
    const entry: Asked = { id: `${asked.run}/${nth}`, run: asked.run, nth, kind, at: Date.now(), isSent: false }
    log.push(entry)
    response.setHeader("x-request-id", entry.id)
    if (kind === "429" || kind === "529") return refuse(response, Number(kind), draw)
    if (kind === "html") return void response.writeHead(502, { "content-type": "text/html" }).end(html)
    response.writeHead(200, { "content-type": "text/event-stream" })
    if (kind === "html-as-stream") return void response.end(html)
    if (kind === "endless") return babble(response)
    const pieces = piecesOf(asked, kind, nth)
    if (kind === "late") await wait(draw.int(500, 3000))
    if (kind === "malformed-frames") {
      await write(response, [...pieces.slice(0, 1), draw.pick("", ...malformed)], 5)
      return void response.end(pieces.slice(1).join(""))
    }
    const shown = kind === "cut" ? pieces.slice(0, draw.int(1, pieces.length - 1)) : pieces
    const isWritten = await write(response, shown, draw.int(1, 30))
    entry.isSent = isWritten && isSound(kind)
    if (entry.isSent) response.end()
    else response.destroy()
  }

  const server = createServer((request, response) => {
    response.on("error", () => {})
    bodyOf(request)
      .then((body) => respond(response, body))
      .catch(() => response.destroy())
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    log,
    calm: () => calming.abort(),
    stop: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, "close")
    }
  }
}
