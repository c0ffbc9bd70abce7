/** The command line. */
import { chosen, count, flag, read, text, url, Usage } from "../../../scripts/commandLine.ts"
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

const scenarioNames = scenarios.map((one) => [one.name.replaceAll(" ", "-"), one] as const)

const help = `npm run providers:live -- [options]

Plays ${scenarios.length} scenarios with each provider whose key is in the environment, records the exchanges without secrets, and says which
fields of the answers differ from the last record.

  --provider=A,B     these alone: ${providerNames.join(", ")}
  --model=A,B        models of the one provider
  --base-url=URL     where that provider is
  --scenario=A,B     these alone: ${scenarioNames.map(([name]) => name).join(", ")}
  --records=FOLDER   where the records are (tools/live/records)
  --too-long=N       tokens of the prompt that no model takes (2200000)
  --once             send each request once, after an overload too
`

/** Reads a command line; throws `Usage`. `records` is the folder if none is named. */
export const parse = (parameters: ReadonlyArray<string>, records: string): Settings => {
  const given = read(parameters, help, {
    once: flag,
    provider: text,
    model: text,
    "base-url": text,
    scenario: text,
    records: text,
    "too-long": text
  })
  const isNamed = given.provider !== undefined
  const providers = chosen(
    "provider",
    given.provider,
    providerNames.map((name) => [name, name])
  )
  if (!isNamed || providers.length !== 1) {
    for (const option of ["model", "base-url"] as const) {
      if (given[option] !== undefined) throw new Usage(`--${option} needs one --provider`)
    }
  }
  return {
    providers,
    isNamed,
    models: given.model?.split(",").map(modelNamed),
    baseUrl: given["base-url"] === undefined ? undefined : url("base-url", given["base-url"]),
    scenarios: chosen("scenario", given.scenario, scenarioNames),
    records: given.records ?? records,
    tooLong: count("too-long", given["too-long"] ?? "2200000"),
    isSentOnce: given.once
  }
}

/** The models of a provider that are asked. */
export const modelsOf = ({ models }: Settings, name: ProviderName): ReadonlyArray<string> =>
  models ?? [providerOf(name).model]

const modelNamed = (name: string): string => {
  if (name.trim() !== "") return name
  throw new Usage("--model needs the name of a model")
}
