/** Texts that several wire formats have in common. */
import * as Message from "@kintsugi/core/Message"
import * as Predicate from "effect/Predicate"

/** The bytes of an attachment as an address. */
export const dataUrl = ({ data, mediaType }: { readonly mediaType: string; readonly data: string }): string =>
  `data:${mediaType};base64,${data}`

/** The arguments of a call in formats that have them as text: the model's own, byte for byte; absent ones are an empty object. */
export const argumentsText = (args: Message.ToolCall["arguments"]): string =>
  Predicate.isString(args) ? args : args === null ? "{}" : JSON.stringify(args)

/** The answer to a call in formats without a flag for failures: one that failed says so. */
export const settlementText = (settlement: Message.Settlement): string =>
  Message.isError(settlement) && !saysError.test(settlement.text) ? `ERROR: ${settlement.text}` : settlement.text

/** How the texts begin that this library tells a model about a failure. */
const saysError = /^(?:ERROR:|transient:|permanent:|unknown tool:)/

/** The name of a schema for an output: a few characters of the plainest kind. */
export const formatName = (name: string): string => name.replaceAll(/[^\w-]/g, "_").slice(0, maxName) || "output"

const maxName = 64
