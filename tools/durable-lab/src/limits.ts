/** Rate limits that processes share by Effect's store on Redis: each guard has a connection of its own. */
import { LlmError, Model, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Resilience } from "@kintsugi/providers"
import { Context, Duration, Effect, Exit, Layer } from "effect"
import { RateLimiter } from "effect/persistence"
import type { Report } from "../../../scripts/report.ts"
import { layerRedis, startRedis } from "./redis.ts"

const request: Model.Request = { messages: [], tools: [], toolChoice: "auto" }

const ok = ScriptedModel.answering(() =>
  ScriptedModel.replies(
    ScriptedModel.reply({ content: [{ type: "text", text: "ok" }], usage: Usage.make({ inputTokens: 40 }) })
  )
)

/** A server that refuses, and asks to wait a minute. */
const refusing = ScriptedModel.answering(() =>
  ScriptedModel.fails(LlmError.RateLimitError.make({ service: "s", provider: "p", retryAfter: Duration.minutes(1) }))
)

const guarded = (port: number, options: Resilience.Options, model = ok) =>
  Effect.gen(function* () {
    const store = yield* Layer.build(Layer.provide(RateLimiter.layerStoreRedis(), layerRedis(port)))
    const guard = yield* Effect.provide(Resilience.make(options), store)
    const { generate } = Context.get(yield* Layer.build(guard(model)), Model.Model)
    return Effect.exit(generate(request))
  })

/** The calls of several guards by turns: whether each was answered, or with which error it failed. */
const ended = (calls: ReadonlyArray<Effect.Effect<Exit.Exit<unknown, LlmError.LlmError>>>) =>
  Effect.map(Effect.all(calls), (exits) =>
    exits.map((exit) => Exit.match(exit, { onSuccess: () => "ok", onFailure: tagOf })).join(" ")
  )

const tagOf = (cause: Parameters<NonNullable<Parameters<typeof Exit.match>[1]["onFailure"]>>[0]): string =>
  cause.reasons
    .map((reason) => (reason._tag === "Fail" ? String((reason.error as LlmError.LlmError)._tag) : reason._tag))
    .join()

/** Tries the limits of two guards on a Redis. The windows are so long that no wait is needed. */
export const playLimits = async (program: string, report: Report): Promise<void> => {
  const server = await startRedis(program)
  let isStopped = false
  const stop = () => {
    if (isStopped) return Promise.resolve()
    isStopped = true
    return server.stop()
  }
  const two = (options: Resilience.Options, second = ok) =>
    Effect.all([guarded(server.port, options), guarded(server.port, options, second)])
  const same = (what: string, actual: string, expected: string) =>
    report.check(`Redis: ${what} [P1721]`, actual === expected, `${actual}, not ${expected}`)
  const played = Effect.gen(function* () {
    for (const algorithm of ["fixed-window", "token-bucket"] as const) {
      const limits = [{ name: algorithm, requests: 3, per: "10 minutes", maxWait: 0, algorithm }] as const
      const [one, other] = yield* two({ limits })
      const said = yield* ended([one, other, one, other, one])
      same(`two guards share a limit of requests by ${algorithm}`, said, "ok ok ok RateLimitError RateLimitError")
    }
    const [tokens, others] = yield* two({ limits: [{ tokens: 60, per: "10 minutes", maxWait: 0 }] })
    same("two guards share a limit of tokens", yield* ended([tokens, others, tokens]), "ok ok RateLimitError")

    const [calm, refused] = yield* two({ adaptive: { maxWait: 0, by: () => "learned" } }, refusing)
    // the first two have no limit yet; the server's refusal then holds for both
    same(
      "a refusal of the server holds for both",
      yield* ended([calm, refused, calm]),
      "ok RateLimitError RateLimitError"
    )

    const limits = [{ requests: 1000, per: "10 minutes" }] as const
    const [passing] = yield* two({ limits })
    const [failing] = yield* two({ limits, onStoreError: "fail" })
    yield* Effect.promise(stop)
    same(
      "without the server, calls pass or fail as the guard says",
      yield* ended([passing, failing]),
      "ok UnknownLlmError"
    )
  })
  try {
    await Effect.runPromise(Effect.scoped(played))
  } finally {
    await stop()
  }
}
