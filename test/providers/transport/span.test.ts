/** The span of one attempt. */
import { assert, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import { Cause, Effect, Exit } from "effect"
import { spanning } from "../../../packages/providers/src/transport/span.ts"
import { recorder } from "../../core/telemetry/_support/spans.ts"

const ended = Effect.fnUntraced(function* (url: string, method: string, error: LlmError.LlmError | undefined) {
  const { named, provide, spans } = recorder()
  const failure = error === undefined ? undefined : { error, resend: true }
  const attempt = failure === undefined ? Effect.succeed("ok") : Effect.fail(failure)
  const exit = yield* Effect.exit(provide(spanning(new URL(url), method)(attempt)))
  assert.deepStrictEqual(exit, failure === undefined ? Exit.succeed("ok") : Exit.fail(failure))
  assert.lengthOf(spans, 1)
  const { attributes, kind, status } = named("Transport.send")
  assert.strictEqual(kind, "client")
  assert(status._tag === "Ended")
  // without the flag `resend`
  if (Exit.isFailure(status.exit)) assert.strictEqual(Cause.squash(status.exit.cause), error)
  return Object.fromEntries(attributes)
})

const urls: ReadonlyArray<readonly [string, object]> = [
  ["https://a.test/v1/b?key=1", { "server.address": "a.test", "server.port": 443, "url.path": "/v1/b" }],
  ["http://a.test/", { "server.address": "a.test", "server.port": 80, "url.path": "/" }],
  ["http://a.test:8080/v1", { "server.address": "a.test", "server.port": 8080, "url.path": "/v1" }],
  ["other://a.test/v1", { "server.address": "a.test", "url.path": "/v1" }]
]

for (const [url, where] of urls) {
  it.effect(`names the method, the server and the status of a request to ${url}`, () =>
    Effect.gen(function* () {
      const source = { model: "m", provider: "p", message: "busy" }
      for (const method of ["POST", "GET"]) {
        const asked = { "http.request.method": method, ...where }
        assert.deepStrictEqual(yield* ended(url, method, undefined), asked)
        assert.deepStrictEqual(yield* ended(url, method, LlmError.NetworkError.make({ host: "a.test" })), asked)
        assert.deepStrictEqual(yield* ended(url, method, new LlmError.ServerError({ ...source, status: 503 })), {
          ...asked,
          "http.response.status_code": 503
        })
      }
    })
  )
}
