/** Texts that several wire formats share. */
import * as Message from "@kintsugi/core/Message"
import * as Predicate from "effect/Predicate"

/**
 * The arguments of a call, for formats that send them as text: the model's own text, byte for byte. Absent arguments
 * are an empty object.
 */
export const argumentsText = (args: Message.ToolCall["arguments"]): string =>
  Predicate.isString(args) ? args : args === null ? "{}" : JSON.stringify(args)

/** The result of a call, for formats without an error flag: the text of a failed call says that it failed. */
export const settlementText = (settlement: Message.Settlement): string =>
  Message.isError(settlement) && !saysError.test(settlement.text) ? `ERROR: ${settlement.text}` : settlement.text

/** How this library's texts for a model about a failure begin. */
const saysError = /^(?:ERROR:|transient:|permanent:|unknown tool:)/

/** The name of an output schema: letters, digits, `_` and `-`. */
export const formatName = (name: string): string => name.replaceAll(/[^\w-]/g, "_").slice(0, maxName) || "output"

const maxName = 64
