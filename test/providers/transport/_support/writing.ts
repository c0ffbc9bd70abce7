import { Effect } from "effect"
import { calm, respondWith } from "../../../_support/network.ts"

/** An answer that is written by hand. */
export const writing = () => {
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined
  const state = { isClosed: false }
  const reaction = respondWith(
    200,
    () =>
      new ReadableStream<Uint8Array>({
        start: (controller) => {
          stream = controller
        },
        cancel: () => {
          state.isClosed = true
        }
      })
  )
  const say = (...chunks: ReadonlyArray<string>) =>
    Effect.andThen(
      Effect.sync(() => stream?.enqueue(new TextEncoder().encode(chunks.join("")))),
      calm
    )
  return { reaction, say, state }
}
