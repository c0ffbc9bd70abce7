/** Where the JSON text comes from: the command line, a file, or standard input. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { createReadStream, statSync } from "node:fs"
import { resolve } from "node:path"
import type { Readable } from "node:stream"
import { clip } from "./text.ts"

/** What the demo counts when it is given nothing. */
export const example = "{name: world, age: 30, active: true}"

/** There is no text to work on. */
export class InputError extends Schema.TaggedError<InputError>()("InputError", { message: Schema.String }) {}

/** `-` is standard input, a path is a file, anything else is the text itself. */
export const read = (
  argument: string | undefined,
  folder: string,
  stdin: Readable
): Effect.Effect<string, InputError> => {
  if (argument === undefined) return Effect.succeed(example)
  if (argument.trim() === "") return Effect.succeed(argument)
  if (argument === "-") return readAll(stdin, "standard input")
  const path = resolve(folder, argument)
  // A text may be no possible path at all
  const found = Result.getOrUndefined(Result.try(() => statSync(path, { throwIfNoEntry: false })))
  if (found === undefined) return looksLikePath(argument) ? noFile(argument) : Effect.succeed(argument)
  if (found.isDirectory()) return Effect.fail(new InputError({ message: `'${argument}' is a folder, not a file` }))
  return readAll(createReadStream(path), `'${argument}'`)
}

const looksLikePath = (argument: string): boolean =>
  !/[{[\n"]/.test(argument) && (/\.json[c5]?$/i.test(argument) || /[/\\]/.test(argument))

const noFile = (argument: string): Effect.Effect<never, InputError> =>
  Effect.fail(new InputError({ message: `there is no file '${clip(argument)}'` }))

const maxBytes = 8 * 1024 * 1024

const readAll = (source: Readable, name: string): Effect.Effect<string, InputError> =>
  Effect.callback<string, InputError>((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    source
      .on("data", (chunk: Buffer) => {
        chunks.push(chunk)
        size += chunk.length
        if (size <= maxBytes) return
        source.destroy()
        resume(Effect.fail(new InputError({ message: `${name} holds more than ${maxBytes / 1024 / 1024} MiB` })))
      })
      .once("error", (error) => {
        resume(Effect.fail(new InputError({ message: `cannot read ${name}: ${error.message}` })))
      })
      .once("end", () => resume(Effect.succeed(decode(Buffer.concat(chunks)))))
    return Effect.sync(() => source.destroy())
  })

/** Any bytes as text: invalid UTF-8 shows as replacement characters. */
const decode = (bytes: Buffer): string =>
  // Some shells write UTF-16 into files
  new TextDecoder(bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : "utf-8").decode(bytes)
