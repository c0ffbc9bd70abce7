/** Laws of runs, on generated stories: a script of replies, what each call does, limits, and perhaps an interruption. */
import { assert } from "@effect/vitest"
import { Agent, AgentEvent, Message, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { fromEffect } from "@kintsugi/core/testing/FastCheck"
import { Clock, Effect, Schema, Scope } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import type fc from "fast-check"
import * as Arbitraries from "../../packages/core/src/testing/Arbitraries.ts"
import {
  busy,
  type Busy,
  eventLog,
  gone,
  type Gone,
  interruptedAt,
  isTerminal,
  lastTranscript,
  lastUsage,
  overADay
} from "../_support/dialogue.ts"
import type { Runner } from "../_support/run.ts"
import { lawOfRuns } from "./_support/runs.ts"

const { constantFrom, integer, limits, modelTurns, oneOf, orAbsent } = Arbitraries

const kinds = [
  "ok",
  "told",
  "answered",
  "flaky",
  "hard",
  "own",
  "die",
  "quit",
  "unknown",
  "malformed",
  "unsafe"
] as const

interface Call {
  readonly kind: (typeof kinds)[number]
  readonly takes: number
}

interface Turn {
  readonly calls: ReadonlyArray<Call>
  readonly takes: number
  readonly finish: Message.FinishReason
}

interface Story {
  readonly turns: ReadonlyArray<Turn>
  readonly maxTurns: number
  readonly maxToolCalls: number
  readonly interruptAt: number | undefined
}

const call: Arbitrary.Arbitrary<Call> = Arbitrary.all({
  kind: oneOf<Call["kind"]>(
    [6, constantFrom("ok", "told", "answered", "flaky", "unknown", "malformed", "unsafe")],
    [1, constantFrom("hard", "own", "die", "quit")]
  ),
  takes: constantFrom(0, 0, 5, 10, 500)
})

const story: fc.Arbitrary<Story> = fromEffect(
  Arbitrary.map(
    Arbitrary.all({
      turns: modelTurns(call, { maxCalls: 4 }),
      limits,
      interruptAt: orAbsent(1, integer(0, 2000))
    }),
    ({ limits: { maxToolCalls = 12, maxTurns = 6 }, ...rest }) => ({ ...rest, maxToolCalls, maxTurns })
  )
)

/** One run of a tool: which call it served, and when it began and ended. */
interface Served {
  readonly call: string
  readonly key: string
  readonly began: number
  ended: number | undefined
}

interface Tagged<Tag extends string> {
  readonly _tag: Tag
}

type Failure = Busy | Gone | Tagged<"Tells"> | Tagged<"Answered"> | Tagged<"Hard">

/** What a call does, once it has taken its time. */
const behave = (call: Call, { attempt }: Tool.ToolContext): Effect.Effect<string, Failure> => {
  switch (call.kind) {
    case "told":
      return Effect.fail({ _tag: "Tells" })
    case "answered":
      return Effect.fail({ _tag: "Answered" })
    case "hard":
      return Effect.fail({ _tag: "Hard" })
    case "own":
      return Effect.fail(gone())
    case "flaky":
      return attempt < 3 ? Effect.fail(busy()) : Effect.succeed("fine")
    case "unsafe":
      return Effect.fail(busy())
    case "die":
      return Effect.die("bug")
    case "quit":
      return Effect.interrupt
    case "ok":
    case "unknown":
    case "malformed":
      return Effect.succeed("fine")
  }
}

const names: Partial<Record<Call["kind"], string>> = { unknown: "nope", unsafe: "pay" }

const contentOf = ({ calls }: Turn, turn: number): ReadonlyArray<Message.ToolCall> =>
  calls.map(({ kind }, index) =>
    ScriptedModel.call(names[kind] ?? "act", kind === "malformed" ? "{{" : { turn, index }, `${turn}.${index}`)
  )

/** Tells a story, and keeps what laws may speak of. */
const tell = Effect.fnUntraced(function* (story: Story, run: Runner) {
  const served: Array<Served> = []
  const serve = Effect.fnUntraced(function* (turn: number, index: number, context: Tool.ToolContext) {
    const call: Call = story.turns[turn]?.calls[index] ?? { kind: "die", takes: 0 }
    const began = yield* Clock.currentTimeMillis
    const ran: Served = { call: `${turn}.${index}`, key: context.idempotencyKey, began, ended: undefined }
    served.push(ran)
    const end = Effect.map(Clock.currentTimeMillis, (at) => {
      ran.ended = at
    })
    return yield* Effect.ensuring(Effect.andThen(Effect.sleep(call.takes), behave(call, context)), end)
  })
  const working = <const Name extends string, const S extends Recovery.SideEffects>(name: Name, sideEffects: S) =>
    Tool.make(name, {
      description: "d",
      parameters: Schema.Struct({ turn: Schema.Finite, index: Schema.Finite }),
      success: Schema.String,
      sideEffects,
      run: ({ index, turn }, context) => serve(turn, index, context)
    })
  const act = working("act", "none").pipe(
    Tool.onError({
      Tells: Recovery.tell(),
      Answered: Recovery.respondWith("stale"),
      Busy: Recovery.retry({ retries: 2, initialBackoff: 20 }),
      Hard: Recovery.raise,
      InvalidArgs: Recovery.ladder(
        Recovery.fix(() => Effect.succeed("still broken")),
        Recovery.tell()
      )
    })
  )
  const log = eventLog()
  const agent = Agent.make("worker", {
    budget: { maxTurns: story.maxTurns, maxToolCalls: story.maxToolCalls },
    skills: [Skill.make("work", { description: "d", tools: [act, working("pay", "unsafe")] })]
  }).pipe(
    Agent.toolDefaults({ Busy: Recovery.ladder(Recovery.retry({ retries: 5 }), Recovery.escalate()) }),
    log.listen
  )
  let replies = 0
  const steps = [...story.turns, { calls: [], takes: 0, finish: "stop" as const }].map((turn, index) =>
    ScriptedModel.answers(() =>
      Effect.map(Effect.sleep(turn.takes), () => {
        replies++
        return ScriptedModel.reply({ content: [Message.text("so"), ...contentOf(turn, index)], finish: turn.finish })
      })
    )
  )
  // a scope that stays open: steps that the story does not reach are no mistake
  const model = yield* Scope.provide(ScriptedModel.make(...steps), yield* Scope.make())
  const provided = Effect.provide(run(agent, "go"), model.layer)
  yield* story.interruptAt === undefined ? overADay(provided) : interruptedAt(story.interruptAt, provided)
  const end = log.end()
  const transcript = end?.type === "run-completed" ? (model.requests.at(-1)?.messages ?? []) : lastTranscript(end)
  return { events: log.all, end, transcript, served, replies, requests: model.requests.length }
})

type Outcome = Effect.Success<ReturnType<typeof tell>>

/** The kind of settlement that each call of a turn gets when nothing cuts the batch short. */
const expected = (story: Story, turn: number): ReadonlyArray<Message.Settlement["kind"]> => {
  const before = story.turns.slice(0, turn).reduce((sum, { calls }) => sum + calls.length, 0)
  const { calls = [], finish } = story.turns[turn] ?? {}
  return calls.map(({ kind }, index) => {
    if (finish !== "tool-calls") return "truncated"
    if (index >= story.maxToolCalls - before || kind === "die" || kind === "quit") return "interrupted"
    return kind === "ok" || kind === "answered" || kind === "flaky" ? "result" : "told"
  })
}

const law = (title: string, check: (outcome: Outcome, story: Story) => void): void =>
  lawOfRuns(title, story, (story, run) => Effect.map(tell(story, run), (outcome) => check(outcome, story)))

law("every call is settled exactly once, in request order, however the run ends [L1001 P401]", (outcome, story) => {
  const said = outcome.transcript.filter((message) => message.role === "assistant")
  assert.strictEqual(said.length, outcome.end?.type === "run-completed" ? outcome.replies - 1 : outcome.replies)
  for (const [turn, message] of said.entries()) {
    const parts = message.content.flatMap((part) => (part.type === "settled-call" ? [part] : []))
    const asked = story.turns[turn]
    assert.deepStrictEqual(
      parts.map(({ call }) => call),
      asked === undefined ? [] : contentOf(asked, turn)
    )
    const kinds = parts.map(({ settlement }) => settlement.kind)
    const whole = expected(story, turn)
    const isCut = outcome.end?.type !== "run-completed" && turn === said.length - 1
    const hasRun = (index: number) => outcome.served.some(({ call }) => call === `${turn}.${index}`)
    const isHard = asked?.calls.some(({ kind }, index) => (kind === "hard" || kind === "own") && hasRun(index)) ?? false
    // beside a hard failure a call that has not begun is not run, and one that waits for a retry gives up
    const isHalted = (index: number, kind: Message.Settlement["kind"] | undefined) =>
      isHard && (kind === "interrupted" ? !hasRun(index) : kind === "told" && asked?.calls[index]?.kind === "flaky")
    const dies = asked?.calls.some(({ kind }) => kind === "die" || kind === "quit") ?? false
    const mayBeCut = isCut && (story.interruptAt !== undefined || dies)
    for (const [index, kind] of kinds.entries()) {
      // an unsafe tool that was cut off may have taken effect
      const cutOff = asked?.calls[index]?.kind === "unsafe" ? ["interrupted", "unknown"] : ["interrupted"]
      if (!(mayBeCut && cutOff.includes(kind)) && !isHalted(index, kind)) assert.strictEqual(kind, whole[index])
    }
  }
})

law("exactly one terminal event, and nothing after it [L1008 A1202]", ({ events, end, served }, story) => {
  assert.strictEqual(events.filter(isTerminal).length, 1)
  assert.strictEqual(events.at(-1), end)
  const endedAt = end?.at ?? -1
  for (const { began, ended } of served) {
    assert.isAtMost(began, endedAt)
    assert.isAtMost(ended ?? Infinity, endedAt)
  }
  if (story.interruptAt !== undefined) assert.isAtMost(endedAt, story.interruptAt)
})

law(
  "folding the events gives the transcript, whole and streamed, however the run ends [A1201]",
  ({ end, events, transcript }) => {
    const said = AgentEvent.transcriptOf(events)
    // the last answer was never sent
    assert.deepStrictEqual(end?.type === "run-completed" ? said.slice(0, -1) : said, transcript)
    assert.isAbove(said.length, 0)
  }
)

law("the ledger is the sum of all replies that were received [L1009]", ({ end, replies }) => {
  assert.deepInclude(lastUsage(end), { inputTokens: 10 * replies, outputTokens: 5 * replies })
})

law("no call starts twice; its runs have one key, which no other call has [L1006 L904]", ({ events, served }) => {
  const started = events.flatMap((event) => (event.type === "tool-start" ? [event.callId] : []))
  assert.strictEqual(new Set(started).size, started.length)
  const keys = new Map<string, string>()
  for (const { call, key } of served) {
    assert.strictEqual(keys.get(call) ?? key, key)
    keys.set(call, key)
  }
  assert.strictEqual(new Set(keys.values()).size, keys.size)
})

law("an unsafe tool runs at most once per call; budgets bound turns and calls [L903]", (outcome, story) => {
  const { end, events, requests, served, transcript } = outcome
  const runs = (id: string) => served.filter(({ call }) => call === id).length
  for (const [turn, { calls }] of story.turns.entries()) {
    for (const [index, { kind }] of calls.entries()) assert.isAtMost(runs(`${turn}.${index}`), kind === "flaky" ? 3 : 1)
  }
  assert.isAtMost(requests, story.maxTurns)
  const tools = (event: AgentEvent.AgentEvent) => event.type === "tool-start" || event.type === "tool-denied"
  assert.isAtMost(events.filter(tools).length, story.maxToolCalls)
  const heard = new Set(events.flatMap((event) => ("callId" in event ? [event.callId] : [])))
  const isCut = end?.type === "run-interrupted" || (end?.type === "run-failed" && end.isDefect)
  // of every call something is told, be it only that it was not run
  const asked = transcript.flatMap((message) => (message.role === "assistant" ? message.content : []))
  for (const part of asked) if (!isCut && part.type === "settled-call") assert.isTrue(heard.has(part.call.id))
})
