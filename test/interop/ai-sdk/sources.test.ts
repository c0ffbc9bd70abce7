/** The sources of a text in a UI message. */
import { assert } from "@effect/vitest"
import { Agent, Message, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as UiMessageStream from "@kintsugi/interop/UiMessageStream"
import { Effect, type Schema } from "effect"
import { eventLog } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { sourcesOf } from "../../../packages/interop/src/ai-sdk/sources.ts"

const item = (kind: string, data: Schema.Json): Message.ProviderItem => ({
  type: "provider-item",
  kind,
  opaque: { provider: "p", data }
})

const url = "https://a.test/1"
const other = "https://a.test/2"

/** Each wire has its own form. */
const forms: ReadonlyArray<readonly [string, Message.ProviderItem, ReadonlyArray<readonly [string, string?]>]> = [
  ["annotations", item("annotations", [{ type: "url_citation", url_citation: { url, title: "A" } }]), [[url, "A"]]],
  [
    "responses",
    item("message", { id: "msg_1", annotations: [{ type: "url_citation", url, title: "A" }] }),
    [[url, "A"]]
  ],
  [
    "Anthropic",
    item("citations", [{ type: "web_search_result_location", url, title: "A", cited_text: "so" }]),
    [[url, "A"]]
  ],
  [
    "Gemini",
    item("groundingMetadata", {
      webSearchQueries: ["q"],
      groundingChunks: [{ web: { uri: url, title: "A" } }, { web: { uri: other } }]
    }),
    [[url, "A"], [other]]
  ],
  [
    "Perplexity",
    item("sources", { citations: [url, other], search_results: [{ title: "A", url }] }),
    [[url, "A"], [other]]
  ],
  ["effect/ai", item("source", { part: { type: "source", sourceType: "url", url, title: "A" } }), [[url, "A"]]],
  ["a search that no text cites", item("web_search_tool_result", { content: [{ url, title: "A" }] }), []],
  ["what is no page", item("citations", [{ url: "javascript:alert(1)" }, { url: 1 }, { document_title: "x" }]), []]
]

for (const [of, source, pages] of forms) {
  it.run(`the sources of a text are chunks behind it, each once: ${of} [P1407]`, (run) =>
    Effect.gen(function* () {
      const content = [Message.text("so"), source, source]
      const usage = Usage.make({ inputTokens: 1 })
      const model = yield* ScriptedModel.make(ScriptedModel.replies({ content, finish: "stop", usage }))
      const log = eventLog()
      yield* run(Agent.make("a", { model: model.layer }).pipe(log.listen), "go")
      const chunks = UiMessageStream.fromEvents(log.all)
      const types = chunks.map(({ type }) => type)
      const sources = chunks.filter((chunk) => chunk.type === "source-url")
      assert.deepStrictEqual<unknown>(
        sources,
        pages.map(([page, title]) => ({
          type: "source-url",
          sourceId: page,
          url: page,
          ...(title === undefined ? {} : { title })
        }))
      )
      if (pages.length > 0) assert.isBelow(types.indexOf("text-end"), types.indexOf("source-url"))
      assert.isBelow(types.lastIndexOf("source-url"), types.indexOf("finish-step"))
    })
  )
}

const citing = (data: Schema.Json, kind = "citations") => sourcesOf([item(kind, data)])

it("a source is a page of the web in an item that names sources, once, with the last title [P1407]", () => {
  for (const kind of [
    "annotations",
    "sources",
    "message",
    "citations",
    "groundingMetadata",
    "citationMetadata",
    "source"
  ])
    assert.deepStrictEqual(citing({ url }, kind), [{ url }])
  for (const kind of ["text", "web_search_tool_result", ""]) assert.deepStrictEqual(citing({ url }, kind), [])
  const page = (title?: Schema.Json, at: Schema.Json = url) => ({ url: at, ...(title === undefined ? {} : { title }) })
  assert.deepStrictEqual(citing([page("A"), page(), page("B"), page("")]), [{ url, title: "B" }])
  assert.deepStrictEqual(citing([page(), page("A")]), [{ url, title: "A" }])
  assert.deepStrictEqual(citing([page(5), page("A", "HTTP://a.test"), page("A", `x ${url}`), page("A", "")]), [
    { url },
    { url: "HTTP://a.test", title: "A" }
  ])
  assert.deepStrictEqual(
    citing([
      { url: "", uri: url },
      { url, uri: other }
    ]),
    [{ url }]
  )
  assert.deepStrictEqual(citing({ citations: url, other: [url] }), [])
  assert.deepStrictEqual(citing({ citations: [url, 5, { url: other }] }), [{ url }, { url: other }])
})

it("a source is found on six levels, and no deeper [P1407]", () => {
  const nested = (levels: number): Schema.Json =>
    Array.from({ length: levels - 1 }).reduce((inner: Schema.Json) => [inner], { url })
  assert.deepStrictEqual(citing(nested(6)), [{ url }])
  assert.deepStrictEqual(citing(nested(7)), [])
})
