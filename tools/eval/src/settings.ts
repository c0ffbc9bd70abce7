/** The command line of the evaluation. */
import type { Budget } from "@kintsugi/core"
import { amount, chosen, count, flag, read, text, url, Usage } from "../../../scripts/commandLine.ts"
import { type Policy, policies } from "./policies.ts"
import { type ProviderName, providerNames } from "./providers.ts"
import { defaults, type Rates } from "./rates.ts"
import type { Scenario } from "./scenario.ts"
import { scenarios } from "./scenarios.ts"

/** Which model is asked. */
export type Asked =
  | { readonly type: "stand-in" }
  | { readonly type: "live"; readonly provider: ProviderName; readonly model: string; readonly baseUrl?: string }

/** What is to be done. */
export interface Settings {
  readonly asked: Asked
  readonly scenarios: ReadonlyArray<Scenario>
  readonly policies: ReadonlyArray<Policy>
  readonly runs: number
  readonly seed: number
  /** Of a real model, only `breaks` counts. */
  readonly rates: Rates
  readonly price: Budget.Price | undefined
  readonly maxTokens: number
  readonly maxCost: number
  readonly isJson: boolean
  readonly isWritten: boolean
}

/** What live runs may take together, if nothing else is said: two runs of each scenario under each policy, or so. */
const liveTokens = 500_000

/** In dollars per million tokens: the order of a larger model in 2026. What it costs in truth, `--price` says. */
const assumedPrice: Budget.Price = { usdPerMillionTokens: { input: 3, output: 15 } }

const help = `npm run eval -- [options]

Breaks tool calls, tools and replies in known ways, and counts how often each recovery policy makes up for it.

  --runs=N           runs of each scenario under each policy (25; live: 1)
  --seed=N           the seed of all choices (1)
  --scenario=A,B     these scenarios only
  --policy=A,B       these policies only
  --price=IN,OUT     what a million tokens cost (3,15; live: unknown)
  --json             the report as JSON
  --write            writes docs/reports/eval.md

Of the stand-in, shares from 0 to 1 (see docs/reports/eval.md):
  ${Object.entries(defaults)
    .map(([name, value]) => `--${name}=${value}`)
    .join(" ")}

With a real model, whose key is read from the environment, as in docs/guide/providers.md:
  --live --provider=${providerNames.join("|")}
  --model=NAME
  --base-url=URL     where it is, if not at the provider itself
  --max-tokens=N     no run begins beyond it (${liveTokens})
  --max-cost=N       the same by --price (unlimited)
`

const rateNames: ReadonlyArray<keyof Rates> = ["breaks", "corrects", "guesses", "claims", "mends", "invents"]

/** Reads a command line; throws `Usage`. */
export const parse = (parameters: ReadonlyArray<string>): Settings => {
  const given = valuesOf(parameters)
  const asked = askedOf(given)
  const isLive = asked.type === "live"
  if (given.write && (isLive || given.scenario !== undefined || given.policy !== undefined)) {
    throw new Usage("--write is for all scenarios and policies with the stand-in")
  }
  if (!isLive && (given["max-tokens"] !== undefined || given["max-cost"] !== undefined)) {
    throw new Usage("--max-tokens and --max-cost are for --live: the stand-in costs nothing")
  }
  if (given["max-cost"] !== undefined && given.price === undefined) throw new Usage("--max-cost needs --price=IN,OUT")
  return {
    asked,
    scenarios: chosen("scenario", given.scenario, byName(scenarios)),
    policies: chosen("policy", given.policy, byName(policies)),
    runs: count("runs", given.runs ?? (isLive ? "1" : "25")),
    seed: amount("seed", given.seed ?? "1"),
    rates: ratesOf(given, isLive),
    price: given.price === undefined ? (isLive ? undefined : assumedPrice) : priceOf(given.price),
    maxTokens: isLive ? count("max-tokens", given["max-tokens"] ?? String(liveTokens)) : Infinity,
    maxCost: given["max-cost"] === undefined ? Infinity : amount("max-cost", given["max-cost"]),
    isJson: given.json,
    isWritten: given.write
  }
}

type Given = ReturnType<typeof valuesOf>

const valuesOf = (parameters: ReadonlyArray<string>) =>
  read(parameters, help, {
    json: flag,
    write: flag,
    live: flag,
    runs: text,
    seed: text,
    scenario: text,
    policy: text,
    price: text,
    provider: text,
    model: text,
    "base-url": text,
    "max-tokens": text,
    "max-cost": text,
    breaks: text,
    corrects: text,
    guesses: text,
    claims: text,
    mends: text,
    invents: text
  })

const askedOf = (given: Given): Asked => {
  if (!given.live) {
    for (const name of ["provider", "model", "base-url"] as const) {
      if (given[name] !== undefined) throw new Usage(`--${name} needs --live`)
    }
    return { type: "stand-in" }
  }
  const provider = providerNames.find((name) => name === given.provider)
  if (provider === undefined) throw new Usage(`--live needs --provider=${providerNames.join("|")}`)
  if (given.model === undefined || given.model === "") throw new Usage("--live needs --model=NAME")
  const where = given["base-url"] === undefined ? {} : { baseUrl: url("base-url", given["base-url"]) }
  return { type: "live", provider, model: given.model, ...where }
}

const ratesOf = (given: Given, isLive: boolean): Rates => {
  const rates = { ...defaults }
  for (const name of rateNames) {
    if (given[name] === undefined) continue
    if (isLive && name !== "breaks") throw new Usage(`--${name} is for the stand-in: a real model does as it does`)
    rates[name] = shareOf(name, given[name])
  }
  return rates
}

const byName = <A extends { readonly name: string }>(all: ReadonlyArray<A>) =>
  all.map((one) => [one.name, one] as const)

const shareOf = (option: string, given = ""): number => {
  const value = amount(option, given)
  if (value <= 1) return value
  throw new Usage(`--${option} must be a share from 0 to 1, got '${given}'`)
}

const priceOf = (given: string): Budget.Price => {
  const [input = "", output = "", ...others] = given.split(",")
  if (others.length > 0) throw new Usage(`--price must be two numbers, as in 3,15, got '${given}'`)
  return { usdPerMillionTokens: { input: amount("price", input), output: amount("price", output) } }
}
