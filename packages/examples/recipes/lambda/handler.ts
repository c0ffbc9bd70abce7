/**
 * An agent as a function of AWS Lambda behind an HTTP API (payload format 2.0). The runtime outlives one invocation, and a run ends a
 * little before Lambda would end the process. `event.json` is a request, with the fields of AWS's page "Create AWS Lambda proxy
 * integrations for HTTP APIs in API Gateway" (looked up on 2026-11-26).
 */
import { Agent, KintsugiError, type Model } from "@kintsugi/core"
import { OpenAi } from "@kintsugi/providers"
import { Duration, Effect, type Layer, ManagedRuntime } from "effect"
import { Buffer } from "node:buffer"

/** What is read of the request. */
interface Request {
  readonly body?: string
  readonly isBase64Encoded: boolean
}

/** What is read of the invocation. */
interface Invocation {
  readonly getRemainingTimeInMillis: () => number
}

const guide = Agent.make("guide", { prompt: "Answer in one sentence." })

/** The time that an answer takes once the run is over. */
const reserve = Duration.millis(500)

const json = (statusCode: number, type: string, body: object) => ({
  statusCode,
  headers: { "content-type": type },
  body: JSON.stringify(body)
})

const problem = (body: { readonly title: string; readonly status: number }) =>
  json(body.status, KintsugiError.problemMediaType, body)

export const handlerOf = <E>(model: Layer.Layer<Model.Model, E>) => {
  const runtime = ManagedRuntime.make(model)
  return ({ body = "", isBase64Encoded }: Request, invocation: Invocation) =>
    guide(isBase64Encoded ? Buffer.from(body, "base64").toString() : body).pipe(
      Effect.timeout(Duration.subtract(Duration.millis(invocation.getRemainingTimeInMillis()), reserve)),
      Effect.map((answer) => json(200, "application/json", { answer })),
      Effect.catchTag("TimeoutError", () =>
        Effect.succeed(problem({ title: "The answer took too long", status: 504 }))
      ),
      Effect.catchIf(KintsugiError.isKintsugiError, (error) => Effect.succeed(problem(KintsugiError.toProblem(error)))),
      runtime.runPromise
    )
}

/** `handler.handler` in the settings of the function. The key is read at the first invocation. */
export const handler = handlerOf(OpenAi.model("gpt-5.6-sol"))
