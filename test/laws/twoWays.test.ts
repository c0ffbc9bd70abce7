/**
 * The same program of three layers in two ways: with tables, and with plain Effect, `Schedule` and `catchTag` through `around`. This is
 * the program of docs/guide/layers.md, over generated schedules and scripts.
 */
import { assert } from "@effect/vitest"
import { Agent, Backoff, type LlmError, Model, Tool, ToolError } from "@kintsugi/core"
import { RecordedEvents } from "@kintsugi/core/testing"
import { Cause, Clock, Effect, Exit, Schema } from "effect"
import type * as HttpClient from "effect/http/HttpClient"
import fc from "fast-check"
import { busy, type Busy, gone, type Gone, overADay } from "../_support/dialogue.ts"
import {
  completion,
  done as doneEvent,
  event,
  fakeNetwork,
  finishChunk,
  openAi,
  respond,
  textChunk
} from "../_support/network.ts"
import type { Runnable, Runner } from "../_support/run.ts"
import { fewRetries } from "./_support/policies.ts"
import { lawOfRuns } from "./_support/runs.ts"

type Way = "tables" | "plain"
type Meets = "ok" | "busy" | "refused"
type Does = "ok" | "busy" | "gone"

/** One policy for each layer, and what the sends and the runs of the tool meet, one after the other; then nothing fails. */
interface Story {
  readonly transport: Backoff.Options
  readonly model: Backoff.Options
  readonly tool: Backoff.Options
  readonly sends: ReadonlyArray<Meets>
  readonly runs: ReadonlyArray<Does>
}

const story: fc.Arbitrary<Story> = fc.record({
  transport: fewRetries,
  model: fewRetries,
  tool: fewRetries,
  sends: fc.array(fc.constantFrom<Meets>("ok", "busy", "busy", "busy", "refused"), { maxLength: 16 }),
  runs: fc.array(fc.constantFrom<Does>("ok", "busy", "busy", "gone"), { maxLength: 5 })
})

const isOverloaded = ({ _tag }: LlmError.LlmError): boolean => _tag === "ModelOverloadedError"
const isBusy = ({ _tag }: Busy | Gone): boolean => _tag === "Busy"

/** The tool with nothing around it: what its runs meet, and when they were made. */
const bare = (runs: Story["runs"]) => {
  const instants: Array<number> = []
  const work = Tool.make("work", {
    description: "Works.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: (): Effect.Effect<string, Busy | Gone> =>
      Effect.flatMap(Clock.currentTimeMillis, (now): Effect.Effect<string, Busy | Gone> => {
        const meets = runs[instants.push(now) - 1] ?? "ok"
        return meets === "busy" ? Effect.fail(busy()) : meets === "gone" ? Effect.fail(gone()) : Effect.succeed("done")
      })
  })
  return { instants, work }
}

/** A server that answers with a call of the tool first, and then with a text. */
const server = (sends: Story["sends"], isStreamed: boolean) => {
  let next = 0
  let replies = 0
  const call = { id: "c1", type: "function", function: { name: "work", arguments: "{}" } }
  const stream = (...events: ReadonlyArray<string>) =>
    respond(200, [...events, doneEvent].join(""), { "content-type": "text/event-stream" })
  return fakeNetwork(() =>
    Effect.suspend(() => {
      const meets = sends[next++] ?? "ok"
      if (meets !== "ok") return respond(meets === "busy" ? 503 : 400)()
      const isFirst = replies++ === 0
      if (isStreamed) {
        const calls = event({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] } }] })
        return (isFirst ? stream(calls, finishChunk("tool_calls")) : stream(textChunk("bye"), finishChunk()))()
      }
      const choice = { index: 0, message: { role: "assistant", tool_calls: [call] }, finish_reason: "tool_calls" }
      return respond(200, isFirst ? { ...completion(""), choices: [choice] } : completion("bye"))()
    })
  )
}

/** The program, with its three policies written in one of the ways. */
const written = (
  way: Way,
  { model, tool, transport }: Story,
  work: ReturnType<typeof bare>["work"]
): Runnable<string, string, unknown, HttpClient.HttpClient> => {
  const [sending, calling, running] = [transport, model, tool].map(Backoff.make) as [Each, Each, Each]
  if (way === "tables") {
    const recovering = work.pipe(Tool.onError({ Busy: running, Gone: () => Effect.succeed("instead") }))
    return Agent.make("a", {
      model: openAi({ retry: { ModelOverloadedError: sending } }),
      tools: [recovering],
      onLlmError: { ModelOverloadedError: calling }
    })
  }
  const recovering = work.pipe(
    Tool.around((attempt) =>
      attempt.pipe(
        Effect.retry({ schedule: running, while: isBusy }),
        Effect.catchTag("Gone", () => Effect.succeed("instead"))
      )
    )
  )
  return Agent.make("a", {
    model: openAi({ retry: sending }).pipe(
      Model.around((attempt) => Effect.retry(attempt, { schedule: calling, while: isOverloaded }))
    ),
    tools: [recovering]
  })
}

type Each = ReturnType<typeof Backoff.make>

/** How an exit of the program with tables would be that of the one without: a used-up retry of a tool leaves its last failure. */
const asPlain = (exit: Exit.Exit<unknown, unknown>): string => {
  if (Exit.isSuccess(exit)) return `answer ${String(exit.value)}`
  const error = Cause.squash(exit.cause)
  const last = error instanceof ToolError.ToolExecutionError ? error.cause : error
  return `failure ${(last as { readonly _tag: string })._tag}`
}

/** All that is seen of a run: its sends, the runs of its tool, its events of attempts and its ledger. */
const seen = (run: Runner, way: Way, story: Story) =>
  Effect.gen(function* () {
    const { instants, work } = bare(story.runs)
    const network = server(story.sends, run.isStreamed)
    const log = RecordedEvents.makeUnsafe()
    const start = yield* Clock.currentTimeMillis
    const running = run(written(way, story, work), "go").pipe(Effect.provide(network.layer), Effect.provide(log.layer))
    const exit = yield* overADay(running)
    const attempts = log.all.flatMap((event) => {
      const at = event.at - start
      switch (event.type) {
        case "model-start":
        case "model-failed":
        case "model-end":
        case "tool-failed":
          return [`${event.type} ${event.attempt} at ${at}`]
        case "tool-end":
          return [`${event.type} ${event.use.settlement.text} after ${event.use.attempts} at ${at}`]
        case "verdict":
          return event.layer === "transport"
            ? [`transport ${event.verdict} ${event.attempt} ${event.gaveUp} at ${at}`]
            : []
        default:
          return []
      }
    })
    const end = log.end()
    return {
      sends: network.sent.map(({ at, body }) => [at - start, body]),
      runs: instants.map((at) => at - start),
      attempts,
      ledger:
        end !== undefined && "ledger" in end
          ? end.ledger.map(({ attempt, outcome, usage }) => [attempt, outcome, usage])
          : [],
      exit: asPlain(exit)
    }
  })

lawOfRuns(
  "three layers by tables and by plain Effect send, run, wait, tell and book the same, and end the same [L711 P1321 P1322]",
  story,
  (story, run) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* seen(run, "plain", story), yield* seen(run, "tables", story))
    })
)
