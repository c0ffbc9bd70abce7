/** A `fetch` that says which replies of the model server were read to their last byte. */

const mark = "data: [DONE]"

export const observed =
  (fetching: typeof globalThis.fetch, hear: (id: string) => void): typeof globalThis.fetch =>
  async (input, init) => {
    const response = await fetching(input, init)
    const id = response.headers.get("x-request-id")
    if (id === null || response.body === null) return response
    let last = ""
    // it passes a chunk on when the reader asks for it, and not before
    const watching = new TransformStream<Uint8Array, Uint8Array>({
      transform: (bytes, controller) => {
        last = (last + new TextDecoder().decode(bytes)).slice(-4 * mark.length)
        if (last.includes(mark)) hear(id)
        controller.enqueue(bytes)
      }
    })
    return new Response(response.body.pipeThrough(watching), response)
  }
