/** UI messages of readers that come too late for the beginning of a run, or are too slow for its middle. */
import { assert, it } from "@effect/vitest"
import { Agent, type AgentEvent } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as UiMessageStream from "@kintsugi/interop/UiMessageStream"
import { Effect, Stream } from "effect"

/** The chunks of a run that says "all is well", read by someone who missed what came before " well". */
const chunksOf = (before: ReadonlyArray<AgentEvent.AgentEvent["type"]>) =>
  Effect.gen(function* () {
    const model = ScriptedModel.answering(() => ScriptedModel.text("all is well"))
    const run = yield* Effect.provide(Agent.make("poet", {}).start("Write."), model)
    yield* run.outcome
    const events = yield* Stream.runCollect(run.events)
    const { agent, at, runId, turn } = events[0]!
    const origin = { agent, at, runId, turn }
    const last = events.findLastIndex(({ type }) => type === "text-delta")
    return UiMessageStream.fromEvents([
      ...events.slice(0, last).filter(({ type }) => before.includes(type)),
      { ...origin, type: "events-lost", transcript: [], text: "all is" },
      { ...origin, type: "text-delta", text: " well" },
      ...events.slice(last + 1)
    ])
  })

const line = (chunk: UiMessageStream.Chunk) => ("delta" in chunk ? `${chunk.type} ${chunk.delta}` : chunk.type)

const rest = ["text-start", "text-delta all is", "text-delta  well", "text-end", "finish-step", "finish"]

it.effect("a message without its beginning begins with the text so far [P1542]", () =>
  Effect.map(chunksOf([]), (chunks) => {
    assert.deepStrictEqual(chunks.map(line), ["start", "start-step", ...rest])
  })
)

it.effect("a message that lacks its middle is written anew from its step on [P1542]", () =>
  Effect.map(chunksOf(["run-start", "model-start", "text-delta"]), (chunks) => {
    const before = ["start", "start-step", "text-start", "text-delta all is", "reset-step"]
    assert.deepStrictEqual(chunks.map(line), [...before, ...rest])
  })
)
