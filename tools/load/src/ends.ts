/** How the stream of a client ended. The client reads UI messages of the AI SDK, as `useChat` does. */
import { answerOf } from "./conversation.ts"

/** `id` is the id of the message, which the log of the server has too. */
export type End =
  | { readonly type: "answer" }
  | { readonly type: "wrong"; readonly said: string }
  | { readonly type: "failure"; readonly code: string; readonly id: string }
  | { readonly type: "lost"; readonly why: string }

interface Chunk {
  readonly type: string
  readonly messageId?: string
  readonly delta?: string
  readonly errorText?: string
}

const mark = "data: [DONE]"

const chunksIn = (body: string): ReadonlyArray<Chunk> =>
  body
    .split("\n\n")
    .filter((line) => line.startsWith("data: ") && line !== mark)
    .map((line): Chunk => JSON.parse(line.slice(6)))

/** What the body of a response says of the end of its run. */
export const endOf = (run: number, status: number, body: string): End => {
  if (status !== 200) return { type: "lost", why: `status ${status}: ${body.slice(0, 200)}` }
  if (!body.trimEnd().endsWith(mark)) return { type: "lost", why: "the stream has no end" }
  let [id, text, code] = ["", "", ""]
  for (const chunk of chunksIn(body)) {
    if (chunk.type === "start") id = chunk.messageId ?? ""
    if (chunk.type === "reset-step") text = ""
    if (chunk.type === "text-delta") text += chunk.delta ?? ""
    if (chunk.type === "error") code = chunk.errorText ?? ""
  }
  if (code !== "") return { type: "failure", code, id }
  return text === answerOf(run) ? { type: "answer" } : { type: "wrong", said: text.slice(0, 200) }
}
