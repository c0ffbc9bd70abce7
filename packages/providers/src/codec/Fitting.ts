/** Makes a codec that fits one model: by the table of model families, and by what the layer overrides. */
import * as LlmError from "@kintsugi/core/LlmError"
import type { Adaptation, Request } from "@kintsugi/core/Model"
import type * as Schema from "effect/Schema"
import { type Adapted, adapted, type Asked } from "./adapting.ts"
import type { CapabilityOptions, Facts } from "./Capabilities.ts"
import type { Codec } from "./Codec.ts"
import { contradicted } from "./contradicting.ts"
import { find, type Catalog, type Claim, type Ended } from "./familyClaims.ts"
import * as Parameters from "./Parameters.ts"
import { fallbacksIn } from "./servedFamily.ts"
import type { Source } from "../transport/Source.ts"

interface Options extends Asked {
  readonly capabilities?: CapabilityOptions
  readonly extra?: Readonly<Record<string, Schema.Json>> | undefined
}

/** Makes a codec of parameters that fit the model, and of the facts about the model. */
type Make<P> = (parameters: P, able: Facts) => Codec

/**
 * Makes the codec of a model that adapts or refuses requests which the model does not take. `catalog` has what is known of the provider's
 * models; `wire` overrides these facts for the present wire format. `answersPlainCalls` says whether a request ends with results of calls
 * that were made without thoughts, for a wire that refuses a budget of reasoning there.
 */
export const fitting = <P extends Options>(
  source: Source,
  options: P,
  catalog: Catalog,
  make: Make<P>,
  wire: Facts = {},
  answersPlainCalls: (request: Request) => boolean = () => false
): Codec => {
  const { end, family } = find(catalog, source.model)
  const { unsupported = "adapt", ...own } = options.capabilities ?? {}
  const claims = family?.claims ?? []
  const table: Facts = Object.assign({}, ...claims.map(({ facts }) => facts), wire)
  const able: Facts = { ...table, ...own }
  const made = new Map<string, Codec>()
  const codecOf = ({ changes, parameters }: Adapted<P>): Codec => {
    // one codec per set of changes, so that its cache of the transcript lasts while the parameters are the same
    const key = JSON.stringify(changes)
    const codec = made.get(key) ?? make(parameters, able)
    made.set(key, codec)
    return codec
  }
  const fit = (request: Request, facts = able) => adapted(facts, options, request, answersPlainCalls)
  const sent = (request: Request, { toolChoice }: Adapted<P>): Request =>
    toolChoice === undefined ? request : { ...request, toolChoice }
  const usual = codecOf(fit(plain))
  const name = family?.name ?? "the layer"
  const fallbacks = fallbacksIn(options.extra)
  return {
    ...usual,
    continuation: able.continuation === "none" ? undefined : usual.continuation,
    ...(able.contextWindow === undefined ? {} : { contextWindow: able.contextWindow }),
    ...(fallbacks === undefined ? {} : { fallbacks }),
    ...(end === undefined ? {} : { warning: ending(source, end) }),
    adapts: (request) => {
      const { changes } = fit(request)
      return unsupported === "refuse" || changes.length === 0 ? undefined : { family: name, changes }
    },
    refuses: (request) => {
      const fitted = fit(request)
      const [change] = fitted.changes
      if (unsupported !== "refuse" || change === undefined) return codecOf(fitted).refuses?.(sent(request, fitted))
      const isOfTable = fit(request, table).changes.some(({ option }) => option === change.option)
      return refusal(source, name, change, isOfTable ? claims : [])
    },
    encode: (request, mode) => {
      const fitted = fit(request)
      return codecOf(fitted).encode(sent(request, fitted), mode)
    },
    contradicts: (error, request) => {
      const { parameters, toolChoice } = fit(request)
      const choice = toolChoice ?? Parameters.choiceOf(request, parameters.toolChoice)
      return contradicted(error, source, { parameters, toolChoice: choice }, { able, own, family: name })
    }
  }
}

// Mutant `["Stryker was here"]` survives: of a request without tools, no message changes a parameter
const plain: Request = { messages: [], tools: [], toolChoice: "auto" }

const ending = ({ model, provider }: Source, { on, source, use }: Ended): string => {
  const instead = use === undefined ? "" : `; the provider names ${use} in its place`
  return `The model '${model}' of ${provider} ends, or has ended, on ${on}${instead} (${source})`
}

/** The capability that an option needs, as errors name it. */
const capabilityOf = (option: string): LlmError.Capability => {
  if (option === "toolChoice") return "toolChoice"
  return option === "reasoning" ? "thinking" : "other"
}

const refusal = (
  { model, provider }: Source,
  family: string,
  { asked, option, sent }: Adaptation["changes"][number],
  claims: ReadonlyArray<Claim>
): LlmError.LlmError => {
  const instead = sent === undefined ? "without it" : `with ${JSON.stringify(sent)}`
  const wanted = asked === undefined ? `request without ${option}` : `${option} ${JSON.stringify(asked)}`
  const seen = claims[0] === undefined ? "" : `, by pages of ${claims[0].seen}`
  return LlmError.CapabilityMismatchError.make({
    model,
    provider,
    capability: capabilityOf(option),
    detail: `${family} takes no ${wanted}${seen}; ask ${instead}, or override it with the option capabilities`
  })
}
