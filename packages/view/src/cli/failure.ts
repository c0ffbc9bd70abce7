/** The failures of a command, for people: one sentence or a few, no stack. */
import type { PlatformError } from "effect/PlatformError"
import * as Schema from "effect/Schema"

/** The command cannot do its work; exit code 1. */
export class Failed extends Schema.TaggedError<Failed>()("Failed", { message: Schema.String }) {}

/** The command line makes no sense; exit code 2. */
export class Misused extends Schema.TaggedError<Misused>()("Misused", { message: Schema.String }) {}

/** What is said of a file that is not there. */
export const notFound = "there is no such file"

/** What went wrong with a file, in plain words. */
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
