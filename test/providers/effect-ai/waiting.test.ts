/** A stream that waits for a reply in the background, and when it is cancelled. */
import { assert, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import type * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import { Effect, Stream } from "effect"
import * as JobItem from "../../../packages/providers/src/codec/JobItem.ts"
import { waiting } from "../../../packages/providers/src/effect-ai/waiting.ts"

const end = (finish: "paused" | "stop"): Model.Part => ({ type: "finish", finish, usage: Usage.empty })
const text: Model.Part = { type: "text-delta", text: "so" }
const job = JobItem.make("p", { id: "r1" })

/** What a stream gave, and how often its job was cancelled. */
const played = (...second: ReadonlyArray<Model.Part | LlmError.LlmError>) =>
  Effect.gen(function* () {
    const state = { cancelled: 0, streams: 0 }
    const streams = [[job, end("paused")], second]
    const model = waiting({
      name: "m",
      provider: "p",
      generate: () => Effect.die(new Error("nothing is asked for whole")),
      stream: () =>
        Stream.mapEffect(Stream.fromIterable(streams[state.streams++] ?? []), (part) =>
          LlmError.isLlmError(part) ? Effect.fail(part) : Effect.succeed(part)
        ),
      background: { cancel: () => Effect.sync(() => void state.cancelled++) }
    })
    const seen: Array<string> = []
    const parts = model.stream({ messages: [], tools: [], toolChoice: "auto" })
    yield* Effect.exit(Stream.runForEach(parts, ({ type }) => Effect.sync(() => void seen.push(type))))
    return { seen, ...state }
  })

it.effect("a stream is cancelled if it ends without its end, and not otherwise [P1406 P1107]", () =>
  Effect.gen(function* () {
    const failure = LlmError.NetworkError.make({ host: "a.test" })
    assert.deepStrictEqual(yield* played(text, end("stop")), {
      seen: ["text-delta", "finish"],
      cancelled: 0,
      streams: 2
    })
    assert.deepStrictEqual(yield* played(end("stop")), { seen: ["finish"], cancelled: 0, streams: 2 })
    assert.deepStrictEqual(yield* played(text, failure), { seen: ["text-delta"], cancelled: 1, streams: 2 })
    const over = Object.assign(LlmError.NetworkError.make({ host: "a.test" }), { isJobOver: true } as const)
    assert.deepStrictEqual(yield* played(text, over), { seen: ["text-delta"], cancelled: 0, streams: 2 })
  })
)
