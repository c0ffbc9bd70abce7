/**
 * Writes the events of runs to a file, one as JSON on each line: the form that `kintsugi report`, `kintsugi stats` and `kintsugi test` read.
 * It needs Node, Bun or Deno.
 */
import * as AgentEvent from "@kintsugi/core/AgentEvent"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as RunContext from "@kintsugi/core/RunContext"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

/** The file for the events cannot be written. */
export class EventFileError extends Data.TaggedError("EventFileError")<{
  readonly path: string
  readonly message: string
  readonly cause: unknown
}> {}

/**
 * Appends the events of all runs of a program to a file. It makes the folder of the file if there is none.
 *
 * An event is in the file before its run goes on, so a killed process loses at most the rest of one line. Several runs, and several
 * processes on one computer, may write to one file: each line is written at once. If a line cannot be written, the runs go on, and a warning
 * at the end counts the events that are missing. The file has the whole conversation.
 *
 * @example
 * ```ts
 * import { Agent } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import { EventLog } from "@kintsugi/view"
 * import { Effect } from "effect"
 * import { mkdtempSync, readFileSync } from "node:fs"
 * import { tmpdir } from "node:os"
 * import { join } from "node:path"
 *
 * const file = join(mkdtempSync(join(tmpdir(), "runs-")), "events.jsonl")
 * const clerk = Agent.make("clerk", {})
 * const program = Effect.gen(function* () {
 *   const model = yield* ScriptedModel.make(ScriptedModel.text("Hello."))
 *   return yield* clerk("Hi").pipe(Effect.provide([model.layer, EventLog.toFile(file)]))
 * })
 * await Effect.runPromise(Effect.scoped(program))
 * readFileSync(file, "utf8").trimEnd().split("\n").length // => 6
 * ```
 */
export const toFile = (path: string): Layer.Layer<never, EventFileError> =>
  Layer.effect(
    RunContext.Observers,
    Effect.gen(function* () {
      const others = yield* RunContext.Observers
      const file = yield* Effect.acquireRelease(opened(path), closed)
      return [...others, () => (event: AgentEvent.AgentEvent) => file.add(event)]
    })
  )

const opened = (path: string): Effect.Effect<EventFile, EventFileError> =>
  Effect.try({
    try: () => new EventFile(path),
    catch: (cause) =>
      new EventFileError({ path, message: `cannot write '${path}': ${ErrorCause.messageOf(cause)}`, cause })
  })

const closed = (file: EventFile): Effect.Effect<void> =>
  Effect.suspend(() => {
    file.close()
    if (file.missing === 0) return Effect.void
    return Effect.annotateLogs(
      Effect.logWarning(`${file.missing} events are missing in '${file.path}': ${ErrorCause.messageOf(file.failure)}`),
      { path: file.path, missing: file.missing }
    )
  })

const toJson = Schema.encodeSync(Schema.fromJsonString(AgentEvent.AgentEvent))

class EventFile {
  readonly path: string
  /** How many events could not be written, and the first reason. */
  missing = 0
  failure: unknown
  readonly #fs: typeof import("node:fs")
  readonly #descriptor: number
  #isClosed = false
  /** Whether the file ends within a line: the next line begins with a line break. */
  #isWithinLine: boolean

  constructor(path: string) {
    this.path = path
    const fs = builtIn("node:fs")
    fs.mkdirSync(builtIn("node:path").dirname(path), { recursive: true })
    this.#fs = fs
    this.#descriptor = fs.openSync(path, "a+")
    this.#isWithinLine = this.#endsWithinLine()
  }

  /** A process that was killed may have left the beginning of a line. */
  #endsWithinLine(): boolean {
    const { size } = this.#fs.fstatSync(this.#descriptor)
    if (size === 0) return false
    const last = new Uint8Array(1)
    this.#fs.readSync(this.#descriptor, last, 0, 1, size - 1)
    return last[0] !== 0x0a
  }

  add(event: AgentEvent.AgentEvent): void {
    // a descendant may outlive the scope of the file
    if (this.#isClosed) return
    try {
      this.#write(`${toJson(event)}\n`)
    } catch (error) {
      if (this.missing++ === 0) this.failure = error
    }
  }

  #write(line: string): void {
    const bytes = new TextEncoder().encode(this.#isWithinLine ? `\n${line}` : line)
    this.#isWithinLine = true
    for (let written = 0; written < bytes.length;) written += this.#fs.writeSync(this.#descriptor, bytes, written)
    this.#isWithinLine = false
  }

  close(): void {
    this.#isClosed = true
    this.#fs.closeSync(this.#descriptor)
  }
}

/** A module of Node. An import would keep the rest of this package from being bundled for browsers. */
const builtIn = <Name extends "node:fs" | "node:path">(name: Name): Modules[Name] => {
  // oxlint-disable-next-line no-restricted-globals -- modules of Node are looked up in it, where there is one
  const found = globalThis.process?.getBuiltinModule?.(name)
  if (found === undefined) throw new Error("there are no files here")
  // cast: the module with this name
  return found as Modules[Name]
}

interface Modules {
  readonly "node:fs": typeof import("node:fs")
  readonly "node:path": typeof import("node:path")
}
