/** What ends a command, as people read it: one sentence or a few, no stack. */
import * as Schema from "effect/Schema"

/** What was asked cannot be done; exit code 1. */
export class Failed extends Schema.TaggedError<Failed>()("Failed", { message: Schema.String }) {}

/** It was asked in a way that makes no sense; exit code 2. */
export class Misused extends Schema.TaggedError<Misused>()("Misused", { message: Schema.String }) {}

/** What is said of a file that is not there. */
export const notFound = "there is no such file"

/** What went wrong with a file, in plain words. */
export const reasonOf = (error: { readonly message: string; readonly reason?: unknown }): string => {
  const tag = error.reason instanceof Object && "_tag" in error.reason ? error.reason._tag : undefined
  switch (tag) {
    case "NotFound":
      return notFound
    case "PermissionDenied":
      return "permission denied"
    case "BadResource":
      return "it is a folder, or no file at all"
    default:
      return error.message
  }
}
