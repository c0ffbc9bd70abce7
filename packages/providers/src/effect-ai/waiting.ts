/** Makes a model wait for its background replies, because `effect/ai` sends a request once and stores nothing that names such a reply. */
import type * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as JobItem from "../codec/JobItem.ts"

/** Wraps a model so that it waits for background replies. If the caller is interrupted or fails, the background reply is cancelled. */
export const waiting = (model: Model.Service): Model.Service => {
  const { background } = model
  if (background === undefined) return model
  return {
    ...model,
    generate: (asked) =>
      Effect.suspend(() => {
        const job = new Waited(asked)
        const next = (): Effect.Effect<Message.Reply, LlmError.LlmError> =>
          Effect.flatMap(model.generate(job.request()), (reply) => {
            const item = reply.finish === "paused" ? reply.content.find(JobItem.is) : undefined
            if (item !== undefined) {
              job.begun(item)
              return next()
            }
            job.end()
            return Effect.succeed(reply)
          })
        return Effect.ensuring(Effect.tapError(next(), job.failed), job.left(background))
      }),
    stream: (asked) =>
      Stream.suspend(() => {
        const job = new Waited(asked)
        const next = (): Stream.Stream<Model.Part, LlmError.LlmError> => {
          let isPaused = false
          const parts = Stream.filter(model.stream(job.request()), (part) => {
            if (JobItem.is(part)) {
              job.begun(part)
              isPaused = true
            }
            if (part.type === "finish" && !isPaused) job.end()
            return !isPaused
          })
          return Stream.concat(
            parts,
            Stream.suspend(() => (isPaused ? next() : Stream.empty))
          )
        }
        return Stream.ensuring(Stream.tapError(next(), job.failed), job.left(background))
      })
  }
}

/** A request, and the background reply that it waits for. */
class Waited {
  readonly #asked: Model.Request
  /** The request extended by the name of the background reply; `undefined` while there is no such reply. */
  #named: Model.Request | undefined

  constructor(asked: Model.Request) {
    this.#asked = asked
  }

  request(): Model.Request {
    return { ...(this.#named ?? this.#asked), background: { begun: (item) => this.begun(item) } }
  }

  begun(item: Message.ProviderItem): void {
    // Mutant `["Stryker was here"]` survives: the reply has no call that a result would be for
    const message = Message.settle({ content: [item], finish: "paused", usage: Usage.empty }, [])
    this.#named = { ...this.#asked, messages: [...this.#asked.messages, message] }
  }

  end(): void {
    this.#named = undefined
  }

  readonly failed = (error: LlmError.LlmError): Effect.Effect<void> =>
    error.isJobOver === true ? Effect.sync(() => this.end()) : Effect.void

  left({ cancel }: NonNullable<Model.Service["background"]>): Effect.Effect<unknown> {
    return Effect.suspend(() => (this.#named === undefined ? Effect.void : cancel(this.#named)))
  }
}
