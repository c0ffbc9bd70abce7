/** Answers of servers, and whom they come from. */
import { Duration, Redacted } from "effect"
import type { Answer } from "../../../packages/providers/src/transport/Answer.ts"
import type { Source } from "../../../packages/providers/src/transport/Source.ts"

export const source: Source = {
  provider: "openai",
  model: "m-1",
  secrets: [Redacted.make(`sk-${"Zx9".repeat(8)}`)]
}

export const answerOf = (body: string, status = 200, headers: Answer["headers"] = {}): Answer => ({
  status,
  headers,
  body,
  at: 0,
  elapsed: Duration.seconds(1)
})

/** The bytes of a text, as a network cuts them. */
export const cut = (text: string, length: number): ReadableStream<Uint8Array<ArrayBuffer>> => {
  const bytes = new TextEncoder().encode(text)
  let at = 0
  return new ReadableStream({
    pull: (controller) => {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.slice(at, at + length))
      at += length
    }
  })
}

/** The same of a text. */
export const inPieces = (text: string, length: number, take: (piece: string) => void): void => {
  for (let at = 0; at < text.length; at += length) take(text.slice(at, at + length))
}

/** An error with the text wherever one format or another has words. */
export const errorOf = (text: string): string =>
  JSON.stringify({
    type: "error",
    error: {
      message: text,
      type: text,
      code: text,
      param: text,
      status: text,
      metadata: { raw: text, reasons: [text], limit_source: text, headers: { "retry-after": text } },
      failed_generation: text,
      details: [
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: text, violations: [{ quotaId: text }] }
      ]
    },
    request_id: text
  })
