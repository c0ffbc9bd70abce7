/** A model that says what a test has written down, and holds it back, breaks off or calls a tool at its end. */
import { LlmError, Model, Usage } from "@kintsugi/core"
import { Deferred, Effect, Layer, Stream } from "effect"

/** What a model says to one request, and how that ends. `call`: with a call of a tool that does not end in the first process. */
export interface Said {
  readonly thoughts?: string
  readonly words: ReadonlyArray<string>
  readonly end: "finish" | "fail" | "hold" | "call" | "hold, then call"
}

const usage = Usage.make({ inputTokens: 10, outputTokens: 5 })

/** A model that says this, one after the other, to each request. Gates open in the process that is there. */
export const saying = (
  continuation: Model.Service["continuation"],
  said: ReadonlyArray<Said>,
  last: Said = { words: ["?"], end: "finish" }
) => {
  const requests: Array<Model.Request> = []
  let gate = Deferred.makeUnsafe<void>()
  const service: Model.Service = {
    name: "m",
    provider: "here",
    ...(continuation === undefined ? {} : { continuation }),
    generate: () => Effect.die(new Error("the model of a durable run streams")),
    stream: (request) =>
      Stream.suspend((): Stream.Stream<Model.Part, LlmError.LlmError> => {
        const { end, thoughts, words } = said[requests.length] ?? last
        // the run goes on with its messages
        requests.push({ ...request, messages: [...request.messages] })
        const parts: ReadonlyArray<Model.Part> = [
          ...(thoughts === undefined ? [] : [{ type: "reasoning-delta" as const, text: thoughts }]),
          ...words.map((text) => ({ type: "text-delta" as const, text }))
        ]
        const finish: ReadonlyArray<Model.Part> = end.endsWith("call")
          ? [
              { type: "tool-call", id: `c${requests.length}`, name: "look", arguments: {} },
              { type: "finish", finish: "tool-calls", usage }
            ]
          : [{ type: "finish", finish: "stop", usage }]
        const held = Deferred.await(gate)
        const rest =
          end === "fail"
            ? Stream.fail(LlmError.ModelOverloadedError.make({ model: "m" }))
            : end.startsWith("hold")
              ? Stream.unwrap(Effect.as(held, Stream.fromIterable(finish)))
              : Stream.fromIterable(finish)
        return Stream.concat(Stream.fromIterable(parts), rest)
      })
  }
  return {
    layer: Layer.succeed(Model.Model, service),
    requests,
    release: Effect.suspend(() => Deferred.succeed(gate, undefined)),
    close: () => {
      gate = Deferred.makeUnsafe<void>()
    }
  }
}
