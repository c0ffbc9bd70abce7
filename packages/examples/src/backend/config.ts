/** The configuration, from the environment. */
import type { Model } from "@kintsugi/core"
import * as AgentRuns from "@kintsugi/interop/AgentRuns"
import { Anthropic, Gemini, OpenAi, OpenRouter, Resilience } from "@kintsugi/providers"
import { Config, Duration, Effect, Layer, Option, Redacted, Schema } from "effect"
import { Access, localHosts } from "./access.ts"
import * as Running from "./running.ts"
import * as StandIn from "./standIn.ts"

/** 0 takes a free port. */
const port = Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 0, maximum: 65_535 }))

const positive = Schema.FiniteFromString.check(Schema.isInt(), Schema.isGreaterThan(0))

/** The address of the server, and how long requests may go on once it stops. */
export const listening = Config.all({
  port: Config.withDefault(Config.schema(port, "PORT"), 3000),
  host: Config.withDefault(Config.NonEmptyString("HOST"), "127.0.0.1"),
  gracefulShutdownTimeout: Config.withDefault(Config.Duration("DRAIN"), Duration.seconds(20))
})

/** Long enough not to be guessed in a day. */
const Token = Schema.Redacted(Schema.String.check(Schema.isMinLength(16)))

/** Names and tokens, as `ada=<token>,bob=<token>`. */
const Customers = Schema.Redacted(Schema.String.check(Schema.isPattern(/^\w+=[^\s,=]{16,}(?:,\w+=[^\s,=]{16,})*$/)))

/** The names of the server, and the tokens of its customers and of those who decide. */
export const access = Effect.gen(function* () {
  const hosts = yield* Config.withDefault(Config.String("HOSTS"), "")
  const given = hosts.split(",").map((name) => name.trim().toLowerCase())
  const token = Option.getOrUndefined(yield* Config.option(Config.schema(Token, "APPROVAL_TOKEN")))
  if (token === undefined) yield* Effect.logWarning("APPROVAL_TOKEN is not set: no decision about an approval is taken")
  const listed = Option.getOrUndefined(yield* Config.option(Config.schema(Customers, "CUSTOMER_TOKENS")))
  const customers = listed === undefined ? [] : Redacted.value(listed).split(",").map(customerIn)
  if (customers.length === 0) yield* Effect.logWarning("CUSTOMER_TOKENS is not set: all requests are of one customer")
  return { hosts: new Set([...localHosts, ...given.filter((name) => name !== "")]), token, customers }
})

const customerIn = (entry: string) => {
  const [name = "", token = ""] = entry.split("=", 2)
  return { name, token: Redacted.make(token) }
}

export const layerAccess = Layer.effect(Access, access)

/** How long runs wait for a decision, and how many at a time. */
export const layerSuspended = Layer.unwrap(
  Effect.map(
    Config.all({
      maxAge: Config.withDefault(Config.Duration("WAITING_AGE"), Duration.days(7)),
      maxRuns: Config.withDefault(Config.schema(positive, "WAITING_COUNT"), 1000)
    }),
    AgentRuns.layerSuspendedMemory
  )
)

/** How many chats are at work at a time; further ones are refused with 429. */
export const layerRunning = Layer.unwrap(
  Effect.map(Config.withDefault(Config.schema(positive, "CHATS_AT_WORK"), 1000), Running.layer)
)

/** The first provider whose key is set. */
const providers = [
  ["OPENAI_API_KEY", OpenAi.model],
  ["ANTHROPIC_API_KEY", Anthropic.model],
  ["GEMINI_API_KEY", Gemini.model],
  ["OPENROUTER_API_KEY", OpenRouter.model]
] as const

/** There is a key, but which model? Names come and go, and each has its price: none is guessed. */
export class ModelNotNamed extends Schema.TaggedError<ModelNotNamed>()("ModelNotNamed", { key: Schema.String }) {
  override get message(): string {
    return `set MODEL: ${this.key} is set, and MODEL has to name a model of that provider`
  }
}

/** An empty variable counts as missing. */
const isSet = (name: string) =>
  Config.Redacted(name).pipe(
    Config.withDefault(Redacted.make("")),
    Config.map(Redacted.value),
    Config.map((text) => text !== "")
  )

/** How many calls of the model are at work at a time; others wait. A stream counts until its end. */
const concurrency = Config.withDefault(Config.schema(positive, "MODEL_CONCURRENCY"), 32)

/** A real model, guarded for all requests together; without any key, one that only stands in. */
export const layerModel: Layer.Layer<Model.Model, Config.ConfigError | ModelNotNamed> = Layer.unwrap(
  Effect.gen(function* () {
    for (const [key, model] of providers) {
      if (!(yield* isSet(key))) continue
      if (!(yield* isSet("MODEL"))) return yield* new ModelNotNamed({ key })
      const guard = yield* Resilience.make({
        breaker: { failures: 5, openFor: "30 seconds" },
        concurrency: yield* concurrency
      })
      return guard(model(yield* Config.String("MODEL")))
    }
    yield* Effect.logWarning("no key of a provider is set: a stand-in answers")
    return StandIn.layerSlow
  })
)
