/** Every recorded answer of other hosts, over a real connection, read by the module of its wire. */
import { assert, describe, it } from "@effect/vitest"
import { Gemini, OpenAi, Transport } from "@kintsugi/providers"
import { Effect, Exit, Layer, Redacted } from "effect"
import { checkError, checkReply, collect, errorOfExit, generate, replay, usageOf } from "../_support/replay.ts"
import { type Fixture, ofHosts } from "../../_support/wireFixtures.ts"
import { deviations, hostFixtures } from "./_support/hostFixtures.ts"

const apiKey = Redacted.make("sk-test-1234")
const transport = { retry: false } as const

const modelAt = ({ api }: Fixture, baseUrl: string) => {
  const options = { model: "m", apiKey, baseUrl, transport }
  const layer =
    api === "gemini"
      ? Gemini.layer(options)
      : api === "openai-responses"
        ? OpenAi.layerResponses(options)
        : OpenAi.layer(options)
  return Layer.provide(layer, Transport.layerFetch)
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
  if (usage !== undefined) assert.deepStrictEqual(failure.usage, usageOf(fixture.api, usage))
}

describe("recorded answers of hosts", () => {
  for (const fixture of hostFixtures) {
    it.live(`reads ${fixture.id} [A114 A811 A814 P1414]`, () =>
      Effect.gen(function* () {
        const at = (url: string) => modelAt(fixture, url)
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
