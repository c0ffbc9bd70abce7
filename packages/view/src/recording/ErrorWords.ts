/**
 * The words of an error in its JSON form.
 *
 * @internal
 */
import { clip } from "../text/Words.ts"
import { asText, textAt } from "./Fields.ts"

/** The tag of an error in its JSON form, or the name of a foreign one. */
export const tagOf = (error: unknown): string => textAt(error, "_tag") ?? textAt(error, "name") ?? "Error"

/** The message of an error in its JSON form. */
export const messageOf = (error: unknown): string =>
  textAt(error, "message") ?? (typeof error === "string" ? error : error === undefined ? "" : asText(error))

/** The tag and the message, in one line. */
export const errorLine = (error: unknown, length = 120): string => clip(`${tagOf(error)}: ${messageOf(error)}`, length)
