/** Every recorded answer of other hosts, over a real connection, read by the module or dialect of the host. */
import { assert, describe, it } from "@effect/vitest"
import type { Model } from "@kintsugi/core"
import { Gemini, Kimi, Perplexity, Transport } from "@kintsugi/providers"
import * as OpenAiCompatible from "@kintsugi/providers/OpenAiCompatible"
import { Effect, Exit, Layer, Redacted } from "effect"
import { checkError, checkReply, collect, errorOfExit, generate, replay, usageOf } from "../_support/replay.ts"
import { type Fixture, ofHosts } from "../../_support/wireFixtures.ts"
import { deviations, hostFixtures } from "./_support/hostFixtures.ts"

const apiKey = Redacted.make("sk-test-1234")
type LayerAt = (options: {
  readonly baseUrl: string
  readonly api: Fixture["api"]
}) => Layer.Layer<Model.Model, never, Transport.HttpClient>

const base = { model: "m", apiKey, transport: { retry: false } } as const

const at =
  (host: Parameters<typeof OpenAiCompatible.layer>[0]): LayerAt =>
  ({ api, baseUrl }) =>
    api === "openai-responses"
      ? OpenAiCompatible.layerResponses(host, { ...base, baseUrl })
      : OpenAiCompatible.layer(host, { ...base, baseUrl })

/** The module or the dialect of each recorded host, and the provider that its errors name. */
const hosts: ReadonlyArray<readonly [host: string, provider: string, layer: LayerAt]> = [
  ["", "gpustack", at({ provider: "gpustack", variables: { baseUrl: "GPUSTACK_BASE_URL" }, dialect: {} })],
  ["ai-sdk-alibaba", "alibaba", at("alibaba")],
  ["ai-sdk-azure", "azure", at("azure")],
  ["ai-sdk-cerebras", "cerebras", at("cerebras")],
  ["ai-sdk-groq", "groq", at("groq")],
  ["ai-sdk-mistral", "mistral", at("mistral")],
  ["ai-sdk-moonshotai", "kimi", ({ baseUrl }) => Kimi.layer({ ...base, baseUrl })],
  ["ai-sdk-open-responses", "lmstudio", at("lmStudio")],
  ["ai-sdk-openai-compatible", "xai", at("xai")],
  ["ai-sdk-perplexity", "perplexity", ({ baseUrl }) => Perplexity.layer({ ...base, api: "chat", baseUrl })],
  ["ai-sdk-xai", "xai", at("xai")],
  [
    "aiplatform.googleapis.com",
    "vertex",
    ({ baseUrl }) => Gemini.layer({ ...base, host: "vertex", bearer: true, baseUrl })
  ],
  ["api.cerebras.ai", "cerebras", at("cerebras")],
  ["api.groq.com", "groq", at("groq")],
  ["api.mistral.ai", "mistral", at("mistral")],
  ["api.x.ai", "xai", at("xai")],
  ["api.z.ai", "zai", at("zai")],
  ["bedrock-mantle.<AWS_REGION>.api.aws", "bedrock", at("bedrock")],
  ["bedrock-mantle.REGION.api.aws", "bedrock", at("bedrock")],
  ["openai.azure.com", "azure", at("azure")],
  ["router.huggingface.co", "huggingface", at("huggingFace")],
  ["services.ai.azure.com", "azure", at("azure")],
  ["us.inference.heroku.com", "heroku", at("heroku")]
]

const hostOf = ({ host = "" }: Fixture) => {
  const found = hosts.find(([name]) => name === host)
  assert(found !== undefined, `no module reads the answers of ${host}`)
  return found
}

const check = (fixture: Fixture, exit: Exit.Exit<Effect.Success<typeof collect>, Effect.Error<typeof collect>>) => {
  const { error, usage } = fixture.expected
  if (error === undefined) {
    assert(Exit.isSuccess(exit), String(exit))
    checkReply(exit.value, fixture)
    // what xAI charges; Azure has a zero in its place
    const ticks = Number(/"cost_in_usd_ticks": ?(\d+)/.exec(fixture.body)?.[1] ?? 0)
    return assert.strictEqual(exit.value.cost, ticks === 0 ? undefined : ticks / 1e10)
  }
  const failure = errorOfExit(exit)
  checkError(failure, error)
  assert.strictEqual(failure.status, fixture.status)
  assert.strictEqual(failure.provider, hostOf(fixture)[1])
  if (usage !== undefined) assert.deepStrictEqual(failure.usage, usageOf(fixture.api, usage))
}

describe("recorded answers of hosts", () => {
  for (const fixture of hostFixtures) {
    it.live(`reads ${fixture.id} [A114 A811 A814 P1414]`, () =>
      Effect.gen(function* () {
        const at = (baseUrl: string) =>
          Layer.provide(hostOf(fixture)[2]({ api: fixture.api, baseUrl }), Transport.layerFetch)
        if (!fixture.streaming) return check(fixture, yield* replay(fixture, generate, "whole", undefined, at))
        for (const split of ["event", { every: 97 }] as const) {
          check(fixture, yield* replay(fixture, collect, split, undefined, at))
        }
      })
    )
  }

  it("there are 138, and where the bytes say something else, the independent reader says it otherwise [P1414]", () => {
    assert.strictEqual(hostFixtures.length, 138)
    const before = new Map(ofHosts().map((fixture) => [fixture.id, fixture]))
    for (const [id, expected] of deviations.flatMap(({ of }) => of)) {
      assert.notDeepEqual(before.get(id)?.expected, { ...before.get(id)?.expected, ...expected }, id)
    }
  })
})
