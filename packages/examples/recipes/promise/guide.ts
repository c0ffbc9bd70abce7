/**
 * An agent for a codebase without Effect: this file alone imports it, and the rest awaits `ask`. `packages/examples/recipes/express`, `hono`,
 * `fastify` and `next` do so.
 *
 *   const guide = await make(OpenAi.model("gpt-5.6-sol"))   // once for the process
 *   const answer = await guide.ask("What is a span?", { signal })
 *   await guide.close()                                     // when the process ends
 */
import { Agent, KintsugiError, type Model } from "@kintsugi/core"
import * as UiMessageStream from "@kintsugi/interop/UiMessageStream"
import { Cause, Effect, Exit, type Layer, ManagedRuntime, Stream } from "effect"

/** What went wrong: the body of an answer over HTTP, whose status is its `status`. */
export type Problem = Omit<KintsugiError.Problem, "code"> & { readonly code?: string }

export type Answer = { readonly ok: true; readonly answer: string } | { readonly ok: false; readonly problem: Problem }

const agent = Agent.make("guide", { prompt: "Answer in one sentence." })

/** The caller has aborted, or the process is about to end. */
const interrupted: Problem = {
  type: "about:blank",
  title: "Service Unavailable",
  status: 503,
  detail: "The run was interrupted",
  retryable: true
}

/** The media type of a problem, and the headers of a stream. */
export const problemType = KintsugiError.problemMediaType
export const streamHeaders = UiMessageStream.headers

/** Builds the model now: rejects where its key is missing. */
export const make = async <E>(model: Layer.Layer<Model.Model, E>) => {
  const runtime = ManagedRuntime.make(model)
  const context = await runtime.context()
  return {
    /** Rejects at a bug alone: all that a run fails with is a value. A signal that aborts stops the run. */
    ask: async (input: string, options: { readonly signal?: AbortSignal } = {}): Promise<Answer> => {
      const answering = agent(input).pipe(
        Effect.map((answer): Answer => ({ ok: true, answer })),
        Effect.catchIf(KintsugiError.isKintsugiError, (error) =>
          Effect.succeed<Answer>({ ok: false, problem: KintsugiError.toProblem(error) })
        )
      )
      const exit = await runtime.runPromiseExit(answering, options)
      if (Exit.isSuccess(exit)) return exit.value
      if (Cause.hasInterruptsOnly(exit.cause)) return { ok: false, problem: interrupted }
      throw Cause.squash(exit.cause)
    },
    /** The same run as server-sent events for `useChat`, or any reader. To cancel the stream stops the run. */
    stream: (input: string): ReadableStream<Uint8Array> => {
      const chunks = UiMessageStream.fromStream(agent.stream(input))
      return Stream.toReadableStreamWith(Stream.encodeText(UiMessageStream.toServerSentEvents(chunks)), context)
    },
    close: (): Promise<void> => runtime.dispose()
  }
}

export type Guide = Awaited<ReturnType<typeof make>>
