/** Laws of replay: what a run has said, spent and decided can be told from its events alone. */
import { assert, it } from "@effect/vitest"
import { AgentEvent, type Ledger, Message, Model, RunError, ToolError, Usage } from "@kintsugi/core"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as Redaction from "@kintsugi/core/Redaction"
import { Effect, Schema, Stream } from "effect"
import { calm, eventLog, interruptedAt, lastUsage, overADay } from "../_support/dialogue.ts"
import { lawOfRuns } from "./_support/runs.ts"
import { runs } from "../_support/cases.ts"
import { agentOf, modelOf, story } from "./_support/stories.ts"

// --- the reference reducer

interface Replayed {
  readonly parent: Replayed | undefined
  readonly transcript: Array<Message.Message>
  readonly ledger: Array<Ledger.Entry>
  /** By call, of the present turn. */
  readonly trails: Map<string, Array<RunError.TrailEntry>>
}

/** What is known of a run at its end. */
interface End {
  readonly transcript: Message.Transcript
  readonly ledger: ReadonlyArray<Ledger.Entry>
  readonly usage: Usage.Usage
  readonly trails: ReadonlyMap<string, ReadonlyArray<RunError.TrailEntry>>
}

const replay = (events: ReadonlyArray<AgentEvent.AgentEvent>): ReadonlyMap<string, End> => {
  const runs = new Map<string, Replayed>()
  const ends = new Map<string, End>()
  for (const event of events) {
    if (event.type === "run-start") {
      const parent = event.parent === undefined ? undefined : runs.get(event.parent.runId)
      runs.set(event.runId, { parent, transcript: [...event.transcript], ledger: [], trails: new Map() })
      continue
    }
    const run = runs.get(event.runId)
    if (run === undefined) return assert.fail(`${event.type} of a run that has not started`)
    if (event.type === "turn-start") run.trails.clear()
    if (event.type === "turn-end") run.transcript.push(event.message)
    if (event.type === "model-end" || event.type === "model-failed" || event.type === "model-interrupted") {
      for (let spending: Replayed | undefined = run; spending !== undefined; spending = spending.parent) {
        spending.ledger.push(event.entry)
      }
    }
    if (event.type === "verdict" && "callId" in event) {
      const trail = run.trails.get(event.callId) ?? []
      run.trails.set(event.callId, [...trail, entryOf(event)])
    }
    if (AgentEvent.isTerminal(event)) {
      const usage = run.ledger.map((entry) => entry.usage).reduce(Usage.add, Usage.empty)
      ends.set(event.runId, {
        transcript: [...run.transcript],
        ledger: [...run.ledger],
        usage,
        trails: new Map(run.trails)
      })
    }
  }
  return ends
}

/** A failure that has nothing to say is known by its tag. */
const entryOf = ({
  attempt,
  delay,
  error,
  gaveUp,
  hint,
  hintFrom,
  left,
  rung,
  tag,
  verdict
}: AgentEvent.OfType<"verdict">) => ({
  tag,
  message: Redaction.foreign(ErrorCause.messageOf(error)) || tag,
  verdict,
  gaveUp,
  rung,
  attempt,
  delay,
  ...(hint === undefined ? {} : { hint }),
  ...(hintFrom === undefined ? {} : { hintFrom }),
  ...(left === undefined ? {} : { left })
})

// --- the law

const text = Schema.fromJsonString(AgentEvent.AgentEvent)
const throughText = (event: AgentEvent.AgentEvent) => Schema.decodeSync(text)(Schema.encodeSync(text)(event))

/** What the stories have led to: a law of runs that all end alike would say little. */
const met = new Set<string>()

lawOfRuns(
  "events replayed, be it from JSON text, give the transcript, the ledger and the trail of every run [L1007]",
  story,
  Effect.fnUntraced(function* (story, run) {
    const log = eventLog()
    const { requests, service } = modelOf(story.steps)
    const running = Effect.provideService(run(agentOf(story).pipe(log.listen), "go"), Model.Model, service)
    yield* story.interruptAt === undefined ? overADay(running) : interruptedAt(story.interruptAt, running)
    // a clock that jumps over a day leaves listeners no time to catch up
    yield* calm
    const ends = replay(log.all)
    assert.deepStrictEqual(replay(log.all.map(throughText)), ends)
    const terminal = log.all.filter(AgentEvent.isTerminal)
    assert.strictEqual(terminal.length, log.of("run-start").length)
    for (const { type } of log.all) met.add(type)
    for (const event of terminal) {
      const end = ends.get(event.runId) ?? assert.fail("a run that does not end")
      if (!("usage" in event)) continue
      assert.deepStrictEqual(end.ledger, event.ledger)
      assert.deepStrictEqual(end.usage, event.usage)
      for (const { settlement } of end.transcript.flatMap(callsIn)) met.add(settlement.kind)
      const asked = requests.get(event.runId) ?? []
      for (const messages of asked) assert.deepStrictEqual(end.transcript.slice(0, messages.length), messages)
      if (event.type === "run-suspended") return assert.fail("nothing here needs approval")
      if (event.type === "run-completed") {
        assert.strictEqual(end.transcript.length, (asked.at(-1)?.length ?? -1) + 1)
        continue
      }
      assert.deepStrictEqual(end.transcript, event.transcript)
      if (event.type === "run-failed") checkTrail(event.error, end)
    }
  })
)

const callsIn = (message: Message.Message | undefined): ReadonlyArray<Message.SettledCall> =>
  message?.role === "assistant" ? message.content.filter((part) => part.type === "settled-call") : []

/** What is of no tool counts as one. */
const toolOf = ({ name }: Message.ToolCall): string => (name === "nope" || name === "never" ? "" : name)

const checkTrail = (error: unknown, { trails, transcript }: End): void => {
  if (error instanceof ToolError.ToolExecutionError && error.trail !== undefined) {
    const last = callsIn(transcript.at(-1))
    // a call of a descendant is reported where that call ended
    if (!last.some(({ call }) => call.id === error.callId)) return
    met.add("trail of a call")
    assert.deepStrictEqual(error.trail, trails.get(error.callId) ?? [])
  }
  if (error instanceof RunError.BudgetExceededError && error.trail !== undefined) {
    met.add("trail of repeated failures")
    const calls = callsIn(transcript.at(-1))
    const trailsOf = (name: string) =>
      calls
        .filter(({ call, settlement }) => toolOf(call) === name && Message.isError(settlement))
        .flatMap(({ call }) => trails.get(call.id) ?? [])
    const byTool = calls.map(({ call }) => trailsOf(toolOf(call)))
    assert.deepInclude(byTool, error.trail)
  }
}

/** A model that counts all replies that it has sent, also those that no run takes for an answer. */
const countingReplies = (service: Model.Service) => {
  const sent = { replies: 0 }
  const counted: Model.Service = {
    ...service,
    generate: (request) => Effect.tap(service.generate(request), () => Effect.sync(() => sent.replies++)),
    stream: (request) =>
      Stream.tap(service.stream(request), (part) =>
        Effect.sync(() => {
          if (part.type === "finish") sent.replies++
        })
      )
  }
  return { sent, counted }
}

lawOfRuns(
  "the ledger is the sum of all replies, also of refused ones and of descendants, however the run ends [L1009]",
  story,
  Effect.fnUntraced(function* (story, run) {
    const log = eventLog()
    const { counted, sent } = countingReplies(modelOf(story.steps).service)
    const running = Effect.provideService(run(agentOf(story).pipe(log.listen), "go"), Model.Model, counted)
    // between two instants: no reply comes at it
    yield* story.interruptAt === undefined ? overADay(running) : interruptedAt(story.interruptAt + 0.5, running)
    const usage = lastUsage(log.end())
    assert.deepInclude(usage, { inputTokens: 10 * sent.replies, outputTokens: 5 * sent.replies })
  })
)

it.skipIf(runs < 100)(
  "the stories lead to every kind of settlement and of end, to runs within runs, and to both trails [L1007]",
  () => {
    const wanted = [
      // the stories draw no deferred tool: `test/core/tool` and `test/core/run` try these
      ...Message.Settlement.fields.kind.literals.filter((kind) => kind !== "deferred"),
      "run-completed",
      "run-failed",
      "run-interrupted",
      "model-failed",
      "model-interrupted",
      "attempt-discarded",
      "arguments-coerced",
      "tool-denied",
      "fix-end",
      "fix-failed",
      "trail of a call",
      "trail of repeated failures"
    ]
    assert.deepStrictEqual(
      wanted.filter((one) => !met.has(one)),
      []
    )
  }
)
