/** Texts that several wire formats share: arguments, results and the names of outputs. */
import * as Message from "@kintsugi/core/Message"
import * as Predicate from "effect/Predicate"

/**
 * The arguments of a call, for wire formats that send them as text: the model's own text, byte for byte. Absent arguments are an empty
 * object.
 */
export const argumentsText = (args: Message.ToolCall["arguments"]): string =>
  Predicate.isString(args) ? args : args === null ? "{}" : JSON.stringify(args)

/** The text of a tool result, for wire formats without a flag for failed calls: the text of a failed call says that it failed. */
export const settlementText = (settlement: Message.Settlement): string =>
  Message.isError(settlement) && !saysError.test(settlement.text) ? `ERROR: ${settlement.text}` : settlement.text

/** Matches the beginnings of this library's texts about a failure, which already say that the call failed. */
const saysError = /^(?:ERROR:|transient:|permanent:|unknown tool:)/

/** The name of an output schema, with all characters but letters, digits, `_` and `-` replaced. */
export const formatName = (name: string): string => name.replaceAll(/[^\w-]/g, "_").slice(0, maxName) || "output"

const maxName = 64
