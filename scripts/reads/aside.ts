/** What a model reads of results that are put aside: each text comes out of a run. */
import type { Message } from "@kintsugi/core"
import { Agent, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Logger, Schema } from "effect"
import type { ReadText } from "./texts.ts"

const { call, calls, make, reply, text } = ScriptedModel

const weather = (...results: ReadonlyArray<string>) => {
  let nth = 0
  return Tool.make("weather", {
    description: "The weather in a city.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    putAside: Tool.putAside({ above: 60 }),
    run: () => Effect.sync(() => results[nth++] ?? "")
  })
}

const long = "rain in the morning, sun at noon, rain in the evening, and snow at night"

/** More than half of what a run keeps. */
const half = "x".repeat(20 * 1024 * 1024)

const resultsOf = (messages: Message.Transcript): ReadonlyArray<string> =>
  messages.flatMap((message) =>
    message.role === "assistant"
      ? message.content.flatMap((part) => (part.type === "settled-call" ? [part.settlement.text] : []))
      : []
  )

/** The last result of a run that calls the tool for each of these texts, and reads a part of the first result, if it does. */
const lastOf = (
  when: string,
  results: ReadonlyArray<string>,
  params?: { readonly handle?: string; readonly from?: number; readonly length?: number },
  store?: Tool.ResultStore
): Effect.Effect<ReadText> =>
  Effect.gen(function* () {
    const reading = ScriptedModel.answers(({ messages }) => {
      const handle = /handle: "([^"]+)"/.exec(resultsOf(messages)[0] ?? "")?.[1] ?? ""
      return Effect.succeed(reply({ content: [call("read_result", { handle, ...params }, "r")] }))
    })
    const looks = results.map((_, index) => calls(call("weather", {}, `c${index}`)))
    const model = yield* make(...looks, ...(params === undefined ? [] : [reading]), text("done"))
    const agent = Agent.make("clerk", { tools: [weather(...results)] }).pipe(Agent.withRunId("run"))
    yield* Effect.orDie(agent("go")).pipe(
      Effect.provide(model.layer),
      Effect.provideService(Tool.ResultStore, store),
      Effect.provide(Logger.layer([]))
    )
    return { when, text: resultsOf(model.requests.at(-1)?.messages ?? []).at(-1) ?? "" }
  }).pipe(Effect.scoped)

const lost: Tool.ResultStore = { put: () => Effect.void, get: () => Effect.fail("lost") }
const full: Tool.ResultStore = { put: () => Effect.fail("full"), get: () => Effect.undefined }

/** Of results that are put aside. */
export const ofAside: Effect.Effect<ReadonlyArray<ReadText>> = Effect.all([
  lastOf("A result that is put aside", [long]),
  lastOf("A page of it", [long], { from: 21, length: 11 }),
  lastOf("Its last page", [long], { from: 55 }),
  lastOf("A page after the end", [long], { from: 100 }),
  lastOf("An unknown handle", [long], { handle: "x" }),
  lastOf("A result that the store removed", [half, half], { length: 10 }),
  lastOf("A result that the store cannot read", [long], {}, lost),
  lastOf("A result that the store cannot keep", [long], undefined, full)
])
