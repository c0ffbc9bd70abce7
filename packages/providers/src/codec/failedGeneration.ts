/** Reads a tool call that the provider could not parse. Some providers quote it in their errors. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Json from "../transport/Json.ts"

export interface Rejected {
  readonly tool?: string
  /** The arguments of the call, as the model wrote them. */
  readonly rawArgs?: string
}

/**
 * Reads the tool and the arguments of a quoted call: JSON with a name and arguments, whole or broken, or `<function=name>{…}</function>`.
 */
export const read = (generation: string | undefined): Rejected => {
  if (generation === undefined) return {}
  const text = generation.slice(0, longest)
  const whole = Json.parse(text)
  if (Result.isSuccess(whole)) {
    const call = Array.isArray(whole.success) ? whole.success[0] : whole.success
    const tool = Json.text(Json.field(call, "name"))
    const args = Json.field(call, "arguments") ?? Json.field(call, "parameters")
    return {
      ...(tool === undefined ? {} : { tool }),
      ...(args === undefined ? {} : { rawArgs: Predicate.isString(args) ? args : JSON.stringify(args) })
    }
  }
  const tool = (marked.exec(text) ?? named.exec(text))?.[1]
  const rawArgs = argumentsIn(text)
  return { ...(tool === undefined ? {} : { tool }), ...(rawArgs === undefined ? {} : { rawArgs }) }
}

/** How many characters of a quoted call are read, because a longer text is no call. */
const longest = 100_000

const marked = /<function=([\w.:-]{1,100})/
const named = /"name"\s{0,9}:\s{0,9}"([^"]{1,100})"/
const beforeArguments = /"(?:arguments|parameters)"\s{0,9}:\s{0,9}/

const argumentsIn = (text: string): string | undefined => {
  const before = beforeArguments.exec(text)
  if (before !== null) return text.slice(before.index + before[0].length)
  const start = marked.test(text) ? text.indexOf("{") : -1
  if (start < 0) return undefined
  const end = text.indexOf("</function", start)
  return text.slice(start, end < 0 ? undefined : end)
}
