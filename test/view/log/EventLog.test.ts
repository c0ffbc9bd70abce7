import { assert, describe, it } from "@effect/vitest"
import { Agent, Tool } from "@kintsugi/core"
import { RecordedEvents, ScriptedModel } from "@kintsugi/core/testing"
import { EventLog, Recording } from "@kintsugi/view"
import { Effect, Fiber, Layer, Logger, Schema } from "effect"
import * as fs from "node:fs"
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import * as path from "node:path"
import { join } from "node:path"
import { afterAll, vi } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "event-log-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const model = ScriptedModel.answering(({ messages }) =>
  ScriptedModel.text(`${messages.length} messages, “äöü” and \u2028`)
)
const clerk = Agent.make("clerk", {}).pipe(Agent.provide(model))
const read = (file: string) => Recording.parse(readFileSync(file, "utf8"))

describe("EventLog.toFile", () => {
  it.effect("writes every event of all runs in order, and makes the folder [P1272]", () =>
    Effect.gen(function* () {
      const file = join(folder, "not", "there", "events.jsonl")
      const recorded = yield* RecordedEvents.make
      const ask = Agent.asTool(clerk, { name: "ask", description: "Asks." })
      const steps = [ScriptedModel.calls(ScriptedModel.call("ask", { input: "Hi" })), ScriptedModel.text("Done.")]
      const desk = Agent.make("desk", { tools: [ask] })
      const nested = Effect.provide(
        desk("Hi"),
        ScriptedModel.answering(() => steps.shift() ?? ScriptedModel.text("?"))
      )
      yield* Effect.all([clerk("one"), clerk("two"), nested], { concurrency: "unbounded" }).pipe(
        Effect.provide(Layer.provideMerge(EventLog.toFile(file), recorded.layer))
      )
      const { events, problems } = read(file)
      assert.deepStrictEqual(problems, [])
      assert.deepStrictEqual(
        events.map(({ runId, type }) => `${runId} ${type}`),
        recorded.all.map(({ runId, type }) => `${runId} ${type}`)
      )
      assert.strictEqual(new Set(events.map(({ runId }) => runId)).size, 4)
    })
  )

  it.effect("has each event in the file before the run goes on [P1272]", () =>
    Effect.gen(function* () {
      const file = join(folder, "now.jsonl")
      const seen: Array<string> = []
      const look = Tool.make("look", {
        description: "Looks.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () =>
          Effect.sync(() => void seen.push(...read(file).events.map(({ type }) => type))).pipe(Effect.as("seen"))
      })
      const steps = [ScriptedModel.calls(ScriptedModel.call("look", {})), ScriptedModel.text("Done.")]
      const agent = Agent.make("looker", { tools: [look] })
      yield* agent("Look.").pipe(
        Effect.provide([ScriptedModel.answering(() => steps.shift() ?? ScriptedModel.text("?")), EventLog.toFile(file)])
      )
      assert.deepStrictEqual(seen, ["run-start", "turn-start", "model-start", "model-end", "tool-start"])
    })
  )

  it.effect("appends to a file, also behind a line that was cut off [P1272]", () =>
    Effect.gen(function* () {
      const file = join(folder, "cut.jsonl")
      yield* Effect.provide(clerk("one"), EventLog.toFile(file))
      const { length } = read(file).events
      yield* Effect.provide(clerk("one"), EventLog.toFile(file))
      const lines = readFileSync(file, "utf8").split("\n")
      assert.deepStrictEqual([lines.length, lines.indexOf("")], [2 * length + 1, 2 * length])
      appendFileSync(file, '{"type":"run-sta')
      yield* Effect.provide(clerk("two"), EventLog.toFile(file))
      const { events, problems } = read(file)
      assert.strictEqual(events.length, 3 * length)
      assert.deepStrictEqual(
        problems.map(({ kind, line }) => ({ kind, line })),
        [{ kind: "broken", line: 2 * length + 1 }]
      )
    })
  )

  it.effect("writes the end of an interrupted run, and nothing after its scope [P1272]", () =>
    Effect.gen(function* () {
      const file = join(folder, "interrupted.jsonl")
      const waiting = Agent.make("waiting", {})
      const never = ScriptedModel.answering(() => ScriptedModel.answers(() => Effect.never))
      const run = yield* Effect.forkChild(waiting("Hi").pipe(Effect.provide([never, EventLog.toFile(file)])), {
        startImmediately: true
      })
      yield* Fiber.interrupt(run)
      assert.strictEqual(read(file).events.at(-1)?.type, "run-interrupted")
      yield* clerk("not recorded")
      assert.strictEqual(read(file).events.at(-1)?.type, "run-interrupted")
    })
  )

  it.effect("fails with the reason if the file cannot be opened [P1272]", () =>
    Effect.gen(function* () {
      const taken = join(folder, "taken.jsonl")
      mkdirSync(taken)
      const error = yield* Effect.flip(Effect.provide(clerk("Hi"), EventLog.toFile(taken)))
      assert.strictEqual(error._tag, "EventFileError")
      assert.match(error.message, /^cannot write '.*taken\.jsonl': /)
      const within = yield* Effect.flip(Effect.provide(clerk("Hi"), EventLog.toFile(join(folder, "cut.jsonl", "a"))))
      assert.strictEqual(within._tag, "EventFileError")
    })
  )

  it.effect("fails where there are no files [P1272]", () =>
    Effect.gen(function* () {
      const found = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined)
      const file = join(folder, "none.jsonl")
      const error = yield* Effect.flip(Effect.provide(clerk("Hi"), EventLog.toFile(file)))
      found.mockRestore()
      assert.strictEqual(error.message, `cannot write '${file}': there are no files here`)
    })
  )

  it.effect("warns with the first reason why an event is missing [P1272]", () =>
    Effect.gen(function* () {
      const warnings: Array<string> = []
      const logger = Logger.make(({ message }) => void warnings.push(String(message)))
      let tries = 0
      const writeSync = () => {
        throw new Error(`try ${++tries}`)
      }
      const modules: Readonly<Record<string, object>> = { "node:fs": { ...fs, writeSync }, "node:path": path }
      const found = vi.spyOn(process, "getBuiltinModule").mockImplementation((name: string) => modules[name])
      yield* clerk("Hi").pipe(
        Effect.provide(EventLog.toFile(join(folder, "first.jsonl"))),
        Effect.provide(Logger.layer([logger]))
      )
      found.mockRestore()
      assert.match(warnings.join(), /^6 events are missing in '.*first\.jsonl': try 1$/)
    })
  )

  it.effect("lets runs go on if the disk is full, and warns of what is missing [P1272]", () =>
    Effect.gen(function* () {
      const warnings: Array<string> = []
      const logger = Logger.make(({ message }) => void warnings.push(String(message)))
      // writing to this device fails as on a full disk
      const answer = yield* clerk("Hi").pipe(
        Effect.provide(EventLog.toFile("/dev/full")),
        Effect.provide(Logger.layer([logger]))
      )
      assert.include(answer, "1 messages")
      assert.lengthOf(warnings, 1)
      assert.match(warnings.join(), /^6 events are missing in '\/dev\/full': ENOSPC/)
    })
  )
})
