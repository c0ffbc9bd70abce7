/**
 * Reads the tag and the message of an error in its JSON form.
 *
 * @internal
 */
import { clip } from "../text/Words.ts"
import { asText, textAt } from "./Fields.ts"

/** The tag of an error in its JSON form. An error of other code has its name instead. */
export const tagOf = (error: unknown): string => textAt(error, "_tag") ?? textAt(error, "name") ?? "Error"

/** The message of an error in its JSON form. */
export const messageOf = (error: unknown): string => textAt(error, "message") ?? asText(error)

/** The tag and the message of an error, in one line. */
export const errorLine = (error: unknown, length = 120): string => clip(`${tagOf(error)}: ${messageOf(error)}`, length)
