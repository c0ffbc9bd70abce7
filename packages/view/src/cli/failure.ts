/** The failures of a command. Their messages are a sentence or a few for the user, without a stack. */
import type { PlatformError } from "effect/PlatformError"
import * as Schema from "effect/Schema"

/** The failure of a command that cannot do its work. The exit code is 1. */
export class Failed extends Schema.TaggedError<Failed>()("Failed", { message: Schema.String }) {}

/** The failure of a command line that makes no sense. The exit code is 2. */
export class Misused extends Schema.TaggedError<Misused>()("Misused", { message: Schema.String }) {}

/** The message about a file that does not exist. */
export const notFound = "there is no such file"

/** The reason why a file could not be read or written, in plain words. */
export const reasonOf = ({ reason }: PlatformError): string => {
  switch (reason._tag) {
    case "NotFound":
      return notFound
    case "PermissionDenied":
      return "permission denied"
    case "BadResource":
      return "it is a folder, or no file at all"
    default:
      return reason.cause instanceof Error ? reason.cause.message : reason.message
  }
}
