/** The command line. */
import { parseArgs } from "node:util"
import { type ProviderName, providerNames, providerOf } from "./providers.ts"
import type { Scenario } from "./scenario.ts"
import { scenarios } from "./scenarios.ts"

export interface Settings {
  /** The providers that were named; all, if none was. */
  readonly providers: ReadonlyArray<ProviderName>
  readonly isNamed: boolean
  /** The models of the one provider; its own of the list, if none was named. */
  readonly models: ReadonlyArray<string> | undefined
  readonly baseUrl: string | undefined
  readonly scenarios: ReadonlyArray<Scenario>
  /** The folder of the records. */
  readonly records: string
  readonly tooLong: number
  /** No request is sent again, after an overload neither. */
  readonly isSentOnce: boolean
}

/** A command line that asks for nothing that can be done; or for help. */
export class Usage extends Error {}

export const help = `npm run providers:live -- [options]

Plays ${scenarios.length} scenarios with each provider whose key is in the environment, records the exchanges without secrets, and says which
fields of the answers differ from the last record.

  --provider=A,B     these alone: ${providerNames.join(", ")}
  --model=A,B        models of the one provider
  --base-url=URL     where that provider is
  --scenario=A,B     these alone: ${scenarios.map(({ name }) => name.replaceAll(" ", "-")).join(", ")}
  --records=FOLDER   where the records are (tools/live/records)
  --too-long=N       tokens of the prompt that no model takes (2200000)
  --once             send each request once, after an overload too
`

const text = { type: "string" } as const

/** Reads a command line; throws `Usage`. `records` is the folder if none is named. */
export const parse = (parameters: ReadonlyArray<string>, records: string): Settings => {
  const given = valuesOf(parameters)
  if (given.help === true) throw new Usage(help)
  const named = given.provider === undefined ? undefined : given.provider.split(",").map(providerNamed)
  if (named?.length !== 1) {
    for (const option of ["model", "base-url"] as const) {
      if (given[option] !== undefined) throw new Usage(`--${option} needs one --provider`)
    }
  }
  const baseUrl = given["base-url"]
  if (baseUrl !== undefined && !/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? "")) {
    throw new Usage("--base-url must be an http(s) URL")
  }
  const tooLong = Number(given["too-long"] ?? "2200000")
  if (!Number.isSafeInteger(tooLong) || tooLong < 1) {
    throw new Usage(`--too-long must be a whole number of at least 1, got '${given["too-long"] ?? ""}'`)
  }
  return {
    providers: named ?? providerNames,
    isNamed: named !== undefined,
    models: given.model?.split(",").map(modelNamed),
    baseUrl,
    scenarios: given.scenario === undefined ? scenarios : given.scenario.split(",").map(scenarioNamed),
    records: given.records ?? records,
    tooLong,
    isSentOnce: given.once === true
  }
}

/** The models of a provider that are asked. */
export const modelsOf = ({ models }: Settings, name: ProviderName): ReadonlyArray<string> =>
  models ?? [providerOf(name).model]

const valuesOf = (parameters: ReadonlyArray<string>) => {
  try {
    return parseArgs({
      args: [...parameters],
      options: {
        help: { type: "boolean" },
        once: { type: "boolean" },
        provider: text,
        model: text,
        "base-url": text,
        scenario: text,
        records: text,
        "too-long": text
      }
    }).values
  } catch (error) {
    throw new Usage(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

const providerNamed = (name: string): ProviderName => {
  const found = providerNames.find((one) => one === name)
  if (found !== undefined) return found
  throw new Usage(`--provider: there is no '${name}', only ${providerNames.join(", ")}`)
}

const modelNamed = (name: string): string => {
  if (name.trim() !== "") return name
  throw new Usage("--model needs the name of a model")
}

const scenarioNamed = (name: string): Scenario => {
  const found = scenarios.find((one) => one.name === name.replaceAll("-", " "))
  if (found !== undefined) return found
  throw new Usage(`--scenario: there is no '${name}'; --help lists them`)
}
