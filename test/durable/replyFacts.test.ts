/** What replies say about themselves, in the rows of a durable run. */
import { assert, it } from "@effect/vitest"
import { Message, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Effect, Stream } from "effect"
import { clusterOfRows } from "./_support/cluster.ts"
import { options, passing, writer } from "./_support/logs.ts"

// Finds out nothing of its own: its subject is the schemas of replies and events of core
it.effect(
  "the rows of a durable run keep the facts and the sources of a reply, of the activity and in the log [P1407]",
  () =>
    Effect.gen(function* () {
      const facts = { responseId: "resp_1", requestId: "req_1", rawFinish: "end_turn", serviceTier: "flex" }
      const sources: Message.ProviderItem = {
        type: "provider-item",
        kind: "annotations",
        opaque: { provider: "scripted", data: [{ type: "url_citation", url_citation: { url: "https://a.test" } }] }
      }
      const usage = Usage.make({ inputTokens: 3, outputTokens: 2 })
      const content = [Message.text("so"), sources]
      const model = yield* ScriptedModel.make(ScriptedModel.replies({ content, finish: "stop", usage, ...facts }))
      const durable = Durable.workflow(writer(model.layer), { name: "writer", ...options })
      const { driver, join } = yield* clusterOfRows
      const { context } = yield* join(durable.layer)
      yield* passing(4)
      const id = yield* Effect.provideContext(Durable.start(durable, { id: "one", input: "go" }), context)
      yield* passing(8)
      const events = yield* Effect.provideContext(Stream.runCollect(Durable.events(durable, id)), context)
      const end = events.find(({ type }) => type === "model-end")
      assert(end?.type === "model-end")
      assert.deepInclude(end.reply, { ...facts, content })
      const activities = [...driver.requests.values()].filter(
        ({ envelope }) => envelope._tag === "Request" && envelope.tag === "activity"
      )
      const rows = JSON.stringify(activities.map(({ replies }) => replies))
      for (const fact of [...Object.values(facts), "url_citation"]) assert.include(rows, fact)
    })
)
