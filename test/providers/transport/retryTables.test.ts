/** What the transport sends again is a policy as every layer has one: a table, a schedule, options, or nothing. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Explanation, Message, Model, Recovery, Router, Skill, Usage } from "@kintsugi/core"
import * as LlmError from "@kintsugi/core/LlmError"
import { ScriptedModel } from "@kintsugi/core/testing"
import { OpenAi, Transport } from "@kintsugi/providers"
import { Duration, Effect, Exit, Redacted, Schedule } from "effect"
import {
  failsWith,
  fakeNetwork,
  finished,
  generate,
  listening,
  ok,
  openAi,
  type Reaction,
  respond,
  streamParts
} from "../../_support/network.ts"

/** The text of a streamed reply. */
const saying = (parts: ReadonlyArray<Model.Part>) =>
  parts.map((part) => (part.type === "text-delta" ? part.text : "")).join("")

const calling = (
  script: ReadonlyArray<Reaction> | Reaction,
  transport?: Transport.Options,
  way: "whole" | "streamed" = "whole"
) => {
  const network = fakeNetwork(script)
  const modelCall = way === "whole" ? Effect.map(generate, Message.textOf) : Effect.map(streamParts, saying)
  return { network, call: modelCall.pipe(Effect.provide(openAi(transport)), Effect.provide(network.layer)) }
}

const instead = ScriptedModel.reply({ content: [Message.text("instead")] })
const twice = Schedule.max([Schedule.spaced("1 second"), Schedule.recurs(2)])

describe("a policy of a transport", () => {
  it.effect("is a schedule, with the same sends, instants and events as the equal options [P1321]", () =>
    Effect.gen(function* () {
      const observed = (retry: Transport.Options["retry"] & {}) =>
        Effect.gen(function* () {
          const { call, network } = calling(respond(503), { retry })
          const { effect, events } = listening(call)
          failsWith(yield* finished(effect), LlmError.ModelOverloadedError)
          const [first = 0] = network.times()
          return {
            times: network.times().map((at) => at - first),
            events: events.flatMap((event) =>
              event.type === "verdict" ? [{ ...event, at: event.at - first, runId: "", error: undefined }] : []
            )
          }
        })
      const bySchedule = yield* observed(twice)
      const byOptions = yield* observed({ retries: 2, initialBackoff: "1 second", factor: 1 })
      const byTable = yield* observed({ ModelOverloadedError: Recovery.retry(twice) })
      assert.deepStrictEqual(bySchedule.times, [0, 1000, 2000])
      assert.deepStrictEqual(byOptions, bySchedule)
      assert.deepStrictEqual(byTable, bySchedule)
      assert.deepStrictEqual(
        bySchedule.events.map(({ attempt, gaveUp, layer }) => [layer, gaveUp, attempt]),
        [
          ["transport", false, 1],
          ["transport", false, 2],
          ["transport", true, 3]
        ]
      )
    })
  )

  it.effect("has a row by tag: what has none is sent once, and each row has counts of its own [P1321]", () =>
    Effect.gen(function* () {
      const retry = {
        ModelOverloadedError: Recovery.retry({ retries: 1, initialBackoff: "1 second" }),
        RateLimitError: Recovery.retry({ retries: 1, initialBackoff: "5 seconds" })
      }
      const both = calling([respond(503), respond(429), respond(503)], { retry })
      failsWith(yield* finished(both.call), LlmError.ModelOverloadedError)
      assert.deepStrictEqual(both.network.times(), [0, 1000, 6000])
      const other = calling([respond(500), ok], { retry })
      failsWith(yield* finished(other.call), LlmError.ServerError)
      assert.strictEqual(other.network.sent.length, 1)
    })
  )

  it.effect("never resends a failure that must not be resent, and emits no event for it [P1321]", () =>
    Effect.gen(function* () {
      const refused = respond(401)
      const orElse = calling([refused, ok], { retry: { orElse: twice } })
      const { effect, events } = listening(orElse.call)
      failsWith(yield* finished(effect), LlmError.AuthenticationError)
      assert.deepStrictEqual([orElse.network.sent.length, events], [1, []])
      const byTag = calling([refused, ok], { retry: { AuthenticationError: twice } })
      failsWith(yield* finished(byTag.call), LlmError.AuthenticationError)
      assert.strictEqual(byTag.network.sent.length, 1)
    })
  )

  for (const way of ["whole", "streamed"] as const) {
    it.effect(`answers with a reply in the place of the server's (${way}) [P1320 P1321]`, () =>
      Effect.gen(function* () {
        for (const row of [() => Effect.succeed(instead), Recovery.respondWith(instead)]) {
          const { call, network } = calling(respond(401), { retry: { AuthenticationError: row } }, way)
          assert.deepStrictEqual(yield* finished(call), Exit.succeed("instead"))
          assert.strictEqual(network.sent.length, 1)
        }
        const decided = calling(
          respond(503),
          {
            retry: {
              orElse: (error, { attempt }) =>
                error.isRetryable && attempt < 3 ? Recovery.retry({ retries: 5 }) : Recovery.respondWith(instead)
            }
          },
          way
        )
        assert.deepStrictEqual(yield* finished(decided.call), Exit.succeed("instead"))
        assert.strictEqual(decided.network.sent.length, 3)
      })
    )
  }

  it.effect("begins no wait that its own time limit would cut [P1321]", () =>
    Effect.gen(function* () {
      const { call, network } = calling(respond(503), { retry: twice, requestTimeout: "1500 millis" })
      failsWith(yield* finished(call), LlmError.ModelOverloadedError)
      assert.deepStrictEqual(network.times(), [0, 1000])
    })
  )

  it("is explained as every table [P1321]", () => {
    const { rows, worst } = Transport.explain({ retry: { RateLimitError: twice } })
    assert.deepStrictEqual([rows.map(({ key }) => key), worst.attempts], [["RateLimitError"], 3])
    assert.strictEqual(Transport.explain({ retry: false }).worst.attempts, 1)
    assert.strictEqual(Transport.explain({ retry: twice }).worst.requests, 3)
  })

  it("refuses an invalid row by its key [P1321]", () => {
    // an untyped program
    const wrong = { RateLimitError: 3 } as unknown as Model.TransportRows
    const make = () => OpenAi.layer({ model: "m", apiKey: Redacted.make("k"), transport: { retry: wrong } })
    assert.throws(make, /RateLimitError/)
  })
})

describe("{ transport: 'off' }", () => {
  const table = { ModelOverloadedError: Recovery.retry({ retries: 1, initialBackoff: "1 minute" }) }

  it.effect("lets the table of an agent take the place of the transport's, through an order and around [P1327]", () =>
    Effect.gen(function* () {
      for (const isOff of [false, true]) {
        const network = fakeNetwork(respond(503))
        const model = Model.around(Model.fallback(openAi(), openAi()), (attempt) => Effect.retry(attempt, { times: 1 }))
        const agent = Agent.make("a", {}).pipe(Agent.onLlmError(table, isOff ? { transport: "off" } : {}))
        yield* finished(agent("hi").pipe(Effect.provide(model), Effect.provide(network.layer)))
        // two attempts of the table, two of the function, two models
        assert.strictEqual(network.sent.length, isOff ? 8 : 24)
      }
    })
  )

  it.effect("is what a resilient agent has: its own retries, and none of the transport [P1343]", () =>
    Effect.gen(function* () {
      for (const isFirst of [true, false]) {
        const network = fakeNetwork(respond(503))
        const made = Agent.make("a", {})
        const agent = isFirst
          ? made.pipe(Agent.resilient({ modelRetries: 2 }), Agent.onLlmError({ ServerError: Recovery.rethrow }))
          : made.pipe(Agent.onLlmError({ ServerError: Recovery.rethrow }), Agent.resilient({ modelRetries: 2 }))
        yield* finished(agent("hi").pipe(Effect.provide(openAi()), Effect.provide(network.layer)))
        assert.strictEqual(network.sent.length, 3)
      }
    })
  )

  it.effect(
    "is what the call that chooses a skill has, too: by its own table, or in a resilient agent [P1327 P1343]",
    () =>
      Effect.gen(function* () {
        const skills = [Skill.make("one", { description: "One." }), Skill.make("two", { description: "Two." })] as const
        const made = Agent.make("a", { skills })
        const router = Router.byModel().pipe(Router.onLlmError(table, { transport: "off" }))
        for (const [agent, sent] of [
          [made.pipe(Agent.route(Router.byModel().pipe(Router.onLlmError(table)))), 6],
          [made.pipe(Agent.route(router)), 2],
          [made.pipe(Agent.route(router), Agent.resilient({ modelRetries: 2 })), 2],
          [made.pipe(Agent.resilient({ modelRetries: 2 })), 3]
        ] as const) {
          const network = fakeNetwork(respond(503))
          yield* finished(agent("hi").pipe(Effect.provide(openAi()), Effect.provide(network.layer)))
          assert.strictEqual(network.sent.length, sent)
        }
      })
  )

  for (const way of ["whole", "streamed"] as const) {
    it.effect(`lets the table of a model do so without an agent (${way}) [P1327]`, () =>
      Effect.gen(function* () {
        const network = fakeNetwork(respond(503))
        const model = openAi().pipe(Model.onError(table, { transport: "off" }))
        const modelCall = way === "whole" ? Effect.asVoid(generate) : Effect.asVoid(streamParts)
        failsWith(
          yield* finished(modelCall.pipe(Effect.provide(model), Effect.provide(network.layer))),
          LlmError.ModelOverloadedError
        )
        assert.deepStrictEqual(network.times(), [0, 60_000])
      })
    )
  }

  it.effect("is for the model of the table alone: the requests of its handlers are resent as before [P1327]", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const modelCall = () =>
        Effect.map(Model.Resending, (resending) => {
          seen.push(resending)
          return { content: [Message.text("later")], finish: "stop", usage: Usage.empty } as const
        })
      const network = fakeNetwork(respond(503))
      const model = openAi().pipe(Model.onError({ ModelOverloadedError: modelCall }, { transport: "off" }))
      yield* finished(Effect.asVoid(generate).pipe(Effect.provide(model), Effect.provide(network.layer)))
      assert.deepStrictEqual(seen, ["on"])
      assert.strictEqual(network.sent.length, 1)
    })
  )

  it("is what explain speaks of where the attempts of both multiply [P1327]", () => {
    const transport = Transport.explain()
    const agent = Agent.make("a", { onLlmError: table })
    const warned = Agent.explain(agent, { transport })
    assert.strictEqual(warned.model.worst.requests, 6)
    assert.include(Explanation.formatRun(warned), "each of 2 attempts is sent up to 3 times by the transport")
    const off = Agent.explain(Agent.make("a", {}).pipe(Agent.onLlmError(table, { transport: "off" })), { transport })
    assert.strictEqual(off.model.worst.requests, 2)
    assert.notInclude(Explanation.formatRun(off), "warning")
    assert.notInclude(Explanation.formatRun(Agent.explain(Agent.make("a", {}), { transport })), "warning")
    const alone = Model.explain(openAi().pipe(Model.onError(table)), { transport })
    assert.include(Explanation.format(alone), 'with { transport: "off" } the table takes its place')
    const once = Model.explain(openAi().pipe(Model.onError(table, { transport: "off" })), { transport })
    assert.deepStrictEqual([once.worst.requests, once.warning], [2, undefined])
    assert.isTrue(Duration.isFinite(alone.worst.time))
  })
})
