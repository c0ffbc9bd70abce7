/** Background replies that are silent. */
import { assert, it } from "@effect/vitest"
import { Agent, LlmError } from "@kintsugi/core"
import { Effect, Stream } from "effect"
import { eventLog } from "../../_support/dialogue.ts"
import { failureOf, finished, respond, respondWith, silence } from "../../_support/network.ts"
import { it as each } from "../../_support/run.ts"
import type { Item } from "../codec/openai-responses/_support/responses.ts"
import { begins, having, numbered, playing, written } from "./_support/background.ts"

const agent = Agent.make("thinker", { prompt: "Think.", budget: { maxDuration: "1 day" } })

/** A stream that begins with these events, and then says nothing. */
const silentAfter = (events: ReadonlyArray<Item>) =>
  respondWith(200, () => new ReadableStream({ start: (to) => to.enqueue(new TextEncoder().encode(written(events))) }))

const streamed = "GET /responses/resp_1?stream=true&starting_after=3"

const poll = "GET /responses/resp_1"

it.effect("the silence of one that waits for its turn is no failure: it is asked for again [P1406]", () =>
  Effect.gen(function* () {
    const { asked, model, times } = playing([
      begins(true),
      respond(200, having("queued")),
      silentAfter([]),
      respond(200, having("queued")),
      respond(200, written(numbered.slice(1)))
    ])
    const log = eventLog()
    yield* yield* finished(Effect.provide(Stream.runDrain(agent.pipe(log.listen).stream("go")), model))
    assert.deepInclude(log.end(), { type: "run-completed", output: "Four." })
    assert.deepStrictEqual(asked(), ["POST /responses", poll, streamed, poll, streamed])
    assert.deepStrictEqual(times(), [0, 0, 0, 120_000, 120_000])
    assert.lengthOf(log.of("model-start"), 1)
  })
)

it.effect("its silence behind a text is a failure that names what was asked [P1406]", () =>
  Effect.gen(function* () {
    const texts = numbered.findIndex(({ type }) => type === "response.output_text.delta") + 1
    const { asked, model } = playing([
      begins(true),
      respond(200, having("in_progress")),
      silentAfter(numbered.slice(1, texts)),
      respond(200, having("cancelled"))
    ])
    const running = Effect.provide(Stream.runDrain(agent.stream("go")), model)
    const error = failureOf(yield* finished(running))
    assert.instanceOf(error, LlmError.RequestTimeoutError)
    assert.strictEqual(error.operation, "GET https://api.openai.com/v1/responses/resp_1")
    assert.deepStrictEqual(asked().slice(2), [streamed, "POST /responses/resp_1/cancel"])
  })
)

each.run("a poll without an answer is a failure that names it [P1406]", (run) =>
  Effect.gen(function* () {
    const { model } = playing([begins(run.isStreamed), silence, respond(200, having("cancelled"))], {
      transport: { retry: false, requestTimeout: "10 seconds" }
    })
    const error = failureOf(yield* finished(Effect.provide(run(agent, "go"), model)))
    assert.instanceOf(error, LlmError.RequestTimeoutError)
    assert.strictEqual(error.operation, "GET https://api.openai.com/v1/responses/resp_1")
  })
)
