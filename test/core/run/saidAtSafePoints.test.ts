/** A message is said while a run is at each place of a safe point: what is read when, compared with a reference. */
import { assert } from "@effect/vitest"
import { Agent, type AgentEvent, Budget, Compaction, Recovery, Tool } from "@kintsugi/core"
import * as Factories from "@kintsugi/core/Factories"
import * as RunContext from "@kintsugi/core/RunContext"
import { ScriptedModel } from "@kintsugi/core/testing"
import { type Duration, Effect, Schema, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { deferring } from "../tool/_support/deferring.ts"
import { done, settlements } from "../../_support/dialogue.ts"
import { outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"
import { it } from "../../_support/run.ts"
import { accounted, eventsOf, lines, started, wordsOf } from "./_support/saying.ts"

const { call, calls, fails, make } = ScriptedModel

/** Where the run is when the message is said. */
type Spot =
  | { readonly event: AgentEvent.AgentEvent["type"]; readonly nth?: number }
  | "the tool"
  | "the limit"
  | "the model"
  | "the compaction"
  | "the cancellation"
  | "the resumption"

/** What the message does: read in this turn, or returned. */
type Fate = number | "returned"

interface Case {
  readonly where: Spot
  /** How the run ends after its first reply; it goes on by default. */
  readonly end?: "interruption" | "failure" | "limit" | "calls" | "repeats" | "tools-off"
  /** What has expired while the run was suspended: it is settled where the run goes on. */
  readonly expired?: "approval" | "deferred call"
  readonly fate: Fate
}

/** The places of P1501. Late results, guardrails and `prepareTurn` have no code yet: their places have none either. */
const cases: Readonly<Record<string, Case>> = {
  "1: before an interruption": { where: "the tool", end: "interruption", fate: "returned" },
  "2: before a hard failure": { where: "the tool", end: "failure", fate: "returned" },
  "3: before an approval expires": { where: "the resumption", expired: "approval", fate: 2 },
  "3: when an approval has expired": { where: { event: "tool-denied" }, expired: "approval", fate: 2 },
  "3: before a deferred call expires": { where: "the resumption", expired: "deferred call", fate: 2 },
  "3: while an expired deferred call is cancelled": { where: "the cancellation", expired: "deferred call", fate: 2 },
  "3: when a deferred call has expired": { where: { event: "tool-failed" }, expired: "deferred call", fate: 2 },
  "3 and 4: after the last settlement": { where: { event: "turn-end" }, fate: 2 },
  "5: while another message is read": { where: { event: "message-read" }, fate: 2 },
  "5: before the messages are read, when a limit then ends the run": { where: "the tool", end: "limit", fate: 2 },
  "5: before the messages are read, when a limit of calls then ends the run": {
    where: "the tool",
    end: "calls",
    fate: 2
  },
  "6: while a limit is decided about": { where: "the limit", fate: 3 },
  "6: while a limit of repeated failures is decided about": { where: "the limit", end: "repeats", fate: 3 },
  "6: while a limit is decided about that ends the run": { where: "the limit", end: "limit", fate: "returned" },
  "8: while the conversation is shortened": { where: "the compaction", fate: 3 },
  "10: before the tools are withheld": { where: "the tool", end: "tools-off", fate: 2 },
  "11: when the turn begins": { where: { event: "turn-start", nth: 2 }, fate: 3 },
  "11: when the model is asked": { where: { event: "model-start", nth: 2 }, fate: 3 },
  "11: while the model is at work": { where: "the model", fate: 3 },
  "11: when the model has answered": { where: { event: "model-end", nth: 2 }, fate: 3 }
}

const suspendedFor = <E>(time: Duration.Input, outcome: Effect.Effect<Agent.Outcome<unknown>, E, Scope.Scope>) =>
  Effect.tap(Effect.flatMap(Effect.orDie(outcome), snapshotOf), TestClock.adjust(time))

const play = ({ end, expired, fate, where }: Case) =>
  Effect.gen(function* () {
    let saying: Effect.Effect<unknown, unknown> = Effect.void
    const say = Effect.suspend(() => Effect.orDie(saying))
    const at = (spot: Spot) => (where === spot ? say : Effect.void)
    let seen = 0
    const observer = (event: AgentEvent.AgentEvent) => {
      if (typeof where === "string" || event.type !== where.event || ++seen !== (where.nth ?? 1)) return
      Effect.runSync(say)
    }
    const tool = Tool.make("look", {
      description: "Looks.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () =>
        Effect.andThen(
          at("the tool"),
          end === "interruption"
            ? Effect.never
            : end === "failure" || end === "tools-off" || end === "repeats"
              ? Effect.fail(new Error("broken"))
              : Effect.succeed("seen")
        )
    })
    const failingRows = end === "repeats" ? { orElse: Recovery.tell() } : {}
    const rows = end === "tools-off" ? { orElse: Recovery.tell(() => "off", { then: "tools-off" }) } : failingRows
    const pay = paying().tool.pipe(Tool.requireApproval({ validFor: "1 hour", onExpiry: "refuse" }))
    const order = deferring({ cancel: () => at("the cancellation") }).tool.pipe(
      Tool.onError({ orElse: Recovery.tell(() => "late") })
    )
    const isLimited = (where === "the limit" && end !== "repeats") || end === "limit"
    const overflow = Factories.contextTooLong("scripted")
    const agent = Agent.make("worker", {
      tools: [tool.pipe(Tool.onError(rows)), pay, order],
      budget: {
        maxTurns: isLimited ? 1 : 9,
        maxToolCalls: end === "calls" ? 1 : 9,
        maxDuration: "1 day",
        repeatedFailures: { stop: end === "repeats" ? 1 : 9 }
      }
    }).pipe(
      Agent.onBudgetExceeded(() =>
        Effect.as(at("the limit"), end === "limit" || end === "calls" ? Budget.stop : Budget.extend(9))
      ),
      Agent.onLlmError({
        ContextTooLongError: Recovery.ladder(
          Recovery.compact(
            Compaction.make("none", ({ transcript }) => Effect.as(at("the compaction"), transcript.slice(-1)))
          ),
          Recovery.rethrow
        )
      })
    )
    const last = ScriptedModel.answers(() =>
      Effect.as(at("the model"), ScriptedModel.reply({ content: [{ type: "text", text: "done" }] }))
    )
    const others =
      expired === "approval"
        ? [call("pay", { cents: 5 }, "c2")]
        : expired === "deferred call"
          ? [call("order", {}, "c2")]
          : end === "calls"
            ? [call("look", {}, "c2")]
            : []
    const goesOn = end === undefined || end === "tools-off" || end === "repeats"
    const model = yield* make(
      calls(call("look", {}), ...others),
      ...(goesOn ? [...(where === "the compaction" ? [fails(overflow)] : []), last] : []),
      ...(fate === 3 ? [done] : [])
    )
    const beginning =
      expired === undefined
        ? agent.start("go")
        : Agent.resume(agent).start({
            from: yield* suspendedFor("2 hours", outcomeOf(agent, "go", model)),
            ...(where === "the resumption" ? { say: "said" } : {})
          })
    const run: Agent.Run<unknown, unknown> = yield* started(beginning, model).pipe(
      Effect.provideService(RunContext.Observers, [() => observer])
    )
    saying = run.say("said")
    if (typeof where !== "string" && where.event === "message-read") yield* run.say("before")
    if (end === "interruption") {
      for (let step = 0; step < 100; step++) yield* Effect.yieldNow
      yield* run.interrupt
    }
    yield* Effect.exit(run.outcome)
    return run
  })

it.effect.each(Object.entries(cases))("said at place %s [P1361 P1501 P1581 P1582]", ([, one]) =>
  Effect.gen(function* () {
    const run = yield* play(one)
    const events = yield* eventsOf(run)
    const read = events.flatMap((event) =>
      event.type === "message-read" && wordsOf([event])[0] === "said" ? [event.turn] : []
    )
    const end = events.at(-1)
    const unread = end !== undefined && "unread" in end ? wordsOf(end.unread) : []
    assert.deepStrictEqual([...read, ...unread], [one.fate === "returned" ? "said" : one.fate])
    const said = lines(yield* run.transcript)
    assert.strictEqual(said.filter((line) => line === "user: said").length, one.fate === "returned" ? 0 : 1)
    // never between a call and its settlement: the first turn has both
    assert.isTrue(said.some((line) => line.startsWith("model: look: ")))
    const [, second = ""] = settlements(yield* run.transcript)
    if (one.expired === "approval") assert.match(second, /^denied: .*in time/)
    if (one.expired === "deferred call") assert.match(second, /^told: late/)
    yield* accounted(run)
  })
)
