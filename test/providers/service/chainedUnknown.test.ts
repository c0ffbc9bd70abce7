/** What a provider answers that does not know the stored reply which a request names. */
import { assert, describe } from "@effect/vitest"
import { Agent, Recovery } from "@kintsugi/core"
import { Effect, Logger } from "effect"
import { agentWith, eventLog, overADay } from "../../_support/dialogue.ts"
import { event, failureOf, type Reaction, respond } from "../../_support/network.ts"
import { it } from "../../_support/run.ts"
import { type Item, message, reasoning, response } from "../codec/openai-responses/_support/responses.ts"
import { asks, look, playing, said } from "./_support/chained.ts"

const lost = {
  message: "Previous response with id 'resp_1' not found.",
  type: "invalid_request_error",
  param: "previous_response_id",
  code: "previous_response_not_found"
}

describe("an unknown id", () => {
  const retention = "Previous response cannot be used for this organization due to Zero Data Retention."
  const failures: Readonly<Record<string, Reaction>> = {
    "400 with its code": respond(400, { error: lost }),
    "404 in words": respond(404, { error: { message: "Response with id 'resp_1' not found.", code: null } }),
    "an error behind 200": respond(200, { error: lost }),
    "zero data retention": respond(400, { error: { message: retention, code: "unsupported_parameter" } }),
    "zero data retention, in the form of xAI": respond(404, { code: "not-found", error: retention }),
    "another word for the reply": respond(404, {
      error: { message: "No such item.", param: "previous_response_id", code: null }
    }),
    ...Object.fromEntries(
      ["Could not find response 'resp_1'", "Unknown previous_response_id", "The item 'resp_1' does not exist"].map(
        (text) => [text, respond(400, { error: { message: text, code: null } })]
      )
    )
  }
  const streamed: Readonly<Record<string, Reaction>> = {
    ...failures,
    "an error event": respond(200, event({ type: "error", status: 400, error: lost })),
    "a flat error event": respond(200, event({ ...lost, type: "error" })),
    "a failed response": respond(
      200,
      [
        { type: "response.created", response: response([], { status: "in_progress" }) },
        {
          type: "response.failed",
          response: response([], { status: "failed", error: { code: lost.code, message: "missing" } })
        }
      ]
        .map(event)
        .join("")
    )
  }
  it.run("sends the whole transcript once, in the same attempt [P1416]", (run) =>
    Effect.gen(function* () {
      for (const failure of Object.values(run.isStreamed ? streamed : failures)) {
        const log = eventLog()
        const { bodies, model } = playing([
          said(run.isStreamed, "resp_1", [reasoning("rs_1", "hmm"), asks("1")]),
          failure,
          said(run.isStreamed, "resp_2", [asks("2")]),
          said(run.isStreamed, "resp_3", [message("done")])
        ])
        const text = yield* run(agentWith(look(2)).pipe(log.listen), "go").pipe(Effect.provide(model))
        assert.strictEqual(text, "done")
        const [, , third, fourth] = bodies()
        assert.notProperty(third, "previous_response_id")
        assert.deepStrictEqual(third.input.map(({ role, type }: Item) => type ?? role).slice(-3), [
          "reasoning",
          "function_call",
          "function_call_output"
        ])
        assert.strictEqual(fourth.previous_response_id, "resp_2")
        assert.strictEqual(log.of("model-start").length, 3)
        assert.strictEqual(log.of("model-failed").length, 0)
      }
    })
  )

  it.run("whose whole transcript fails as well is that failure [P1416]", (run) =>
    Effect.gen(function* () {
      const { model, sent } = playing([
        said(run.isStreamed, "resp_1", [asks("1")]),
        respond(400, { error: lost }),
        respond(400, { error: { ...lost, message: "Response of the second not found" } })
      ])
      const error = failureOf(yield* Effect.exit(run(agentWith(look(1)), "go").pipe(Effect.provide(model))))
      assert.include(error.message, "of the second")
      assert.strictEqual(sent.length, 3)
    })
  )

  it.run("is none of these, which are sent once [P1416]", (run) =>
    Effect.gen(function* () {
      const others = [
        [401, "Your token has expired; see the response of /login"],
        [429, "Rate limit response for 'resp_1': quota has expired"],
        [404, "The model 'gpt-x' was not found for the responses API"],
        [400, "Invalid schema for response_format 'o': reference Foo not found"]
      ] as const
      for (const [status, message] of others) {
        const { model, sent } = playing([
          said(run.isStreamed, "resp_1", [asks("1")]),
          respond(status, { error: { message } })
        ])
        const error = failureOf(yield* Effect.exit(run(agentWith(look(1)), "go").pipe(Effect.provide(model))))
        assert.include(error.message, message.slice(0, 20))
        assert.strictEqual(sent.length, 2)
      }
    })
  )

  it.run("is a warning in the log [P1416]", (run) =>
    Effect.gen(function* () {
      const logs: Array<unknown> = []
      const logger = Logger.make(({ logLevel, message }) => {
        if (logLevel === "Warn") logs.push(message)
      })
      const { model } = playing([
        said(run.isStreamed, "resp_1", [asks("1")]),
        respond(400, { error: lost }),
        said(run.isStreamed, "resp_2", [message("done")])
      ])
      yield* run(agentWith(look(1)), "go").pipe(Effect.provide(model), Effect.provide(Logger.layer([logger])))
      assert.strictEqual(logs.length, 1)
      assert.include(JSON.stringify(logs), "is resent whole")
    })
  )

  it.run("any other failure is not sent whole, but to a table [P1416]", (run) =>
    Effect.gen(function* () {
      const { bodies, model } = playing([
        said(run.isStreamed, "resp_1", [asks("1")]),
        respond(503, { error: { message: "overloaded" } }),
        said(run.isStreamed, "resp_2", [message("done")])
      ])
      const patient = agentWith(look(1)).pipe(
        Agent.onLlmError({ ModelOverloadedError: Recovery.retry({ retries: 1 }) })
      )
      assert.strictEqual(yield* yield* overADay(run(patient, "go").pipe(Effect.provide(model))), "done")
      assert.deepStrictEqual(
        bodies().map((body) => body.previous_response_id),
        [undefined, "resp_1", "resp_1"]
      )
    })
  )
})
