/**
 * An agent in a Cloudflare worker. `serve.ts` runs it on this machine; `wrangler deploy` takes the same two files.
 *
 *   node scripts/launch.mjs --install packages/examples/recipes/worker
 *   OPENAI_API_KEY=… node scripts/launch.mjs packages/examples/recipes/worker/serve.ts
 *   curl localhost:3000/ask -d 'What is a span?'
 *   curl -N localhost:3000/stream -d 'What is a span?'
 */
import * as Agent from "@kintsugi/core/Agent"
import * as AgentEvent from "@kintsugi/core/AgentEvent"
import * as KintsugiError from "@kintsugi/core/KintsugiError"
import * as UiMessageStream from "@kintsugi/interop/UiMessageStream"
import * as OpenAi from "@kintsugi/providers/OpenAi"
import * as Transport from "@kintsugi/providers/Transport"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"

/** The secret of the worker. A base URL is for another server than OpenAI's. */
export interface Env {
  readonly OPENAI_API_KEY: string
  readonly OPENAI_BASE_URL?: string
}

const guide = Agent.make("guide", { prompt: "Answer in one sentence." }).pipe(
  // how each run ended, in the log of the worker
  Agent.onEvent((event) => (AgentEvent.isTerminal(event) ? Effect.log(event.type) : Effect.void))
)

/** Each request builds its own: a worker must not use what another request has opened. */
const modelOf = ({ OPENAI_API_KEY, OPENAI_BASE_URL: baseUrl }: Env) =>
  OpenAi.layer({
    model: "gpt-5.6-sol",
    apiKey: Redacted.make(OPENAI_API_KEY),
    ...(baseUrl !== undefined && { baseUrl })
  }).pipe(Layer.provide(Transport.layerFetch))

const ask = (input: string) =>
  guide(input).pipe(
    Effect.map((answer) => Response.json({ answer })),
    Effect.catchIf(KintsugiError.isKintsugiError, (error) => {
      const problem = KintsugiError.toProblem(error)
      const headers = { "content-type": KintsugiError.problemMediaType }
      return Effect.succeed(Response.json(problem, { status: problem.status, headers }))
    })
  )

const aborted = (signal: AbortSignal) =>
  Effect.callback<void>((resume) => signal.addEventListener("abort", () => resume(Effect.void), { once: true }))

/** The status is 200 by then: a failure is the last chunk but one. */
const stream = (input: string, env: Env, signal: AbortSignal) => {
  const events = Stream.interruptWhen(guide.stream(input), aborted(signal))
  const lines = UiMessageStream.toServerSentEvents(UiMessageStream.fromStream(events))
  const body = Stream.toReadableStream(Stream.encodeText(Stream.provide(lines, modelOf(env))))
  return new Response(body, { headers: UiMessageStream.headers })
}

export default {
  /** The flag `enable_request_signal` lets the signal stop the run of a client that goes away: workerd does not cancel the body (cloudflare/workerd#6832). */
  async fetch(request: Request, env: Env): Promise<Response> {
    const input = await request.text()
    if (new URL(request.url).pathname === "/stream") return stream(input, env, request.signal)
    return Effect.runPromise(Effect.provide(ask(input), modelOf(env)), { signal: request.signal })
  }
}
