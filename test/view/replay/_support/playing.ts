/** Writes the test of a recording, and runs the written text in this process. */
import { assert } from "@effect/vitest"
import * as core from "@kintsugi/core"
import { AgentEvent } from "@kintsugi/core"
import * as testing from "@kintsugi/core/testing"
import { RecordedEvents } from "@kintsugi/core/testing"
import { Recording } from "@kintsugi/view"
import * as effect from "effect"
import { Cause, Effect, Exit, Schema } from "effect"
import * as effectTesting from "effect/testing"
import { stripTypeScriptTypes } from "node:module"
import * as Script from "../../../../packages/view/src/replay/Script.ts"
import * as TestFile from "../../../../packages/view/src/replay/TestFile.ts"

const toJson = Schema.encodeSync(AgentEvent.AgentEvent)

/** Events as a file has them. */
export const asRecording = (events: ReadonlyArray<AgentEvent.AgentEvent>): Recording.Recording =>
  Recording.fromEvents(events.map((event) => JSON.parse(JSON.stringify(toJson(event)))))

/** The written test of a recording that can be played again. */
export const written = (recording: Recording.Recording): string => {
  const script = Script.of(recording)
  if (!Script.isScript(script)) throw new Error(script.message)
  return TestFile.write(script)
}

/** What a written test has done: how its run ended, whether the test passed, and the events of the run. */
export interface Played {
  readonly exit: Exit.Exit<unknown, unknown>
  readonly isGreen: boolean
  readonly recording: Recording.Recording
}

/** Runs the text of a written test in this process, with a Vitest of one test. */
export const played = (text: string): Effect.Effect<Played> =>
  Effect.gen(function* () {
    const code = stripTypeScriptTypes(text).replaceAll(
      /^import (\{[^}]*\}) from ("[^"]*")$/gm,
      "const $1 = require($2)"
    )
    const recorded = RecordedEvents.makeUnsafe()
    const exits: Array<Exit.Exit<unknown, unknown>> = []
    const runPromise = async (self: Effect.Effect<unknown, unknown>) => {
      const exit = await Effect.runPromiseExit(Effect.provide(self, recorded.layer))
      exits.push(exit)
      if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
      return exit.value
    }
    const tests: Array<() => Promise<void>> = []
    const vitest = {
      it: (_: string, body: () => Promise<void>) => tests.push(body),
      expect: (value: unknown) => ({ toBe: (wanted: unknown) => assert.strictEqual(value, wanted) })
    }
    const modules: Readonly<Record<string, unknown>> = {
      "@kintsugi/core": core,
      "@kintsugi/core/testing": testing,
      effect: { ...effect, Effect: { ...Effect, runPromise } },
      "effect/testing": effectTesting,
      vitest
    }
    new Function("require", code)((name: string) => modules[name])
    const [test] = tests
    assert.lengthOf(tests, 1)
    const isGreen = yield* Effect.promise(async () =>
      test === undefined
        ? false
        : test()
            .then(() => true)
            .catch(() => false)
    )
    const [exit] = exits
    if (exit === undefined) return yield* Effect.die(new Error("the test has run nothing"))
    return { exit, isGreen, recording: asRecording(recorded.all) }
  })

/** The types of events that a replay does not have: they say what is below a model call, near a limit, or within a tool. */
const dropped: ReadonlySet<string> = new Set([
  "request-adapted",
  "budget-warning",
  "tool-progress",
  "result-put-aside",
  "result-cut",
  "parts-described",
  "tool-compensated",
  "arguments-coerced",
  "text-delta",
  "reasoning-delta",
  "model-interrupted"
])

type Fields = Readonly<Record<string, unknown>>

// cast: a field of an event is read by its name
const field = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((found, key) => (found as Fields | undefined)?.[key], value)

/**
 * What a replay has in common with its recording, one line for each event:
 *
 * - runs are named by the order in which they began, and times count from the beginning
 * - fixers are functions, so their runs are left out
 * - of errors there are the tags, and of told texts nothing: both depend on code that is not in the recording
 * - of an interrupted run there is nothing of its last instant, at which more or less may have begun
 * - of model calls there is the reply, without model, provider, usage and ledger
 */
export const normalised = ({ events }: Recording.Recording): ReadonlyArray<string> => {
  const origin = events[0]?.at ?? 0
  const stop = events.some(({ parent, type }) => parent === undefined && type === "run-interrupted")
    ? events.at(-1)?.at
    : undefined
  const names = new Map<string, string>()
  const fixers = new Set<string>()
  const fixing = new Set<string>()
  return events.flatMap((event) => {
    const { agent, parent, runId, turn, type } = event
    const callKey = `${parent?.runId} ${parent?.callId}`
    if (type === "fix-start") fixing.add(`${runId} ${String(event["callId"])}`)
    if (type === "fix-end" || type === "fix-failed") fixing.delete(`${runId} ${String(event["callId"])}`)
    if (type === "run-start" && (fixing.has(callKey) || fixers.has(parent?.runId ?? ""))) fixers.add(runId)
    if (fixers.has(runId) || dropped.has(type) || event.at === stop) return []
    if (type === "verdict" && (event["layer"] === "transport" || event["layer"] === "effect")) return []
    names.set(runId, names.get(runId) ?? `run ${names.size + 1}`)
    const settlement = field(event, "use", "settlement") ?? event["settlement"]
    const kind = field(settlement, "kind")
    const parts = [
      `${event.at - origin} ms`,
      names.get(runId),
      agent,
      turn,
      type,
      event["callId"],
      event["tool"],
      event["attempt"],
      event["verdict"] === "fallback" ? "retry" : event["verdict"],
      event["gaveUp"],
      event["delay"],
      event["tag"],
      kind,
      kind === "result" ? field(settlement, "text") : undefined,
      JSON.stringify(field(event, "reply", "content")),
      type === "run-completed" ? textOf(event["output"]) : undefined
    ]
    return [parts.filter((part) => part !== undefined).join(" ")]
  })
}

const textOf = (output: unknown): string => (typeof output === "string" ? output : JSON.stringify(output))
