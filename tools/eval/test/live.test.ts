/** `npm run eval -- --live`, with a loopback server in the place of the service. */
import { assert, describe, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import { AnyWire, LoopbackServer } from "@kintsugi/providers/testing"
import { ConfigProvider, Effect, Schema } from "effect"
import { Draw } from "../../soak/src/Draw.ts"
import { run } from "../src/program.ts"
import type { ProviderName } from "../src/providers.ts"
import { defaults } from "../src/rates.ts"
import { scenarios } from "../src/scenarios.ts"
import { parse } from "../src/settings.ts"
import * as StandIn from "../src/standIn.ts"

const key = "sk-live-51H8zQwErTyUiOpAsDfGh"

/** Asked for what is certain only. */
const draw = new Draw(1)

/** The stand-in behind a real server: it corrects each failure that it reads. */
const served = LoopbackServer.make(
  AnyWire.handler(
    ({ messages, toolChoice, tools }) =>
      Effect.sync(() => {
        const transcript = Message.repair(messages)
        const said = JSON.stringify(transcript)
        const scenario = scenarios.find(({ asked }) => said.includes(asked)) ?? scenarios[0]
        assert.isDefined(scenario)
        const rates = { ...defaults, corrects: 1, guesses: 1, mends: 1, invents: 0 }
        return StandIn.reply({ messages: transcript, tools, toolChoice }, scenario, rates, draw)
      }),
    { apiKey: key }
  )
)

const providers: Readonly<Record<ProviderName, readonly [variable: string, path: string]>> = {
  anthropic: ["ANTHROPIC_API_KEY", ""],
  deepseek: ["DEEPSEEK_API_KEY", ""],
  gemini: ["GEMINI_API_KEY", ""],
  kimi: ["MOONSHOT_API_KEY", "/v1"],
  ollama: ["OLLAMA_API_KEY", ""],
  openai: ["OPENAI_API_KEY", "/v1"],
  "openai-responses": ["OPENAI_API_KEY", "/v1"],
  openrouter: ["OPENROUTER_API_KEY", "/v1"]
}

/** Runs a command line in an environment, and gives what it said. */
const said = (command: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const texts = { written: "", complained: "", noted: "", progress: "" }
    const code = yield* run(parse(command), {
      write: (text) => void (texts.written += text),
      complain: (text) => void (texts.complained += text),
      progress: (text) => void (texts.progress += text),
      keep: (page) => void (texts.noted += page),
      date: "2026-11-21"
    }).pipe(Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(env)))
    return { code, ...texts }
  })

const Json = Schema.fromJsonString(
  Schema.Struct({
    asked: Schema.Struct({ type: Schema.String, provider: Schema.String, model: Schema.String }),
    report: Schema.Struct({
      sound: Schema.Struct({ rate: Schema.Finite }),
      policies: Schema.Array(
        Schema.Struct({
          policy: Schema.String,
          healed: Schema.Struct({ of: Schema.Finite, count: Schema.Finite })
        })
      ),
      spent: Schema.Struct({ runs: Schema.Finite, planned: Schema.Finite, tokens: Schema.Finite })
    })
  })
)

const few = "--scenario=missing-field,truncated,single-quotes,code-fence,unknown-tool,nested-as-text"

describe("live", () => {
  for (const [provider, [variable, path]] of Object.entries(providers)) {
    it.live(`breaks the calls of any model on their way, and counts what is healed: ${provider}`, () =>
      Effect.gen(function* () {
        const { requests, url } = yield* served
        // calls of this one are signed, and what was damaged is not what was signed
        const model = provider === "gemini" ? "gemini-3-pro" : "any"
        const where = [`--provider=${provider}`, `--model=${model}`, `--base-url=${url}${path}`]
        const command = ["--live", ...where, few, "--policy=none,tell,fix-agent", "--json"]
        const { code, complained, progress, written } = yield* said(command, { [variable]: key })
        assert.strictEqual(complained, "")
        assert.strictEqual(code, 0)
        const { asked, report } = yield* Schema.decodeUnknownEffect(Json)(written)
        assert.deepStrictEqual(asked, { type: "live", provider, model })
        assert.strictEqual(report.sound.rate, 1)
        assert.deepStrictEqual(
          report.policies.map(({ healed, policy }) => [policy, healed.count, healed.of]),
          [
            ["none", 0, 6],
            ["tell", 6, 6],
            // of a name that is no tool there is nothing to repair
            ["fix-agent", 5, 6]
          ]
        )
        assert.strictEqual(report.spent.runs, 24)
        assert.isAbove(report.spent.tokens, 1000)
        assert.isAbove((yield* requests).length, 40)
        assert.strictEqual(progress.split("\n").length, 7)
        assert.notInclude(written + progress, key)
      })
    )
  }

  it.live("stops at its limit of spending, and reports it", () =>
    Effect.gen(function* () {
      const { url } = yield* served
      const command = ["--live", "--provider=anthropic", "--model=any", `--base-url=${url}`, few, "--max-tokens=4000"]
      const { code, written } = yield* said(command, { ANTHROPIC_API_KEY: key })
      assert.strictEqual(code, 0)
      assert.match(written, /stopped at the limit of spending, after \d of \d+ runs/)
      const priced = [...command.slice(0, -1), "--price=1000,1000", "--max-cost=3"]
      assert.match((yield* said(priced, { ANTHROPIC_API_KEY: key })).written, /stopped at the limit of spending/)
    })
  )

  it.live("ends at once where no model can be called, and shows no key", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* served
      const command = ["--live", "--provider=anthropic", "--model=any", `--base-url=${url}`]
      const wrong = yield* said(command, { ANTHROPIC_API_KEY: `${key}-wrong` })
      assert.strictEqual(wrong.code, 1)
      assert.strictEqual(wrong.written, "")
      assert.match(wrong.complained, /^error: .*key/i)
      assert.notInclude(wrong.complained, key)
      assert.strictEqual((yield* requests).length, 1)
      const none = yield* said(command, {})
      assert.strictEqual(none.code, 1)
      assert.match(none.complained, /ANTHROPIC_API_KEY/)
      assert.strictEqual((yield* requests).length, 1)
    })
  )

  it.live("ends at once where no server is there", () =>
    Effect.gen(function* () {
      // the port of a server that is gone
      const { url } = yield* Effect.scoped(served)
      const command = ["--live", "--provider=ollama", "--model=any", `--base-url=${url}`]
      const { code, complained, progress, written } = yield* said(command, {})
      assert.deepStrictEqual([code, written, progress], [1, "", ""])
      assert.match(complained, /^error: .*connection/i)
    })
  )
})
