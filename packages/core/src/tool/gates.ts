/** What stands before a run of a tool: the size of its arguments, and the user's policies. Asked again after a repair. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Interception from "../model/Interception.ts"
import type * as Message from "../data/Message.ts"
import * as ToolPolicy from "./ToolPolicy.ts"
import * as Arguments from "../data/Arguments.ts"
import type { Decoded } from "./call.ts"
import { ToolDeniedError } from "../errors/ToolError.ts"
import { isDeep } from "../data/Foreign.ts"

export interface Gates {
  /** The longest arguments, in bytes of UTF-8. */
  readonly maxArgsBytes: number
  readonly policies: ReadonlyArray<ToolPolicy.Policy>
}

/** Before they are decoded: why the arguments are not admitted, if they are not. */
export const oversized = (
  { maxArgsBytes }: Gates,
  tool: string,
  callId: string,
  raw: Message.ToolCall["arguments"],
  isRepaired: boolean
): ToolDeniedError | undefined => {
  const whose = isRepaired ? "the repaired arguments" : "the arguments"
  // text is measured as it is; what arrives as an object may be nested deeper than the stack reaches
  if (Predicate.isString(raw) && Object.hasOwn(Arguments.refused, raw)) {
    return ToolDeniedError.of(tool, callId, `${whose} ${Arguments.refused[raw as keyof typeof Arguments.refused]}`)
  }
  if (isDeep(raw)) return ToolDeniedError.of(tool, callId, `${whose} are nested too deeply`)
  return isWithin(raw, maxArgsBytes)
    ? undefined
    : ToolDeniedError.of(tool, callId, `${whose} are longer than ${maxArgsBytes} bytes`)
}

/** Once they are decoded: why the call is not admitted, if it is not. */
export const denied = (
  { policies }: Gates,
  call: Omit<ToolPolicy.Call, "params">,
  decoded: Decoded
): Effect.Effect<ToolDeniedError | undefined> =>
  Effect.map(
    Interception.step(
      () => ({ kind: "policy", tool: call.tool, callId: call.callId }),
      () => ToolPolicy.ask(policies, () => ({ ...call, params: decoded.params() }))
    ),
    (reason) => (reason === undefined ? undefined : ToolDeniedError.of(call.tool, call.callId, reason))
  )

const isWithin = (raw: Message.ToolCall["arguments"], max: number): boolean => {
  if (raw === null || max === Infinity) return true
  if (Predicate.isString(raw)) return isShort(raw, max)
  // what is short by any measure needs not be written down to be measured
  return room(raw, max) >= 0 || isShort(JSON.stringify(raw), max)
}

const isShort = (text: string, max: number): boolean =>
  text.length * 3 <= max || (text.length <= max && byteLength(text) <= max)

const byteLength = (text: string): number => {
  let bytes = 0
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return bytes
}

/** No character takes more when it is written as JSON, and no number, mark or literal does. */
const mostPerChar = 6
const mostPerNode = 26

/** How much of `max` is left at least when a value is written as JSON; stops at the first that does not fit. */
const room = (value: unknown, max: number): number => {
  let left = max - mostPerNode
  if (Predicate.isString(value)) return left - value.length * mostPerChar
  if (Array.isArray(value)) {
    for (const item of value) if ((left = room(item, left)) < 0) return left
  } else if (Predicate.isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      if ((left = room(item, left - key.length * mostPerChar)) < 0) return left
    }
  }
  return left
}
