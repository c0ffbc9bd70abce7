/** Adapts the parameters of a request to what its model takes. */
import type { Adaptation, Request, ToolChoice } from "@kintsugi/core/Model"
import type * as Schema from "effect/Schema"
import * as Predicate from "effect/Predicate"
import { isRetention } from "./cacheMarks.ts"
import type { Facts } from "./Capabilities.ts"
import * as Parameters from "./Parameters.ts"

/** The parameters of a request that a model may refuse. */
export interface Asked {
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly parallelToolCalls?: boolean
  readonly maxTokens?: number
  readonly reasoning?: Parameters.Reasoning | boolean
  readonly toolChoice?: ToolChoice
  readonly serviceTier?: string
  readonly verbosity?: string
  readonly promptCache?: {
    readonly key?: string
    readonly breakpoints?: ReadonlyArray<string>
    readonly ttl?: string
    readonly name?: string
  }
}

/** The parameters of a request as they are sent, the tool choice if it differs from the one asked for, and the list of changes. */
export interface Adapted<P> {
  readonly parameters: P
  readonly toolChoice: ToolChoice | undefined
  readonly changes: Adaptation["changes"]
}

/**
 * Changes parameters and tool choice to the nearest ones that the model takes. `answersPlainCalls` says whether a request ends with results
 * of calls that were made without thoughts of this provider.
 */
export const adapted = <P extends Asked>(
  able: Facts,
  parameters: P,
  request: Request,
  answersPlainCalls: (request: Request) => boolean
): Adapted<P> => {
  const hasTools = request.tools.length > 0
  const choice = Parameters.choiceOf(request, parameters.toolChoice)
  const { reasoning } = parameters
  let toolChoice = choiceFor(able, choice)
  const isForced = Parameters.isForced(toolChoice)
  let sent = Predicate.isBoolean(reasoning) ? reasoning : reasoningFor(able, reasoning, parameters.maxTokens)
  if (Predicate.isObject(sent) && !isOff(sent)) {
    const isRefused = isForced && able.forcedBesideBudget === false
    if (isRefused || (able.budgetAfterPlainCalls === false && answersPlainCalls(request))) sent = undefined
  }
  if (isForced && able.forcedBesideReasoning === false && reasons(able, sent)) {
    if (able.reasoningByDefault !== true) sent = undefined
    else if (able.reasoningOff === true) sent = "none"
    else toolChoice = "auto"
  }
  if (hasTools && able.reasoningBesideTools === "none") sent = "none"
  if (hasTools && able.reasoningBesideTools === "unset" && !isOff(sent)) sent = undefined
  const isDefault = able.sampling === "default-with-reasoning"
  const takesSampling =
    able.sampling !== "never" && ((able.sampling !== "without-reasoning" && !isDefault) || !reasons(able, sent))
  const left: { -readonly [Option in keyof P]?: unknown } = { ...parameters }
  const changes: Array<Adaptation["changes"][number]> = []
  const note = (option: string, asked: Schema.Json | undefined, given: Schema.Json | undefined) => {
    if (asked === given || JSON.stringify(asked) === JSON.stringify(given)) return
    changes.push({
      option,
      ...(asked === undefined ? {} : { asked }),
      ...(given === undefined ? {} : { sent: given })
    })
  }
  const set = (option: keyof Asked, given: unknown) => {
    if (given === undefined) delete left[option]
    else left[option] = given
  }
  for (const option of ["temperature", "topP", "topK"] as const) {
    if (takesSampling || (isDefault && isNearDefault(option, parameters[option] ?? 0))) continue
    note(option, parameters[option], undefined)
    set(option, undefined)
  }
  if (able.temperatureBesideTopP === false && left.temperature !== undefined && left.topP !== undefined) {
    // of a `temperature` and a `topP` only one may be sent; a `temperature` of 1 is the default, so `topP` is the one that was meant
    const option = left.temperature === 1 ? "temperature" : "topP"
    note(option, parameters[option], undefined)
    set(option, undefined)
  }
  if (able.parallelToolCalls === false) {
    note("parallelToolCalls", parameters.parallelToolCalls, undefined)
    set("parallelToolCalls", undefined)
  }
  for (const option of able.refusedOptions ?? []) {
    note(option, parameters[option], undefined)
    set(option, undefined)
  }
  const { promptCache } = parameters
  if (promptCache !== undefined && able.promptCache !== undefined) {
    const kept = cacheFor(able.promptCache, promptCache)
    note("promptCache", { ...promptCache }, kept)
    set("promptCache", kept)
  }
  // if a model does not reason by default, reasoning is off without a field for it, so this is no change
  const isOffAsAsked = isOff(reasoning) && sent === undefined && able.reasoningByDefault === false
  if (!isOffAsAsked) note("reasoning", jsonOf(reasoning), jsonOf(sent))
  set("reasoning", sent)
  note("toolChoice", jsonOf(choice), jsonOf(toolChoice))
  const isChosen = toolChoice !== choice
  // a changed tool choice is returned beside the parameters
  if (isChosen) set("toolChoice", undefined)
  // the type assertion holds because optional parameters are only left out, or have another value of their type
  return { parameters: left as P, toolChoice: isChosen ? toolChoice : undefined, changes }
}

const isNearDefault = (option: "temperature" | "topP" | "topK", asked: number): boolean =>
  option === "temperature" ? asked === 1 : option === "topP" && asked >= 0.95 && asked <= 1

/**
 * The part of a prompt cache that the model takes: its key, its marks, its time or the name of a cached content; `undefined` if it takes
 * none.
 */
const cacheFor = (cache: NonNullable<Facts["promptCache"]>, asked: NonNullable<Asked["promptCache"]>) => {
  const { breakpoints, key, name, ttl } = asked
  const takesMarks = cache.endsWith("breakpoints")
  const takesTtl =
    cache === "breakpoints" || (cache !== "key-only" && cache.startsWith("key") && isRetention(ttl) !== takesMarks)
  const kept = {
    ...(key !== undefined && cache.startsWith("key") ? { key } : {}),
    ...(breakpoints !== undefined && takesMarks ? { breakpoints } : {}),
    ...(ttl !== undefined && takesTtl ? { ttl } : {}),
    ...(name !== undefined && cache === "automatic" ? { name } : {})
  }
  return Object.keys(kept).length > 0 || cache === "breakpoints" ? kept : undefined
}

type Reasoning = Parameters.Reasoning | boolean | undefined

/** A value as JSON. An object is copied, because the JSON type has no read-only objects. */
const jsonOf = (value: Reasoning | ToolChoice): Schema.Json | undefined =>
  Predicate.isObject(value) ? { ...value } : value

const choiceFor = ({ toolChoice: choices }: Facts, choice: ToolChoice): ToolChoice => {
  if (choices === undefined || !Parameters.isForced(choice)) return choice
  if (choices.includes(Predicate.isString(choice) ? "required" : "named")) return choice
  return choices.includes("required") ? "required" : "auto"
}

/** Whether this `reasoning` switches reasoning off. */
export const isOff = (reasoning: Reasoning): boolean =>
  reasoning === "none" || reasoning === false || (Predicate.isObject(reasoning) && reasoning.maxTokens === 0)

/** Whether the model reasons in a request with this `reasoning`. */
const reasons = ({ reasoningByDefault }: Facts, reasoning: Reasoning): boolean =>
  reasoning === undefined ? reasoningByDefault === true : !isOff(reasoning)

const reasoningFor = (
  able: Facts,
  asked: Parameters.Reasoning | undefined,
  longest: number | undefined
): Parameters.Reasoning | undefined => {
  const { budgets, efforts, leastBudget, reasoningOff } = able
  if (asked === undefined) return undefined
  if (isOff(asked)) {
    if (reasoningOff !== false) return asked
    // no field is sent, because the model does not reason unless it is asked to
    if (able.reasoningByDefault === false) return undefined
    return efforts?.[0] ?? (budgets === true && leastBudget !== undefined ? { maxTokens: leastBudget } : undefined)
  }
  if (Predicate.isString(asked)) {
    // a model that can only switch reasoning on takes any effort, and all efforts mean the same
    if (efforts === undefined || efforts.includes(asked) || efforts.includes("on")) return asked
    if (efforts.length > 0) return nearest(efforts, asked)
    if (budgets !== true) return undefined
    return scale.includes(asked) ? budgetFor(able, budgetOf(asked), longest) : asked
  }
  // a negative number lets the model choose the number of tokens
  if (budgets !== false) return asked.maxTokens < 0 ? asked : budgetFor(able, asked.maxTokens, longest)
  return asked.maxTokens < 0 || efforts === undefined ? undefined : nearest(efforts, effortOf(asked.maxTokens))
}

/**
 * The budget of reasoning that the model takes. If the budget leaves no room for an answer, it is half of the longest reply; `undefined` if
 * even the least budget leaves none.
 */
const budgetFor = (
  { budgetWithinMaxTokens, leastBudget = 1 }: Facts,
  asked: number,
  longest: number | undefined
): Parameters.Reasoning | undefined => {
  const most = budgetWithinMaxTokens === true ? (longest ?? Infinity) : Infinity
  const maxTokens = Math.max(leastBudget, asked < most ? asked : Math.floor(most / 2))
  return maxTokens < most ? { maxTokens } : undefined
}

/** All efforts that any model takes, from the least to the greatest. */
const scale = ["none", "between_tools", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"]

/**
 * The effort that is nearest to the one asked for, and the cheaper one of two equally near. An unknown effort is sent as asked, unless the
 * model has only one effort.
 */
const nearest = (efforts: ReadonlyArray<string>, asked: string): string | undefined => {
  const at = scale.indexOf(asked)
  if (at === -1 && efforts.length > 1) return asked
  const far = (effort: string) => Math.abs(scale.indexOf(effort) - at)
  return efforts.reduce<string | undefined>(
    (best, effort) => (best === undefined || far(effort) < far(best) ? effort : best),
    undefined
  )
}

/** Google's budgets for efforts, in tokens. They are used for the models of other providers too. */
const steps = [
  ["low", 1024],
  ["medium", 8192],
  ["high", 24_576]
] as const

const budgetOf = (effort: string): number => {
  const at = scale.indexOf(effort)
  const step = steps.find(([name]) => at <= scale.indexOf(name)) ?? steps[2]
  return step[1]
}

const effortOf = (tokens: number): string => (steps.find(([, most]) => tokens <= most) ?? steps[2])[0]
