/** Plays the scenarios with each provider whose key is there, one after the other. */
import { Model } from "@kintsugi/core"
import * as Redaction from "@kintsugi/core/Redaction"
import { Transport } from "@kintsugi/providers"
import { Recording } from "@kintsugi/providers/testing"
import { Config, Effect, Exit, Layer, Option, Redacted } from "effect"
import * as Cause from "effect/Cause"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { type ProviderName, providerNames, providerOf } from "./providers.ts"
import * as Records from "./records.ts"
import type { Scenario, Subject } from "./scenario.ts"
import { modelsOf, type Settings } from "./settings.ts"
import * as Table from "./table.ts"

export interface Io {
  readonly write: (text: string) => void
  /** What happens meanwhile. */
  readonly progress: (text: string) => void
}

/** Where a model is, and with which key. */
interface Reach {
  readonly apiKey: Redacted.Redacted
  readonly baseUrl: string | undefined
}

/** 0: all as before. 1: a scenario failed, or an answer differs from the last record. */
export const run = (settings: Settings, io: Io): Effect.Effect<number, Config.ConfigError> =>
  Effect.gen(function* () {
    const secrets = yield* Effect.map(Effect.forEach(providerNames, keyOf), (keys) => keys.filter((key) => key !== ""))
    const columns: Array<Table.Column> = []
    for (const provider of settings.providers) {
      const reach = yield* reachOf(settings, provider)
      if (typeof reach === "string") {
        io.write(`${provider} is skipped: ${reach}\n`)
        continue
      }
      for (const model of modelsOf(settings, provider)) {
        io.progress(`${provider} ${model} …\n`)
        const cells = yield* Effect.forEach(settings.scenarios, (scenario) =>
          played(settings, provider, model, reach, scenario, secrets)
        )
        columns.push({ title: `${provider} ${model}`, cells })
      }
    }
    if (columns.length === 0) return 0
    io.write(Redaction.of(secrets, { short: true })(Table.render(columns)))
    return columns.every(({ cells }) => cells.every(Table.isFine)) ? 0 : 1
  })

/** A variable; empty if it is not set. */
const variable = (name: string): Effect.Effect<string, Config.ConfigError> =>
  Effect.map(
    Effect.suspend(() => Config.option(Config.String(name))),
    Option.getOrElse(() => "")
  )

const keyOf = (provider: ProviderName) => variable(providerOf(provider).key)

/** Where the provider is; a sentence if it cannot be asked. */
const reachOf = (settings: Settings, provider: ProviderName): Effect.Effect<Reach | string, Config.ConfigError> =>
  Effect.gen(function* () {
    const { baseUrl, isKeyOptional = false, key } = providerOf(provider)
    const [apiKey, url] = yield* Effect.all([variable(key), variable(baseUrl)])
    if (apiKey === "" && !isKeyOptional) return `${key} is not set.`
    if (apiKey === "" && !settings.isNamed && url === "") {
      return `it runs at home, so it is asked where ${baseUrl} is set or --provider names it.`
    }
    return { apiKey: Redacted.make(apiKey), baseUrl: settings.baseUrl ?? (url === "" ? undefined : url) }
  })

const played = (
  settings: Settings,
  provider: ProviderName,
  model: string,
  reach: Reach,
  scenario: Scenario,
  secrets: ReadonlyArray<string>
): Effect.Effect<Table.Cell> =>
  Effect.gen(function* () {
    const folder = join(settings.records, provider, Records.slug(model))
    mkdirSync(folder, { recursive: true })
    const file = join(folder, `${Records.slug(scenario.name)}.json`)
    const recorded = `${file}.new`
    const options = { secrets: secrets.map((secret) => Redacted.make(secret)) }
    const recording = Layer.provide(Recording.record(recorded, options), Transport.layerFetch)
    const exit = yield* Effect.exit(
      Effect.provide(scenario.play(subjectOf(settings, provider, model, reach)), Layer.orDie(recording))
    )
    const { note, state } = judged(exit)
    const { isPartial = false, name } = scenario
    const record = Records.settle(file, recorded, secrets, { isPartial, isFailed: state === "fails" })
    return { scenario: name, state, note, record }
  })

const judged = (
  exit: Exit.Exit<string, { readonly _tag: string; readonly message: string }>
): Pick<Table.Cell, "state" | "note"> => {
  if (Exit.isSuccess(exit)) return { state: "ok", note: exit.value }
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  if (error === undefined) return { state: "fails", note: Cause.pretty(exit.cause) }
  if (error._tag === "CapabilityMismatchError") return { state: "not offered", note: error.message }
  return { state: "fails", note: error._tag === "Unexpected" ? error.message : `${error._tag}: ${error.message}` }
}

const subjectOf = (
  { isSentOnce, tooLong }: Settings,
  provider: ProviderName,
  model: string,
  reach: Reach
): Subject => ({
  tooLong,
  model: ({ apiKey = reach.apiKey, maxTokens = 4096, name = model, reasoning } = {}) =>
    Effect.provide(
      Model.Model,
      providerOf(provider).layer({
        model: name,
        apiKey,
        maxTokens,
        ...(isSentOnce ? { transport: { retry: false } } : {}),
        ...(reach.baseUrl === undefined ? {} : { baseUrl: reach.baseUrl }),
        ...(reasoning === undefined ? {} : { reasoning })
      })
    )
})
